package shapes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/middleware/fit"
)

// draw makes requests that are valid by the reference of their API.
type draw struct {
	*rand.Rand
	format string
	lax    bool // the name tells no rules beyond those of the format
	ids    int
	thinks bool // the model takes thinking with signatures
	late   bool // the model takes system messages inside of the conversation
}

func (d *draw) one(of ...string) string { return of[d.IntN(len(of))] }

func (d *draw) may() bool { return d.IntN(3) == 0 }

func (d *draw) id(prefix string) string {
	d.ids++
	return fmt.Sprintf("%s%02d", prefix, d.ids)
}

func (d *draw) words() string {
	return d.one("Go.", "Read the log of pump 7.", "été \"a\" \\ \n b", " padded ", "{\"a\": 1}", "<b>1</b>", "日本", "0")
}

// extra adds a member that nobody knows.
func (d *draw) extra(o obj) obj {
	if d.IntN(12) == 0 {
		o["x_"+d.one("mood", "trace")] = d.IntN(9)
	}
	return o
}

func (d *draw) some(n int, f func() any) arr {
	a := arr{f()}
	for range d.IntN(n) {
		a = append(a, f())
	}
	return a
}

// request returns turns of questions, rounds of calls with their results, and answers.
func (d *draw) request(name string) obj {
	turn := map[string]func() arr{"chat": d.chatTurn, "responses": d.responsesTurn, "messages": d.messagesTurn, "gemini": d.geminiTurn, "ollama": d.ollamaTurn}[d.format]
	var items arr
	for range 1 + d.IntN(3) {
		items = append(items, turn()...)
	}
	call := obj{"name": "read", "parameters": obj{"type": "object"}}
	stream := d.may()
	switch d.format {
	case "responses":
		if d.may() {
			items = append(arr{obj{"type": "message", "role": "developer", "content": d.words()}}, items...)
		}
		items = append(items, d.responsesEnd()...)
		return obj{"model": name, "input": items, "stream": stream, "tools": arr{obj{"type": "function", "name": "read", "parameters": obj{}}}}
	case "gemini":
		items = append(items, obj{"role": "user", "parts": arr{obj{"text": d.words()}}})
		return obj{"contents": items, "tools": arr{obj{"functionDeclarations": arr{call}}}, "systemInstruction": obj{"parts": arr{obj{"text": "s"}}}}
	case "messages":
		items = append(items, obj{"role": "user", "content": d.words()})
		return obj{"model": name, "max_tokens": 1000, "messages": items, "stream": stream, "system": "s", "tools": arr{obj{"name": "read", "input_schema": obj{"type": "object"}}}}
	}
	if d.may() {
		items = append(arr{obj{"role": "system", "content": d.words()}}, items...)
	}
	items = append(items, obj{"role": "user", "content": d.words()})
	return obj{"model": name, "messages": items, "stream": stream, "tools": arr{obj{"type": "function", "function": call}}}
}

func (d *draw) chatText(role string) any {
	if d.may() {
		return d.some(2, func() any {
			if role == "user" && d.may() {
				return obj{"type": "image_url", "image_url": obj{"url": "data:image/png;base64," + smallPicture}}
			}
			return d.extra(obj{"type": "text", "text": d.words()})
		})
	}
	return d.words()
}

func (d *draw) chatTurn() arr {
	named := func(o obj) obj {
		if d.lax && d.may() {
			o["name"] = "kim"
		}
		return d.extra(o)
	}
	items := arr{named(obj{"role": "user", "content": d.chatText("user")})}
	if d.lax && d.may() {
		items = append(items, named(obj{"role": d.one("user", "system", "developer"), "content": d.chatText("")}))
	}
	for range d.IntN(3) {
		var calls, results arr
		for range 1 + d.IntN(2) {
			id := d.id("call_")
			calls = append(calls, obj{"id": id, "type": "function", "function": obj{"name": "read", "arguments": d.one("{}", `{"n": 1}`)}})
			results = append(results, named(obj{"role": "tool", "tool_call_id": id, "content": d.chatText("tool")}))
		}
		if d.lax && d.may() {
			slices.Reverse(results)
		}
		call := obj{"role": "assistant", "tool_calls": calls}
		if d.may() {
			call["content"] = nil
		} else if d.may() {
			call["content"] = d.chatText("assistant")
		}
		items = append(append(items, named(call)), results...)
	}
	items = append(items, named(obj{"role": "assistant", "content": d.chatText("assistant")}))
	if d.lax && d.may() {
		items = append(items, obj{"role": "assistant", "content": nil, "refusal": "No."})
	}
	return items
}

func (d *draw) ollamaTurn() arr {
	items := arr{d.extra(obj{"role": "user", "content": d.words()})}
	for range d.IntN(3) {
		var calls, results arr
		for range 1 + d.IntN(2) {
			calls = append(calls, obj{"function": obj{"name": "read", "arguments": obj{"n": len(calls)}}})
			results = append(results, obj{"role": "tool", "tool_name": "read", "content": d.words()})
		}
		items = append(append(items, d.extra(obj{"role": "assistant", "content": d.one("", "Hm."), "tool_calls": calls})), results...)
	}
	return append(items, obj{"role": "assistant", "content": d.words(), "thinking": d.words()})
}

func (d *draw) geminiTurn() arr {
	signed := func(o obj) obj {
		if d.may() {
			o["thoughtSignature"] = signature(d.IntN(9))
		}
		return d.extra(o)
	}
	items := arr{obj{"role": "user", "parts": d.some(2, func() any {
		if d.may() {
			return obj{"inlineData": obj{"mimeType": "image/png", "data": smallPicture}}
		}
		return d.extra(obj{"text": d.words()})
	})}}
	if d.may() {
		items = append(items, obj{"role": "user", "parts": arr{obj{"text": d.words()}}})
	}
	for range d.IntN(3) {
		var calls, results arr
		with := d.may()
		for range 1 + d.IntN(2) {
			call, result := obj{"name": "read", "args": obj{"n": len(calls)}}, obj{"name": "read", "response": obj{d.one("output", "error", "rows"): d.words()}}
			if with {
				call["id"] = d.id("f")
				result["id"] = call["id"]
			}
			if d.may() {
				result["parts"] = arr{obj{"inlineData": obj{"mimeType": "image/png", "data": smallPicture}}}
			}
			part := signed(obj{"functionCall": call})
			if len(calls) == 0 {
				part["thoughtSignature"] = signature(d.IntN(9))
			}
			calls, results = append(calls, part), append(results, obj{"functionResponse": result})
		}
		items = append(items, obj{"role": "model", "parts": calls}, obj{"role": "user", "parts": results})
	}
	parts := arr{signed(obj{"text": d.words()})}
	if d.may() {
		parts = append(parts, obj{"text": "", "thoughtSignature": signature(3)})
	}
	return append(items, obj{"role": "model", "parts": parts})
}

func (d *draw) messagesText(tool bool) any {
	if d.may() {
		return d.words()
	}
	return d.some(2, func() any {
		b := obj{"type": "text", "text": d.words()}
		switch {
		case d.may():
			b = obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": smallPicture}}
		case tool && d.may():
			b = obj{"type": "tool_reference", "tool_name": "read"}
		case d.IntN(9) == 0:
			b = obj{"type": "hologram", "angle": 3}
		}
		return d.extra(b)
	})
}

func (d *draw) messagesTurn() arr {
	items := arr{obj{"role": "user", "content": d.messagesText(false)}}
	if d.late && d.may() {
		items = append(items, obj{"role": "system", "content": d.words()})
	} else if d.may() {
		items = append(items, obj{"role": "user", "content": d.messagesText(false)})
	}
	for range d.IntN(3) {
		var answer, results arr
		if d.thinks && d.may() {
			answer = append(answer, obj{"type": "thinking", "thinking": d.one("", "hm"), "signature": signature(d.IntN(9))})
		}
		if d.may() {
			answer = append(answer, obj{"type": "text", "text": d.words()})
		}
		if d.may() {
			id := d.id("srvtoolu_")
			answer = append(answer, obj{"type": "server_tool_use", "id": id, "name": "web_search", "input": obj{"query": "q"}}, obj{"type": "web_search_tool_result", "tool_use_id": id, "content": arr{}})
		}
		for range 1 + d.IntN(2) {
			id := d.id("toolu_")
			answer = append(answer, d.extra(obj{"type": "tool_use", "id": id, "name": "read", "input": obj{"n": 1}}))
			result := obj{"type": "tool_result", "tool_use_id": id}
			if d.IntN(6) > 0 {
				result["content"] = d.messagesText(true)
			}
			if d.may() {
				result["is_error"] = false
			}
			results = append(results, result)
		}
		if d.may() {
			slices.Reverse(results)
			results = append(results, obj{"type": "text", "text": d.words()})
		}
		items = append(items, obj{"role": "assistant", "content": answer}, obj{"role": "user", "content": results})
	}
	return append(items, obj{"role": "assistant", "content": d.words()})
}

func (d *draw) responsesTurn() arr {
	items := arr{d.extra(obj{"role": "user", "content": d.words()})}
	if d.may() {
		items = append(items, obj{"type": "message", "role": d.one("user", "developer", "system"), "content": arr{obj{"type": "input_text", "text": d.words()}}})
	}
	for range d.IntN(4) {
		if d.may() {
			items = append(items, obj{"type": "reasoning", "id": d.id("rs_"), "summary": arr{}, "encrypted_content": signature(d.IntN(9))})
		}
		id := d.id("call_")
		pair := func(call obj, kind string, member string, output any) {
			call["call_id"] = id
			items = append(items, d.extra(call), d.extra(obj{"type": kind, "call_id": id, member: output}))
		}
		switch d.IntN(8) {
		case 0:
			pair(obj{"type": "custom_tool_call", "name": "patch", "input": d.words()}, "custom_tool_call_output", "output", d.words())
		case 1:
			pair(obj{"type": "tool_search_call", "execution": "client", "arguments": obj{}}, "tool_search_output", "tools", arr{})
		case 2:
			pair(obj{"type": "shell_call", "action": obj{"commands": arr{"ls"}}}, "shell_call_output", "output", arr{obj{"stdout": d.words(), "stderr": "", "outcome": obj{"type": "exit", "exit_code": 0}}})
		case 3:
			pair(obj{"type": "computer_call", "id": d.id("cu_"), "status": "completed", "pending_safety_checks": arr{}, "action": obj{"type": "screenshot"}}, "computer_call_output", "output", obj{"type": "computer_screenshot", "image_url": "data:image/png;base64," + smallPicture})
		case 4:
			items = append(items, obj{"type": d.one("web_search_call", "image_generation_call", "mcp_call", "dream"), "id": d.id("ws_"), "status": "completed"})
		case 5:
			items = append(items, obj{"type": "local_shell_call", "id": d.id("lsh_"), "call_id": id, "status": "completed", "action": obj{"type": "exec", "command": arr{"ls"}, "env": obj{}}}, obj{"type": "local_shell_call_output", "id": id, "output": d.words()})
		case 6:
			pair(obj{"type": "apply_patch_call", "status": "completed", "operation": obj{"type": "delete_file", "path": "b"}}, "apply_patch_call_output", "status", "completed")
		default:
			var out any = d.words()
			if d.may() {
				out = arr{obj{"type": "input_image", "image_url": "data:image/png;base64," + smallPicture}}
			}
			pair(obj{"type": "function_call", "name": "read", "arguments": "{}"}, "function_call_output", "output", out)
		}
	}
	return append(items, obj{"type": "message", "role": "assistant", "content": arr{obj{"type": "output_text", "text": d.words(), "annotations": arr{}}}})
}

func (d *draw) responsesEnd() arr {
	if d.may() {
		return arr{obj{"type": "compaction_trigger"}}
	}
	return arr{obj{"role": "user", "content": d.words()}}
}

var (
	smallPicture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	words        = regexp.MustCompile(`(message|answers?|tokens?|item) \d+|"[^"]*"|\d+`)
)

// Requests that are valid by the references, made at random, arrive as they were sent.
func TestValidRequestsPass(t *testing.T) {
	t.Parallel()
	for format, names := range models {
		if format[0] == '@' {
			continue
		}
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			wrong, example := map[string]int{}, map[string]string{}
			cases := map[bool]int{false: 200, true: 20_000}[soak.Enabled()]
			for seed := range uint64(cases) {
				name := names[seed%uint64(len(names))]
				d := draw{Rand: rand.New(rand.NewPCG(seed, 41)), format: format}
				d.lax = slices.Contains(models["@lax"], name)
				d.thinks = !slices.Contains([]string{"claude-sonnet-4-5", "glm-5.3"}, name)
				d.late = slices.Contains(models["@new"], name)
				body := write(d.request(name))
				c := newClient(&provider{}, fit.New(fit.Options{}))
				status, _ := c.send(t, path(format, name, false), body)
				harm := c.harm(body)
				if status == 200 && harm == "" {
					continue
				}
				kind := "other bytes, without an event"
				for _, e := range c.events {
					if e.Kind != "called" && e.Kind != "notice" {
						kind = words.ReplaceAllString(fmt.Sprintf("%s: %s", e.Kind, e.Why), "…")
					}
				}
				wrong[kind]++
				if example[kind] == "" || len(body) < len(example[kind]) {
					example[kind] = body
				}
			}
			for _, kind := range slices.Sorted(maps.Keys(wrong)) {
				t.Errorf("%d of %d, expected the same bytes: %s\nthe shortest: %.1500s", wrong[kind], cases, kind, example[kind])
			}
		})
	}
}

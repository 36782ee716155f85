package shapes

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// strict is a server behind an alias. It has a rule that the name of the model does not tell.
type strict struct {
	format string
	no     refusal
	start  arr
	round  func(i int) arr // what the conversation grows by
	end    arr             // what each request ends with, and the next one does not have
	breaks func(items arr) bool
}

func say(role string, content any) obj { return obj{"role": role, "content": content} }

func call(id string) obj {
	return obj{"role": "assistant", "tool_calls": arr{obj{"id": id, "type": "function", "function": obj{"name": "read", "arguments": "{}"}}}}
}

func result(id string, content any) obj {
	return obj{"role": "tool", "tool_call_id": id, "content": content}
}

func mark(i int) any { return fmt.Sprintf("mark-%02d", i) }

func round(i int) arr { return with("call_%02d", mark)(i) }

// breaking is round, and more in each third one.
func breaking(more ...any) func(i int) arr {
	return func(i int) arr {
		if i%3 != 2 {
			return round(i)
		}
		return append(round(i), more...)
	}
}

// with is a call with its result, an answer, and the next question.
func with(id string, content func(i int) any) func(i int) arr {
	return func(i int) arr {
		own := fmt.Sprintf(id, i)
		return arr{call(own), result(own, content(i)), say("assistant", "Read."), say("user", "Go on.")}
	}
}

// some reports whether f is true of one of the items.
func some(f func(o obj) bool) func(items arr) bool {
	return func(items arr) bool { return slices.ContainsFunc(items, func(v any) bool { return f(obj0(v)) }) }
}

// alternates is the rule of the templates of Mistral and Gemma: questions and answers in turn, calls and results aside.
func alternates(items arr) bool {
	n := 0
	return slices.ContainsFunc(items, func(v any) bool {
		o := obj0(v)
		if o["role"] == "tool" || o["tool_calls"] != nil || o["role"] == "system" {
			return false
		}
		n++
		return (o["role"] == "user") != (n%2 == 1)
	})
}

// lateSystem is the rule of Qwen's template.
func lateSystem(items arr) bool {
	return slices.ContainsFunc(items[1:], func(v any) bool { return at(v, "role") == "system" || at(v, "role") == "developer" })
}

func neighbours(items arr) bool {
	for i := range items[1:] {
		if at(items[i], "role") == at(items[i+1], "role") {
			return true
		}
	}
	return false
}

// badID reports whether a call or a result has an ID that is not of a form.
func badID(form string) func(items arr) bool {
	good := regexp.MustCompile(form)
	return some(func(o obj) bool {
		id := text(o["tool_call_id"])
		if calls := list(o["tool_calls"]); len(calls) > 0 {
			id = text(at(calls[0], "id"))
		}
		return id != "" && !good.MatchString(id)
	})
}

func hasPart(kind string) func(o obj) bool {
	return func(o obj) bool {
		return slices.ContainsFunc(list(o["content"]), func(p any) bool { return at(p, "type") == kind })
	}
}

const (
	jinja     = `\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n                                           ^\nError: Jinja Exception: System message must be at the beginning.`
	alternate = `Conversation roles must alternate user/assistant/user/assistant/...`
)

// servers have texts of refusals as public reports have them; the comment names who says so.
func servers() map[string]strict {
	chat := arr{say("system", "s"), say("user", "Read all.")}
	claude := func(i int) arr {
		id := fmt.Sprintf("toolu_%02d", i)
		return arr{say("assistant", arr{obj{"type": "tool_use", "id": id, "name": "read", "input": obj{}}}), say("user", arr{obj{"type": "tool_result", "tool_use_id": id, "content": mark(i)}}), say("assistant", "Read."), say("user", "Go on.")}
	}
	alternating := strict{"chat", refusal{400, `{"error":{"message":"` + alternate + ` ` + alternate + `","type":"BadRequestError","param":null,"code":400}}`}, chat, breaking(say("user", "And quickly.")), nil, alternates}
	framed := alternating
	framed.no = refusal{200, `data: {"error":{"object":"error","message":"` + alternate + `","type":"BadRequestError","param":null,"code":400}}` + "\n\ndata: [DONE]\n\n"}
	return map[string]strict{
		"system first":          {"chat", refusal{400, `{"error":{"code":400,"message":"Unable to generate parser for this template. Automatic parser generation failed: ` + jinja + `","type":"invalid_request_error"}}`}, chat, breaking(say("system", "Be short."), say("user", "Now.")), nil, lateSystem}, // llama.cpp
		"system first, as 500":  {"chat", refusal{500, `{"error":{"code":500,"message":"` + jinja + `","type":"server_error"}}`}, chat, breaking(say("system", "Be short."), say("user", "Now.")), nil, lateSystem},                                                                                           // llama.cpp of old, Ollama
		"refused in the stream": framed,
		"roles alternate":       alternating, // vLLM
		"no two answers at the end": {
			"chat",
			refusal{400, `{"error":{"code":400,"message":"Cannot have 2 or more assistant messages at the end of the list.","type":"invalid_request_error"}}`},
			chat, round,
			arr{say("assistant", "I think"), say("assistant", "that")},
			func(items arr) bool {
				n := len(items)
				return at(items[n-1], "role") == "assistant" && at(items[n-2], "role") == "assistant"
			},
		}, // llama.cpp
		"no empty text": {
			"chat",
			refusal{400, `{"error":{"message":"Invalid request: the message at position 8 with role 'assistant' must not be empty","type":"invalid_request_error"}}`},
			chat, breaking(say("assistant", ""), say("user", "Well?")), nil,
			some(func(o obj) bool {
				return o["role"] == "assistant" && o["tool_calls"] == nil && (o["content"] == nil || o["content"] == "")
			}),
		}, // Moonshot
		"IDs of nine":   {"chat", refusal{400, `{"object":"error","message":"Tool call id was call_02 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`}, chat, round, nil, badID(`^[a-zA-Z0-9]{9}$`)}, // Mistral
		"IDs of Claude": {"chat", refusal{400, `{"error":{"message":"litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'\"}}","type":null,"param":null,"code":"400"}}`}, chat, with("functions.read:%d", mark), nil, badID(`^[a-zA-Z0-9_-]+$`)},
		"texts are strings": {
			"chat",
			refusal{422, `Failed to deserialize the JSON body into the target type: messages[3]: invalid type: sequence, expected a string at line 1 column 514`},
			chat,
			with("call_%02d", func(i int) any { return arr{obj{"type": "text", "text": mark(i)}} }), nil, some(func(o obj) bool { _, is := o["content"].(arr); return is }),
		}, // servers in Rust
		"no names": {
			"chat",
			refusal{400, `{"error":{"message":"'messages.1' : for 'role:user' the following must be satisfied[('messages.1' : property 'name' is unsupported)]","type":"invalid_request_error"}}`},
			arr{obj{"role": "user", "name": "kim", "content": "Read all."}},
			round, nil,
			some(func(o obj) bool { return o["name"] != nil }),
		}, // Groq
		"no pictures in results": {
			"chat",
			refusal{400, `{"error":{"message":"Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.","type":"invalid_request_error","param":"messages[3]","code":"invalid_value"}}`},
			chat,
			with("call_%02d", func(i int) any {
				return arr{obj{"type": "text", "text": mark(i)}, obj{"type": "image_url", "image_url": obj{"url": "data:image/png;base64," + smallPicture}}}
			}), nil, some(func(o obj) bool { return o["role"] == "tool" && hasPart("image_url")(o) }),
		}, // OpenAI
		"a user begins": {
			"chat",
			refusal{400, `{"error":{"message":"litellm.BadRequestError: BedrockException - {\"message\":\"A conversation must start with a user message. Try again with a conversation that starts with a user message.\"}","type":null,"param":null,"code":"400"}}`},
			arr{say("system", "s"), say("assistant", "How can I help?"), say("user", "Read all.")},
			round, nil,
			func(items arr) bool {
				return at(slices.DeleteFunc(slices.Clone(items), func(v any) bool { return at(v, "role") == "system" })[0], "role") != "user"
			},
		}, // Bedrock
		"results follow their call": {"chat", refusal{400, `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_02","type":"invalid_request_error","param":"messages.[3].role","code":null}}`}, chat, func(i int) arr {
			r := round(i)
			return arr{r[0], say("user", "(approved)"), r[1], r[2], r[3]}
		}, nil, func(items arr) bool {
			for i, v := range items {
				if at(v, "tool_calls") != nil && at(items[i+1], "role") != "tool" {
					return true
				}
			}
			return false
		}}, // OpenAI
		"known parts": {"chat", refusal{400, `{"error":{"message":"Invalid value: 'video_url'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.","type":"invalid_request_error","param":"messages[1].content[0].type","code":"invalid_value"}}`}, arr{say("user", arr{obj{"type": "text", "text": "See"}, obj{"type": "video_url", "video_url": obj{"url": "https://v.example/1.mp4"}}})}, round, nil, some(hasPart("video_url"))}, // OpenAI
		"Messages without system": {
			"messages",
			refusal{422, `{"detail":[{"type":"literal_error","loc":["body","messages",1,"role"],"msg":"Input should be 'user' or 'assistant'","input":"system","ctx":{"expected":"'user' or 'assistant'"}}]}`},
			arr{say("user", "Read all."), say("system", "Agents: explorer.")},
			claude, nil,
			some(func(o obj) bool { return o["role"] == "system" }),
		}, // Z.ai
		"Messages in turn": {"messages", refusal{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row"}}`}, arr{say("user", "Read all."), say("user", "Now.")}, claude, nil, neighbours}, // Anthropic of old
		"Responses with a template": {"responses", refusal{400, `{"error":{"code":400,"message":"Unable to generate parser for this template. Automatic parser generation failed: ` + jinja + `","type":"invalid_request_error"}}`}, arr{say("developer", "d"), say("user", "Read all.")}, func(i int) arr {
			id := fmt.Sprintf("call_%02d", i)
			return arr{obj{"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}, obj{"type": "function_call_output", "call_id": id, "output": mark(i)}, say("assistant", "Read."), say("developer", "Be short."), say("user", "Go on.")}
		}, nil, lateSystem}, // Codex before llama.cpp
		"Gemini in turn": {"gemini", refusal{400, `{"error":{"code":400,"message":"Please ensure that multiturn requests alternate between user and model.","status":"INVALID_ARGUMENT"}}`}, arr{obj{"role": "user", "parts": arr{obj{"text": "Read all."}}}, obj{"role": "user", "parts": arr{obj{"text": "Now."}}}}, func(i int) arr {
			return arr{obj{"role": "model", "parts": arr{obj{"functionCall": obj{"name": "read", "args": obj{}}, "thoughtSignature": signature(i)}}}, obj{"role": "user", "parts": arr{obj{"functionResponse": obj{"name": "read", "response": obj{"output": mark(i)}}}}}}
		}, nil, neighbours}, // Gemini of old
	}
}

func (s *strict) body(name string, items arr, stream bool) string {
	items = append(slices.Clone(items), s.end...)
	o := obj{"model": name, "messages": items, "stream": stream}
	switch s.format {
	case "messages":
		o["max_tokens"] = 1000
	case "responses":
		o = obj{"model": name, "input": items, "stream": stream}
	case "gemini":
		o = obj{"contents": items}
	}
	return write(o)
}

func (s *strict) refuse(body obj) *refusal {
	for _, member := range []string{"messages", "input", "contents"} {
		if items := list(body[member]); len(items) > 0 && s.breaks(items) {
			return &s.no
		}
	}
	return nil
}

// A server refuses the first request that breaks its rule; the client sees neither this refusal nor another one.
func TestStrictServersRefuseOnce(t *testing.T) {
	t.Parallel()
	for title, s := range servers() {
		for _, stream := range []bool{false, true} {
			if s.no.status == 200 && !stream {
				continue
			}
			t.Run(fmt.Sprint(title, ", streamed ", stream), func(t *testing.T) {
				t.Parallel()
				to, items, broken := &provider{refuse: s.refuse}, s.start, 0
				c := newClient(to, fit.New(fit.Options{}))
				for i := range 30 {
					items = append(items, s.round(i)...)
					body, before := s.body("team-default", items, stream), to.refused
					if s.refuse(parse(body).(obj)) != nil {
						broken++
					}
					status, got := c.send(t, path(s.format, "team-default", stream), body)
					require.Equal(t, 200, status, "call %d: expected an answer in spite of the rule: %s", i, got)
					require.Contains(t, got, "Done.", "call %d: expected an answer in spite of the rule", i)
					require.LessOrEqual(t, to.refused, 1, "call %d: a rule is learned from one refusal", i)
					if to.refused > before {
						require.True(t, slices.ContainsFunc(c.events, func(e middleware.Event) bool { return e.Kind != middleware.Called && e.Why != "" }), "call %d: expected an event that names the rule", i)
					}
				}
				require.Greater(t, broken, 20, "the conversation breaks the rule")
				for i := range 30 {
					require.Contains(t, to.sent[len(to.sent)-1], mark(i), "what the tools have returned is still sent")
				}
				to.refuse = nil
				other := s.body("other-team", items, stream)
				c.send(t, path(s.format, "other-team", stream), other)
				if title != "results follow their call" {
					sent := to.sent[len(to.sent)-1]
					require.True(t, sent == other, "the rule is remembered for the model that has it: %s", difference(other, sent)) //nolint:testifylint // shorter than both
				}
			})
		}
	}
}

// What is not about structure comes to the client as it is, and is asked once.
func TestOtherRefusalsGoToTheClient(t *testing.T) {
	t.Parallel()
	s := servers()["roles alternate"]
	for _, no := range []refusal{
		{400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
		{400, `{"error":{"message":"Invalid schema for function 'read': In context=(), 'additionalProperties' is required to be supplied and to be false.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`},
		{401, `{"error":{"message":"Incorrect API key provided: the user role must be set.","type":"authentication_error"}}`},
		{429, `{"error":{"message":"Rate limit reached for messages by role user.","type":"rate_limit_error"}}`},
		{500, `{"error":{"message":"The server had an error while processing your request.","type":"server_error"}}`},
	} {
		c := newClient(&provider{refuse: func(obj) *refusal { return &no }}, fit.New(fit.Options{}))
		body := s.body("team-default", append(s.start, say("user", "Now.")), false)
		status, got := c.send(t, path("chat", "", false), body)
		require.Equal(t, fmt.Sprint(no), fmt.Sprint(refusal{status, got}), "the refusal of the provider")
		require.Len(t, c.to.sent, 1, "one request for %s", no.body)
		require.Empty(t, c.harm(body), "as the client has written it")
	}
}

// A server that refuses the strict form as well is asked no more than twice a call, and its words reach the client.
func TestNetHasAnEnd(t *testing.T) {
	t.Parallel()
	s := servers()["roles alternate"]
	c := newClient(&provider{refuse: func(obj) *refusal { return &s.no }}, fit.New(fit.Options{}))
	items := append(slices.Clone(s.start), say("user", "Now."))
	for i := range 3 {
		items = append(items, round(i)...)
		status, got := c.send(t, path("chat", "", false), s.body("team-default", items, false))
		require.Equal(t, []any{400, s.no.body}, []any{status, got})
		require.LessOrEqual(t, len(c.to.sent), 2*(i+1))
	}
}

package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// wire draws JSON as nobody would write it, and somebody does.
type wire struct{ t *rapid.T }

func (w wire) space() string {
	return rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "}).Draw(w.t, "space")
}

func (w wire) text() string {
	return rapid.SampledFrom([]string{`""`, `"a"`, `"\u0041\/b"`, `"<b>&é😀"`, `"\ud800"`, `"{\"x\": [1]}"`, `"]}"`, `"\\"`, `"  "`}).Draw(w.t, "text")
}

func (w wire) any() string {
	return rapid.SampledFrom([]string{"1.0", "-2E+05", "null", "true", `"x"`, "[ ]", `{"a" : [1,{"b":"]"}]}`, "12345678901234567890"}).Draw(w.t, "any")
}

func (w wire) bool(name string) bool { return rapid.Bool().Draw(w.t, name) }

// object writes members in any order, with some that nobody knows.
func (w wire) object(members ...[2]string) string {
	for i := range rapid.IntRange(0, 2).Draw(w.t, "unknown") {
		members = append(members, [2]string{fmt.Sprintf(`"x%d"`, i), w.any()})
	}
	members = rapid.Permutation(members).Draw(w.t, "order")
	var items []string
	for _, m := range members {
		items = append(items, m[0]+w.space()+":"+w.space()+m[1])
	}
	return "{" + w.list(items) + "}"
}

func (w wire) list(items []string) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(w.space() + item + w.space())
	}
	if len(items) == 0 {
		b.WriteString(w.space())
	}
	return b.String()
}

func (w wire) content() string {
	switch rapid.IntRange(0, 4).Draw(w.t, "content") {
	case 0:
		return "null"
	case 1, 2:
		return w.text()
	}
	var parts []string
	for range rapid.IntRange(0, 3).Draw(w.t, "parts") {
		switch rapid.IntRange(0, 3).Draw(w.t, "part") {
		case 0:
			parts = append(parts, w.object([2]string{`"type"`, `"image_url"`}, [2]string{`"image_url"`, w.object([2]string{`"url"`, w.text()})}))
		case 1:
			parts = append(parts, w.object([2]string{`"type"`, `"hologram"`}))
		default:
			parts = append(parts, w.object([2]string{`"type"`, `"text"`}, [2]string{`"text"`, w.text()}))
		}
	}
	return "[" + w.list(parts) + "]"
}

func (w wire) message() string {
	members := [][2]string{}
	if w.bool("with content") {
		members = append(members, [2]string{`"content"`, w.content()})
	}
	role := rapid.SampledFrom([]string{"system", "developer", "user", "assistant", "tool"}).Draw(w.t, "role")
	switch role {
	case "tool":
		members = append(members, [2]string{`"tool_call_id"`, w.text()})
	case "assistant":
		if w.bool("thinking") {
			members = append(members, [2]string{`"reasoning_content"`, w.text()})
		}
		if w.bool("refusal") {
			members = append(members, [2]string{`"refusal"`, w.text()})
		}
		var calls []string
		for range rapid.IntRange(0, 3).Draw(w.t, "calls") {
			call := [2]string{`"function"`, w.object([2]string{`"name"`, w.text()}, [2]string{`"arguments"`, w.text()})}
			calls = append(calls, w.object([2]string{`"id"`, w.text()}, [2]string{`"type"`, `"function"`}, call))
		}
		members = append(members, [2]string{`"tool_calls"`, "[" + w.list(calls) + "]"})
	}
	return w.object(append(members, [2]string{`"role"`, `"` + role + `"`})...)
}

func (w wire) conversation() string {
	var msgs []string
	for range rapid.IntRange(0, 5).Draw(w.t, "messages") {
		msgs = append(msgs, w.message())
	}
	list := "[" + w.list(msgs) + "]"
	if w.bool("bare") {
		return w.space() + list + w.space()
	}
	return w.space() + w.object([2]string{`"messages"`, list}) + w.space()
}

func TestReadAndWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := wire{t}.conversation()
		c, err := openai.Parse([]byte(in))
		require.NoError(t, err, "%s", in)
		out, err := c.JSON(c.Messages)
		require.NoError(t, err)
		require.Equal(t, in, string(out), "every byte is as it was")
		for i, m := range c.History() {
			same, err := c.Messages[i].With(m)
			require.NoError(t, err)
			require.Equal(t, c.Messages[i].String(), same.String())
		}
	})
}

// flat returns the texts of a message together, and the parts that are none: several texts may be one.
func flat(m message.Message) (text string, rest []message.Part) {
	for _, p := range m.Parts {
		r, isResult := p.(message.ToolResult)
		t, isText := p.(message.Text)
		switch {
		case isText:
			text += t.Text + "\n"
		case isResult && r.Content == nil:
			text += r.Text + "\n"
		default:
			rest = append(rest, p)
		}
	}
	return text, rest
}

// TestEditParts leaves parts out and adds some; the message then says so.
func TestEditParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, err := openai.CheckMessage([]byte(wire{t}.message()))
		require.NoError(t, err)
		now := m.Message()
		var parts []message.Part
		for _, p := range now.Parts {
			if _, thinking := p.(message.Thinking); thinking || rapid.IntRange(0, 3).Draw(t, "stay") > 0 {
				parts = append(parts, p)
			}
			switch p := p.(type) {
			case message.Text:
				parts = append(parts, message.Text{Text: "more"})
			case message.ToolResult:
				parts = append(parts, message.ToolResult{CallID: p.CallID, Text: "more"})
			case message.ToolCall:
				parts = append(parts, message.ToolCall{ID: "more", Name: "more", Arguments: "{}"})
			case message.Thinking, message.Media, message.Opaque:
			}
		}
		if now.Role == message.RoleTool && len(parts) == 0 {
			return
		}
		now.Parts = parts
		e, err := m.With(now)
		require.NoError(t, err)
		text, rest := flat(now)
		gotText, gotRest := flat(e.Message())
		require.Equal(t, text, gotText, "%s\n%s", m, e)
		require.Equal(t, rest, gotRest, "%s\n%s", m, e)
		fresh, err := openai.New(now)
		require.NoError(t, err)
		if now.Text() != "" {
			require.Equal(t, message.Internals(inside.Key{}).JoinTexts(now).Text(), fresh.Message().Text())
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
		`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]}]`,
		`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]`, `[{"a":[{"b":1,"b":2}]}]`, "\ufeff[ ]\n",
		`[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"\u00e9"}}],"refusal":"no","audio":{},"reasoning_content":"x"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := openai.Parse(data)
		if err != nil {
			return
		}
		out, err := c.JSON(c.Messages)
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(string(data), "\ufeff"), string(out), "every byte is as it was")
		half, err := c.JSON(c.Messages[len(c.Messages)/2:])
		require.NoError(t, err)
		require.True(t, json.Valid(half))
		for i, m := range c.History() {
			for k, p := range m.Parts {
				now := m
				now.Parts = slices.Clone(m.Parts)
				switch p := p.(type) {
				case message.Text:
					now.Parts[k] = message.Text{Text: p.Text + "!"}
				case message.ToolResult:
					if p.Content == nil {
						p.Text += "!"
						now.Parts[k] = p
					}
				case message.Thinking, message.Media, message.ToolCall, message.Opaque:
				}
				e, err := c.Messages[i].With(now)
				require.NoError(t, err)
				require.True(t, now.Equal(e.Message()), "%s", e)
			}
		}
	})
}

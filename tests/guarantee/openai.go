package guarantee

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// AskOpenAI returns what a strict server of OpenAI chat completions says of a
// list; nil: it takes it. It knows nothing of package message. What the wire has
// no field for is left out, as an adapter leaves it out: sealed thinking, empty
// texts, bytes that are no text, media of
// no type or address. In order is whether the server wants the results of a
// message in the order of its calls.
func AskOpenAI(msgs []message.Message, inOrder bool) error {
	var wire []openai.Message
	for i, m := range msgs {
		for _, one := range byCall(m) {
			if one.Parts = onWire(one); len(one.Parts) == 0 {
				continue
			}
			w, err := openai.New(one)
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			wire = append(wire, w)
		}
	}
	if len(wire) == 0 {
		return nil // there is nothing that could be said on this wire
	}
	body, err := json.Marshal(map[string]any{"model": servedModel, "messages": wire})
	if err != nil {
		return err
	}
	r, err := fakeprovider.Parse(body)
	if err != nil {
		return err
	}
	return r.Check(fakeprovider.Options{Models: map[string]int{servedModel: unbounded}, Lenient: !inOrder})
}

const (
	servedModel = "gpt-4o"
	unbounded   = 1 << 50 // tokens: whether it fits is asked elsewhere
)

// onWire returns the parts that the wire has a field for, calls last.
func onWire(m message.Message) []message.Part {
	var said, calls []message.Part
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			if p.Text != "" {
				said = append(said, message.Text{Text: readable(p.Text)})
			}
		case message.ToolCall:
			p.Arguments = readable(p.Arguments)
			calls = append(calls, p)
		case message.ToolResult:
			p.Text = readable(p.Text)
			if p.Text != "" || p.Content != nil {
				said = append(said, p)
			}
		case message.Media:
			if p.Data != "" && p.Type != "" || strings.HasPrefix(p.URL, "https://") {
				said = append(said, p)
			}
		case message.Thinking, message.Opaque:
		}
	}
	if len(said) == 0 && m.Role == message.RoleTool {
		return m.Parts[:1] // a result that says nothing is one all the same
	}
	return append(said, calls...)
}

// readable puts a sign in place of what is not UTF-8, as encoding/json does.
func readable(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// byCall cuts a tool message into one for each call, as the wire has it.
func byCall(m message.Message) []message.Message {
	if m.Role != message.RoleTool {
		return []message.Message{m}
	}
	var ids []string
	for r := range m.Results() {
		if !slices.Contains(ids, r.CallID) {
			ids = append(ids, r.CallID)
		}
	}
	var out []message.Message
	for _, id := range ids {
		one := message.Message{Role: message.RoleTool}
		for r := range m.Results() {
			if r.CallID == id {
				one.Parts = append(one.Parts, r)
			}
		}
		out = append(out, one)
	}
	return out
}

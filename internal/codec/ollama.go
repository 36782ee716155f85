package codec

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// ollama is /api/chat of Ollama. It declares tools as chat completions do. IDs are optional: a call without one gets one that
// is never written, and a result without one belongs to the first open call of its tool, or to the first one if it names no
// tool.
type ollama struct{ chat }

func (ollama) read(r *reader, raw string) error {
	o, err := object(raw)
	if err != nil {
		return err
	}
	word, err := o.Word("role", true)
	if err != nil {
		return err
	}
	role, ok := roles[word]
	if !ok {
		return jsonedit.Faultf("role", "is %q, want system, user, assistant or tool", word)
	}
	var parts []message.Part
	if role == message.RoleTool {
		parts, err = r.readToolMessage(o)
	} else {
		parts, err = readOllama(o)
	}
	r.item(role).add(raw, parts...)
	return err
}

// readOllama reads thinking, content, images and calls of a message.
func readOllama(o jsonedit.Object) (parts []message.Part, err error) {
	thinking, err := o.Text("thinking", false)
	if err != nil {
		return nil, err
	}
	if thinking != "" {
		parts = append(parts, message.Thinking{Text: thinking})
	}
	text, err := o.Text("content", false)
	if err != nil {
		return nil, err
	}
	if text != "" {
		parts = append(parts, message.Text{Text: text})
	}
	images, err := readImages(o)
	if err != nil {
		return nil, err
	}
	parts = append(parts, images...)
	err = o.Each("tool_calls", "calls", func(raw string) error {
		call, err := object(raw)
		if err != nil {
			return err
		}
		function, err := call.Object("function")
		if err != nil {
			return err
		}
		c := message.ToolCall{ID: textOf(call, "id"), Arguments: "{}"}
		c.Name, err = function.Text("name", true)
		if err != nil {
			return jsonedit.In("function", err)
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s%s:%d", unnamed, c.Name, len(parts))
		}
		if raw := function.Get("arguments"); !jsonedit.Absent(raw) {
			arguments, err := function.Object("arguments")
			if err != nil {
				return jsonedit.In("function", err)
			}
			c.Arguments = strings.Clone(arguments.Raw)
		}
		parts = append(parts, c)
		return nil
	})
	return parts, err
}

// readImages reads the images of a message: data without a type.
func readImages(o jsonedit.Object) (images []message.Part, err error) {
	err = o.Each("images", "texts", func(raw string) error {
		if raw[0] != '"' {
			return jsonedit.Faultf("", "is %s, want a string", jsonedit.KindOf(raw))
		}
		data, err := base64.StdEncoding.DecodeString(jsonscan.Unquote(raw))
		if err != nil {
			return jsonedit.Faultf("", "is not base64: %v", err)
		}
		images = append(images, message.Media{Type: "image/*", Data: string(data)})
		return nil
	})
	return images, err
}

// readToolMessage reads a result.
func (r *reader) readToolMessage(o jsonedit.Object) ([]message.Part, error) {
	text, err := o.Text("content", false)
	if err != nil {
		return nil, err
	}
	images, err := readImages(o)
	if err != nil {
		return nil, err
	}
	result := message.ToolResult{CallID: textOf(o, "tool_call_id"), Name: textOf(o, "tool_name")}
	if result.CallID == "" {
		result.CallID = r.called(result.Name)
	}
	return resultsOf(result, append([]message.Part{message.Text{Text: text}}, images...)), nil
}

func (ollama) write(m message.Message, base string, was []message.Part) (string, error) {
	o := based(base, `{"role":"`+string(m.Role)+`","content":""}`)
	now, old := m.Parts, was
	if m.Role == message.RoleTool {
		id, name, _, content := contentOf(now)
		oldID, _, _, before := contentOf(old)
		now, old = content, before
		if id != oldID && !strings.HasPrefix(id, unnamed) { // new, or renamed by a repair
			o = o.Set("tool_call_id", jsonedit.Quote(id))
		}
		if base == "" && name != "" {
			o = o.Set("tool_name", jsonedit.Quote(name))
		}
	}
	is, before := splitParts(now), splitParts(old)
	var err error
	if is.text != before.text {
		o, err = o.SetText("content", is.text)
		if err != nil {
			return "", err
		}
	}
	if is.thinking != before.thinking {
		o, err = o.SetOrRemove("thinking", is.thinking)
		if err != nil {
			return "", err
		}
	}
	o, err = setList(o, "images", is.images, before.images, writeImage)
	if err != nil {
		return "", err
	}
	o, err = setList(o, "tool_calls", is.calls, before.calls, writeOllamaCall)
	if err != nil {
		return "", err
	}
	if len(is.rest) > 0 {
		return "", unsupported(is.rest[0], "Ollama")
	}
	return o.Raw, nil
}

// split are parts by the members that have them.
type split struct {
	text, thinking      string
	images, calls, rest []message.Part
}

func splitParts(parts []message.Part) (s split) {
	var texts, thoughts []string
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			texts = append(texts, p.Text)
		case message.Thinking:
			thoughts = append(thoughts, p.Text)
		case message.Media:
			s.images = append(s.images, p)
		case message.ToolCall:
			s.calls = append(s.calls, p)
		case message.ToolResult, message.Opaque:
			s.rest = append(s.rest, p)
		}
	}
	s.text, s.thinking = strings.Join(texts, "\n"), strings.Join(thoughts, "\n")
	return s
}

// setList sets a member to a list of parts, of which those that are the same stay as they are; without any it is removed.
func setList(
	o jsonedit.Object, name string, now, was []message.Part, write func(p message.Part, base string) (string, error),
) (jsonedit.Object, error) {
	if slices.Equal(now, was) {
		return o, nil
	}
	raw := o.Get(name)
	var raws []string
	if !jsonedit.Absent(raw) {
		raws = list(raw)
	}
	items, err := rewrite(now, was, raws, write)
	if len(items) == 0 || err != nil {
		return o.Remove(name), jsonedit.In(name, err)
	}
	return o.Set(name, array(raw, items)), nil
}

func writeImage(p message.Part, _ string) (string, error) {
	m, ok := p.(message.Media)
	if !ok || m.URL != "" || !strings.HasPrefix(m.Type, "image/") {
		return "", jsonedit.Faultf("", "is no image with its data, which is the only medium that Ollama has")
	}
	return `"` + base64.StdEncoding.EncodeToString([]byte(m.Data)) + `"`, nil
}

func writeOllamaCall(p message.Part, base string) (string, error) {
	c, ok := p.(message.ToolCall)
	if !ok || !jsonscan.IsObject(c.Arguments) {
		return "", jsonedit.Faultf("function.arguments", "is not a JSON object, want one")
	}
	o := based(base, `{"function":{"name":`+jsonedit.Quote(c.Name)+`}}`)
	if c.ID != "" && !strings.HasPrefix(c.ID, unnamed) {
		o = setText(o, "id", c.ID)
	}
	function := setText(jsonedit.ParseObject(o.Get("function")), "name", c.Name)
	if args := function.Get("arguments"); !jsonedit.Absent(args) || c.Arguments != "{}" || base == "" {
		function = function.Set("arguments", c.Arguments)
	}
	return o.Set("function", function.Raw).Raw, nil
}

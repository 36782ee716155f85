package codec

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// responses is OpenAI Responses. The items of an answer that follow each other are one assistant message: calls of the
// provider's tools are opaque there, so they leave together with the calls after them.
type responses struct{}

func (responses) prompt(raw string) (*Item, error) {
	if raw[0] != '"' {
		return nil, jsonedit.Faultf("", "is %s, want a string", jsonedit.KindOf(raw))
	}
	return &Item{role: message.RoleSystem, parts: []message.Part{message.Text{Text: jsonscan.Text(raw)}}}, nil
}

func (x responses) read(r *reader, raw string) error {
	if raw[0] == '"' {
		r.item(message.RoleUser).add(raw, message.Text{Text: jsonscan.Text(raw)})
		return nil
	}
	o, err := object(raw)
	if err != nil {
		return err
	}
	kind := wordOf(o, "type")
	switch {
	case kind == "message" || kind == "" && o.Get("role") != "":
		return x.readMessage(r, o)
	case kind == "reasoning", kind == "item_reference" && strings.HasPrefix(wordOf(o, "id"), "rs_"): // it leaves with its call
		r.answer().add(raw, readReasoning(o))
		return nil
	}
	p, isCall, id := pairOf(o)
	switch {
	case p == nil || id == "" && !p.plain():
		r.readOther(kind, raw)
	case isCall && p.plain():
		var c message.ToolCall
		c, err = readFunctionCall(o, kind)
		if err == nil {
			r.answer().add(raw, c)
		}
	case isCall:
		r.answer().add(raw, message.ToolCall{ID: id, Name: p.call, Arguments: strings.Clone(raw)})
	case p.plain():
		return readOutput(r, o)
	default:
		r.readAnswer(p, id, o)
	}
	return err
}

// opaque returns a part in memory of its own.
func opaque(kind, raw string) message.Opaque {
	return message.Opaque{Kind: strings.Clone(kind), Data: strings.Clone(raw)}
}

// answer returns the assistant message that the next item belongs to. What follows a compaction is an answer of its own.
func (r *reader) answer() *Item {
	if n := len(r.items); n > 0 && r.items[n-1].role == message.RoleAssistant {
		last := r.items[n-1]
		if !within.IsCompaction(message.Message{Role: last.role, Parts: last.parts}) {
			return last
		}
	}
	return r.item(message.RoleAssistant)
}

func (responses) readMessage(r *reader, o jsonedit.Object) error {
	role, err := o.Word("role", true)
	if err != nil {
		return err
	}
	parts, err := contentParts(o.Get("content"))
	if err != nil {
		return jsonedit.In("content", err)
	}
	switch role {
	case "assistant":
		it := r.answer()
		for _, p := range it.parts {
			if _, ok := p.(message.ToolCall); ok { // text after a call is not moved
				it.add(o.Raw, opaque("message", o.Raw))
				return nil
			}
		}
		it.add(o.Raw, parts...)
	case "user":
		r.item(message.RoleUser).add(o.Raw, parts...)
	case "system", "developer":
		r.item(message.RoleSystem).add(o.Raw, parts...)
	default:
		return jsonedit.Faultf("role", "is %q, want user, assistant, system or developer", role)
	}
	return nil
}

// contentParts returns the parts of a content, which is a text or a list.
func contentParts(raw string) (parts []message.Part, err error) {
	switch {
	case jsonedit.Absent(raw) || raw == `""`:
		return nil, nil
	case raw[0] == '"':
		return []message.Part{message.Text{Text: jsonscan.Text(raw)}}, nil
	case raw[0] != '[':
		return nil, jsonedit.Faultf("", "is %s, want a string or a list of parts", jsonedit.KindOf(raw))
	}
	err = jsonedit.EachItem("", raw, func(raw string) error {
		o, err := object(raw)
		if err != nil {
			return err
		}
		kind, err := o.Word("type", true)
		if err != nil {
			return err
		}
		p, err := readContent(o, kind)
		parts = append(parts, p)
		return err
	})
	return parts, err
}

func readContent(o jsonedit.Object, kind string) (message.Part, error) {
	switch kind {
	case "input_text", "output_text", "text":
		if a := o.Get("annotations"); !jsonedit.Absent(a) && len(list(a)) > 0 {
			_, err := o.Word("text", true)
			return opaque(kind, o.Raw), err
		}
		text, err := o.Text("text", true)
		return message.Text{Text: text}, err
	case "input_image":
		url := wordOf(o, "image_url")
		if m, ok := fromDataURL(url); ok {
			return m, nil
		}
		if strings.HasPrefix(url, "http") {
			return message.Media{Type: "image/*", URL: strings.Clone(url)}, nil
		}
	case "input_file":
		if m, ok := fromDataURL(wordOf(o, "file_data")); ok {
			m.Name = textOf(o, "filename")
			return m, nil
		}
	}
	return opaque(kind, o.Raw), nil
}

func readFunctionCall(o jsonedit.Object, kind string) (c message.ToolCall, err error) {
	c.ID, err = o.Text("call_id", true)
	if err != nil {
		return c, err
	}
	c.Name, err = o.Text("name", true)
	if err != nil {
		return c, err
	}
	if kind == "custom_tool_call" {
		_, err = o.Text("input", true)
		c.Arguments = `{"input":` + o.Get("input") + `}`
		return c, err
	}
	c.Arguments, err = o.Text("arguments", true)
	return c, err
}

func readOutput(r *reader, o jsonedit.Object) error {
	id, err := o.Text("call_id", true)
	if err != nil {
		return err
	}
	content, err := contentParts(o.Get("output"))
	if err != nil {
		return jsonedit.In("output", err)
	}
	r.item(message.RoleTool).add(o.Raw, resultsOf(message.ToolResult{CallID: id}, content)...)
	return nil
}

func (responses) together(a, b message.Part) bool {
	x, result := a.(message.ToolResult)
	if y, ok := b.(message.ToolResult); ok || result {
		return ok && result && x.CallID == y.CallID
	}
	return isContent(a) && isContent(b)
}

// isContent reports whether a part is in the content of a message, and not an item of its own.
func isContent(p message.Part) bool {
	switch p := p.(type) {
	case message.Text, message.Media:
		return true
	case message.Opaque:
		return strings.HasPrefix(p.Kind, "input_") || p.Kind == "output_text" || p.Kind == "refusal" || isAnswer(p)
	case message.Thinking, message.ToolCall, message.ToolResult:
	}
	return false
}

func (responses) write(m message.Message, base string, was []message.Part) (string, error) {
	switch p := m.Parts[0].(type) {
	case message.ToolResult:
		return writeOutput(m.Parts, base, was)
	case message.ToolCall:
		return writeCall(p, base)
	case message.Opaque:
		if !isContent(p) {
			if !jsonscan.IsObject(p.Data) {
				return "", unsupported(p, "Responses")
			}
			return p.Data, nil
		}
	case message.Thinking:
		return "", unsupported(p, "Responses")
	case message.Text, message.Media:
	}
	if base != "" && base[0] == '"' { // a text in place of the list
		base = `{"role":"user","content":` + base + `}`
	}
	return writeContent(based(base, `{"role":"`+string(m.Role)+`"}`), "content", m.Parts, was, m.Role == message.RoleAssistant)
}

// writeOutput returns the item of a result.
func writeOutput(parts []message.Part, base string, was []message.Part) (string, error) {
	id, _, _, content := contentOf(parts)
	oldID, _, _, old := contentOf(was)
	o := based(base, `{"type":"function_call_output","call_id":`+jsonedit.Quote(id)+`}`)
	if p, _, _ := pairOf(o); p != nil && id != oldID { // a repair has renamed the call
		name := p.outputID
		if o.Get(name) == "" {
			name = p.callID
		}
		o = o.Set(name, jsonedit.Quote(id))
	}
	if slices.Equal(content, old) {
		return o.Raw, nil
	}
	return writeContent(o, "output", content, old, false)
}

// writeContent sets a member to parts, of which those that are the same stay as they are.
func writeContent(o jsonedit.Object, name string, parts, was []message.Part, output bool) (string, error) {
	raw := o.Get(name)
	if t, ok := parts[0].(message.Text); ok && len(parts) == 1 && (raw == "" || raw[0] != '[') {
		o, err := o.SetText(name, t.Text)
		return o.Raw, err
	}
	var raws []string
	if raw != "" && raw[0] == '[' {
		raws = list(raw)
	} else {
		was = nil
	}
	items, err := rewrite(parts, was, raws, func(p message.Part, base string) (string, error) { return contentPart(p, base, output) })
	if err != nil {
		return "", jsonedit.In(name, err)
	}
	return o.Set(name, array(raw, items)).Raw, nil
}

// contentPart returns the JSON of a part of a content.
func contentPart(p message.Part, base string, output bool) (string, error) {
	switch p := p.(type) {
	case message.Text:
		fresh := `{"type":"input_text"}`
		if output {
			fresh = `{"type":"output_text"}`
		}
		o, err := based(base, fresh).SetText("text", p.Text)
		return o.Raw, err
	case message.Media:
		url := p.URL
		if url == "" {
			url = dataURL(p)
		}
		if strings.HasPrefix(p.Type, "image/") {
			return `{"type":"input_image","image_url":` + jsonedit.Quote(url) + `}`, nil
		}
		if p.URL == "" {
			return `{"type":"input_file","filename":` + jsonedit.Quote(p.Name) + `,"file_data":` + jsonedit.Quote(url) + `}`, nil
		}
	case message.Opaque:
		switch {
		case isAnswer(p):
			return withoutCall(p), nil
		case isContent(p):
			return p.Data, nil
		}
	case message.Thinking, message.ToolCall, message.ToolResult:
	}
	return "", unsupported(p, "Responses")
}

func (responses) tools(raw string) ([]message.ToolDef, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	switch textOf(o, "type") {
	case "function":
		return toolDef(o, "parameters"), nil
	case "custom":
		return toolDef(o, "format"), nil
	}
	return hosted(o), nil
}

func (responses) newTool(def message.ToolDef) string {
	return jsonedit.ParseObject(declaration(def, "parameters")).Set("type", `"function"`).Raw
}

// untouched returns why a request is sent as it is: the provider has a part of the conversation, which is not seen here.
func (responses) untouched(d *decoder, t *track) string {
	for _, name := range []string{"previous_response_id", "conversation"} {
		if !jsonedit.Absent(d.members[name]) {
			return name + ": the provider has the rest of the conversation"
		}
	}
	if d.members["background"] == "true" {
		return "background: the answer is fetched by other requests"
	}
	return t.hidden()
}

// hidden returns why the calls of some results may be in what an item refers to; "": no result is without its call, or nothing
// is referred to.
func (t *track) hidden() string {
	calls, refers, orphan := map[string]bool{}, false, false
	for _, it := range t.items {
		for _, p := range it.parts {
			switch p := p.(type) {
			case message.ToolCall:
				calls[p.ID] = true
			case message.ToolResult:
				orphan = orphan || !calls[p.CallID]
			case message.Opaque:
				refers = refers || p.Kind == "item_reference"
			case message.Text, message.Thinking, message.Media:
			}
		}
	}
	if orphan && refers {
		return "item_reference: the provider has the call of a result"
	}
	return ""
}

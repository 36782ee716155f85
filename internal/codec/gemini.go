package codec

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// gemini is generateContent of Google's Gemini API and Vertex. Each function response is a message of ours, as is what
// stands between them. Calls and responses without an ID get one that is never written.
type gemini struct{}

// unnamed begins the IDs that a request does not have.
var unnamed = within.PlaceholderID()

func (g gemini) prompt(raw string) (*Item, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	it := &Item{role: message.RoleSystem}
	err = o.Each("parts", "parts", func(raw string) error {
		p, err := object(raw)
		it.parts = append(it.parts, readPart(p))
		return err
	})
	return it, err
}

func (g gemini) read(r *reader, raw string) error {
	o, err := object(raw)
	if err != nil {
		return err
	}
	role, err := o.Word("role", false)
	if err != nil {
		return err
	}
	own := message.RoleUser
	switch role {
	case "model":
		own = message.RoleAssistant
	case "user", "function", "tool", "": // genkit writes results as tool
	default:
		return jsonedit.Faultf("role", "is %q, want user or model", role)
	}
	first := len(r.items)
	var open *Item // gets the next part that is not a response
	err = o.Each("parts", "parts", func(raw string) error {
		p, err := object(raw)
		if err != nil {
			return err
		}
		result := member(p, "functionResponse")
		if result == "" && open == nil || result != "" {
			open = r.item(own)
		}
		if result != "" {
			it := open
			it.role, open = message.RoleTool, nil
			results, err := r.readResponse(result)
			it.add(raw, results...)
			return err
		}
		part := readPart(p)
		if raw := member(p, "functionCall"); raw != "" {
			part, err = open.readCall(raw)
			if err != nil {
				return jsonedit.In("functionCall", err)
			}
		}
		open.add(raw, part)
		return nil
	})
	if len(r.items) == first {
		r.item(own)
	}
	return err
}

// readPart returns a part that is neither a call nor a response.
func readPart(o jsonedit.Object) message.Part {
	if raw := o.Get("text"); raw != "" && raw[0] == '"' {
		text := textOf(o, "text")
		switch {
		case o.Get("thought") == "true":
			return message.Thinking{Text: text, Signature: textOf(o, "thoughtSignature")}
		case strings.TrimSpace(text) != "" || text != "" && member(o, "thoughtSignature") == "":
			return message.Text{Text: text}
		}
	}
	if raw := member(o, "inlineData"); strings.HasPrefix(raw, "{") {
		d := jsonedit.ParseObject(raw)
		if data, err := base64.StdEncoding.DecodeString(wordOf(d, "data")); err == nil {
			return message.Media{Type: textOf(d, "mimeType"), Data: string(data), Name: textOf(d, "displayName")}
		}
	}
	if raw := member(o, "fileData"); strings.HasPrefix(raw, "{") {
		d := jsonedit.ParseObject(raw)
		return message.Media{Type: textOf(d, "mimeType"), URL: textOf(d, "fileUri")}
	}
	return message.Opaque{Kind: "part", Data: strings.Clone(o.Raw)}
}

// readCall reads a call, which is the next part of an item.
func (it *Item) readCall(raw string) (message.Part, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	c := message.ToolCall{ID: textOf(o, "id"), Arguments: strings.Clone(o.Get("args"))}
	c.Name, err = o.Text("name", true)
	if err != nil {
		return nil, err
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("%s%s:%d", unnamed, c.Name, len(it.parts))
	}
	if jsonedit.Absent(c.Arguments) {
		c.Arguments = "{}"
	}
	return c, nil
}

// readResponse reads a response, for which the last item is made.
func (r *reader) readResponse(raw string) ([]message.Part, error) {
	o, err := object(raw)
	if err != nil {
		return nil, jsonedit.In("functionResponse", err)
	}
	result := message.ToolResult{CallID: textOf(o, "id"), Name: textOf(o, "name")}
	// Gemini CLI makes an ID for the response to a call without one (google-gemini/gemini-cli#6974).
	if open := r.called(result.Name); result.CallID == "" || strings.HasPrefix(open, unnamed+result.Name+":") && !r.hasCall(result.CallID) {
		result.CallID = open
	}
	response := o.Get("response")
	if !strings.HasPrefix(response, "{") {
		return nil, jsonedit.Faultf("functionResponse.response", "is %s, want an object", jsonedit.KindOf(response))
	}
	name, text := answerOf(response)
	result.Text, result.Error = text, name == "error"
	parts := []message.Part{result}
	result.Text = ""
	err = o.Each("parts", "parts", func(raw string) error {
		p, err := object(raw)
		if err == nil {
			result.Content = readPart(p)
			parts = append(parts, result)
		}
		return err
	})
	return parts, err
}

// answerOf returns the text of a response, and the member that has it; "": the response is the text.
func answerOf(raw string) (name, text string) {
	o := jsonedit.ParseObject(raw)
	if names := o.Names(); len(names) == 1 && slices.Contains([]string{"output", "result", "content", "error"}, names[0]) {
		if text, err := o.Text(names[0], true); err == nil {
			return names[0], text
		}
	}
	return "", strings.Clone(raw)
}

// called returns the ID of the first call of a name, in the newest answer, that has no result yet. "" is any name.
func (r *reader) called(name string) string {
	answered := map[string]bool{}
	for _, it := range slices.Backward(r.items) {
		for _, p := range it.parts {
			switch p := p.(type) {
			case message.ToolResult:
				answered[p.CallID] = true
			case message.ToolCall:
				if (p.Name == name || name == "") && !answered[p.ID] {
					return p.ID
				}
			case message.Text, message.Thinking, message.Media, message.Opaque:
			}
		}
		if it.role == message.RoleAssistant {
			break
		}
	}
	return unnamed + name
}

// untouched returns why a request is sent as it is: the beginning of the conversation is in a cache.
func (gemini) untouched(d *decoder, _ *track) string {
	if !jsonedit.Absent(d.get("cachedContent")) {
		return "cachedContent: the provider has the beginning of the conversation"
	}
	return ""
}

func (gemini) together(a, b message.Part) bool { return messages{}.together(a, b) }

func (g gemini) write(m message.Message, base string, was []message.Part) (string, error) {
	switch m.Role {
	case message.RoleTool:
		return writeResponse(m.Parts, base, was)
	case message.RoleSystem:
		return "", jsonedit.Faultf("", "is in a system message behind others, which Gemini does not have")
	case message.RoleUser, message.RoleAssistant:
	}
	return writePart(m.Parts[0], base)
}

// writePart returns a part.
func writePart(p message.Part, base string) (string, error) {
	o := based(base, "{}")
	switch p := p.(type) {
	case message.Text:
		o, err := o.SetText("text", p.Text)
		return o.Raw, err
	case message.ToolCall:
		name := nameIn(o, "functionCall")
		call := setText(jsonedit.ParseObject(cmp.Or(o.Get(name), "{}")), "name", p.Name)
		if p.ID != "" && !strings.HasPrefix(p.ID, unnamed) {
			call = setText(call, "id", p.ID)
		}
		if args := call.Get("args"); args == p.Arguments || jsonedit.Absent(args) && p.Arguments == "{}" && base != "" {
			return o.Set(name, call.Raw).Raw, nil
		}
		call, err := call.SetRaw("args", p.Arguments)
		return o.Set(name, call.Raw).Raw, err
	case message.Thinking:
		o, err := o.Set("thought", "true").SetText("text", p.Text)
		if err == nil && p.Signature != "" {
			o, err = o.SetText("thoughtSignature", p.Signature)
		}
		return o.Raw, err
	case message.Media:
		if p.URL != "" {
			return `{"fileData":{"mimeType":` + jsonedit.Quote(p.Type) + `,"fileUri":` + jsonedit.Quote(p.URL) + `}}`, nil
		}
		data := base64.StdEncoding.EncodeToString([]byte(p.Data))
		return `{"inlineData":{"mimeType":` + jsonedit.Quote(p.Type) + `,"data":"` + data + `"}}`, nil
	case message.Opaque:
		if p.Kind == "part" {
			return p.Data, nil
		}
	case message.ToolResult:
	}
	return "", unsupported(p, "Gemini")
}

// writeResponse returns the part of a response.
func writeResponse(parts []message.Part, base string, was []message.Part) (string, error) {
	id, name, failed, content := contentOf(parts)
	_, _, _, old := contentOf(was)
	o := based(base, "{}")
	key := nameIn(o, "functionResponse")
	r := setText(jsonedit.ParseObject(cmp.Or(o.Get(key), "{}")), "name", name)
	if id != "" && !strings.HasPrefix(id, unnamed) {
		r = setText(r, "id", id)
	}
	text, rest := textsOf(content) // only media can be next to the response
	before, old := textsOf(old)
	if base == "" || text != before {
		member := "output"
		if raw := r.Get("response"); raw != "" {
			if m, _ := answerOf(raw); m != "" {
				member = m
			}
		}
		if failed {
			member = "error"
		} else if member == "error" {
			member = "output"
		}
		answer, err := jsonedit.ParseObject("{}").SetText(member, text)
		if err != nil {
			return "", err
		}
		r = r.Set("response", answer.Raw)
	}
	if !slices.Equal(rest, old) {
		raw := r.Get("parts")
		raws, err := rewrite(rest, old, list(raw), writePart)
		if err != nil {
			return "", jsonedit.In("functionResponse.parts", err)
		}
		r = r.Set("parts", array(raw, raws))
		if len(raws) == 0 {
			r = r.Remove("parts")
		}
	}
	return o.Set(key, r.Raw).Raw, nil
}

// textsOf returns the texts of parts, on lines of their own, and the other parts.
func textsOf(parts []message.Part) (text string, rest []message.Part) {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(message.Text); ok {
			texts = append(texts, t.Text)
		} else {
			rest = append(rest, p)
		}
	}
	return strings.Join(texts, "\n"), rest
}

func (gemini) tools(raw string) (defs []message.ToolDef, err error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	functions := member(o, "functionDeclarations")
	if !strings.HasPrefix(functions, "[") {
		return []message.ToolDef{{Name: strings.Join(o.Names(), ", "), Parameters: raw}}, nil
	}
	for i, f := range list(functions) {
		d, err := object(f)
		if err != nil {
			return nil, jsonedit.In(jsonedit.Place("functionDeclarations", i), err)
		}
		schema := "parameters"
		if member(d, "parametersJsonSchema") != "" {
			schema = "parametersJsonSchema"
		}
		defs = append(defs, toolDef(d, schema)...)
	}
	return defs, nil
}

func (gemini) newTool(def message.ToolDef) string {
	return `{"functionDeclarations":[` + declaration(def, "parametersJsonSchema") + `]}`
}

// adjust puts back the calls of the current turn that were edited: their signatures are checked.
func (gemini) adjust(b *Body, out []*Item) {
	current := map[*Item]bool{}
	for _, it := range slices.Backward(b.items) {
		if it.role == message.RoleUser {
			break
		}
		current[it] = true
	}
	for i, it := range out {
		if it.role != message.RoleAssistant || !it.edited || !current[it.origin] {
			continue
		}
		c, was := *it, b.piecesOf(it.origin)
		c.pieces = slices.Clone(it.pieces)
		for k, p := range it.parts {
			call, ok := p.(message.ToolCall)
			for j, p := range it.origin.parts {
				if w, is := p.(message.ToolCall); ok && is && w.ID == call.ID {
					c.pieces[k].raw = was[j].raw
				}
			}
		}
		out[i] = &c
	}
}

package codec

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
)

// messages is Anthropic's Messages. Each tool result is a message of ours, as is what is between them.
type messages struct{}

func (messages) prompt(raw string) (*Item, error) {
	it := &Item{role: message.RoleSystem}
	err := eachBlock(raw, func(_ string, p []message.Part) { it.parts = append(it.parts, p...) })
	return it, err
}

func (messages) read(r *reader, raw string) error {
	o, err := object(raw)
	if err != nil {
		return err
	}
	role, err := o.Word("role", true)
	if err != nil {
		return err
	}
	own, ok := roles[role]
	if !ok || own == message.RoleTool {
		return jsonedit.Faultf("role", "is %q, want user, assistant or system", role)
	}
	first := len(r.items)
	var open *Item // gets the next block that is not a result
	err = eachBlock(o.Get("content"), func(block string, parts []message.Part) {
		_, result := parts[0].(message.ToolResult)
		if result || open == nil {
			it := r.item(own)
			if result {
				it.role, open = message.RoleTool, nil
				it.add(block, parts...)
				return
			}
			open = it
		}
		open.add(block, parts...)
		if op, ok := parts[0].(message.Opaque); ok && op.Kind == "compaction" {
			open.pinned = true
		}
	})
	if err != nil {
		return jsonedit.In("content", err)
	}
	if len(r.items) == first {
		r.item(own)
	}
	marked := strings.Contains(raw, cacheMark)
	for i, it := range r.items[first:] {
		it.marked = marked
		if it.role == message.RoleTool && own != message.RoleUser {
			return jsonedit.Faultf(jsonedit.Place("content", i), "is a tool result in a message of role %s, want role user", role)
		}
	}
	return nil
}

// eachBlock calls a function with the blocks of a content.
func eachBlock(content string, use func(raw string, parts []message.Part)) error {
	switch {
	case content != "" && content[0] == '"':
		if content != `""` {
			use(content, []message.Part{message.Text{Text: jsonscan.Text(content)}})
		}
		return nil
	case content == "" || content[0] != '[':
		return jsonedit.Faultf("", "is %s, want a string or a list of blocks", jsonedit.KindOf(content))
	}
	return jsonedit.EachItem("", content, func(raw string) error {
		parts, err := readBlock(raw)
		if err == nil {
			use(raw, parts)
		}
		return err
	})
}

// readBlock returns the parts of a block: one, or those of a result.
func readBlock(raw string) ([]message.Part, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	kind, err := o.Word("type", true)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text":
		if c := o.Get("citations"); !jsonedit.Absent(c) && len(list(c)) > 0 {
			break
		}
		text, err := o.Text("text", true)
		return []message.Part{message.Text{Text: text}}, err
	case "thinking":
		text, err := o.Text("thinking", true)
		return []message.Part{message.Thinking{Text: text, Signature: textOf(o, "signature")}}, err
	case "redacted_thinking":
		data, err := o.Text("data", true)
		return []message.Part{message.Thinking{Signature: data}}, err
	case "tool_use":
		return readToolUse(o)
	case "tool_result":
		return readToolResult(o)
	case "image", "document":
		if m, ok := readSource(o, kind); ok {
			return []message.Part{m}, nil
		}
	}
	return []message.Part{opaque(kind, raw)}, nil
}

func readToolUse(o jsonedit.Object) ([]message.Part, error) {
	var c message.ToolCall
	var err error
	c.ID, err = o.Text("id", true)
	if err != nil {
		return nil, err
	}
	c.Name, err = o.Text("name", true)
	if err != nil {
		return nil, err
	}
	input, err := o.Object("input")
	c.Arguments = strings.Clone(input.Raw)
	return []message.Part{c}, err
}

func readToolResult(o jsonedit.Object) ([]message.Part, error) {
	id, err := o.Text("tool_use_id", true)
	if err != nil {
		return nil, err
	}
	var parts []message.Part
	if raw := o.Get("content"); !jsonedit.Absent(raw) {
		err = eachBlock(raw, func(_ string, p []message.Part) { parts = append(parts, p[0]) })
	}
	return resultsOf(message.ToolResult{CallID: id, Error: o.Get("is_error") == "true"}, parts), jsonedit.In("content", err)
}

// readSource returns what an image or a document is, if it is data or a URL.
func readSource(o jsonedit.Object, kind string) (m message.Media, ok bool) {
	source := o.Get("source")
	if source == "" || source[0] != '{' || !jsonedit.Absent(o.Get("citations")) {
		return m, false
	}
	s := jsonedit.ParseObject(source)
	switch wordOf(s, "type") {
	case "base64":
		data, err := base64.StdEncoding.DecodeString(wordOf(s, "data"))
		return message.Media{Type: textOf(s, "media_type"), Data: string(data), Name: textOf(o, "title")}, err == nil
	case "url":
		m = message.Media{Type: "image/*", URL: textOf(s, "url"), Name: textOf(o, "title")}
		if kind == "document" {
			m.Type = "application/pdf"
		}
		return m, true
	}
	return m, false
}

func (messages) together(a, b message.Part) bool {
	x, ok := a.(message.ToolResult)
	y, also := b.(message.ToolResult)
	return ok && also && x.CallID == y.CallID
}

func (messages) write(m message.Message, base string, was []message.Part) (string, error) {
	if m.Role == message.RoleTool {
		return writeToolResult(m.Parts, base, was)
	}
	return writeBlock(m.Parts[0], base)
}

// writeBlock returns a block.
func writeBlock(p message.Part, base string) (string, error) {
	text := base != "" && base[0] == '"' // a content that is a text
	switch p := p.(type) {
	case message.Text:
		if text {
			return jsonedit.TextJSON(p.Text)
		}
		o, err := based(base, `{"type":"text"}`).SetText("text", p.Text)
		return o.Raw, err
	case message.ToolCall:
		if !jsonscan.IsObject(p.Arguments) {
			return "", jsonedit.Faultf("input", "is not a JSON object, want one")
		}
		o := based(base, `{"type":"tool_use","id":`+jsonedit.Quote(p.ID)+`,"name":`+jsonedit.Quote(p.Name)+`}`)
		return setText(setText(o, "id", p.ID), "name", p.Name).Set("input", p.Arguments).Raw, nil
	case message.Thinking:
		if p.Text == "" {
			return `{"type":"redacted_thinking","data":` + jsonedit.Quote(p.Signature) + `}`, nil
		}
		return `{"type":"thinking","thinking":` + jsonedit.Quote(p.Text) + `,"signature":` + jsonedit.Quote(p.Signature) + `}`, nil
	case message.Media:
		return writeSource(p)
	case message.Opaque:
		if jsonscan.IsObject(p.Data) && textOf(jsonedit.ParseObject(p.Data), "type") == p.Kind {
			return p.Data, nil
		}
	case message.ToolResult:
	}
	return "", unsupported(p, "Anthropic's Messages")
}

// based returns the object of a base, or a new one.
func based(base, fresh string) jsonedit.Object {
	if base == "" {
		base = fresh
	}
	return jsonedit.ParseObject(base)
}

func writeSource(m message.Media) (string, error) {
	kind := "document"
	if strings.HasPrefix(m.Type, "image/") {
		kind = "image"
	}
	data := base64.StdEncoding.EncodeToString([]byte(m.Data))
	source := `{"type":"base64","media_type":` + jsonedit.Quote(m.Type) + `,"data":"` + data + `"}`
	switch {
	case m.URL != "":
		source = `{"type":"url","url":` + jsonedit.Quote(m.URL) + `}`
	case kind == "document" && m.Type != "application/pdf":
		return "", jsonedit.Faultf("", "is media of type %q, want an image or a PDF", m.Type)
	}
	o := jsonedit.ParseObject(`{"type":"` + kind + `","source":` + source + `}`)
	if kind == "document" && m.Name != "" {
		o = o.Set("title", jsonedit.Quote(m.Name))
	}
	return o.Raw, nil
}

// writeToolResult returns the block of a result.
func writeToolResult(parts []message.Part, base string, was []message.Part) (string, error) {
	id, _, failed, content := contentOf(parts)
	oldID, _, before, old := contentOf(was)
	o := based(base, `{"type":"tool_result","tool_use_id":`+jsonedit.Quote(id)+`}`)
	if id != oldID { // a repair has renamed the call
		o = setText(o, "tool_use_id", id)
	}
	if failed != before {
		o = o.Remove("is_error")
		if failed {
			o = o.Set("is_error", "true")
		}
	}
	raw := o.Get("content")
	if t, ok := content[0].(message.Text); ok && len(content) == 1 && (raw == "" || raw[0] != '[') {
		o, err := o.SetText("content", t.Text)
		return o.Raw, err
	}
	var raws []string
	if raw != "" && raw[0] == '[' {
		raws = list(raw)
	} else {
		old = nil
	}
	blocks, err := rewrite(content, old, raws, writeBlock)
	if err != nil {
		return "", jsonedit.In("content", err)
	}
	return o.Set("content", array(raw, blocks)).Raw, nil
}

func (messages) tools(raw string) ([]message.ToolDef, error) {
	o, err := object(raw)
	if err != nil {
		return nil, err
	}
	if jsonedit.Absent(o.Get("input_schema")) {
		return hosted(o), nil
	}
	return toolDef(o, "input_schema"), nil
}

func (messages) newTool(def message.ToolDef) string { return declaration(def, "input_schema") }

// adjust moves the cache marks of removed blocks to the block before them, so a prefix that was cached up to a mark
// ends with one again. There are never more marks than before.
func (messages) adjust(b *Body, out []*Item) {
	place := map[*Item]int{} // of the items in out, by what they were made from
	for i, it := range out {
		if it.origin != nil {
			it = it.origin
		}
		place[it] = i
	}
	last := -1 // in out, of the last original item that is there
	for _, it := range b.items[b.leads:] {
		marks := b.marksOf(it)
		at, kept := place[it]
		if kept {
			last = at
			marks = marks[min(len(marks), len(b.marksOf(out[at]))):]
		}
		if len(marks) == 0 {
			continue
		}
		target := last
		for !kept && target+1 < len(out) && out[target+1].origin == nil && out[target+1].edited {
			target++ // what is in the place of the item
		}
		if target >= b.leads {
			out[target] = b.withMark(out[target], marks[len(marks)-1])
		}
	}
}

const cacheMark = "cache_control"

// marksOf returns the cache marks of the blocks of an item.
func (b *Body) marksOf(it *Item) (marks []string) {
	if !it.marked {
		return nil
	}
	for _, p := range b.piecesOf(it) {
		if p.raw[0] != '{' || !strings.Contains(p.raw, cacheMark) {
			continue
		}
		if mark := jsonedit.Get(p.raw, cacheMark); !jsonedit.Absent(mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// markable are the types of blocks that surely can have a cache mark
// (https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
var markable = []string{"text", "image", "document", "tool_use", "tool_result"}

// withMark returns an item with a cache mark at its last block that can have one.
func (b *Body) withMark(it *Item, mark string) *Item {
	pieces := slices.Clone(b.piecesOf(it))
	for i := len(pieces) - 1; i >= 0; i-- {
		raw := pieces[i].raw
		if raw[0] == '"' {
			raw = `{"type":"text","text":` + raw + `}`
		}
		o := jsonedit.ParseObject(raw)
		if !slices.Contains(markable, wordOf(o, "type")) {
			continue
		}
		if jsonedit.Absent(o.Get(cacheMark)) {
			c := *it
			pieces[i].raw = o.Set(cacheMark, mark).Raw
			c.pieces = pieces
			c.edited = true
			c.marked = true
			return &c
		}
		break
	}
	return it
}

package codec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
)

// Body is a request that was read. It is safe for concurrent use.
type Body struct {
	Format    *Format
	Model     string
	Tools     []message.ToolDef
	MaxTokens int // of the answer; 0: the request does not have it
	Window    int // of the model, as it is loaded for the request; 0: the request does not have it

	// Untouched is why the request must be sent as it is, such as "previous_response_id: the provider has the rest of the
	// conversation"; "": it may be edited. Then Encode returns it as it was.
	Untouched string

	Native middleware.Native // what the provider edits by itself, as the request asks for it; zero: nothing

	text   string
	list   jsonscan.Span   // the member with the messages
	values []jsonscan.Span // of the list
	leads  int             // how many first items are in the member for the system prompt
	items  []*Item
	unseen int   // how many items after the leads the model does not see, and so no chain
	ends   []int // how many items there are up to the end of each value, as of a reader
	talk   *foreign.Conversation[*Item]
}

// LongestAnswer returns about how many tokens the longest answer in the conversation has.
func (b *Body) LongestAnswer() (tokens int) {
	for _, it := range b.items {
		if it.role == message.RoleAssistant {
			m := it.message()
			tokens = max(tokens, within.Size(&m)/4)
		}
	}
	return tokens
}

// seen returns the items that the model sees: Anthropic drops all that is in front of a compaction which it has made at a threshold
// (platform.claude.com, build-with-claude/compaction). One that has failed has no content.
func (b *Body) seen() []*Item {
	for i, it := range slices.Backward(b.items[b.leads:]) {
		if b.Format == Messages && it.pinned && len(it.parts) > 0 && !jsonedit.Absent(sealOf(it.message())) {
			b.unseen = i
			return slices.Concat(b.items[:b.leads], b.items[b.leads+i:])
		}
	}
	return b.items
}

// raw returns value i of the list.
func (b *Body) raw(i int) string { return b.values[i].In(b.text) }

// piecesOf returns the pieces of an item: those of one that is as it was read are read again.
func (b *Body) piecesOf(it *Item) []piece {
	first := int(it.at) - 1
	switch {
	case it.pieces != nil || first < 0:
		return it.pieces
	case it.values == 1:
		return []piece{{b.raw(first), len(it.parts)}}
	}
	r := reader{pieces: true}
	for i := range max(1, int(it.values)) {
		if b.Format.api.read(&r, b.raw(first+i)) != nil {
			return nil // not possible: it was read before
		}
	}
	return r.items[it.nth].pieces
}

// isWhole reports whether items are all those of a value, as they were read.
func (b *Body) isWhole(items []*Item, value int) bool {
	from := b.leads
	if value > 0 {
		from += b.ends[value-1]
	}
	return slices.Equal(items, b.items[from:b.leads+b.ends[value]])
}

// Decode reads a request. A Memo does it faster for conversations that grow.
func (f *Format) Decode(data []byte) (*Body, error) {
	return NewMemo(0, nil).Decode(f, "", string(data))
}

// Context returns a context by which a chain knows that the messages never change in their memory.
func (b *Body) Context(ctx context.Context) context.Context { return b.talk.Context(ctx) }

// Encode returns the request with the messages, tools and model of req, which a chain has made of [Body.Request]. What is
// not edited is as it was read, byte for byte.
func (b *Body) Encode(req *middleware.Request) (string, error) {
	out, err := b.talk.Export(req, codec{api: b.Format.api, body: b})
	if err != nil {
		return "", fmt.Errorf("codec: %s: %w", b.Format.Name, err)
	}
	if req.PlainTexts && b.Format == Chat {
		out = b.inStrings(out)
	}
	if b.unseen > 0 && len(out) >= b.leads {
		out = slices.Insert(out, b.leads, b.items[b.leads:b.leads+b.unseen]...)
	}
	same := slices.Equal(out, b.items)
	if b.Untouched != "" || same && slices.Equal(req.Tools, b.Tools) && req.Model == b.Model {
		return b.text, nil
	}
	text := b.text
	if !same {
		text, err = b.withItems(out)
		if err != nil {
			return "", fmt.Errorf("codec: %s: %w", b.Format.Name, err)
		}
	}
	if slices.Equal(req.Tools, b.Tools) && req.Model == b.Model {
		return text, nil
	}
	at := jsonscan.Space(text, 0)
	o := jsonedit.ParseObject(text[at : strings.LastIndexByte(text, '}')+1])
	if req.Model != b.Model && o.Get("model") != "" {
		o = o.Set("model", jsonedit.Quote(req.Model))
	}
	if !slices.Equal(req.Tools, b.Tools) {
		o, err = b.withTools(o, req.Tools)
		if err != nil {
			return "", fmt.Errorf("codec: %s: %w", b.Format.Name, err)
		}
	}
	return text[:at] + o.Raw + text[strings.LastIndexByte(text, '}')+1:], nil
}

// inStrings returns the items with one string in the place of each content that is a list of texts alone.
func (b *Body) inStrings(items []*Item) []*Item {
	out := slices.Clone(items)
	for i, it := range out {
		p := b.piecesOf(it)[0]
		raw, ok := openai.InString(p.raw)
		if !ok {
			continue
		}
		plain := *it
		plain.pieces, plain.values = []piece{{raw, p.parts}}, 0
		out[i] = &plain
	}
	return out
}

// EncodeFirst is [Body.Encode] with the first n messages of req alone.
func (b *Body) EncodeFirst(req *middleware.Request, n int) (string, error) {
	out, err := b.talk.Export(req, codec{api: b.Format.api, body: b})
	if err == nil && n <= b.leads {
		err = errors.New("no message is left")
	}
	var text string
	if err == nil {
		text, err = b.withItems(out[:n])
	}
	if err != nil {
		return "", fmt.Errorf("codec: %s: %w", b.Format.Name, err)
	}
	return text, nil
}

// withItems returns the text with other items.
func (b *Body) withItems(out []*Item) (string, error) {
	n := 0 // of out, that are in the member for the system prompt
	for n < len(out) && n < b.leads && out[n] == b.items[n] {
		n++
	}
	if n < b.leads {
		return "", errors.New("the system prompt is edited")
	}
	if m, ok := b.Format.api.(interface{ adjust(b *Body, out []*Item) }); ok {
		out = slices.Clone(out)
		m.adjust(b, out)
	}
	late := b.movedToFront(out[n:])
	raws := b.jsonOf(out[n+len(late):])
	if b.text[b.list.From] == '"' { // a text in place of a list
		for i, raw := range raws {
			if raw[0] == '"' {
				raws[i] = `{"role":"user","content":` + raw + `}`
			}
		}
		return b.text[:b.list.From] + array("", raws) + b.text[b.list.To:], nil
	}
	return b.withPrompt(b.spliced(raws), late), nil
}

// movedToFront returns the system messages at the beginning that were not there: they belong into the member for the system
// prompt of Messages and Gemini, whose lists must not begin with one.
func (b *Body) movedToFront(out []*Item) []*Item {
	if b.Format.inner == "" {
		return nil
	}
	for n, it := range out {
		if it.role != message.RoleSystem || int(it.at) == n+1 {
			return out[:n]
		}
	}
	return out
}

// withPrompt returns the text with the texts of more system messages at the end of the system prompt.
func (b *Body) withPrompt(text string, more []*Item) string {
	if len(more) == 0 {
		return text
	}
	at, end := jsonscan.Space(text, 0), strings.LastIndexByte(text, '}')+1
	o := jsonedit.ParseObject(text[at:end])
	name := nameIn(o, b.Format.lead)
	was, place := o.Get(name), jsonedit.ParseObject("{}")
	if b.Format == Gemini {
		if strings.HasPrefix(was, "{") {
			place = jsonedit.ParseObject(was)
		}
		was = place.Get("parts")
	}
	if b.Format == Messages && !strings.HasPrefix(was, "[") {
		texts := []string{jsonscan.Text(cmp.Or(was, `""`))}
		for _, it := range more {
			texts = append(texts, it.message().Text())
		}
		texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
		return text[:at] + o.Set(name, jsonedit.Quote(strings.Join(texts, "\n\n"))).Raw + text[end:]
	}
	var blocks []string
	if strings.HasPrefix(was, "[") {
		blocks = list(was)
	}
	for _, it := range more {
		block := `{"text":` + jsonedit.Quote(it.message().Text()) + `}`
		if b.Format == Messages {
			block = `{"type":"text",` + block[1:]
		}
		blocks = append(blocks, block)
	}
	prompt := array(was, blocks)
	if b.Format == Gemini {
		prompt = place.Set("parts", prompt).Raw
	}
	return text[:at] + o.Set(name, prompt).Raw + text[end:]
}

// spliced returns the text with other values in the list. White space between them is kept if they are as many.
func (b *Body) spliced(raws []string) string {
	last := len(b.values) - 1
	between := ","
	if last > 0 {
		between = b.text[b.values[0].To:b.values[1].From]
	}
	size := len(b.text)
	for _, r := range raws {
		size += len(r) + len(between)
	}
	var s strings.Builder
	s.Grow(size)
	s.WriteString(b.text[:b.values[0].From])
	for i, r := range raws {
		switch {
		case i == 0:
		case len(raws) == len(b.values):
			s.WriteString(b.text[b.values[i-1].To:b.values[i].From])
		default:
			s.WriteString(between)
		}
		s.WriteString(r)
	}
	s.WriteString(b.text[b.values[last].To:])
	return s.String()
}

// jsonOf returns the values of a list of items, of which several can be in one value.
func (b *Body) jsonOf(items []*Item) (out []string) {
	if b.Format.inner == "" {
		for _, it := range items {
			out = b.appendJSON(out, it)
		}
		return out
	}
	for i := 0; i < len(items); {
		end, at := i+1, items[i].at
		for end < len(items) && (items[end].at > 0 && items[end].at == items[end-1].at || joins(items[end-1], items[end])) {
			end++
		}
		group := items[i:end]
		i = end
		for k := 0; at == 0 && k < len(group); k++ {
			at = group[k].at
		}
		if at > 0 && b.isWhole(group, int(at)-1) {
			out = append(out, b.raw(int(at)-1))
		} else if raw := b.value(group, int(at)-1); raw != "" {
			out = append(out, raw)
		}
	}
	return out
}

// appendJSON appends the values of an item that has them alone.
func (b *Body) appendJSON(out []string, it *Item) []string {
	for _, p := range it.pieces {
		out = append(out, p.raw)
	}
	for i := range it.values { // as it was read
		out = append(out, b.raw(int(it.at-1+i)))
	}
	return out
}

// joins reports whether two results must be in one value, since one of them is new.
func joins(a, b *Item) bool {
	return a.role == message.RoleTool && b.role == message.RoleTool && (a.at == 0 || b.at == 0)
}

// value returns a value with some items: the one at a position with other content, or a new one for -1. Without content it
// is "".
func (b *Body) value(items []*Item, at int) string {
	var raws []string
	for _, it := range items {
		for _, p := range b.piecesOf(it) {
			raws = append(raws, p.raw)
		}
	}
	if len(raws) == 0 {
		return ""
	}
	f := b.Format
	o := jsonedit.ParseObject(`{"role":"` + string(items[0].role) + `"}`)
	switch {
	case at >= 0:
		o = jsonedit.ParseObject(b.raw(at))
	case items[0].role == message.RoleTool:
		o = jsonedit.ParseObject(`{"role":"user"}`)
	case items[0].role == message.RoleAssistant && f == Gemini:
		o = jsonedit.ParseObject(`{"role":"model"}`)
	}
	if len(raws) == 1 && raws[0][0] == '"' {
		return o.Set(f.inner, raws[0]).Raw
	}
	for i, r := range raws {
		if r[0] == '"' {
			raws[i] = `{"type":"text","text":` + r + `}`
		}
	}
	return o.Set(f.inner, array(o.Get(f.inner), raws)).Raw
}

// withTools returns a request with other tools: those that are the same stay as they are, others are added at the end.
func (b *Body) withTools(o jsonedit.Object, defs []message.ToolDef) (jsonedit.Object, error) {
	if len(defs) == 0 {
		for _, name := range []string{"tools", "tool_choice", "parallel_tool_calls", nameIn(o, "toolConfig")} {
			o = o.Remove(name)
		}
		return o, nil
	}
	raw := o.Get("tools")
	var kept []string
	if !jsonedit.Absent(raw) {
		for i, value := range list(raw) {
			of, err := b.Format.api.tools(value)
			if err != nil {
				return o, err
			}
			stay := slices.DeleteFunc(slices.Clone(of), func(d message.ToolDef) bool { return !slices.Contains(defs, d) })
			switch len(stay) {
			case len(of):
				kept = append(kept, value)
			case 0:
			default:
				return o, jsonedit.Faultf(jsonedit.Place("tools", i), "has several tools, of which some are removed")
			}
		}
	}
	for _, d := range defs {
		if !slices.Contains(b.Tools, d) {
			kept = append(kept, b.Format.api.newTool(d))
		}
	}
	return o.Set("tools", array(raw, kept)), nil
}

// Write returns a new request with these messages, tools and model. An error names what the format does not have. System
// messages at the beginning become one text.
func (f *Format) Write(model string, msgs []message.Message, tools []message.ToolDef) (string, error) {
	o := jsonedit.ParseObject("{}")
	if model != "" && f != Gemini {
		o = o.Set("model", jsonedit.Quote(model))
	}
	lead := 0
	if f.lead != "" {
		lead = message.Leading(msgs)
	}
	if lead > 0 {
		var texts []string
		for _, m := range msgs[:lead] {
			texts = append(texts, m.Text())
		}
		system := jsonedit.Quote(strings.Join(texts, "\n"))
		if f == Gemini {
			system = `{"parts":[{"text":` + system + `}]}`
		}
		o = o.Set(f.lead, system)
	}
	b := &Body{Format: f}
	items := make([]*Item, 0, len(msgs))
	for i := range msgs[lead:] {
		it, err := codec{api: f.api, body: b}.Export(&msgs[lead+i], nil)
		if err != nil {
			return "", fmt.Errorf("codec: %s: %w", f.Name, jsonedit.In(jsonedit.Place("messages", lead+i), err))
		}
		items = append(items, it)
	}
	o = o.Set(f.list, array("", b.jsonOf(items)))
	if len(tools) > 0 {
		defs := make([]string, len(tools))
		for i, d := range tools {
			defs[i] = f.api.newTool(d)
		}
		o = o.Set("tools", array("", defs))
	}
	return o.Raw, nil
}

// numberAt returns the first of some members, by their paths, that is a number above 0; 0: none is.
func numberAt(get func(name string) string, paths ...string) int {
	for _, path := range paths {
		name, inner, nested := strings.Cut(path, ".")
		raw := get(name)
		if nested && strings.HasPrefix(raw, "{") {
			raw = member(jsonedit.ParseObject(raw), inner)
		}
		if raw == "" {
			continue // its error would cost as much as all the rest
		}
		if n, err := strconv.Atoi(raw); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

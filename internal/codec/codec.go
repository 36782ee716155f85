// Package codec reads and writes the requests of providers' APIs: OpenAI chat completions, OpenAI Responses, Anthropic
// Messages, Gemini generateContent and Ollama's chat.
//
//	body, err := codec.Messages.Decode(data)
//	req, _, err := middleware.Apply(ctx, chain, body.Request())
//	data, err = body.Encode(req) // the same bytes, except for what the chain has edited
//
// Without edits, Encode returns the bytes that were read. Of an edited message only the JSON of the edited parts changes.
// Unknown members, parts and items are kept, and pass through a chain as [message.Opaque]. Reading is strict about what is
// known: errors name the JSON path, such as messages[3].content[0].input.
//
// A [Memo] decodes the requests of conversations that grow: it reads what is new, and compares the rest. [Match] finds
// the format of an HTTP request, an [Answer] reads usage and errors of an HTTP response while it passes. [Format.Write]
// writes a request that was not read.
package codec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Format is an API.
type Format struct {
	Name string

	list   string   // the member of a request with the messages
	lead   string   // the member with the system prompt; "": it is a message
	inner  string   // the member of a message with its pieces, if several messages of ours can be in one; "": none
	limits []string // the members with the longest answer
	window string   // the member with the window; "": none
	api    api
}

// The formats.
var (
	Chat = &Format{
		Name: "chat", list: "messages", limits: []string{"max_completion_tokens", "max_tokens"}, api: chat{},
	}
	Responses = &Format{
		Name: "responses", list: "input", lead: "instructions", limits: []string{"max_output_tokens"}, api: responses{},
	}
	Messages = &Format{
		Name: "messages", list: "messages", lead: "system", inner: "content", limits: []string{"max_tokens"}, api: messages{},
	}
	Gemini = &Format{
		Name: "gemini", list: "contents", lead: "systemInstruction", inner: "parts",
		limits: []string{"generationConfig.maxOutputTokens"}, api: gemini{},
	}
	Ollama = &Format{
		Name: "ollama", list: "messages", limits: []string{"options.num_predict"}, window: "options.num_ctx", api: ollama{},
	}
)

// Formats returns all formats.
func Formats() []*Format { return []*Format{Chat, Responses, Messages, Gemini, Ollama} }

// api is what is different from format to format.
type api interface {
	inbound
	outbound
}

type inbound interface {
	// read appends the messages of a value of the list.
	read(r *reader, raw string) error

	// prompt reads the member with the system prompt.
	prompt(raw string) (*Item, error)

	// tools reads a value of the member tools.
	tools(raw string) ([]message.ToolDef, error)
}

type outbound interface {
	// write returns the JSON of a piece: base with the parts of m in the place of was, or a new one if base is "".
	write(m message.Message, base string, was []message.Part) (string, error)

	// together reports whether two parts that follow each other are in one piece.
	together(a, b message.Part) bool

	newTool(def message.ToolDef) string
}

// Item is a message of a body, or the JSON of an edited or new one. It is immutable.
type Item struct {
	role           message.Role
	name           string
	parts          []message.Part
	pinned, edited bool
	marked         bool // a cache mark may be in the JSON

	at     int32 // 1 + the position in the list of the value that it begins in; 0: it is in none
	nth    int32 // position among the items of that value
	values int32 // that it has; 0: the value has other items as well

	pieces []piece // of an edited or new one; nil: they are in the body, see Body.piecesOf
	origin *Item   // from which an edited one was made
}

// piece is JSON in an item.
type piece struct {
	raw   string
	parts int // how many of the parts of the item it is
}

// roles are the roles of the formats that name them as we do.
var roles = map[string]message.Role{
	"system": message.RoleSystem, "user": message.RoleUser, "assistant": message.RoleAssistant, "tool": message.RoleTool,
}

func (it *Item) message() message.Message {
	return message.Message{Role: it.role, Name: it.name, Parts: it.parts, Hints: message.Hints{Pinned: it.pinned}}
}

// add adds parts and, if the item has pieces, the piece that they are.
func (it *Item) add(raw string, parts ...message.Part) {
	if it.pieces != nil {
		it.pieces = append(it.pieces, piece{raw, len(parts)})
	}
	if it.parts == nil {
		it.parts = slices.Clip(parts)
		return
	}
	it.parts = append(it.parts, parts...)
}

// reader reads the values of a list.
type reader struct {
	items  []*Item
	ends   []int // how many items there are up to the end of each value; -1: the next value belongs to the last one as well
	pieces bool  // the items get their pieces
	err    error
}

// read reads some of the values of the list of a request, until there is an error.
func (r *reader) read(d *decoder, from, to int) {
	f := d.format
	for i := from; i < to; i++ {
		before := len(r.items)
		if err := f.api.read(r, d.spans[i].In(d.text)); err != nil {
			r.err = jsonedit.In(jsonedit.Place(f.list, i), err)
			return
		}
		if i > from && len(r.items) == before { // the value belongs to the item before
			r.ends[len(r.ends)-1] = -1
			r.items[before-1].values++
		}
		for k, it := range r.items[before:] {
			it.at, it.nth = int32(i+1), int32(k)
			if f.inner == "" {
				it.values = 1
			}
		}
		r.ends = append(r.ends, len(r.items))
	}
}

// item adds an item.
func (r *reader) item(role message.Role) *Item {
	it := &Item{role: role}
	if r.pieces {
		it.pieces = []piece{}
	}
	r.items = append(r.items, it)
	return it
}

// codec is the [foreign.Importer] and [foreign.Exporter] of items, of which the JSON is in a body.
type codec struct {
	api
	body  *Body                               // nil: all items are new
	hints func(message.Message) message.Hints // nil: none but those of the format
}

// Import implements [foreign.Importer].
func (c codec) Import(it *Item, _ []message.Message) (message.Message, error) {
	m := it.message()
	if c.hints != nil {
		m.Hints = c.hints(m)
		m.Hints.Pinned = m.Hints.Pinned || it.pinned
	}
	return m, nil
}

// Same implements [foreign.Importer].
func (c codec) Same(it *Item, m *message.Message) (same, whole bool) {
	same = it.role == m.Role && it.name == m.Name && len(it.parts) == len(m.Parts) && (len(it.parts) == 0 || &it.parts[0] == &m.Parts[0])
	if same {
		now, _ := c.Import(it, nil)
		same = now.Hints == m.Hints
	}
	return same, same
}

// Exact makes texts stay apart.
func (codec) Exact() {}

// Kept reports that an item is exported again as it was: all of it is in the origin.
func (codec) Kept(*Item, *message.Message, *foreign.Origin[*Item]) bool { return true }

// Export implements [foreign.Exporter].
func (c codec) Export(m *message.Message, from *foreign.Origin[*Item]) (*Item, error) {
	out := &Item{role: m.Role, name: m.Name, edited: true, pieces: []piece{}}
	var was *Item
	var pieces []piece
	if from != nil {
		if !from.Edited || m.Equal(*from.Message) {
			return from.Foreign, nil
		}
		was = from.Foreign
		if was.role != m.Role {
			was = nil
		}
	}
	if was != nil {
		out.at = was.at
		out.nth = was.nth
		out.origin = was
		out.pinned = was.pinned
		out.marked = was.marked
		pieces = c.body.piecesOf(was)
	}
	one := false // a message is one piece
	switch c.api.(type) {
	case chat, ollama:
		one = true
	}
	if !one && (was == nil || m.Role != message.RoleTool && (c.body.Format.inner != "" || m.Role == message.RoleAssistant)) {
		return out, c.compose(out, m, was, pieces)
	}
	if len(m.Parts) == 0 && !one {
		return out, nil
	}
	base, old := "", []message.Part(nil)
	if was != nil {
		base, old = pieces[0].raw, was.parts
	}
	raw, err := c.write(*m, base, old)
	out.add(strings.Clone(raw), m.Parts...) // the item may live longer than the body
	return out, err
}

// compose adds the pieces of an edited or new message.
func (c codec) compose(out *Item, m *message.Message, was *Item, pieces []piece) error {
	from := origins(m.Parts, was, pieces)
	var of []int // the piece that each new one was made from, or -1
	for i := 0; i < len(m.Parts); {
		end := i + 1
		for end < len(m.Parts) && from[end] == from[i] && (from[i] >= 0 || c.together(m.Parts[end-1], m.Parts[end])) {
			end++
		}
		base, old := "", []message.Part(nil)
		if k := from[i]; k >= 0 {
			base, old = pieces[k].raw, partsOf(was, pieces, k)
		}
		part := *m
		part.Parts = m.Parts[i:end]
		raw := base
		if base == "" && was != nil {
			raw = c.body.joined(was, part.Parts)
		}
		if raw == "" || base != "" && !slices.Equal(old, part.Parts) {
			var err error
			raw, err = c.write(part, base, old)
			if err != nil {
				return jsonedit.In(jsonedit.Place("parts", i), err)
			}
		}
		out.add(strings.Clone(raw), part.Parts...)
		of = append(of, from[i])
		i = end
	}
	if _, ok := c.api.(responses); ok && was != nil {
		out.pieces = unbind(out.pieces, pieces, of)
	}
	return nil
}

// joined returns the JSON of parts of the items behind one, to which a repair has joined them; "" if they are of none.
func (b *Body) joined(was *Item, parts []message.Part) string {
	for _, it := range b.items[slices.Index(b.items, was)+1:] {
		if it.role != was.role {
			break
		}
		pieces := b.piecesOf(it)
		for k := range pieces {
			if slices.Equal(partsOf(it, pieces, k), parts) {
				return pieces[k].raw
			}
		}
	}
	return ""
}

// origins returns, for each part, the piece of an item that it was made from, or -1.
func origins(parts []message.Part, was *Item, pieces []piece) []int {
	if was == nil {
		return slices.Repeat([]int{-1}, len(parts))
	}
	var of []int // the piece of each part
	for k, p := range pieces {
		of = append(of, slices.Repeat([]int{k}, p.parts)...)
	}
	from := align(parts, was.parts)
	for i, at := range from {
		if at >= 0 {
			from[i] = of[at]
		}
	}
	return from
}

// partsOf returns the parts of a piece of an item.
func partsOf(it *Item, pieces []piece, k int) []message.Part {
	first := 0
	for _, p := range pieces[:k] {
		first += p.parts
	}
	return it.parts[first : first+pieces[k].parts]
}

// akin reports whether a part can be written over another one.
func akin(is, was message.Part) bool {
	switch is := is.(type) {
	case message.Text:
		_, ok := was.(message.Text)
		return ok
	case message.ToolCall:
		w, ok := was.(message.ToolCall)
		return ok && w.ID == is.ID
	case message.Thinking, message.Media, message.ToolResult, message.Opaque:
	}
	return false
}

// align is [foreign.Align], in which a call whose ID a repair has changed is still made from the one that it was.
func align(now, was []message.Part) []int {
	from := foreign.Align(now, was, akin)
	for i, p := range now {
		c, ok := p.(message.ToolCall)
		if !ok || from[i] >= 0 {
			continue
		}
		for k, p := range was {
			w, ok := p.(message.ToolCall)
			if ok && (w.Name == c.Name || w.Arguments == c.Arguments) && !slices.Contains(from, k) {
				from[i] = k
				break
			}
		}
	}
	return from
}

// rewrite returns the JSON of parts: of each one that is as it was, the same.
func rewrite(now, was []message.Part, raws []string, write func(p message.Part, base string) (string, error)) ([]string, error) {
	out := make([]string, len(now))
	if len(was) != len(raws) {
		was = nil
	}
	for i, at := range align(now, was) {
		base := ""
		if at >= 0 {
			base = raws[at]
		}
		if at >= 0 && was[at] == now[i] {
			out[i] = base
			continue
		}
		var err error
		out[i], err = write(now[i], base)
		if err != nil {
			return nil, jsonedit.In(jsonedit.Place("", i), err)
		}
	}
	return out, nil
}

// contentOf returns the content of the results in parts.
func contentOf(parts []message.Part) (id, name string, failed bool, content []message.Part) {
	for _, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			continue
		}
		id = r.CallID
		name = r.Name
		failed = r.Error
		if r.Content != nil {
			content = append(content, r.Content)
		} else {
			content = append(content, message.Text{Text: r.Text})
		}
	}
	return id, name, failed, content
}

// resultsOf returns content as results like the given one.
func resultsOf(r message.ToolResult, content []message.Part) []message.Part {
	if len(content) == 0 {
		return []message.Part{r}
	}
	out := make([]message.Part, len(content))
	for i, p := range content {
		if t, ok := p.(message.Text); ok {
			r.Text, r.Content = t.Text, nil
		} else {
			r.Text, r.Content = "", p
		}
		out[i] = r
	}
	return out
}

// list returns the raw items of an array.
func list(raw string) (items []string) {
	for s := range jsonscan.Items(raw, 0) {
		items = append(items, s.In(raw))
	}
	return items
}

// array returns items as an array, separated as in a base.
func array(base string, items []string) string {
	if base == "" || base[0] != '[' {
		base = "[]"
	}
	return jsonedit.ParseList(base).With(items)
}

// object reads a value that must be an object.
func object(raw string) (jsonedit.Object, error) {
	if raw == "" || raw[0] != '{' {
		return jsonedit.Object{}, jsonedit.Faultf("", "is %s, want an object", jsonedit.KindOf(raw))
	}
	return jsonedit.ParseObject(raw), nil
}

// unsupported is the error for a part that a format does not have.
func unsupported(p message.Part, where string) error {
	return jsonedit.Faultf("", "is %s, which %s does not have", strings.TrimPrefix(fmt.Sprintf("%T", p), "message."), where)
}

// Request returns the request of a body, for a chain.
func (b *Body) Request() *middleware.Request {
	return &middleware.Request{Messages: b.talk.Messages, Tools: b.Tools, Model: b.Model, Format: b.Format.Name, Native: b.Native}
}

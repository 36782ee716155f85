package message

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// mendContent mends what a message shows by itself.
func (d *mender) mendContent() {
	out := make([]item, 0, len(d.list))
	for _, it := range d.list {
		if !it.wrong {
			out = append(out, it)
			continue
		}
		out = append(out, d.mendMessage(it)...)
	}
	d.list = out
}

func (d *mender) mendMessage(it item) []item {
	d.mendRole(&it)
	moved := d.mendParts(&it)
	d.mendShape(&it)
	kept := d.keep(&it, len(moved) > 0)
	if len(moved) == 0 {
		return kept
	}
	results := item{Message: Message{Role: RoleTool, Parts: moved}, at: it.at}
	switch {
	case len(kept) == 0: // the message is its results
		results.Message = it.Message
		results.Role, results.Parts = RoleTool, moved
		return []item{results}
	case it.Role == RoleAssistant:
		return append(kept, results)
	}
	return append([]item{results}, kept...)
}

func (d *mender) mendRole(it *item) {
	switch it.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return
	case "developer":
		it.Role = RoleSystem
		d.fix(UnknownRole, it.at, "", "became system")
	default:
		d.fix(UnknownRole, it.at, "", "role %q became user", string(it.Role))
		it.Role = RoleUser
	}
}

// mendParts mends the parts one by one, and returns the results that stand in
// a message that may not hold them.
func (d *mender) mendParts(it *item) (moved []Part) {
	parts := make([]Part, 0, len(it.Parts))
	for _, p := range it.Parts {
		p = d.mendPart(it, p)
		r, isResult := p.(ToolResult)
		switch {
		case p == nil:
		case isResult && it.Role != RoleTool:
			d.fix(MisplacedPart, it.at, r.CallID, "the result moved to a tool message")
			moved = append(moved, r)
		default:
			parts = append(parts, p)
		}
	}
	if !samePart(parts, it.Parts) {
		it.Parts = parts
	}
	return moved
}

// samePart reports whether two lists of parts are equal. Parts of unknown types
// may not be comparable, so these count as different.
func samePart(a, b []Part) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(p Part) bool { return !KnownPart(p) }) && slices.Equal(a, b)
}

// mendPart returns the part as it may stand, or nil.
func (d *mender) mendPart(it *item, p Part) Part {
	if p = d.known(it, p); p == nil {
		return nil
	}
	switch p := p.(type) {
	case Text:
		if d.want.emptyText && blank(p.Text) {
			d.fix(emptyText, it.at, "", "left out")
			return nil
		}
	case Thinking:
		if d.want.outside && it.Role != RoleAssistant {
			d.fix(thinkingOutside, it.at, "", "left out the thinking %q", clip(p.Text))
			return nil
		}
	case ToolCall:
		return d.mendCall(it, p)
	case ToolResult:
		return d.mendResult(it, p)
	case Media, Opaque:
	}
	return p
}

// known returns the part as one of the six types, or nil.
func (d *mender) known(it *item, p Part) Part {
	switch {
	case p == nil:
		d.fix(NilPart, it.at, "", "left out")
		return nil
	case KnownPart(p):
		return p
	}
	if r, ok := p.(ToolResult); ok { // its content is the trouble
		was := r.Content
		if r.Content = pointee(was); r.Content != nil && KnownPart(r.Content) {
			d.fix(UnknownPart, it.at, r.CallID, "the pointer gave way to its value")
			return r
		}
		d.fix(UnknownPart, it.at, r.CallID, "left out the content of the result, %T", was)
		r.Content, r.Text = nil, joined(r.Text, "(content of an unknown type)")
		return r
	}
	if q := pointee(p); q != nil && KnownPart(q) {
		d.fix(UnknownPart, it.at, "", "the pointer gave way to its value")
		return q
	}
	d.fix(UnknownPart, it.at, "", "left out a part of type %T", p)
	return nil
}

// pointee returns the part that a pointer points to, or nil.
func pointee(p Part) Part {
	switch p := p.(type) {
	case *Text:
		return deref(p)
	case *Thinking:
		return deref(p)
	case *Media:
		return deref(p)
	case *ToolCall:
		return deref(p)
	case *ToolResult:
		return deref(p)
	case *Opaque:
		return deref(p)
	}
	return nil
}

func deref[P Part](p *P) Part {
	if p == nil {
		return nil
	}
	return *p
}

func (d *mender) mendCall(it *item, c ToolCall) Part {
	if it.Role != RoleAssistant {
		d.fix(MisplacedPart, it.at, c.ID, "the call became text")
		return Text{fmt.Sprintf("(call of tool %s: %s)", c.Name, c.Arguments)}
	}
	if !jsonscan.IsObject(c.Arguments) {
		d.fix(BadArguments, it.at, c.ID, "%q became a JSON object", clip(c.Arguments))
		c.Arguments = asObject(c.Arguments)
	}
	if d.want.name && !goodName(c.Name) {
		was := c.Name
		c.Name = plainName(c.Name)
		d.fix(badName, it.at, c.ID, "%q became %q", clip(was), c.Name)
	}
	return c
}

// asObject keeps arguments that are no JSON object as a string in one. What
// says that there are none is the empty object.
func asObject(arguments string) string {
	if s := strings.TrimSpace(arguments); s == "" || s == "null" {
		return "{}"
	}
	text, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil { // strings are always written
		return "{}"
	}
	return string(text)
}

func plainName(name string) string {
	b := []byte(strings.ToValidUTF8(name, "_"))
	b = b[:min(len(b), maxName)]
	for i, c := range b {
		if !plainByte[c] {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return unknownTool
	}
	return string(b)
}

func (d *mender) mendResult(it *item, r ToolResult) Part {
	if !holds(r.Content) {
		d.fix(MisplacedPart, it.at, r.CallID, "what the result holds became its text")
		r.Text, r.Content = joined(r.Text, inWords(r.Content)), nil
	}
	if d.want.emptyResult && r.Content == nil && blank(r.Text) {
		d.fix(emptyResult, it.at, r.CallID, "the text became %s", textEmpty)
		r.Text = textEmpty
	}
	return r
}

// inWords tells in a text what a part says.
func inWords(p Part) string {
	switch p := p.(type) {
	case Text:
		return p.Text
	case Thinking:
		return p.Text
	case Media:
		return fmt.Sprintf("(%s)", cmpOr(p.Name, p.Type, "media"))
	case ToolCall:
		return fmt.Sprintf("(call of tool %s: %s)", p.Name, p.Arguments)
	case ToolResult:
		if p.Content == nil {
			return p.Text
		}
		return joined(p.Text, inWords(p.Content))
	case Opaque:
		return p.Data
	}
	return ""
}

// keep returns the message unless nothing of it is left.
func (d *mender) keep(it *item, moved bool) []item {
	if slices.ContainsFunc(it.Parts, says) {
		if d.want.results && it.Role == RoleTool && len(slices.Collect(it.Results())) == 0 {
			it.Role = RoleUser
			d.fix(noResult, it.at, "", "became a message of the user")
		}
		return []item{*it}
	}
	switch {
	case moved: // its results, which were all, stand elsewhere
		return nil
	case it.Role != RoleUser && !it.Hints.Pinned:
		d.fix(EmptyMessage, it.at, "", "left out")
		return nil
	}
	if it.Role == RoleTool {
		it.Role = RoleUser
	}
	it.Parts = []Part{Text{textEmpty}}
	d.fix(EmptyMessage, it.at, "", "got the text %s", textEmpty)
	return []item{*it}
}

// clip shortens a text for a report.
func clip(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

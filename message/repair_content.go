package message

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// repairContent repairs violations within a message.
func (d *repairer) repairContent() {
	out := make([]item, 0, len(d.list))
	for _, it := range d.list {
		if !it.wrong {
			out = append(out, it)
			continue
		}
		out = append(out, d.repairMessage(it)...)
	}
	d.list = out
}

func (d *repairer) repairMessage(it item) []item {
	d.repairRole(&it)
	if d.want.has(badAuthor) && !goodAuthor(it.Name) {
		was := it.Name
		it.Name = fixAuthor(was)
		d.fix(badAuthor, it.at, "", "the name %q became %q", clip(was), it.Name)
	}
	if name := asText(it.Name); name != it.Name {
		d.fix(badText, it.at, "", "the name %q became %q", clip(it.Name), clip(name))
		it.Name = name
	}
	mayBeEmpty := !d.want.has(emptyMessage) && !slices.ContainsFunc(it.Parts, hasContent)
	moved := d.repairParts(&it)
	d.repairShape(&it)
	kept := d.keep(&it, mayBeEmpty, len(moved) > 0)
	if len(moved) == 0 {
		return kept
	}
	results := item{Message: Message{Role: RoleTool, Parts: moved}, at: it.at, wrong: true}
	switch {
	case len(kept) == 0: // the message has only results
		results.Message = it.Message
		results.Role, results.Parts = RoleTool, moved
		return []item{results}
	case it.Role == RoleAssistant:
		return append(kept, results)
	}
	return append([]item{results}, kept...)
}

func (d *repairer) repairRole(it *item) {
	switch it.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return
	case "developer":
		it.Role = RoleSystem
		d.fix(unknownRole, it.at, "", "became system")
	default:
		d.fix(unknownRole, it.at, "", "role %q became user", string(it.Role))
		it.Role = RoleUser
	}
}

// repairParts repairs the parts one by one, and returns the results in a message of the
// wrong role.
func (d *repairer) repairParts(it *item) (moved []Part) {
	parts := make([]Part, 0, len(it.Parts))
	for _, p := range it.Parts {
		p = d.repairText(it, d.repairPart(it, p))
		r, isResult := p.(ToolResult)
		switch {
		case p == nil:
		case isResult && it.Role != RoleTool:
			d.fix(misplacedPart, it.at, r.CallID, "the result moved to a tool message")
			moved = append(moved, r)
		default:
			parts = append(parts, p)
		}
	}
	if !sameParts(parts, it.Parts) {
		it.Parts = parts
	}
	return moved
}

// sameParts reports whether two lists of parts are equal. Parts of unknown types may not
// be comparable, so lists with them are different.
func sameParts(a, b []Part) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(p Part) bool { return !knownPart(p) }) && slices.Equal(a, b)
}

// repairPart returns the valid part, or nil if it is removed.
func (d *repairer) repairPart(it *item, p Part) Part {
	p = d.known(it, p)
	if p == nil {
		return nil
	}
	switch p := p.(type) {
	case Text:
		if d.want.has(emptyText) && blank(p.Text) {
			d.fix(emptyText, it.at, "", "removed")
			return nil
		}
	case Thinking:
		if d.want.has(thinkingOutside) && it.Role != RoleAssistant {
			d.fix(thinkingOutside, it.at, "", "removed the thinking %q", clip(p.Text))
			return nil
		}
	case ToolCall:
		return d.repairCall(it, p)
	case ToolResult:
		return d.repairResult(it, p)
	case Media, Opaque:
	}
	return p
}

// known returns the part as one of the six types, or nil if it is removed.
func (d *repairer) known(it *item, p Part) Part {
	switch {
	case p == nil:
		d.fix(nilPart, it.at, "", "removed")
		return nil
	case knownPart(p):
		return p
	}
	if r, ok := p.(ToolResult); ok { // its content has an unknown type
		was := r.Content
		r.Content = pointee(was)
		if r.Content != nil {
			d.fix(unknownPart, it.at, r.CallID, "the pointer was replaced by its value")
			return r
		}
		d.fix(unknownPart, it.at, r.CallID, "removed the content of the result, %T", was)
		r.Content, r.Text = nil, joined(r.Text, "(content of an unknown type)")
		return r
	}
	if q := pointee(p); q != nil {
		d.fix(unknownPart, it.at, "", "the pointer was replaced by its value")
		return q
	}
	d.fix(unknownPart, it.at, "", "removed a part of type %T", p)
	return nil
}

// pointee returns the part to which a pointer points, or nil.
func pointee(p Part) Part {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	if q, ok := reflect.TypeAssert[Part](v.Elem()); ok && knownPart(q) {
		return q
	}
	return nil
}

func (d *repairer) repairCall(it *item, c ToolCall) Part {
	if it.Role != RoleAssistant {
		d.fix(misplacedPart, it.at, c.ID, "the call became text")
		return Text{fmt.Sprintf("(call of tool %s: %s)", c.Name, c.Arguments)}
	}
	if d.want.has(badArguments) && !jsonscan.IsObject(c.Arguments) {
		d.fix(badArguments, it.at, c.ID, "%q became a JSON object", clip(c.Arguments))
		c.Arguments = asObject(c.Arguments)
	}
	c.Name = d.toolName(it, c.ID, c.Name)
	return c
}

// toolName returns the valid name of a tool.
func (d *repairer) toolName(it *item, id, name string) string {
	if !d.want.has(badName) || d.rules.goodName(name) {
		return name
	}
	valid := d.rules.fixName(name)
	d.fix(badName, it.at, id, "%q became %q", clip(name), clip(valid))
	return valid
}

// asObject returns a JSON object with the arguments as a string. Empty arguments and null
// become the empty object.
func asObject(arguments string) string {
	if s := strings.TrimSpace(arguments); s == "" || s == "null" {
		return "{}"
	}
	text, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil { // strings are always encoded
		return "{}"
	}
	return string(text)
}

func (d *repairer) repairResult(it *item, r ToolResult) Part {
	if !holds(r.Content) {
		d.fix(misplacedPart, it.at, r.CallID, "the content of the result became its text")
		r.Text, r.Content = joined(r.Text, inWords(r.Content)), nil
	}
	if r.Name != "" {
		r.Name = d.toolName(it, r.CallID, r.Name)
	}
	if d.want.has(emptyResult) && r.Content == nil && blank(r.Text) {
		d.fix(emptyResult, it.at, r.CallID, "the text became %s", textEmpty)
		r.Text = textEmpty
	}
	return r
}

// inWords returns the content of a part as a text.
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

// keep returns the message, unless it is empty and must not be.
func (d *repairer) keep(it *item, mayBeEmpty, moved bool) []item {
	if mayBeEmpty || slices.ContainsFunc(it.Parts, hasContent) {
		if d.want.has(noResult) && it.Role == RoleTool && len(slices.Collect(it.Results())) == 0 {
			it.Role = RoleUser
			d.fix(noResult, it.at, "", "became a user message")
		}
		return []item{*it}
	}
	switch {
	case moved: // it had only results, which were moved
		return nil
	case it.Role != RoleUser && !it.Hints.Pinned:
		d.fix(emptyMessage, it.at, "", "removed")
		return nil
	}
	if it.Role == RoleTool {
		it.Role = RoleUser
	}
	it.Parts = []Part{Text{textEmpty}}
	d.fix(emptyMessage, it.at, "", "got the text %s", textEmpty)
	return []item{*it}
}

// clip shortens a text for a fix.
func clip(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// repairShape puts the parts of a message into a valid order.
func (d *repairer) repairShape(it *item) {
	if d.want.has(thinkingAlone) && onlyThinking(it.Parts) {
		it.Parts = nil
		d.fix(thinkingAlone, it.at, "", "removed")
		return
	}
	switch it.Role {
	case RoleAssistant:
		d.repairCallOrder(it)
		d.repairThinking(it)
	case RoleTool:
		isResult := func(p Part) bool { _, ok := p.(ToolResult); return ok }
		if parts := partition(it.Parts, isResult); d.want.has(resultsNotFirst) && !slices.Equal(parts, it.Parts) {
			it.Parts = parts
			d.fix(resultsNotFirst, it.at, "", "the results moved to the beginning")
		}
	default:
	}
}

// repairCallOrder moves text after a call to before the first call.
func (d *repairer) repairCallOrder(it *item) {
	if parts := textFirst(it.Parts); d.want.has(textAfterCall) && !d.rules.keepsOrder(it.Parts) && !slices.Equal(parts, it.Parts) {
		it.Parts = parts
		d.fix(textAfterCall, it.at, "", "the text moved before the first call")
	}
}

// textFirst returns the parts with the text after the first call moved before it.
func textFirst(parts []Part) []Part {
	first := slices.IndexFunc(parts, func(p Part) bool { _, ok := p.(ToolCall); return ok })
	if first < 0 {
		return parts
	}
	isText := func(p Part) bool { _, ok := p.(Text); return ok }
	return slices.Concat(parts[:first], partition(parts[first:], isText))
}

func (d *repairer) repairThinking(it *item) {
	if first := thinkingAt(it.Parts); d.want.has(thinkingNotFirst) && first > 0 {
		end := first
		for end < len(it.Parts) && isThinking(it.Parts[end]) {
			end++
		}
		it.Parts = slices.Concat(it.Parts[first:end], it.Parts[:first], it.Parts[end:])
		d.fix(thinkingNotFirst, it.at, "", "the parts before the thinking moved after it")
	}
	end := len(it.Parts)
	for end > 0 && isThinking(it.Parts[end-1]) {
		end--
	}
	if d.want.has(thinkingLast) && end < len(it.Parts) {
		d.fix(thinkingLast, it.at, "", "the thinking at the end was removed")
		it.Parts = it.Parts[:end:end]
	}
}

// partition returns the parts for which first is true, then the others.
func partition(parts []Part, first func(Part) bool) []Part {
	out := make([]Part, 0, len(parts))
	for _, want := range []bool{true, false} {
		for _, p := range parts {
			if first(p) == want {
				out = append(out, p)
			}
		}
	}
	return out
}

package eino

import (
	"maps"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// thinkingKeys are the keys in Extra under which the models of eino-ext keep
// thinking and its signature, besides ReasoningContent. Some send it back from there, so
// they are removed together with the thinking.
var thinkingKeys = []string{
	"reasoning-content", "_thinking", thinkingKey, signatureKey, "ark-reasoning-content",
}

// Export implements [foreign.Exporter].
func (c codec) Export(m *message.Message, from *foreign.Origin[*schema.Message]) (*schema.Message, error) {
	switch {
	case from == nil:
		return encode(m)
	case !from.Edited:
		return from.Foreign, nil
	}
	out := c.copyOf(from.Foreign)
	if replaceText(out, m, from.Message) {
		return out, nil
	}
	if m.Equal(*from.Message) {
		return from.Foreign, nil
	}
	out.Role, out.Name = schema.RoleType(m.Role), m.Name
	p := &patch{from: from.Foreign, out: out, m: m}
	if p.apply(from.Message.Parts) && comesBack(out, m) == nil {
		return out, nil
	}
	return p.encode()
}

// copyOf returns a copy of a message. Up to 32 copies share memory, so that one that is
// kept keeps not much more alive.
func (c codec) copyOf(f *schema.Message) *schema.Message {
	const shared = 32
	var out *schema.Message
	if c.room == nil {
		out = new(schema.Message)
	} else {
		if len(*c.room) == 0 {
			*c.room = make([]schema.Message, shared)
		}
		out = &(*c.room)[0]
		*c.room = (*c.room)[1:]
	}
	*out = *f
	return out
}

// Kept reports whether a copy that an edit made still has everything else of its origin: the
// meta and the Extra, which [codec.Import] does not take. The copy shares them with the
// origin, unless the edit changed them. What the Extra says of a failure is what [codec.Same] has compared.
func (codec) Kept(out *schema.Message, m *message.Message, from *foreign.Origin[*schema.Message]) bool {
	f := from.Foreign
	if hasLists(f) || len(m.Parts) == 1 && f.Role == schema.Tool && !sameContent(out, m.Parts[0]) {
		return false
	}
	if out.ResponseMeta != f.ResponseMeta || !sameMap(out.Extra, f.Extra) || len(out.ToolCalls) != len(f.ToolCalls) {
		return false
	}
	for i := range out.ToolCalls {
		is, was := &out.ToolCalls[i], &f.ToolCalls[i]
		if is.ID != was.ID || is.Type != was.Type || is.Index != was.Index || !sameMap(is.Extra, was.Extra) {
			return false
		}
	}
	return true
}

// sameMap reports whether two maps are one.
func sameMap(a, b map[string]any) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && (a == nil || reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer())
}

// replaceText handles the most frequent edit quickly: a result gets another text. It
// reports whether that was the edit.
func replaceText(out *schema.Message, m, before *message.Message) bool {
	if out.Role != schema.Tool || len(m.Parts) != 1 || len(before.Parts) != 1 || m.Role != before.Role || m.Name != before.Name ||
		out.Content == "" && hasLists(out) {
		return false
	}
	now, ok := m.Parts[0].(message.ToolResult)
	same := ok && now.Content == nil && now.CallID == out.ToolCallID && now.Name == out.ToolName
	if !same || now.Error != hasFailed(out.Role, out.Extra) {
		return false
	}
	out.Content = now.Text
	return true
}

// patch changes a copy of a message into m.
type patch struct {
	from, out *schema.Message
	m         *message.Message
	places    []place          // of the parts of from
	before    []message.Part   // these parts
	thinking  message.Thinking // of m, for the plain fields; the zero value: none
}

// akin reports whether one part can be an edited form of another.
func akin(is, was message.Part) bool {
	switch is := is.(type) {
	case message.Text, message.Media, message.Opaque:
		switch was.(type) {
		case message.Text, message.Media, message.Opaque:
			return true
		case message.Thinking, message.ToolCall, message.ToolResult:
		}
	case message.Thinking:
		_, ok := was.(message.Thinking)
		return ok
	case message.ToolCall:
		w, ok := was.(message.ToolCall)
		return ok && w.ID == is.ID
	case message.ToolResult:
		_, ok := was.(message.ToolResult)
		return ok
	}
	return false
}

// apply puts the parts into the places of those that they were made from, which before
// has with their results. It reports whether all have such a place.
func (e *patch) apply(before []message.Part) bool {
	err := walk(e.from, func(at place, p message.Part) {
		e.places, e.before = append(e.places, at), append(e.before, p)
	})
	to := foreign.Align(e.m.Parts, before, akin)
	if err != nil || slices.Contains(to, -1) {
		return false
	}
	parts, err := e.unwrap()
	if err != nil {
		return false
	}
	out := e.out
	out.ReasoningContent = ""
	out.Content = ""
	out.ToolCalls = nil
	out.MultiContent = nil
	out.UserInputMultiContent = nil
	out.AssistantGenMultiContent = nil
	for i, p := range parts {
		if !e.replace(to[i], p) {
			return false
		}
	}
	e.setThinking()
	return true
}

// unwrap returns the parts of m, with the contents of results instead of the results,
// and sets the call that the message answers.
func (e *patch) unwrap() ([]message.Part, error) {
	parts := e.m.Parts
	if e.m.Role != message.RoleTool {
		return parts, nil
	}
	n := slices.IndexFunc(parts, func(p message.Part) bool { _, is := p.(message.ToolCall); return is })
	if n < 0 {
		n = len(parts)
	}
	contents, r, err := unwrap(parts[:n])
	if err != nil {
		return nil, err
	}
	if r != nil {
		e.out.ToolCallID, e.out.ToolName = r.CallID, r.Name
		e.setFailed(r.Error)
	}
	return append(contents, parts[n:]...), nil
}

// replace puts p into the place of part k, in a copy of the element that was there.
func (e *patch) replace(k int, p message.Part) bool {
	at, out := e.places[k], e.out
	text, isText := p.(message.Text)
	switch at.field {
	case reasoning:
		var ok bool
		e.thinking, ok = p.(message.Thinking)
		return ok
	case content:
		out.Content = text.Text
		return isText
	case calls:
		c, ok := p.(message.ToolCall)
		t := e.from.ToolCalls[at.i]
		t.ID, t.Function = c.ID, schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}
		out.ToolCalls = append(out.ToolCalls, t)
		return ok
	case multi, input, output, nowhere:
	}
	if _, was := e.before[k].(message.Text); p != e.before[k] && (!was || !isText) {
		return add(out, at.field, p) == nil
	}
	switch at.field { //nolint:exhaustive // the others are done
	case multi:
		out.MultiContent = append(out.MultiContent, e.from.MultiContent[at.i])
		if isText {
			out.MultiContent[len(out.MultiContent)-1].Text = text.Text
		}
	case input:
		out.UserInputMultiContent = append(out.UserInputMultiContent, e.from.UserInputMultiContent[at.i])
		if isText {
			out.UserInputMultiContent[len(out.UserInputMultiContent)-1].Text = text.Text
		}
	case output:
		out.AssistantGenMultiContent = append(out.AssistantGenMultiContent, e.from.AssistantGenMultiContent[at.i])
		if isText {
			out.AssistantGenMultiContent[len(out.AssistantGenMultiContent)-1].Text = text.Text
		}
	}
	return true
}

// encode makes the parts of m new, and keeps the fields of the message that are not
// parts.
func (e *patch) encode() (*schema.Message, error) {
	f, err := encode(e.m)
	if err != nil {
		return nil, err
	}
	for i := range f.ToolCalls {
		k := slices.IndexFunc(e.from.ToolCalls, func(c schema.ToolCall) bool { return c.ID == f.ToolCalls[i].ID })
		if k >= 0 {
			t := e.from.ToolCalls[k]
			t.Function = f.ToolCalls[i].Function
			f.ToolCalls[i] = t
		}
	}
	failed := hasFailed(f.Role, f.Extra)
	e.thinking = thinkingOf(f)
	f.ResponseMeta, f.Extra = e.out.ResponseMeta, e.out.Extra
	e.out = f
	e.setFailed(failed)
	e.setThinking()
	return f, nil
}

// setThinking puts the thinking into the plain fields. Where it is unchanged, they remain as they are.
func (e *patch) setThinking() {
	e.out.ReasoningContent = e.from.ReasoningContent
	if e.thinking != thinkingOf(e.from) {
		e.ownExtra()
		setThinking(e.out, e.thinking)
	}
}

// setFailed marks a result as an error, or removes that mark.
func (e *patch) setFailed(failed bool) {
	switch {
	case failed == hasFailed(e.out.Role, e.out.Extra):
	case !failed:
		e.ownExtra()
		delete(e.out.Extra, ErrorKey)
	case e.out.Extra == nil:
		e.out.Extra = map[string]any{ErrorKey: true}
	default:
		e.ownExtra()
		e.out.Extra[ErrorKey] = true
	}
}

// ownExtra makes the Extra of the copy one that may be changed.
func (e *patch) ownExtra() {
	if sameMap(e.out.Extra, e.from.Extra) {
		e.out.Extra = maps.Clone(e.out.Extra)
	}
}

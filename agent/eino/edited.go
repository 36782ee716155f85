package eino

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// thinkingKeys are the keys in Extra under which the models of eino-ext keep
// thinking and its signature beside ReasoningContent. Some send it back from
// there, so thinking that was removed must go there, too.
var thinkingKeys = []string{
	"reasoning-content", "_thinking", "_eino_claude_thinking", "_eino_claude_thinking_signature", "ark-reasoning-content",
}

// edited returns a copy of the message that m comes from, which differs from
// it only in what m says differently.
func (c codec) edited(m *message.Message, from *foreign.Origin[*schema.Message]) (*schema.Message, error) {
	f := from.Foreign
	out := c.message()
	*out = *f
	if f.Extra != nil {
		out.Extra = maps.Clone(f.Extra)
	}
	if reword(out, m, &from.Message) {
		return out, nil
	}
	if m.Equal(from.Message) {
		return f, nil
	}
	out.Role, out.Name = schema.RoleType(m.Role), m.Name
	e := &edit{from: f, out: out, m: *m}
	e.align(from.Message.Parts)
	if e.rebuild() && comesBack(out, *m) == nil {
		return out, nil
	}
	return e.anew()
}

// reword is the short way for the most frequent edit: a result gets another
// text.
func reword(out *schema.Message, m, before *message.Message) bool {
	if out.Role != schema.Tool || len(m.Parts) != 1 || len(before.Parts) != 1 || m.Role != before.Role || m.Name != before.Name ||
		out.Content == "" && !answersWithNothing(out) {
		return false
	}
	now, ok := m.Parts[0].(message.ToolResult)
	if !ok || now.Content != nil || now.CallID != out.ToolCallID || now.Name != out.ToolName || now.Error != hasFailed(out) {
		return false
	}
	out.Content = now.Text
	return true
}

// edit is the work of bringing a copy of a message to say what m says.
type edit struct {
	from, out *schema.Message
	m         message.Message
	pieces    []piece
	to        []int // for each part of m the piece that it was, or -1
}

// align finds out which piece of the message each part of m was: the one in the
// same place if all are of the sort that they were, or else an equal one, or
// one of the same sort, in order.
func (e *edit) align(before []message.Part) {
	for c := (cursor{f: e.from}); ; {
		p, ok := c.next()
		if !ok {
			break
		}
		e.pieces = append(e.pieces, p)
	}
	e.to = make([]int, len(e.m.Parts))
	if slices.EqualFunc(before, e.m.Parts, inPlaceOf) {
		for i := range e.to {
			e.to[i] = i
		}
		return
	}
	next := 0
	for i, p := range e.m.Parts {
		e.to[i] = -1
		k := slices.Index(before[next:], p)
		if k < 0 {
			k = slices.IndexFunc(before[next:], func(was message.Part) bool { return akin(was, p) })
		}
		if k >= 0 {
			e.to[i] = next + k
			next += k + 1
		}
	}
}

// inPlaceOf reports whether one part may stand where another stood.
func inPlaceOf(was, is message.Part) bool {
	if akin(was, is) {
		return true
	}
	switch was.(type) {
	case message.ToolResult:
		_, ok := is.(message.ToolResult)
		return ok
	case message.Media, message.Opaque:
		switch is.(type) {
		case message.Text, message.Media, message.Opaque:
			return true
		case message.Thinking, message.ToolCall, message.ToolResult:
		}
	case message.Text, message.Thinking, message.ToolCall:
	}
	return false
}

// akin reports whether one part can be what became of another.
func akin(was, is message.Part) bool {
	switch is := is.(type) {
	case message.Text:
		_, ok := was.(message.Text)
		return ok
	case message.Thinking:
		_, ok := was.(message.Thinking)
		return ok
	case message.ToolCall:
		w, ok := was.(message.ToolCall)
		return ok && w.ID == is.ID
	case message.ToolResult:
		w, ok := was.(message.ToolResult)
		return ok && (w.Content == nil) == (is.Content == nil)
	case message.Media, message.Opaque:
	}
	return false
}

// rebuild puts the parts where their pieces stood, and new ones beside their
// neighbours. It reports whether all found a place.
func (e *edit) rebuild() bool {
	f, out := e.from, e.out
	parts, err := e.unwrap()
	if err != nil {
		return false
	}
	out.ReasoningContent, out.Content = "", ""
	out.MultiContent, out.UserInputMultiContent, out.AssistantGenMultiContent = nil, nil, nil
	out.ToolCalls = nil
	for i, p := range parts {
		was := e.to[i]
		if was < 0 {
			if !e.insert(p) {
				return false
			}
			continue
		}
		if !e.put(e.pieces[was], p) {
			return false
		}
	}
	if f.ReasoningContent != "" && out.ReasoningContent != f.ReasoningContent {
		for _, key := range thinkingKeys {
			delete(out.Extra, key)
		}
	}
	return true
}

// unwrap returns what the parts of m say, without the results around them, and
// says in the message which call they answer.
func (e *edit) unwrap() ([]message.Part, error) {
	if e.m.Role != message.RoleTool {
		return e.m.Parts, nil
	}
	first := slices.IndexFunc(e.m.Parts, func(p message.Part) bool { _, is := p.(message.ToolCall); return is })
	if first < 0 {
		first = len(e.m.Parts)
	}
	said, r, err := content(e.m.Parts[:first])
	if err != nil {
		return nil, err
	}
	e.out.ToolCallID, e.out.ToolName = r.CallID, r.Name
	e.fail(r.Error)
	return append(said, e.m.Parts[first:]...), nil
}

// put says p where a piece stood, in a copy of what stood there.
func (e *edit) put(was piece, p message.Part) bool {
	same := was.is(e.from, p)
	switch was.at {
	case inReasoning:
		t, ok := p.(message.Thinking)
		e.out.ReasoningContent = t.Text
		return ok && t.Signature == ""
	case inContent:
		t, ok := p.(message.Text)
		e.out.Content = t.Text
		return ok
	case inMulti:
		el := e.from.MultiContent[was.i]
		if t, ok := p.(message.Text); ok && was.kind == textKind {
			el.Text = t.Text
		} else if !same {
			return add(e.out, inMulti, p) == nil
		}
		e.out.MultiContent = append(e.out.MultiContent, el)
	case inInput:
		el := e.from.UserInputMultiContent[was.i]
		el.Extra = maps.Clone(el.Extra)
		if t, ok := p.(message.Text); ok && was.kind == textKind {
			el.Text = t.Text
		} else if !same {
			return add(e.out, inInput, p) == nil
		}
		e.out.UserInputMultiContent = append(e.out.UserInputMultiContent, el)
	case inOutput:
		el := e.from.AssistantGenMultiContent[was.i]
		el.Extra = maps.Clone(el.Extra)
		if t, ok := p.(message.Text); ok && was.kind == textKind {
			el.Text = t.Text
		} else if !same {
			return add(e.out, inOutput, p) == nil
		}
		e.out.AssistantGenMultiContent = append(e.out.AssistantGenMultiContent, el)
	case inCalls:
		c, ok := p.(message.ToolCall)
		t := e.from.ToolCalls[was.i]
		t.Extra = maps.Clone(t.Extra)
		t.ID, t.Function = c.ID, schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}
		e.out.ToolCalls = append(e.out.ToolCalls, t)
		return ok
	case behindAll:
	}
	return true
}

// insert finds a place for a part that is new.
func (e *edit) insert(p message.Part) bool {
	switch p := p.(type) {
	case message.ToolCall:
		e.out.ToolCalls = append(e.out.ToolCalls, newCall(p))
		return true
	case message.Text, message.Media, message.Opaque:
		for _, list := range []struct {
			at   place
			used bool
		}{
			{inMulti, len(e.from.MultiContent) > 0},
			{inInput, len(e.from.UserInputMultiContent) > 0},
			{inOutput, len(e.from.AssistantGenMultiContent) > 0},
		} {
			if list.used {
				return add(e.out, list.at, p) == nil
			}
		}
	case message.Thinking, message.ToolResult:
	}
	return false
}

// anew says m in the plain way, and keeps of the message all that is not said.
func (e *edit) anew() (*schema.Message, error) {
	f, err := made(e.m)
	if err != nil {
		return nil, err
	}
	out := e.out
	out.ReasoningContent, out.Content, out.ToolCallID, out.ToolName = f.ReasoningContent, f.Content, f.ToolCallID, f.ToolName
	out.MultiContent = f.MultiContent
	out.UserInputMultiContent, out.AssistantGenMultiContent = f.UserInputMultiContent, f.AssistantGenMultiContent
	for i := range f.ToolCalls {
		k := slices.IndexFunc(e.from.ToolCalls, func(c schema.ToolCall) bool { return c.ID == f.ToolCalls[i].ID })
		if k >= 0 {
			t := e.from.ToolCalls[k]
			t.Function, t.Extra = f.ToolCalls[i].Function, maps.Clone(t.Extra)
			f.ToolCalls[i] = t
		}
	}
	out.ToolCalls = f.ToolCalls
	e.fail(hasFailed(f))
	if f.ReasoningContent != e.from.ReasoningContent {
		for _, key := range thinkingKeys {
			delete(out.Extra, key)
		}
	}
	return out, nil
}

// fail marks a result as an error, or as none.
func (e *edit) fail(failed bool) {
	switch {
	case failed == hasFailed(e.out):
	case !failed:
		delete(e.out.Extra, ErrorKey)
	case e.out.Extra == nil:
		e.out.Extra = map[string]any{ErrorKey: true}
	default:
		e.out.Extra[ErrorKey] = true
	}
}

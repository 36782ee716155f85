package langchaingo

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Keeps implements [foreign.Exporter].
func (codec) Keeps(f llms.MessageContent, m *message.Message) bool {
	for i, p := range f.Parts {
		if isRestored(p, m.Parts[i]) {
			return false
		}
	}
	return true
}

// Export implements [foreign.Exporter].
func (c codec) Export(m *message.Message, from *foreign.Origin[llms.MessageContent]) (llms.MessageContent, error) {
	switch {
	case from == nil:
		return newMessage(m)
	case from.Edited:
		return edited(m, from)
	}
	f := from.Foreign
	if c.Keeps(f, m) {
		return f, nil
	}
	f.Parts = slices.Clone(f.Parts)
	for i, p := range m.Parts {
		if isRestored(f.Parts[i], p) {
			f.Parts[i] = rewritten(f.Parts[i], p)
		}
	}
	return f, nil
}

// edited returns a copy of the message that m was made from, in which only the edited
// parts differ.
func edited(m *message.Message, from *foreign.Origin[llms.MessageContent]) (f llms.MessageContent, err error) {
	f = from.Foreign
	f.Parts = make([]llms.ContentPart, 0, len(m.Parts))
	to := foreign.Align(m.Parts, from.Message.Parts, akin)
	for i, p := range m.Parts {
		if to[i] < 0 {
			if f.Parts, err = appendNew(f.Parts, p); err != nil {
				return f, fmt.Errorf("part %d: %w", i, err)
			}
			continue
		}
		was := from.Foreign.Parts[to[i]]
		if from.Message.Parts[to[i]] != p || isRestored(was, p) {
			was = rewritten(was, p)
		}
		f.Parts = append(f.Parts, was)
	}
	return f, nil
}

// akin reports whether one part can be an edited form of another.
func akin(is, was message.Part) bool {
	switch is := is.(type) {
	case message.Text:
		_, ok := was.(message.Text)
		return ok
	case message.ToolCall:
		was, ok := was.(message.ToolCall)
		return ok && is.ID == was.ID && is.Name == was.Name
	case message.ToolResult:
		was, ok := was.(message.ToolResult)
		return ok && is.CallID == was.CallID && is.Content == nil
	case nil, message.Thinking, message.Media, message.Opaque:
	}
	return false
}

// isRestored reports whether importing f has restored arguments or a name.
func isRestored(f llms.ContentPart, p message.Part) bool {
	switch f := f.(type) {
	case llms.ToolCall:
		_, _, arguments, ok := callOf(p)
		return ok && f.FunctionCall.Arguments != arguments
	case llms.ToolCallResponse:
		_, name, _, ok := resultOf(p)
		return ok && f.Name != name
	case llms.CachedContent:
		return isRestored(f.ContentPart, p)
	}
	return false
}

// rewritten returns a copy of f with the content of p, which is of the same type.
func rewritten(f llms.ContentPart, p message.Part) llms.ContentPart {
	switch f := f.(type) {
	case llms.TextContent:
		if p, ok := p.(message.Text); ok {
			f.Text = p.Text
		}
		return f
	case llms.ToolCall:
		if p, ok := p.(message.ToolCall); ok {
			function := *f.FunctionCall
			function.Arguments = p.Arguments
			f.FunctionCall = &function
		}
		return f
	case llms.ToolCallResponse:
		if p, ok := p.(message.ToolResult); ok {
			f.Name, f.Content = p.Name, p.Text
		}
		return f
	case llms.CachedContent:
		f.ContentPart = rewritten(f.ContentPart, p)
		return f
	}
	return f
}

// changed returns a copy of the response with the message of resp. If that has parts of
// the same types as before, each is changed in its place; else the first choice gets
// the whole message.
func (a *answer) changed(resp *middleware.Response) (*llms.ContentResponse, error) {
	if len(a.parts) == 0 {
		return newResponse(resp)
	}
	out := &llms.ContentResponse{Choices: slices.Clone(a.raw.Choices)}
	var used []int
	for _, p := range a.parts {
		if !slices.Contains(used, p.choice) {
			used = append(used, p.choice)
			c := *out.Choices[p.choice]
			c.ToolCalls = slices.Clone(c.ToolCalls)
			out.Choices[p.choice] = &c
		}
	}
	sameType := func(a, b message.Part) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }
	if slices.EqualFunc(a.Message.Parts, resp.Message.Parts, sameType) {
		for i, p := range resp.Message.Parts {
			if p != a.Message.Parts[i] {
				change(out.Choices[a.parts[i].choice], a.parts[i].call, p)
			}
		}
	} else {
		if err := setMessage(out.Choices[used[0]], resp.Message); err != nil {
			return nil, err
		}
		for _, i := range slices.Backward(used[1:]) {
			out.Choices = slices.Delete(out.Choices, i, i+1)
		}
	}
	if resp.Stop != a.Stop {
		for _, c := range out.Choices {
			c.StopReason = reasonOf(resp.Stop)
		}
	}
	return out, nil
}

// change puts a part in the place of one of the same type.
func change(c *llms.ContentChoice, call int, p message.Part) {
	switch p := p.(type) {
	case message.Text:
		c.Content = p.Text
	case message.Thinking:
		if c.ReasoningContent != "" {
			c.ReasoningContent = p.Text
		}
		if _, ok := c.GenerationInfo[keySignature]; ok {
			c.GenerationInfo = maps.Clone(c.GenerationInfo)
			c.GenerationInfo[keyThinking], c.GenerationInfo[keySignature] = p.Text, p.Signature
		}
	case message.ToolCall:
		f := &llms.FunctionCall{Name: p.Name, Arguments: p.Arguments}
		if call >= 0 {
			c.ToolCalls[call].ID, c.ToolCalls[call].FunctionCall = p.ID, f
		}
		if call <= 0 && c.FuncCall != nil {
			c.FuncCall = f
		}
	case nil, message.Media, message.ToolResult, message.Opaque:
	}
}

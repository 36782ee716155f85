package langchaingo

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Export implements [foreign.Exporter].
func (codec) Export(m *message.Message, from *foreign.Origin[llms.MessageContent]) (llms.MessageContent, error) {
	switch {
	case from == nil:
		return newMessage(m)
	case from.Edited:
		return edited(m, from)
	}
	f := from.Foreign
	for i, p := range m.Parts {
		if !isRestored(f.Parts[i], p) {
			continue
		}
		if &f.Parts[0] == &from.Foreign.Parts[0] {
			f.Parts = slices.Clone(f.Parts)
		}
		f.Parts[i] = rewritten(f.Parts[i], p)
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
			f.Parts, err = appendNew(f.Parts, p)
			if err != nil {
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

// Kept reports whether a copy that an edit made still has everything else of its origin that
// [codec.Import] does not take: the types of calls, and what a part is wrapped in.
func (codec) Kept(out llms.MessageContent, _ *message.Message, from *foreign.Origin[llms.MessageContent]) bool {
	return out.Role == from.Foreign.Role && slices.EqualFunc(out.Parts, from.Foreign.Parts, keeps)
}

func keeps(is, was llms.ContentPart) bool {
	switch is := is.(type) {
	case llms.TextContent:
		_, ok := was.(llms.TextContent)
		return ok
	case llms.ToolCall:
		was, ok := was.(llms.ToolCall)
		return ok && is.ID == was.ID && is.Type == was.Type
	case llms.ToolCallResponse:
		was, ok := was.(llms.ToolCallResponse)
		return ok && is.ToolCallID == was.ToolCallID
	}
	return false // with parts of other types a message is converted again
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

// changed returns a copy of the response whose first choice has the message of resp. The
// others that the message was made of are left out.
func (a *answer) changed(resp *middleware.Response) (*llms.ContentResponse, error) {
	i := slices.IndexFunc(a.raw.Choices[:a.choices], func(c *llms.ContentChoice) bool { return c != nil })
	if i < 0 {
		return newResponse(resp)
	}
	first := *a.raw.Choices[i]
	if err := setMessage(&first, resp.Message); err != nil {
		return nil, err
	}
	if resp.Stop != a.Stop {
		first.StopReason = reasonOf(resp.Stop)
	}
	return &llms.ContentResponse{Choices: append([]*llms.ContentChoice{&first}, a.raw.Choices[a.choices:]...)}, nil
}

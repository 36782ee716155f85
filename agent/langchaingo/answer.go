package langchaingo

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Keys of GenerationInfo under which Anthropic's thinking is.
const (
	keyThinking  = "ThinkingContent"
	keySignature = "ThinkingSignature"
)

// answer is what a model of langchaingo answered, in both languages.
type answer struct {
	middleware.Response

	raw   *llms.ContentResponse
	parts []place // where each part of the message is in raw
}

// place is where a part comes from.
type place struct {
	choice int
	call   int // among the choice's calls; -1: its FuncCall
}

// answerOf translates an answer. It consists of all choices, unless several
// were asked for: then the first one counts.
func answerOf(raw *llms.ContentResponse, asked llms.CallOptions) (*answer, error) {
	if raw == nil {
		return nil, &middleware.Error{Op: op, Err: errors.New("the model returned neither a response nor an error")}
	}
	a := &answer{raw: raw}
	a.Message.Role = message.RoleAssistant
	for i, c := range raw.Choices {
		if c == nil {
			continue
		}
		if a.Usage == (message.Usage{}) {
			a.Usage = usageOf(c.GenerationInfo)
		}
		a.Stop = stopOf(c.StopReason)
		if err := a.add(c, i); err != nil {
			return nil, err
		}
		if max(asked.N, asked.CandidateCount) > 1 && !isBlock(c) {
			break
		}
	}
	if a.Message.HasCalls() && (a.Stop == "" || a.Stop == middleware.StopEnd) {
		a.Stop = middleware.StopTools // Gemini says "stop", Ollama nothing
	}
	return a, nil
}

// isBlock reports whether a choice is a block of one answer, as those of
// Anthropic are, which knows no alternatives.
func isBlock(c *llms.ContentChoice) bool {
	_, ok := c.GenerationInfo["CacheCreationInputTokens"]
	return ok
}

func (a *answer) add(c *llms.ContentChoice, choice int) error {
	put := func(p message.Part, call int) {
		a.Message.Parts = append(a.Message.Parts, p)
		a.parts = append(a.parts, place{choice, call})
	}
	if t := thinkingOf(c); t != (message.Thinking{}) {
		put(t, 0)
	}
	if c.Content != "" {
		put(message.Text{Text: c.Content}, 0)
	}
	for i, call := range c.ToolCalls {
		if call.FunctionCall == nil {
			return &middleware.Error{Op: op, Err: fmt.Errorf("choice %d of the answer: call %q has no function", choice, call.ID)}
		}
		put(message.ToolCall{ID: call.ID, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments}, i)
	}
	if len(c.ToolCalls) == 0 && c.FuncCall != nil {
		put(message.ToolCall{Name: c.FuncCall.Name, Arguments: c.FuncCall.Arguments}, -1)
	}
	return nil
}

func thinkingOf(c *llms.ContentChoice) message.Thinking {
	t := message.Thinking{Text: c.ReasoningContent}
	// Without a signature, what is in there is a part of the content as well.
	if signature, ok := c.GenerationInfo[keySignature].(string); ok {
		t.Signature = signature
		if text, ok := c.GenerationInfo[keyThinking].(string); ok && t.Text == "" {
			t.Text = text
		}
	}
	return t
}

// changed returns a copy of the response that says resp. If the message has
// the same kinds of parts as before, each is changed in its place; else its
// first choice says it all.
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
	if slices.EqualFunc(a.Message.Parts, resp.Message.Parts, sameType) {
		for i, p := range resp.Message.Parts {
			if p != a.Message.Parts[i] {
				change(out.Choices[a.parts[i].choice], a.parts[i].call, p)
			}
		}
	} else {
		first := out.Choices[used[0]]
		if err := say(first, resp.Message); err != nil {
			return nil, err
		}
		for _, i := range slices.Backward(used[1:]) {
			out.Choices = slices.Delete(out.Choices, i, i+1)
		}
	}
	if resp.Stop != a.Stop {
		for _, c := range out.Choices {
			c.StopReason = wordOf(resp.Stop)
		}
	}
	return out, nil
}

func sameType(a, b message.Part) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

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

// say makes a choice say a message.
func say(c *llms.ContentChoice, m message.Message) error {
	c.Content, c.ReasoningContent, c.ToolCalls, c.FuncCall = m.Text(), "", nil, nil
	for i, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
		case message.Thinking:
			c.ReasoningContent += p.Text
		case message.ToolCall:
			f := &llms.FunctionCall{Name: p.Name, Arguments: p.Arguments}
			c.ToolCalls = append(c.ToolCalls, llms.ToolCall{ID: p.ID, Type: "function", FunctionCall: f})
			if c.FuncCall == nil {
				c.FuncCall = f
			}
		case nil, message.Media, message.ToolResult, message.Opaque:
			return invalid(fmt.Errorf("answer: part %d: a %T has no place in an answer of langchaingo", i, p))
		}
	}
	return nil
}

// newResponse returns a response for an answer that no model gave.
func newResponse(resp *middleware.Response) (*llms.ContentResponse, error) {
	c := &llms.ContentChoice{StopReason: wordOf(resp.Stop)}
	if err := say(c, resp.Message); err != nil {
		return nil, err
	}
	if u := resp.Usage; u != (message.Usage{}) {
		c.GenerationInfo = map[string]any{
			"PromptTokens": u.Input, "CompletionTokens": u.Output, "TotalTokens": u.Input + u.Output,
			"PromptCachedTokens": u.CacheRead, "ReasoningTokens": u.Thinking, "CompletionReasoningTokens": u.Thinking,
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, nil
}

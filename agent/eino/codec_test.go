package eino

import (
	"math"
	"slices"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

type origin = foreign.Origin[*schema.Message]

func TestPropertyImport(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := anyForeign(t)
		before := clone(f)
		m, err := codec{}.Import(f, nil)
		require.NoError(t, err)
		require.True(t, codec{}.same(f, &m), "a message is the same as what it was imported as: %+v", m)
		same, err := codec{}.Export(&m, &origin{Foreign: f, Message: &m})
		require.NoError(t, err)
		require.Same(t, f, same)
		require.Equal(t, before, f, "what comes in is not written to")

		other := anyForeign(t)
		om, err := codec{}.Import(other, nil)
		require.NoError(t, err)
		if (codec{}).same(f, &om) {
			require.Equal(t, m, om)
		} else {
			require.NotEqual(t, m, om, "Same is exact both ways")
		}
	})
}

// TestPropertyNotice changes a message between two calls.
func TestPropertyNotice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		memo := foreign.NewMemo("eino", codec{})
		f := anyForeign(t)
		_, err := memo.Import([]*schema.Message{f})
		require.NoError(t, err)
		*f = *anyForeign(t)
		talk, err := memo.Import([]*schema.Message{f})
		require.NoError(t, err)
		want, err := codec{}.Import(f, nil)
		require.NoError(t, err)
		require.Equal(t, want, talk.Messages[0])
	})
}

// TestPropertyClear does what editors do most: a result gets another text, or
// the arguments of its call do. That never fails.
func TestPropertyClear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := anyForeign(t)
		m, err := codec{}.Import(f, nil)
		require.NoError(t, err)
		now := m
		now.Parts = slices.Clone(m.Parts)
		for i, p := range now.Parts {
			switch p.(type) {
			case message.ToolResult, message.ToolCall:
				now.Parts[i] = reword1(p, "[cleared]")
			case message.Text, message.Thinking, message.Media, message.Opaque:
			}
		}
		out, err := codec{}.Export(&now, &origin{Foreign: f, Message: &m, Edited: true})
		require.NoError(t, err)
		back, err := codec{}.Import(out, nil)
		require.NoError(t, err)
		require.True(t, back.Equal(now))
		if out != f {
			rest := clone(out)
			rest.Content, rest.ToolCalls = f.Content, f.ToolCalls
			rest.MultiContent, rest.UserInputMultiContent, rest.AssistantGenMultiContent = f.MultiContent, f.UserInputMultiContent, f.AssistantGenMultiContent
			require.Equal(t, f, rest, "nothing else changes")
			require.Len(t, out.ToolCalls, len(f.ToolCalls))
		}
	})
}

// reword1 changes what a part says, and not which part it is.
func reword1(p message.Part, to string) message.Part {
	switch p := p.(type) {
	case message.Text:
		p.Text = to
		return p
	case message.Thinking:
		p.Text = to
		return p
	case message.ToolCall:
		p.Arguments = `{"cut":true}`
		return p
	case message.ToolResult:
		p.Text, p.Content = to, nil
		return p
	case message.Media, message.Opaque:
		return message.Text{Text: to}
	}
	return p
}

// TestWords tells what messages of eino say in ours, and that ours come out as
// the same messages where they are made anew.
func TestWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    *schema.Message
		want message.Message
		anew bool // Export makes f from want
	}{
		"system": {f: schema.SystemMessage("be brief"), want: message.System("be brief"), anew: true},
		"user":   {f: &schema.Message{Role: schema.User, Name: "ann", Content: "go"}, want: message.Message{Role: message.RoleUser, Name: "ann", Parts: []message.Part{message.Text{Text: "go"}}}, anew: true},
		"answer": {
			f: &schema.Message{
				Role: schema.Assistant, ReasoningContent: "hm", Content: "so",
				ToolCalls: []schema.ToolCall{{ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}}},
			},
			want: message.Assistant(message.Thinking{Text: "hm"}, message.Text{Text: "so"}, message.ToolCall{ID: "c1", Name: "look", Arguments: "{}"}),
			anew: true,
		},
		"result": {
			f: &schema.Message{Role: schema.Tool, ToolCallID: "c1", ToolName: "look", Content: "ok"}, want: message.Result("c1", "look", "ok"), anew: true,
		},
		"failed result": {
			f:    &schema.Message{Role: schema.Tool, ToolCallID: "c1", Content: "no such file", Extra: map[string]any{ErrorKey: true}},
			want: message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c1", Text: "no such file", Error: true}}},
			anew: true,
		},
		"result in pieces": {
			f: &schema.Message{Role: schema.Tool, ToolCallID: "c1", ToolName: "look", UserInputMultiContent: []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeText, Text: "see"},
				{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: new("aGk="), MIMEType: "image/png"}}},
			}},
			want: message.Message{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: "c1", Name: "look", Text: "see"},
				message.ToolResult{CallID: "c1", Name: "look", Content: message.Media{Type: "image/png", Data: "hi"}},
			}},
			anew: true,
		},
		"image by URL": {
			f: &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: new("https://x/y")}}},
			}},
			want: message.Message{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/*", URL: "https://x/y"}}},
			anew: true,
		},
		"image by data URL": {
			f: &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
				{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: new("data:image/png;base64,aGk=")}}},
			}},
			want: message.Message{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", Data: "hi"}}},
		},
		"deprecated list": {
			f: &schema.Message{Role: schema.User, MultiContent: []schema.ChatMessagePart{ //nolint:staticcheck // deprecated, and still in use
				{Type: schema.ChatMessagePartTypeText, Text: "see"},
				{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: "https://x/y", MIMEType: "image/png"}}, //nolint:staticcheck // the same
			}},
			want: message.Message{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "see"}, message.Media{Type: "image/png", URL: "https://x/y"}}},
		},
		"signed thinking": {
			f: &schema.Message{Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{
				{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: "hm", Signature: "s"}},
				{Type: schema.ChatMessagePartTypeText, Text: "so"},
			}},
			want: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "so"}),
		},
		"signed thinking of Claude": {
			f: &schema.Message{
				Role: schema.Assistant, ReasoningContent: "hm", Content: "so",
				Extra: map[string]any{"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "s"},
			},
			want: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "so"}),
			anew: true,
		},
		"thinking of Claude with omitted text": {
			f: &schema.Message{
				Role: schema.Assistant, Content: "so", Extra: map[string]any{"_eino_claude_thinking": "", "_eino_claude_thinking_signature": "s"},
			},
			want: message.Assistant(message.Thinking{Signature: "s"}, message.Text{Text: "so"}),
			anew: true,
		},
		"thinking of Claude without ReasoningContent": {
			f: &schema.Message{
				Role: schema.Assistant, Content: "so", Extra: map[string]any{"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "s"},
			},
			want: message.Assistant(message.Thinking{Text: "hm", Signature: "s"}, message.Text{Text: "so"}),
		},
		"unsigned thinking of Claude, which is never sent back": {
			f: &schema.Message{
				Role: schema.Assistant, Content: "so", Extra: map[string]any{"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": ""},
			},
			want: message.Assistant(message.Text{Text: "so"}),
		},
		"a signature in a question": {
			f:    &schema.Message{Role: schema.User, Content: "go", Extra: map[string]any{"_eino_claude_thinking_signature": "s"}},
			want: message.User("go"),
		},
		"unknown part": {
			f:    &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{{Type: "of tomorrow"}}},
			want: message.Message{Role: message.RoleUser, Parts: []message.Part{message.Opaque{Kind: kindInput, Data: `{"type":"of tomorrow"}`}}},
			anew: true,
		},
		"usage": {
			f: &schema.Message{Role: schema.Assistant, Content: "so", ResponseMeta: &schema.ResponseMeta{Usage: &schema.TokenUsage{
				PromptTokens: 10, PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: 4, CacheWriteTokens: 2}, CompletionTokens: 3, TotalTokens: 13,
				CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: 1},
			}}},
			want: message.Message{
				Role: message.RoleAssistant, Parts: []message.Part{message.Text{Text: "so"}},
				Usage: &message.Usage{Input: 10, CacheRead: 4, CacheWrite: 2, Output: 3, Thinking: 1},
			},
			anew: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Import([]*schema.Message{c.f})
			require.NoError(t, err)
			require.Equal(t, []message.Message{c.want}, got)
			if c.anew {
				made, err := Export(got)
				require.NoError(t, err)
				require.Equal(t, []*schema.Message{c.f}, made)
			}
		})
	}
}

// TestOnlyTheEdit changes one thing in a message that has everything.
func TestOnlyTheEdit(t *testing.T) {
	t.Parallel()
	result := &schema.Message{Role: schema.Tool, ToolCallID: "c1", ToolName: "look", Name: "n", Content: "long", Extra: map[string]any{"id": "m1"}}
	answer := &schema.Message{
		Role: schema.Assistant, Name: "n", ReasoningContent: "hm", Content: "so",
		Extra:        map[string]any{"id": "m2", "_eino_claude_thinking_signature": "sig"},
		ResponseMeta: &schema.ResponseMeta{FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 1}},
		ToolCalls: []schema.ToolCall{
			{Index: new(0), ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "look", Arguments: `{"p":1}`}, Extra: map[string]any{"sig": []byte("x")}},
			{Index: new(1), ID: "c2", Type: "custom", Function: schema.FunctionCall{Name: "look", Arguments: `{"p":2}`}},
		},
	}
	omitted := &schema.Message{
		Role: schema.Assistant, Content: "so",
		Extra: map[string]any{"id": "m2", "_eino_claude_thinking": "", "_eino_claude_thinking_signature": "sig"},
	}
	listed := &schema.Message{Role: schema.Assistant, Extra: map[string]any{"id": "m3"}, AssistantGenMultiContent: []schema.MessageOutputPart{
		{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: "hm", Signature: "s"}},
		{Type: schema.ChatMessagePartTypeText, Text: "so"},
	}}
	pieces := &schema.Message{Role: schema.Tool, ToolCallID: "c1", UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "long", Extra: map[string]any{"x": 1}},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{Detail: schema.ImageURLDetailLow}},
	}}
	for name, c := range map[string]struct {
		f    *schema.Message
		edit func(parts []message.Part) []message.Part
		want func(f *schema.Message)
	}{
		"result becomes an error": {
			f: result, edit: func([]message.Part) []message.Part {
				return []message.Part{message.ToolResult{CallID: "c1", Name: "look", Text: "long", Error: true}}
			},
			want: func(f *schema.Message) { f.Extra[ErrorKey] = true },
		},
		"a call removed": {
			f: answer, edit: func(p []message.Part) []message.Part { return slices.Delete(p, 2, 3) },
			want: func(f *schema.Message) { f.ToolCalls = f.ToolCalls[1:] },
		},
		"text removed": {
			f: answer, edit: func(p []message.Part) []message.Part { return slices.Delete(p, 1, 2) },
			want: func(f *schema.Message) { f.Content = "" },
		},
		"thinking removed": {
			f: answer, edit: func(p []message.Part) []message.Part { return p[1:] },
			want: func(f *schema.Message) {
				f.ReasoningContent = ""
				delete(f.Extra, "_eino_claude_thinking_signature")
			},
		},
		"thinking with omitted text removed": {
			f: omitted, edit: func(p []message.Part) []message.Part { return p[1:] },
			want: func(f *schema.Message) { f.Extra = map[string]any{"id": "m2"} },
		},
		"text beside thinking with omitted text": {
			f: omitted, edit: func(p []message.Part) []message.Part { p[1] = message.Text{Text: "s"}; return p },
			want: func(f *schema.Message) { f.Content = "s" },
		},
		"another signature": {
			f: answer, edit: func(p []message.Part) []message.Part {
				p[0] = message.Thinking{Text: "hm", Signature: "new"}
				return p
			},
			want: func(f *schema.Message) {
				f.Extra["_eino_claude_thinking"], f.Extra["_eino_claude_thinking_signature"] = "hm", "new"
			},
		},
		"a reasoning part removed": {
			f: listed, edit: func(p []message.Part) []message.Part { return p[1:] },
			want: func(f *schema.Message) { f.AssistantGenMultiContent = f.AssistantGenMultiContent[1:] },
		},
		"image for text": {
			f: pieces, edit: func(p []message.Part) []message.Part {
				p[1] = message.ToolResult{CallID: "c1", Text: "[image]"}
				return p
			},
			want: func(f *schema.Message) {
				f.UserInputMultiContent[1] = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: "[image]"}
			},
		},
		"all pieces cleared": {
			f: pieces, edit: func([]message.Part) []message.Part {
				return []message.Part{message.ToolResult{CallID: "c1", Text: "[cleared]"}}
			},
			want: func(f *schema.Message) {
				f.UserInputMultiContent = f.UserInputMultiContent[:1]
				f.UserInputMultiContent[0].Text = "[cleared]"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := codec{}.Import(c.f, nil)
			require.NoError(t, err)
			now := m
			now.Parts = c.edit(slices.Clone(m.Parts))
			before := clone(c.f)
			out, err := codec{}.Export(&now, &origin{Foreign: c.f, Message: &m, Edited: true})
			require.NoError(t, err)
			want := clone(c.f)
			c.want(want)
			require.Equal(t, want, out)
			require.Equal(t, before, c.f, "the message of the caller is not changed")
		})
	}
}

func TestWhatCannotBeSaid(t *testing.T) {
	t.Parallel()
	cyclic := map[string]any{"nan": math.NaN()}
	for want, f := range map[string]*schema.Message{
		"message 1: nil":              nil,
		`message 1: role "developer"`: {Role: "developer", Content: "x"},
		"message 1: eino.MessageInputPart 0, which has no place in a message of ours: json": {
			Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{{Type: "of tomorrow", Extra: cyclic}},
		},
	} {
		_, err := Import([]*schema.Message{schema.UserMessage("go"), f})
		require.ErrorContains(t, err, "eino: "+want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	}
	call := message.ToolCall{ID: "c1", Name: "look", Arguments: "{}"}
	for want, m := range map[string]message.Message{
		`message 0: role "robot"`:                                             {Role: "robot"},
		"message 0: part 1: text after a tool call":                           message.Assistant(call, message.Text{Text: "x"}),
		"message 0: 2 parts in a system message":                              {Role: message.RoleSystem, Parts: []message.Part{message.Text{Text: "a"}, message.Media{Type: "image/png", URL: "https://x"}}},
		"message 0: a tool message without a result":                          {Role: message.RoleTool},
		"message 0: part 0: text in a tool message":                           {Role: message.RoleTool, Parts: []message.Part{message.Text{Text: "a"}}},
		`message 0: part 1: results of the calls "c1" and "c2"`:               {Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c1"}, message.ToolResult{CallID: "c2"}}},
		`message 0: part 1: one piece of the result of call "c1" is an error`: {Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c1"}, message.ToolResult{CallID: "c1", Error: true}}},
		`message 0: part 0: opaque part of kind "redacted"`:                   message.Assistant(message.Opaque{Kind: "redacted", Data: "x"}),
		`message 0: media of type "image/png" named "a.png"`:                  {Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", Name: "a.png"}}},
		`message 0: part 0: media of type "image/png" cannot be`:              {Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", URL: "https://x", Data: "x"}}},
		`message 0: result of call "c1" has no place`:                         {Role: message.RoleUser, Parts: []message.Part{message.ToolResult{CallID: "c1"}}},
		"message 0: signed thinking":                                          {Role: message.RoleUser, Parts: []message.Part{message.Thinking{Text: "x", Signature: "s"}}},
	} {
		_, err := Export([]message.Message{m})
		require.ErrorContains(t, err, "eino: "+want)
		require.Equal(t, middleware.Invalid, middleware.KindOf(err))
	}
}

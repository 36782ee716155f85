package eino_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent/eino"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// answer is a stream with all that a provider may send.
func answer() []*schema.Message {
	call := func(i int, c schema.ToolCall) *schema.Message {
		c.Index = &i
		return schema.AssistantMessage("", []schema.ToolCall{c})
	}
	return []*schema.Message{
		{Role: schema.Assistant, Extra: map[string]any{"request": "r1"}},
		{Role: schema.Assistant, ReasoningContent: "hm", Extra: map[string]any{"signature": []byte("s")}},
		{Role: schema.Assistant, Content: "I "},
		{Role: schema.Assistant, Extra: map[string]any{"ping": 1}},
		{Role: schema.Assistant, Content: "look.", AssistantGenMultiContent: []schema.MessageOutputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "!"},
			{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: "ah", Signature: "s"}},
			{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{}},
		}},
		call(2, schema.ToolCall{ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "read"}}),
		call(2, schema.ToolCall{Function: schema.FunctionCall{Arguments: `{"page":`}}),
		call(5, schema.ToolCall{ID: "c2", Type: "function", Function: schema.FunctionCall{Name: "read", Arguments: "{}"}, Extra: map[string]any{"x": 1}}),
		call(2, schema.ToolCall{Function: schema.FunctionCall{Arguments: `1}`}}),
		{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 10, CompletionTokens: 2}}},
	}
}

// pieces is a middleware that hears the pieces and the response.
func pieces(got *[]middleware.Delta, resp **middleware.Response) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r, err := next(ctx, req, func(d middleware.Delta) error {
				*got = append(*got, d)
				return emit(d)
			})
			*resp = r
			return r, err
		}
	}
}

func TestStreamPassesChunks(t *testing.T) {
	t.Parallel()
	chunks := answer()
	var (
		got  []middleware.Delta
		resp *middleware.Response
	)
	r, err := eino.Wrap(newFake(says(chunks...)), pieces(&got, &resp), clearing()).Stream(t.Context(), long(2))
	require.NoError(t, err)
	all, err := drain(r)
	require.NoError(t, err)
	require.Len(t, all, len(chunks))
	for i := range chunks {
		require.Same(t, chunks[i], all[i], "chunk %d", i)
	}
	require.Equal(t, answer(), chunks, "chunks are not written to")

	require.Equal(t, []middleware.Delta{
		{Thinking: "hm"},
		{Text: "I "},
		{Text: "look."},
		{Text: "!"},
		{Thinking: "ah"},
		{Call: &middleware.CallDelta{Index: 0, ID: "c1", Name: "read"}},
		{Call: &middleware.CallDelta{Index: 0, Arguments: `{"page":`}},
		{Call: &middleware.CallDelta{Index: 1, ID: "c2", Name: "read", Arguments: "{}"}},
		{Call: &middleware.CallDelta{Index: 0, Arguments: `1}`}},
	}, got)
	require.Equal(t, message.Usage{Input: 10, Output: 2}, resp.Usage)
	require.Equal(t, middleware.StopTools, resp.Stop)
	var ids []string
	for c := range resp.Message.Calls() {
		ids = append(ids, c.ID+c.Arguments)
	}
	require.Equal(t, []string{`c1{"page":1}`, "c2{}"}, ids)
}

// TestStreamEndsBehindTheChain writes to what it has read, as eino's ADK does
// to the first chunk. The race detector tells whether anyone still looks.
func TestStreamEndsBehindTheChain(t *testing.T) {
	t.Parallel()
	ended := false
	m := eino.Wrap(newFake(says(say("one"))), look(func(*middleware.Request, *middleware.Response, error) { ended = true }))
	r, err := m.Stream(t.Context(), long(1))
	require.NoError(t, err)
	c, err := r.Recv()
	require.NoError(t, err)
	c.Extra, c.Content = map[string]any{"id": 1}, "mine"
	_, err = r.Recv()
	require.ErrorIs(t, err, io.EOF)
	require.True(t, ended, "the chain has ended when the reader sees the end")
	r.Close()
}

// through is a middleware that does something to the pieces.
func through(change func(d middleware.Delta, emit middleware.Emit) error, end func(emit middleware.Emit) error) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, func(d middleware.Delta) error { return change(d, emit) })
			if err == nil && end != nil {
				err = end(emit)
			}
			if err != nil {
				return nil, err
			}
			return resp, nil
		}
	}
}

// piece is a chunk of a stream that is not its last one.
func piece(text string) *schema.Message { return schema.AssistantMessage(text, nil) }

func TestMiddlewareChangesPieces(t *testing.T) {
	t.Parallel()
	meta := &schema.ResponseMeta{FinishReason: "stop", Usage: &schema.TokenUsage{PromptTokens: 3}}
	last := &schema.Message{Role: schema.Assistant, ResponseMeta: meta}
	a, b := piece("a"), piece("b")
	ab := &schema.Message{Role: schema.Assistant, ReasoningContent: "a", Content: "b"}
	closing := &schema.Message{Role: schema.Assistant, ResponseMeta: meta}
	pass := func(d middleware.Delta, emit middleware.Emit) error { return emit(d) }
	without := func(text string) middleware.Middleware {
		return through(func(d middleware.Delta, emit middleware.Emit) error {
			if d.Text == text {
				return nil
			}
			return emit(d)
		}, nil)
	}
	var held []middleware.Delta
	for name, c := range map[string]struct {
		sent []*schema.Message
		mw   middleware.Middleware
		want []*schema.Message
		own  bool // the chunks of the model itself
	}{
		"changed": {
			sent: []*schema.Message{a, b, last},
			mw:   through(func(d middleware.Delta, emit middleware.Emit) error { d.Text = strings.ToUpper(d.Text); return emit(d) }, nil),
			want: []*schema.Message{piece("A"), piece("B"), closing},
		},
		"one left out": {
			sent: []*schema.Message{a, b, last},
			mw:   without("a"),
			want: []*schema.Message{piece("b"), closing},
		},
		"the last left out": {
			sent: []*schema.Message{a, b, last},
			mw:   without("b"),
			want: []*schema.Message{a, closing},
		},
		"half a chunk left out": {
			sent: []*schema.Message{ab, last},
			mw:   without("b"),
			want: []*schema.Message{{Role: schema.Assistant, ReasoningContent: "a"}, closing},
		},
		"one in front": {
			sent: []*schema.Message{a, last},
			mw: func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					if err := emit(middleware.Delta{Text: "first: "}); err != nil {
						return nil, err
					}
					return next(ctx, req, emit)
				}
			},
			want: []*schema.Message{piece("first: "), a, closing},
		},
		"a call behind": {
			sent: []*schema.Message{a, last},
			mw: through(pass, func(emit middleware.Emit) error {
				return emit(middleware.Delta{Call: &middleware.CallDelta{Index: 1, ID: "c", Name: "n", Arguments: "{}"}})
			}),
			want: []*schema.Message{a, last, schema.AssistantMessage("", []schema.ToolCall{
				{Index: new(1), ID: "c", Type: "function", Function: schema.FunctionCall{Name: "n", Arguments: "{}"}},
			})},
		},
		"held back to the end": {
			sent: []*schema.Message{a, ab, last}, own: true,
			mw: through(
				func(d middleware.Delta, _ middleware.Emit) error { held = append(held, d); return nil },
				func(emit middleware.Emit) error {
					for _, d := range held {
						if err := emit(d); err != nil {
							return err
						}
					}
					return nil
				}),
			want: []*schema.Message{a, ab, last},
		},
		"swallowed": {
			sent: []*schema.Message{a, b, last},
			mw:   through(func(middleware.Delta, middleware.Emit) error { return nil }, nil),
			want: []*schema.Message{{Role: schema.Assistant, Content: "ab", ResponseMeta: meta}},
		},
		"nothing said": {
			sent: []*schema.Message{last}, own: true,
			mw:   through(pass, nil),
			want: []*schema.Message{last},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := eino.Wrap(newFake(says(c.sent...)), c.mw).Stream(t.Context(), long(1))
			require.NoError(t, err)
			all, err := drain(r)
			require.NoError(t, err)
			require.Equal(t, c.want, all)
			if c.own {
				for i := range all {
					require.Same(t, c.sent[i], all[i])
				}
			}
		})
	}
}

// A stream is finished by a finish reason, or by a usage after its last piece. One without is an error only if the
// model has finished one before.
func TestUnfinishedStreams(t *testing.T) {
	t.Parallel()
	usage := &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: 3, CompletionTokens: 1}}
	none := &schema.ResponseMeta{Usage: &schema.TokenUsage{}}
	for name, c := range map[string]struct {
		chunks   []*schema.Message
		finished bool
	}{
		"nothing at the end":        {[]*schema.Message{piece("half"), piece(" of it")}, false},
		"a usage of 0 in each":      {[]*schema.Message{{Role: schema.Assistant, Content: "half", ResponseMeta: none}}, false},
		"half of a call":            {[]*schema.Message{schema.AssistantMessage("", []schema.ToolCall{{ID: "c", Function: schema.FunctionCall{Name: "read", Arguments: `{"pa`}}})}, false},
		"a usage before the pieces": {[]*schema.Message{{Role: schema.Assistant, ResponseMeta: usage}, piece("half")}, false},
		"a usage after the pieces":  {[]*schema.Message{piece("all"), {Role: schema.Assistant, ResponseMeta: usage}}, true},
		"a usage with a piece":      {[]*schema.Message{{Role: schema.Assistant, Content: "all", ResponseMeta: usage}}, true},
		"a finish reason":           {[]*schema.Message{say("all"), piece("")}, true},
	} {
		for _, before := range []*schema.Message{nil, say("whole"), piece("half")} {
			inner := newFake(says(before))
			var rec middlewaretest.Recorder
			wrapped := eino.Wrap(inner, rec.Middleware(), clearing())
			emit := func(middleware.Delta) error { return nil }
			ask := middleware.Chain(rec.Middleware())(eino.Model(inner))
			req := &middleware.Request{Messages: []message.Message{message.User("q")}}
			stream := func() ([]*schema.Message, error) {
				r, err := wrapped.Stream(t.Context(), long(1))
				require.NoError(t, err, name)
				return drain(r)
			}
			if before != nil {
				_, err := ask(t.Context(), req, emit)
				require.NoError(t, err, name)
				_, err = stream()
				require.NoError(t, err, name)
			}
			inner.does = says(c.chunks...)
			resp, err := ask(t.Context(), req, emit)
			all, wrapErr := stream()
			require.Len(t, all, len(c.chunks), "%s: each chunk is passed on", name)
			notices := notices(&rec, "without a finish reason and a usage")
			if !c.finished && before != nil && before.Content == "whole" {
				require.Equal(t, middleware.Unavailable, middleware.KindOf(err), "%s: %v", name, err)
				require.Equal(t, middleware.Unavailable, middleware.KindOf(wrapErr), "%s: %v", name, wrapErr)
				require.ErrorContains(t, wrapErr, "which it has sent before", name)
				require.Zero(t, notices, name)
				continue
			}
			require.NoError(t, err, name)
			require.NoError(t, wrapErr, name)
			require.NotEmpty(t, resp.Message.Parts, name)
			if c.finished && (before == nil || before.Content == "whole") {
				require.Zero(t, notices, name)
			} else {
				require.Equal(t, 2, notices, "%s: one of each chain", name)
			}
		}
	}
}

// notices returns how many notices with a text were recorded.
func notices(rec *middlewaretest.Recorder, text string) (n int) {
	for _, e := range rec.Events() {
		if e.Kind == middleware.Notice && strings.Contains(e.Why, text) {
			n++
		}
	}
	return n
}

// What eino cannot put together is lost alone.
func TestStreamKeepsExtra(t *testing.T) {
	t.Parallel()
	first, last := schema.AssistantMessage("H", nil), say("i")
	first.Extra, last.Extra = map[string]any{"odd": []byte("a"), "sign": "s"}, map[string]any{"odd": []byte("b")}
	inner := newFake(says(first, last))
	req := &middleware.Request{Messages: []message.Message{message.User("go")}}
	m := eino.Model(inner)
	for range 2 {
		resp, err := m(t.Context(), req, func(middleware.Delta) error { return nil })
		require.NoError(t, err)
		req.Messages = append(req.Messages, resp.Message)
	}
	require.Equal(t, map[string]any{"sign": "s"}, inner.asked[1][1].Extra)
}

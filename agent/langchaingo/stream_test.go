package langchaingo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/agent/langchaingo"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

const callChunk = `[{"id":"call_1","type":"function","function":{"name":"look","arguments":""}}]`

var pieces = []string{"The ", "linker", callChunk, `[{"type":"","function":{"name":"","arguments":"{\"a\":"}}]`, `[{"type":"","function":{"name":"","arguments":"1}"}}]`}

// streams returns a model that streams chunks, from its own goroutine if
// elsewhere is set, and ignores the function's error if deaf is set.
func streams(chunks, reasoning [][]byte, elsewhere, deaf bool) *model {
	m := &model{}
	m.answer = func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		tell := func() error {
			for _, r := range reasoning {
				if o.StreamingReasoningFunc != nil {
					if err := o.StreamingReasoningFunc(ctx, r, []byte{}); err != nil {
						return fmt.Errorf("streaming reasoning func returned an error: %w", err)
					}
				}
			}
			for _, c := range chunks {
				if o.StreamingFunc != nil {
					if err := o.StreamingFunc(ctx, c); err != nil {
						return fmt.Errorf("streaming func returned an error: %w", err)
					}
				}
				if o.StreamingReasoningFunc != nil {
					if err := o.StreamingReasoningFunc(ctx, nil, c); err != nil {
						return fmt.Errorf("streaming reasoning func returned an error: %w", err)
					}
				}
			}
			return nil
		}
		var err error
		if elsewhere {
			var wg sync.WaitGroup
			wg.Go(func() { err = tell() })
			wg.Wait()
		} else {
			err = tell()
		}
		if err != nil && !deaf {
			return nil, err
		}
		return says("The linker"), nil
	}
	return m
}

func chunksOf(texts ...string) [][]byte {
	var all [][]byte
	for _, t := range texts {
		all = append(all, []byte(t))
	}
	return all
}

var tool = llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "look"}}})

// hear hears the deltas.
func hear(into *[]middleware.Delta) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if emit == nil {
				return next(ctx, req, nil)
			}
			return next(ctx, req, func(d middleware.Delta) error {
				*into = append(*into, d)
				return emit(d)
			})
		}
	}
}

// say writes deltas, one a line.
func lines(deltas []middleware.Delta) string {
	var b strings.Builder
	for _, d := range deltas {
		switch {
		case d.Call != nil:
			fmt.Fprintf(&b, "call %d %s %s %s\n", d.Call.Index, d.Call.ID, d.Call.Name, d.Call.Arguments)
		case d.Thinking != "":
			fmt.Fprintf(&b, "thinking %s\n", d.Thinking)
		case d.Text != "":
			fmt.Fprintf(&b, "text %s\n", d.Text)
		}
	}
	return b.String()
}

func TestPiecesArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		for funcs, want := range map[string]string{
			"text":      "text The \ntext linker\ncall 0 call_1 look \ncall 0   {\"a\":\ncall 0   1}\n",
			"reasoning": "thinking hm\ntext The \ntext linker\ncall 0 call_1 look \ncall 0   {\"a\":\ncall 0   1}\n",
			"both":      "thinking hm\ntext The \ntext linker\ncall 0 call_1 look \ncall 0   {\"a\":\ncall 0   1}\n",
		} {
			t.Run(fmt.Sprintf("%s, elsewhere %t", funcs, elsewhere), func(t *testing.T) {
				t.Parallel()
				var heard []middleware.Delta
				inner := streams(chunksOf(pieces...), chunksOf("hm"), elsewhere, false)
				var got, plain []string
				listen := func(into *[]string) []llms.CallOption {
					options := []llms.CallOption{tool}
					if funcs != "reasoning" {
						options = append(options, llms.WithStreamingFunc(func(_ context.Context, c []byte) error {
							*into = append(*into, "text "+string(c))
							return nil
						}))
					}
					if funcs != "text" {
						options = append(options, llms.WithStreamingReasoningFunc(func(_ context.Context, r, c []byte) error {
							*into = append(*into, "both "+string(r)+"|"+string(c))
							return nil
						}))
					}
					return options
				}
				_, err := inner.GenerateContent(t.Context(), []llms.MessageContent{human("Who?")}, listen(&plain)...)
				require.NoError(t, err)
				_, err = langchaingo.Wrap(inner, hear(&heard)).GenerateContent(t.Context(), []llms.MessageContent{human("Who?")}, listen(&got)...)
				require.NoError(t, err)
				require.Equal(t, plain, got, "as without the wrapper")
				require.Equal(t, want, lines(heard))
			})
		}
	}
}

func TestTextThatLooksLikeCalls(t *testing.T) {
	t.Parallel()
	for text, options := range map[string][]llms.CallOption{
		callChunk:                            nil, // there are no tools
		`[{"id":"call_1"}]`:                  {tool},
		`[{"type":"function", "id":"1"}]`:    {tool},
		`[{"`:                                {tool},
		callChunk + " ":                      {tool},
		`{"name":"look","arguments":"{}"}`:   {tool},
		`[{"id":"1","type":"","more":true}]`: {tool},
	} {
		var heard []middleware.Delta
		options := append(slices.Clip(options), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
		_, err := langchaingo.Wrap(streams(chunksOf(text), nil, false, false), hear(&heard)).
			GenerateContent(t.Context(), []llms.MessageContent{human("Who?")}, options...)
		require.NoError(t, err)
		require.Equal(t, []middleware.Delta{{Text: text}}, heard)
	}
}

func TestMiddlewareEmitsByItself(t *testing.T) {
	t.Parallel()
	whole := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			resp, err := next(ctx, req, nil)
			if err != nil {
				return nil, err
			}
			for _, d := range []middleware.Delta{
				{Thinking: "hm"},
				{Text: resp.Message.Text()},
				{},
				{Call: &middleware.CallDelta{ID: "call_1", Name: "look"}},
				{Call: &middleware.CallDelta{Arguments: "{}"}},
			} {
				if err := emit(d); err != nil {
					return nil, err
				}
			}
			return resp, nil
		}
	}
	inner := streams(chunksOf("a", "b"), nil, false, false)
	var got []string
	text := llms.WithStreamingFunc(func(_ context.Context, c []byte) error {
		got = append(got, string(c))
		return nil
	})
	_, err := langchaingo.Wrap(inner, whole).GenerateContent(t.Context(), []llms.MessageContent{human("Who?")}, text)
	require.NoError(t, err)
	require.Nil(t, inner.last().options.StreamingFunc, "nobody wants pieces of the model")
	require.Equal(t, []string{"The linker", callChunk, `[{"type":"","function":{"name":"","arguments":"{}"}}]`}, got)

	got = nil
	reasoning := llms.WithStreamingReasoningFunc(func(_ context.Context, r, c []byte) error {
		got = append(got, string(r)+"|"+string(c))
		return nil
	})
	_, err = langchaingo.Wrap(inner, whole).GenerateContent(t.Context(), []llms.MessageContent{human("Who?")}, reasoning)
	require.NoError(t, err)
	require.Equal(t, []string{"hm|", "|The linker", "|" + callChunk, `|[{"type":"","function":{"name":"","arguments":"{}"}}]`}, got)
}

// A stream is finished by a stop reason or a usage. One without is an error only if the model has finished one before
// in the chain, under the same name.
func TestUnfinishedStreams(t *testing.T) {
	t.Parallel()
	marks := map[string]*llms.ContentChoice{
		"nothing":     {Content: "half"},
		"a usage":     {Content: "all", GenerationInfo: map[string]any{"PromptTokens": 3, "CompletionTokens": 1}},
		"stop reason": {Content: "all", StopReason: "stop"},
	}
	var mark string
	inner := &model{answer: func(ctx context.Context, _ []llms.MessageContent, o *llms.CallOptions) (*llms.ContentResponse, error) {
		c := *marks[mark]
		if o.StreamingFunc == nil {
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{&c}}, nil
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{&c}}, o.StreamingFunc(ctx, []byte(c.Content))
	}}
	for _, finished := range []string{"a usage", "stop reason"} {
		var rec middlewaretest.Recorder
		wrapped := langchaingo.Wrap(inner, rec.Middleware())
		ours := middleware.Chain(rec.Middleware())(langchaingo.Model(inner))
		pieces := llms.WithStreamingFunc(func(context.Context, []byte) error { return nil })
		ask := func(as, name string) (fromWrapped, fromOurs error) {
			mark = as
			_, fromWrapped = wrapped.GenerateContent(t.Context(), []llms.MessageContent{human("q")}, pieces, llms.WithModel(name))
			_, fromOurs = ours(t.Context(), &middleware.Request{Messages: []message.Message{message.User("q")}, Model: name},
				func(middleware.Delta) error { return nil })
			return fromWrapped, fromOurs
		}
		for _, as := range []string{"nothing", "nothing", finished, finished} {
			err, other := ask(as, "a")
			require.NoError(t, err, as)
			require.NoError(t, other, as)
		}
		err, other := ask("nothing", "a")
		require.Equal(t, middleware.Unavailable, middleware.KindOf(err), "%v", err)
		require.Equal(t, middleware.Unavailable, middleware.KindOf(other), "%v", other)
		err, other = ask("nothing", "b")
		require.NoError(t, err)
		require.NoError(t, other)
		_, err = wrapped.GenerateContent(t.Context(), []llms.MessageContent{human("q")}, llms.WithModel("a"))
		require.NoError(t, err, "a whole answer may lack both")
		require.Len(t, rec.Events(), 2, "one for each chain: %v", rec.Events())
		require.Equal(t, middleware.Notice, rec.Events()[0].Kind)
		require.Equal(t, "langchaingo", rec.Events()[0].By)
		require.NotZero(t, rec.Events()[0].Time)
	}
}

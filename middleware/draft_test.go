package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// drafted returns the draft of a chain that has to work.
func drafted(t require.TestingT, mw middleware.Middleware, history []message.Message, force ...string) *middleware.DraftResult {
	d, err := middleware.Draft(context.Background(), mw, &middleware.Request{Messages: history, Force: force})
	require.NoError(t, err)
	return d
}

// sentBy returns what a call of the chain sends, and what observers hear.
func sentBy(t require.TestingT, mw middleware.Middleware, history []message.Message, force ...string) ([]message.Message, []middleware.Event) {
	req, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: history, Force: force})
	require.NoError(t, err)
	return req.Messages, events
}

func messagesOf(v *middleware.View) []message.Message {
	return slices.Clone(v.Messages())
}

func texts(events []middleware.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind)+" "+e.String())
	}
	return out
}

// foldOfThem returns the position of the only fold of a draft.
func foldOfThem(t require.TestingT, d *middleware.DraftResult) int {
	i := slices.IndexFunc(d.Edits, func(e middleware.DraftEdit) bool { return e.Kind == journal.Fold })
	require.GreaterOrEqual(t, i, 0, "a fold among %v", d.Edits)
	return i
}

func TestDraftErrors(t *testing.T) {
	t.Parallel()
	bad := middleware.Options{Strict: true}
	failing := middleware.Editing("failing", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		return nil, errors.New("no idea")
	}, bad)
	answering := func(middleware.Model) middleware.Model { return middlewaretest.Say("from the cache") }
	anew := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			return next(ctx, &middleware.Request{Messages: req.Messages}, emit)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	l := &layers{}
	for _, tt := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a case of a table
		mw   middleware.Middleware
		req  middleware.Request
		want string
		kind middleware.ErrorKind
	}{
		{"a middleware that answers", t.Context(), middleware.Chain(l.fold(), answering), middleware.Request{}, "a middleware answered by itself", middleware.Unknown},
		{"a request made anew", t.Context(), anew, middleware.Request{}, "want a copy of the one", middleware.Unknown},
		{"a strict editor", t.Context(), failing, middleware.Request{}, "failing: no idea", middleware.Unknown},
		{"a part that is none", t.Context(), l.fold(), middleware.Request{Messages: []message.Message{{Role: "user", Parts: []message.Part{nil}}}}, "message 0: part 0", middleware.Invalid},
		{"without an editor", t.Context(), identity, middleware.Request{Messages: []message.Message{{Role: "user", Parts: []message.Part{nil}}}}, "message 0: part 0", middleware.Invalid},
		{"a budget that is none", t.Context(), l.fold(), middleware.Request{Budget: &middleware.Budget{}}, "Budget.Window", middleware.Invalid},
		{"a context that is done", done, l.fold(), middleware.Request{Messages: lookups(20)}, "context canceled", middleware.Canceled},
	} {
		d, err := middleware.Draft(tt.ctx, tt.mw, &tt.req)
		require.ErrorContains(t, err, tt.want, tt.name)
		require.Equal(t, tt.kind, middleware.KindOf(err), tt.name)
		require.Nil(t, d, tt.name)
	}
}

// A middleware may draft the very request that it is asked, before it passes it
// on.
func TestDraftWithinACall(t *testing.T) {
	t.Parallel()
	history := middlewaretest.ReAct{Rounds: 16, Result: 700}.Messages()
	journal := newCountingJournal()
	l := &layers{}
	inner := middleware.With(middleware.Env{Journal: journal}, l.fold())
	var drafts []*middleware.DraftResult
	asking := func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			before := journal.puts.Load()
			d, err := middleware.Draft(ctx, inner, req)
			if err != nil {
				return nil, err
			}
			if puts := journal.puts.Load(); puts != before {
				return nil, fmt.Errorf("%d writes", puts-before)
			}
			drafts = append(drafts, d)
			if len(drafts) == 2 {
				err = d.Commit(ctx) // within a dry run
			}
			if err != nil {
				return nil, err
			}
			return next(ctx, req, emit)
		}
	}
	outer := middleware.With(middleware.Env{Journal: journal}, l.shorten(), asking)
	view, _ := sentBy(t, outer, history)
	require.NoError(t, testkit.Same(view, messagesOf(drafts[0].Before)), "the view is the history of the draft")
	require.Equal(t, int64(1), journal.puts.Load())
	drafted(t, outer, history)
	require.Len(t, drafts, 2)
	require.Equal(t, int64(1), journal.puts.Load(), "a draft kept within a dry run is kept within it")
	require.NoError(t, drafts[0].Commit(t.Context()))
	require.Equal(t, int64(2), journal.puts.Load())
}

// A draft knows what the provider has said in earlier calls: the window that it named, and what it has charged.
func TestDraftKnowsWhatTheProviderHasSaid(t *testing.T) {
	t.Parallel()
	all := middlewaretest.ReAct{Rounds: 24, Result: 700}.Messages()
	var sent *middleware.View
	refuse := true
	mw := middleware.Chain(fit.New(fit.Options{Rules: message.OpenAI}))
	model := mw(func(_ context.Context, r *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		if sent = r.View(); refuse {
			refuse = false
			return nil, &middleware.Error{Kind: middleware.Overflow, Err: errors.New("prompt is too long: 2800 tokens > 2000 maximum")}
		}
		usage := message.Usage{Input: sent.Size().Counted * 5 / 4}
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: usage}, nil
	})
	for n := 24; n <= len(all); n += 8 {
		req := &middleware.Request{Messages: all[:n], Model: "m", Budget: &middleware.Budget{Window: 100_000}}
		d, err := middleware.Draft(t.Context(), mw, req)
		require.NoError(t, err)
		first := refuse
		_, err = model(t.Context(), req, nil)
		require.NoError(t, err)
		if first {
			continue
		}
		require.NotEmpty(t, d.Edits)
		require.NoError(t, testkit.Same(sent.Messages(), d.After.Messages()))
		require.Positive(t, sent.Size().Margin)
		require.Equal(t, sent.Size(), d.After.Size())
		budget, _ := d.After.Budget()
		require.Equal(t, 2000, budget.Window)
	}
}

// inView calls fn with the view of a history.
func inView(t *testing.T, h []message.Message, fn func(v *middleware.View) *middleware.Plan) (*middleware.Request, []middleware.Event) {
	t.Helper()
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) { return fn(v), nil }, middleware.Options{})
	sent, events, err := middleware.Apply(t.Context(), look, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return sent, events
}

// TestPreview makes a plan, looks at what it would make, and has it made.
func TestPreview(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("Why does it fail?"),
		message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", strings.Repeat("log ", 100)),
		message.Assistant(message.Text{Text: "I do not know."}), message.User("Look again."),
	}
	var preview *middleware.View
	sent, _ := inView(t, h, func(v *middleware.View) *middleware.Plan {
		clearing := &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(2, message.ToolResult{CallID: "a", Name: "read", Text: "-"})}}
		var err error
		preview, err = v.Preview("look", clearing)
		require.NoError(t, err)
		require.Equal(t, h, v.Messages(), "nothing is changed by it")
		require.Equal(t, preview.Size().Tokens, v.Without(v.Size().Counted-preview.Size().Counted).Size().Tokens, "what TokensWithout foretells")

		same, err := v.Preview("look", &middleware.Plan{})
		require.NoError(t, err)
		require.Same(t, v, same, "an empty plan makes no other view")

		_, err = v.Preview("look", &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(0, 0)}})
		require.ErrorContains(t, err, "message 0 is protected", "a plan that would be refused")
		_, err = v.Preview("look", &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(7, 7)}})
		require.ErrorContains(t, err, "folds messages 7 to 7 of 5", "a plan for another view")
		return clearing
	})
	require.Equal(t, sent.Messages, preview.Messages(), "the preview is what is made")
	require.Equal(t, sent.View().Size().Tokens, preview.Size().Tokens)
}

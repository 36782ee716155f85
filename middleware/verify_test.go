package middleware_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// TestThinkingIsWholeOrGone rewrites a message with two blocks of thinking, a
// text and two calls, in an old turn and in the newest.
func TestThinkingIsWholeOrGone(t *testing.T) {
	t.Parallel()
	text := message.Text{Text: strings.Repeat("I look. ", 40)}
	short := message.Text{Text: "I look."}
	one, two := message.Thinking{Text: "the log, or the diff?", Signature: "1"}, message.Thinking{Signature: "sealed"}
	a, b := message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}, message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}
	const structure, newest = "each thinking part unchanged or not at all", "thinking of the newest turn must stay"
	tests := []struct {
		name        string
		to          []message.Part
		old, latest string // why it is refused, in an old turn and in the newest; "": it is not
	}{
		{"all stays", []message.Part{one, short, two, a, b}, "", ""},
		{"all goes", []message.Part{short, a, b}, "", newest},
		{"the other goes", []message.Part{one, short, a, b}, "", newest},
		{"the text moves, not the thinking", []message.Part{one, two, a, short, b}, "", ""},
		{"changed", []message.Part{message.Thinking{Text: "the log", Signature: "1"}, short, two, a, b}, structure, structure},
		{"without its seal", []message.Part{message.Thinking{Text: one.Text}, short, two, a, b}, structure, structure},
		{"the other way round", []message.Part{two, short, one, a, b}, structure, structure},
		{"twice", []message.Part{one, one, short, two, a, b}, structure, structure},
		{"behind a call", []message.Part{one, short, a, two, b}, structure, structure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for question, want := range map[bool]string{true: tt.old, false: tt.latest} {
				h := []message.Message{
					message.User("Why does it fail?"),
					message.Assistant(one, text, two, a, b), message.Result("a", "read", "x"), message.Result("b", "read", "y"),
					message.Assistant(message.Text{Text: "I do not know."}),
				}
				if question {
					h = append(h, message.User("Look again."))
				}
				rewrite := middleware.Editing("rewrite", func(context.Context, *middleware.View) (*middleware.Plan, error) {
					return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(1, tt.to...)}}, nil
				}, middleware.Options{})
				sent, events, err := middleware.Apply(t.Context(), rewrite, &middleware.Request{Messages: h})
				require.NoError(t, err)
				require.Len(t, events, 1)
				if want == "" {
					require.Equal(t, middleware.Edited, events[0].Kind, "%v", events[0])
					require.True(t, slices.Equal(tt.to, sent.Messages[1].Parts), "want the parts of the plan, got %v", sent.Messages[1].Parts)
					continue
				}
				require.Equal(t, middleware.Refused, events[0].Kind, "another question %t", question)
				require.Contains(t, events[0].Why, want)
				require.Equal(t, h, sent.Messages)
			}
		})
	}
}

// TestAPlanThatGoesWrongIsTold has a trigger that asks for the plan, and is not
// met since there is none.
func TestAPlanThatGoesWrongIsTold(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User("q"), message.Assistant(message.Text{Text: "a"}), message.User("q")}
	tests := map[string]struct {
		plan *middleware.Plan
		err  error
		want middleware.EventKind // "": nothing to tell
		kind middleware.ErrorKind // of the error under Strict
	}{
		"nothing to do":          {},
		"too little":             {plan: &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 1)}}},
		"none, with a reason":    {plan: &middleware.Plan{Why: "there is no answer yet"}},
		"a plan that is refused": {plan: &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(0, 0)}}, want: middleware.Refused, kind: middleware.Invalid},
		"an editor that fails":   {err: &middleware.Error{Kind: middleware.Unavailable, Err: errors.New("no disk")}, want: middleware.Failed, kind: middleware.Unavailable},
		"options that do not fit": {
			err:  &middleware.Error{Kind: middleware.Invalid, Err: errors.New("no window")},
			want: middleware.Misconfigured, kind: middleware.Invalid,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit := func(strict bool) middleware.Middleware {
				return middleware.Editing("edit", func(context.Context, *middleware.View) (*middleware.Plan, error) { return tt.plan, tt.err },
					middleware.Options{Trigger: trigger.Reclaims(1000), Strict: strict})
			}
			sent, events, err := middleware.Apply(t.Context(), edit(false), &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Equal(t, h, sent.Messages)
			_, _, strict := middleware.Apply(t.Context(), edit(true), &middleware.Request{Messages: h})
			if tt.want == "" {
				require.Empty(t, events)
				require.NoError(t, strict)
				return
			}
			require.Len(t, events, 1)
			require.Equal(t, tt.want, events[0].Kind)
			require.Equal(t, tt.kind, middleware.KindOf(strict), "%v", strict)
		})
	}
}

// words is a text of so many tokens, at four bytes each.
func words(n int) string { return strings.Repeat("four", n) }

// TestOnlyWhatIsShorterIsApplied has edits of a result of 1,000 tokens and of its
// round, with products of so many.
func TestOnlyWhatIsShorterIsApplied(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("q"),
		message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", words(1000)),
		message.Assistant(message.Text{Text: "So it is."}),
	}
	meter := tokens.Meter{Counter: tokens.Chars4}
	round := meter.Message(h[1]) + meter.Message(h[2])
	summary := func(n int) message.Message {
		return message.User(words(n - meter.Message(message.User(""))))
	}
	rewrite := func(n int) middleware.Edit {
		return middleware.RewriteOf(2, message.ToolResult{CallID: "a", Name: "read", Text: words(n)})
	}
	fold := func(n int) middleware.Edit { return middleware.FoldOf(1, 2, summary(n)) }
	lazy := func(estimate, n int) middleware.Edit {
		e := middleware.FoldOf(1, 2)
		e.Estimate = estimate
		e.Make = func(context.Context) ([]message.Message, error) { return []message.Message{summary(n)}, nil }
		return e
	}
	tests := map[string]struct {
		edit    middleware.Edit
		applied bool
		made    bool // a fold to be made has been
	}{
		"a rewrite that is shorter":        {edit: rewrite(999), applied: true},
		"one of the same length":           {edit: middleware.RewriteOf(2, message.ToolResult{CallID: "a", Name: "read", Text: strings.Repeat("more", 1000)})},
		"a fold that is shorter":           {edit: fold(round - 1), applied: true},
		"one as long":                      {edit: fold(round)},
		"a fold to be made":                {edit: lazy(10, 20), applied: true, made: true},
		"just short enough":                {edit: lazy(10, round-1), applied: true, made: true},
		"estimated smaller than it is":     {edit: lazy(10, round), made: true},
		"estimated larger than it is":      {edit: lazy(round-1, 20), applied: true, made: true},
		"estimated as large as what it is": {edit: lazy(round, 20)},
		"estimated larger than what it is": {edit: lazy(2*round, 20)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := false
			if do := tt.edit.Make; do != nil {
				tt.edit.Make = func(ctx context.Context) ([]message.Message, error) {
					made = true
					return do(ctx)
				}
			}
			mw := middleware.With(middleware.Env{Counter: tokens.Chars4}, middleware.Editing("edit",
				func(context.Context, *middleware.View) (*middleware.Plan, error) {
					return &middleware.Plan{Edits: []middleware.Edit{tt.edit}}, nil
				}, middleware.Options{}))
			sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
			require.NoError(t, err)
			require.Len(t, events, 1)
			require.Equal(t, tt.made, made, "a fold is made only if it may become shorter")
			if tt.applied {
				require.Equal(t, middleware.Edited, events[0].Kind, "%v", events[0])
				require.Less(t, meter.Request(sent.Messages, nil), meter.Request(h, nil))
				return
			}
			require.Equal(t, middleware.Refused, events[0].Kind)
			require.Contains(t, events[0].Why, "the view would not become shorter")
			require.Equal(t, h, sent.Messages)
		})
	}
}

// TestWhereMediaStood rewrites the messages whose words stay, and a result that no
// model has seen: a text may tell that media are gone.
func TestWhereMediaStood(t *testing.T) {
	t.Parallel()
	const refusedWords, refusedFresh = "the text of the first and of the last user message must stay", "its results may only be shortened"
	image, other := message.Media{Type: "image/png", Data: strings.Repeat("x", 100)}, message.Media{Type: "image/png", Data: "y"}
	a, b, note := message.Text{Text: "What is this,"}, message.Text{Text: "and where?"}, message.Text{Text: "(an image)"}
	question := []message.Part{a, image, b, other}
	shot := message.ToolResult{CallID: "c", Name: "shot", Content: image}
	kept := message.ToolResult{CallID: "c", Name: "shot", Text: "800 x 600", Content: image}
	says := func(text string, content message.Part) []message.Part {
		return []message.Part{message.ToolResult{CallID: "c", Name: "shot", Text: text, Content: content}}
	}
	tests := map[string]struct {
		from, to []message.Part
		want     string
	}{
		"a note for one":                 {question, []message.Part{a, note, b, other}, ""},
		"a note for each":                {question, []message.Part{a, note, b, note}, ""},
		"gone without a note":            {question, []message.Part{a, b, other}, ""},
		"all gone":                       {question, []message.Part{a, b}, ""},
		"another image":                  {question, []message.Part{a, other, b}, ""},
		"one gone, a note for the other": {question, []message.Part{a, b, note}, ""},
		"a note beside what stays":       {[]message.Part{a, image, image}, []message.Part{a, note, other, note}, refusedWords},
		"words like a note":              {[]message.Part{image, a, other}, []message.Part{a, a}, ""},
		"a note where none was":          {question, []message.Part{note, a, b, other}, refusedWords},
		"texts changed places":           {question, []message.Part{b, note, a, other}, refusedWords},
		"another text":                   {question, []message.Part{note, image, b}, refusedWords},
		"a result's image":               {[]message.Part{shot}, says("(an image)", nil), ""},
		"and its text":                   {[]message.Part{kept}, says("800 x 600\n(an image)", nil), ""},
		"its text is gone":               {[]message.Part{kept}, says("(an image)", nil), refusedFresh},
		"a blank note":                   {[]message.Part{shot}, says(" ", nil), refusedFresh},
		"another image in place":         {[]message.Part{kept}, says("8", other), refusedFresh},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, h := 0, []message.Message{{Role: message.RoleUser, Parts: tt.from}}
			if tt.want == refusedFresh || len(tt.from) == 1 {
				at, h = 2, []message.Message{
					message.User("Show me."), message.Assistant(message.ToolCall{ID: "c", Name: "shot", Arguments: "{}"}),
					{Role: message.RoleTool, Parts: tt.from},
				}
			}
			rewrite := middleware.Editing("rewrite", func(context.Context, *middleware.View) (*middleware.Plan, error) {
				return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(at, tt.to...)}}, nil
			}, middleware.Options{})
			chain := middleware.With(middleware.Env{Framing: tokens.Framing{PerMessage: 1, Images: tokens.Images{Unknown: 500}}}, rewrite)
			for call := range 2 {
				sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
				require.NoError(t, err)
				if tt.want != "" {
					require.Equal(t, middleware.Refused, events[0].Kind)
					require.Contains(t, events[0].Why, tt.want)
					require.Equal(t, h, sent.Messages)
					continue
				}
				require.True(t, slices.Equal(tt.to, sent.Messages[at].Parts), "in call %d, want the parts of the plan, got %v", call+1, sent.Messages[at].Parts)
			}
		})
	}
}

// The calls of the newest round stay as they are, unless nothing else helps: also the answered ones of a round with
// results to come.
func TestCallsOfTheNewestRoundStay(t *testing.T) {
	t.Parallel()
	call := message.ToolCall{ID: "a", Name: "write", Arguments: `{"text":"` + strings.Repeat("long ", 200) + `"}`}
	other := message.ToolCall{ID: "b", Name: "read", Arguments: "{}"}
	h := []message.Message{message.User("go"), message.Assistant(call, other), message.Result("a", "write", "done")}
	for _, last := range []bool{false, true} {
		short := call
		short.Arguments = "{}"
		mw := middleware.Editing("short", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(1, short, other)}, LastResort: last}, nil
		}, middleware.Options{})
		_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
		require.Len(t, events, 1)
		if last {
			require.Equal(t, middleware.Edited, events[0].Kind)
			continue
		}
		require.Equal(t, middleware.Refused, events[0].Kind)
		require.Contains(t, events[0].Why, "the calls of the newest round must stay as they are")
	}
}

package contextedit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/editortest"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// What another middleware has made of a result is what its facts are taken from:
// it may have left something out on purpose. What the tool has not said is no fact.
// A placeholder of another middleware stays.
func TestLinesOfWhatOthersLeft(t *testing.T) {
	t.Parallel()
	given := "order: #W2378156\nprice: 272.33 one_more_thing\nsecret: sk_live_9513926\n" + strings.Repeat("nothing of use here\n", 20)
	list := `["#W2378156", "2024-05-15", "2024-05-16"` + strings.Repeat(`, "a very long text to be read by silent"`, 8) + "]"
	long := "[truncated: 480 chars; some facts: " + strings.Repeat("total: 54.04; ", 12) + "]"
	for left, want := range map[string]string{
		strings.ReplaceAll(given, "sk_live_9513926", "***"): "[cleared; some facts: order: #W2378156; price: 272.33; one_more_thing]",
		list: `[cleared; some facts: #W2378156]`,
		long: long,
		"[It was left out of here. To read it: recall kqvmzhtwrcxa]": "[It was left out of here. To read it: recall kqvmzhtwrcxa]",
		"(this is not to be seen any more by anybody)":               "(this is not to be seen any more by anybody)",
	} {
		other := middleware.Editing("other", leaves(left), middleware.Options{})
		mw := middleware.Chain(other, contextedit.New(contextedit.Options{Trigger: always{}, Keep: -1, Digest: 25}))
		h := []message.Message{
			message.User("Read it."),
			message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}),
			message.Result("c1", "read", given),
			message.Assistant(message.Text{Text: "I have."}),
		}
		view, _ := apply(t, mw, h)
		require.Equal(t, want, pieces(view[2], "c1")[0].Text, "of %q", left)
	}
}

// leaves returns an editor that puts a text in place of the only result.
func leaves(text string) func(context.Context, *middleware.View) (*middleware.Plan, error) {
	return func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		const at = 2
		r := pieces(v.At(at), "c1")[0]
		if v.Span(at).Edit != nil {
			return nil, nil
		}
		r.Text = text
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(at, r)}}, nil
	}
}

// A host that passes views back as history has the lines of the first clearing
// to the end.
func TestLinesInAdoptedViews(t *testing.T) {
	t.Parallel()
	mw := middleware.With(middleware.Env{HistoryIsView: true}, contextedit.New(contextedit.Options{Trigger: always{}, Keep: 1, Digest: 40}))
	h := []message.Message{message.User("Read them.")}
	for i := range 6 {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", fmt.Sprintf("order: W-100%d\n", i)+strings.Repeat("nothing of use here\n", 20)))
		h, _ = apply(t, mw, h)
	}
	for i := range 5 {
		require.Equal(t, fmt.Sprintf("[cleared; some facts: order: W-100%d]", i), pieces(h[2+2*i], fmt.Sprint("c", i))[0].Text)
	}
}

// TestReclaimsBeforeLines shows that what a plan frees is looked at before lines are made for it, and that this changes no
// decision: it is that of a trigger of which nothing is known.
func TestReclaimsBeforeLines(t *testing.T) {
	t.Parallel()
	view := func(at middleware.Trigger, force ...string) []message.Message {
		mw := contextedit.New(contextedit.Options{Trigger: at, Digest: 40})
		sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: editortest.Conversation(40), Force: force})
		require.NoError(t, err)
		return sent.Messages
	}
	unknown := func(n int) middleware.Trigger {
		return trigger.Func(func(v *middleware.View, plan func() *middleware.Plan) (bool, string, error) {
			return trigger.Reclaims(n).Met(v, plan)
		})
	}
	edited := map[bool]int{}
	for n := 100; n < 6000; n += 180 {
		want := view(unknown(n))
		edited[strings.Contains(fmt.Sprint(want), "some facts")]++
		for name, at := range map[string]middleware.Trigger{
			"alone": trigger.Reclaims(n),
			"all":   trigger.All(trigger.Messages(1), trigger.Reclaims(n)),
			"any":   trigger.Any(trigger.Messages(1000), trigger.Reclaims(n)),
			"not":   trigger.Not(trigger.Not(trigger.Reclaims(n))),
		} {
			require.Equal(t, want, view(at), "%s: %d tokens", name, n)
		}
	}
	require.Greater(t, edited[true], 10)
	require.Greater(t, edited[false], 10)
	require.Contains(t, fmt.Sprint(view(trigger.Reclaims(never), "contextedit")), "some facts", "a request that forces the edit has lines")
	require.Contains(t, fmt.Sprint(view(trigger.Any(trigger.Messages(1), trigger.Reclaims(never)))), "some facts", "another trigger is met")
}

package summarize_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// before returns options whose Before decides so.
func before(decide func(f *summarize.Fold) summarize.Decision) summarize.Options {
	return summarize.Options{Keep: 1, Trigger: trigger.Tokens(1), Before: func(_ context.Context, f *summarize.Fold) summarize.Decision {
		return decide(f)
	}}
}

// viewBy returns what is sent of a conversation, and why the newest event says so.
func viewBy(t *testing.T, mw middleware.Middleware, h []message.Message) (view string, err error) {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), middleware.With(middleware.Env{Explain: true}, mw), &middleware.Request{Messages: h})
	require.NoError(t, err)
	view = fmt.Sprint(sent.Messages)
	for _, e := range events {
		view += "\n" + e.Why
		if e.Err != nil {
			err = e.Err
		}
	}
	return view, err
}

// TestBefore: a fold of a live chain passes, or is stopped, or gets other words or one more instruction.
func TestBefore(t *testing.T) {
	t.Parallel()
	h := grown(6)
	var shown []*summarize.Fold
	pass := summarize.New(summarize.ByRules(), before(func(f *summarize.Fold) summarize.Decision {
		shown = append(shown, f)
		return summarize.Decision{}
	}))
	view, err := viewBy(t, pass, h)
	require.NoError(t, err)
	require.Contains(t, view, "[Summary of the earlier conversation")
	require.Len(t, shown, 1)
	require.NotEmpty(t, shown[0].Messages)
	require.Equal(t, "Prepare the release.", shown[0].First)

	vetoed := summarize.New(summarize.ByRules(), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Veto: "a derivation is open"}
	}))
	view, err = viewBy(t, vetoed, h)
	require.NoError(t, err)
	require.Contains(t, view, "nothing is folded: a derivation is open")
	require.Contains(t, view, "Step 0 goes to host")
	require.NotContains(t, view, "[Summary of the earlier conversation")

	small := writer(good)
	replaced := summarize.New(summarize.By(small.Model, summarize.Ask{}), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Words: "All six steps are done."}
	}))
	view, err = viewBy(t, replaced, h)
	require.NoError(t, err)
	require.Contains(t, view, "[State of the work]\nAll six steps are done.")
	require.Empty(t, small.Requests(), "expected no request: the words are given")

	instructed := summarize.New(summarize.By(small.Model, summarize.Ask{}), before(func(*summarize.Fold) summarize.Decision {
		return summarize.Decision{Instruction: "Keep every host name."}
	}))
	_, err = viewBy(t, instructed, h)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(small.Requests()[0].Messages), "Keep every host name.")
}

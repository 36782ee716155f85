package summarize_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// A caller that passes views back as its history gets what others get: one summary
// that counts all messages there ever were, and the facts of all of them.
func TestAdopted(t *testing.T) {
	t.Parallel()
	mw := middleware.With(middleware.Env{HistoryIsView: true}, summarize.New(summarize.ByFunc(func(_ context.Context, f *summarize.Fold) (string, error) {
		return fmt.Sprintf("%d messages and %d summaries were read.", len(f.Messages), len(f.Earlier)), nil
	}), summarize.Options{}))
	h := work(400)
	var history []message.Message
	for n := 0; n < len(h); n += 100 {
		history = append(history, h[n:n+100]...)
		view, _ := fold(t, mw, history)
		history = view
		s, folded := summaryIn(t, view, h).Text(), n+100-len(view)+1
		users := 0
		for _, m := range h[:n+100] {
			if m.Role == message.RoleUser && !contains(view, m) {
				users++
			}
		}
		require.Equal(t, 1, strings.Count(s, "of the earlier conversation"), "none is nested")
		require.Contains(t, s, fmt.Sprintf("(%d messages compacted: %d of the user, ", folded, users))
		require.Contains(t, s, "- src/mod0.go")
		require.Contains(t, s, "- go test ./mod0")
		require.Contains(t, s, "- Never touch the file secrets.env. Always run the tests before you answer.")
	}
}

// What rules write is brought up to date as well.
func TestAdoptedByRules(t *testing.T) {
	t.Parallel()
	mw := middleware.With(middleware.Env{HistoryIsView: true}, summarize.New(summarize.ByRules(), summarize.Options{Layout: "seed"}))
	h := slices.Insert(work(120), 4, message.Assistant(message.Text{Text: "The root cause is a stale lock."}))
	view, _ := fold(t, mw, h[:81])
	first := summaryIn(t, view, h).Text()
	require.Contains(t, first, "- The root cause is a stale lock")
	view, _ = fold(t, mw, append(view, h[81:]...))
	again := summaryIn(t, view, h).Text()
	require.Contains(t, again, "- The root cause is a stale lock")
	require.Contains(t, again, "I decided to use cache number 4", "what is new is told as well")
	require.Contains(t, first, "Never touch the file secrets.env;")
	require.Contains(t, again, "Never touch the file secrets.env;", "the topic")
}

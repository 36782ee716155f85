package summarize_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// work returns a conversation of so many messages: questions, each with rounds
// that edit a file and run its tests.
func work(messages int) []message.Message {
	h := []message.Message{
		message.System("You fix builds."),
		message.User("Make the build green."),
		message.Assistant(message.Text{Text: "How far may I go?"}),
		message.User("Never touch the file secrets.env. Always run the tests before you answer."),
	}
	for i := 0; len(h) < messages; i++ {
		id, turn := fmt.Sprintf("call_%d", i), i/12
		if i%12 == 0 && i > 0 {
			h = append(h,
				message.Assistant(message.Text{Text: fmt.Sprintf("I decided to use cache number %d because the tests need it.", turn)}),
				message.User(fmt.Sprintf("Good. What about module %d?", turn)))
		}
		if i%2 == 0 {
			h = append(h,
				message.Assistant(message.ToolCall{ID: id, Name: "edit_file", Arguments: fmt.Sprintf(`{"path":"src/mod%d.go","content":"package m%d"}`, turn%8, i)}),
				message.Result(id, "edit_file", strings.Repeat(fmt.Sprintf("line %d of the file was written\n", i), 12)))
		} else {
			h = append(h,
				message.Assistant(message.ToolCall{ID: id, Name: "bash", Arguments: fmt.Sprintf(`{"command":"go test ./mod%d"}`, turn%8)}),
				message.Result(id, "bash", strings.Repeat(fmt.Sprintf("ok test %d of the module\n", i), 12)))
		}
	}
	return h[:messages]
}

// TestTenFolds folds a conversation of 2,000 messages ten times, by a model, by
// rules, and by somebody who writes ten times too much.
func TestTenFolds(t *testing.T) {
	t.Parallel()
	updated := func(_ context.Context, f *summarize.Fold) (string, error) {
		generation := 1
		for _, e := range f.Earlier {
			_, _ = fmt.Sscanf(e, "Generation %d", &generation)
			generation++
		}
		return fmt.Sprintf("Generation %d, with %d messages more. %s", generation, len(f.Messages), strings.Repeat("It was work. ", 30)), nil
	}
	endless := func(_ context.Context, f *summarize.Fold) (string, error) {
		return strings.Repeat("more ", 10*f.Tokens), nil
	}
	for name, w := range map[string]summarize.Writer{
		"well": summarize.ByFunc(updated), "by rules": summarize.ByRules(), "endless": summarize.ByFunc(endless),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mw := summarize.New(w, summarize.Options{SummaryTokens: 800})
			h := work(2000)
			folds, first := 0, []string(nil)
			for n := 200; n <= len(h); n += 200 {
				now := h[:n]
				view, events := fold(t, mw, now)
				require.Equal(t, middleware.Edited, events[len(events)-1].Kind, "%v", events)
				folds++
				m := summaryIn(t, view, now)
				size := 0
				for _, p := range m.Parts {
					size += len(p.(message.Text).Text)
				}
				require.Less(t, size, 9000, "fold %d: the summary message is bounded", folds)
				require.Equal(t, 1, strings.Count(m.Text(), "Summary of the earlier conversation"), "none is nested")
				require.Equal(t, 1, strings.Count(m.Text(), "[Facts recorded by code]"))
				sections, _ := text.SectionsOf(m.Text())
				facts := sections.Quotes + "\n" + sections.Facts
				if folds == 1 {
					first = strings.Split(facts, "\n")
				}
				for _, fact := range first {
					fact, _, _ = strings.Cut(fact, " → ") // the last line of the newest run
					require.Contains(t, facts, fact, "fold %d has each fact of the first", folds)
				}
				requireCounts(t, m, now, view)
			}
			require.Equal(t, 10, folds)
			require.Contains(t, first, "- Never touch the file secrets.env. Always run the tests before you answer.")
			require.Contains(t, first, "- src/mod0.go")
		})
	}
}

// requireCounts wants each message of the history in the view or in the count of
// the summary.
func requireCounts(t *testing.T, summary message.Message, h, view []message.Message) {
	t.Helper()
	folded := [3]int{}
	for _, m := range h {
		if contains(view, m) {
			continue
		}
		folded[0]++
		if m.Role == message.RoleUser {
			folded[1]++
		}
		if m.Role == message.RoleAssistant {
			folded[2]++
		}
	}
	all := summary.Text()
	require.True(t, strings.HasSuffix(all, fmt.Sprintf("(%d messages compacted: %d of the user, %d of the assistant)", folded[0], folded[1], folded[2])), all)
}

// TestHundredCalls goes on for 100 calls after a fold.
func TestHundredCalls(t *testing.T) {
	t.Parallel()
	small := writer(good)
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{}), summarize.Options{Trigger: trigger.Messages(300)})
	h := work(520)
	var before []message.Message
	for n := 300; n <= 500; n += 2 {
		view, _ := apply(t, mw, h[:n])
		require.Len(t, small.Requests(), 1, "the summariser is called once")
		if before != nil {
			require.NoError(t, testkit.Same(before, view[:len(before)]), "call at %d: what was sent is sent again", n)
			require.NoError(t, testkit.Same(h[n-2:n], view[len(before):]))
		}
		before = view
	}
}

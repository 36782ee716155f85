package modelwriter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/tokens"
)

func TestEarlier(t *testing.T) {
	t.Parallel()
	author, model := script(say(good))
	_, err := ask(t.Context(), modelwriter.Request{Folded: folded(6), Earlier: "It was Tuesday.", Writer: author})
	require.NoError(t, err)
	text := model.Requests()[0].Messages[1].Text()
	require.Contains(t, text, "<record>\n[earlier summary]\n\tIt was Tuesday.\n[1 user]")
	require.Contains(t, text, "Bring it up to date")

	// In pieces, it stands beside the notes, where it is brought up to date.
	var seen []*middleware.Request
	_, err = ask(t.Context(), modelwriter.Request{
		Folded: folded(60), Earlier: "It was Tuesday.", Writer: modelwriter.Author{Model: windowed(4000, &seen), Window: 4000},
	})
	require.NoError(t, err)
	for i, req := range seen {
		require.Equal(t, i == len(seen)-1, strings.Contains(req.Messages[1].Text(), "It was Tuesday."), "request %d of %d", i, len(seen))
	}

	// An earlier summary alone is a record.
	author, model = script(say("It was Tuesday."))
	_, err = ask(t.Context(), modelwriter.Request{Earlier: "It was Tuesday. " + paths(50), Writer: inAFewWords(author)})
	require.NoError(t, err)
	require.Contains(t, model.Requests()[0].Messages[1].Text(), "<record>\n[earlier summary]\n\tIt was Tuesday.")

	// One that is too long for that is part of the record.
	seen = nil
	_, err = ask(t.Context(), modelwriter.Request{
		Folded: folded(6), Earlier: strings.Repeat("It was Tuesday. ", 2000) + "The end.", Parallel: 1,
		Writer: modelwriter.Author{Model: windowed(4000, &seen), Window: 4000},
	})
	require.NoError(t, err)
	all := ""
	for _, req := range seen {
		all += req.Messages[1].Text()
	}
	require.GreaterOrEqual(t, strings.Count(all, "Tuesday"), 2000, "all of it was shown")
	require.Contains(t, all, "The end.")
}

// TestGenerations brings a summary up to date twenty times, by models that
// make the most of what they may write.
func TestGenerations(t *testing.T) {
	t.Parallel()
	const most, marker = 400, "【历史摘要】"
	for name, model := range map[string]func(earlier string, n int) string{
		"honest": func(earlier string, n int) string {
			return strings.Replace(good, "none", fmt.Sprintf("Go on with step %d.", n), 1)
		},
		"adds to what there was":  func(earlier string, n int) string { return earlier + fmt.Sprintf("\nStep %d was done.", n) },
		"puts the marker on top":  func(_ string, n int) string { return marker + "\n" + good },
		"quotes what there was":   func(earlier string, n int) string { return marker + "\n" + good + "\n> " + marker + "\n" + earlier },
		"a summary of a summary":  func(earlier string, n int) string { return "Earlier:\n" + earlier + "\nNow:\n" + good },
		"ten times what it shall": func(string, int) string { return good + paths(10*most/15) },
	} {
		t.Run(name, func(t *testing.T) {
			earlier, taken := good, 0
			for n := range 20 {
				author := modelwriter.Author{Model: func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
					return answer(model(earlier, n)), nil
				}}
				s, err := ask(t.Context(), modelwriter.Request{
					Folded: folded(6), Earlier: earlier, Writer: once(author), MaxTokens: most, Markers: []string{marker},
				})
				if err != nil {
					require.Contains(t, []modelwriter.Reason{modelwriter.TooLong, modelwriter.Malformed, modelwriter.Copied}, reasonOf(err), "%v", err)
					continue
				}
				taken++
				earlier = s.Text
				require.LessOrEqual(t, tokens.Meter{}.Part(message.Text{Text: earlier}), most, "bounded after %d generations", n)
				require.NotContains(t, earlier, marker)
				require.Equal(t, 1, strings.Count(earlier, "## Goal"), "never nested")
			}
			if name == "honest" || strings.HasPrefix(name, "puts") {
				require.Equal(t, 20, taken)
			}
		})
	}
}

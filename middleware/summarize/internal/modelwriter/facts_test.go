package modelwriter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

var concepts = []modelwriter.Concept{
	{Keyword: "build", Description: "what is known of the nightly build", Many: true},
	{Keyword: "compiler", Description: "which version"},
}

func TestFacts(t *testing.T) {
	t.Parallel()
	author, model := script(say("```json\n" + `{"facts": {"build": ["It fails.", "Its log is\nbuild/1.log."], "compiler": ["Go 1.26 is needed."]}}` + "\n```"))
	s, err := modelwriter.Facts(t.Context(), modelwriter.Request{Folded: folded(12), Writer: author, Structured: true}, concepts)
	require.NoError(t, err)
	require.Equal(t, `## KNOWN FACTS ABOUT build (what is known of the nightly build)
- It fails.
- Its log is build/1.log.

## KNOWN FACTS ABOUT compiler (which version)
- Go 1.26 is needed.`, s.Text)
	req := model.Requests()[0]
	require.NoError(t, message.Portable.Check(req.Messages))
	require.Contains(t, req.Messages[1].Text(), "[1 user]\n\tQuestion 1", "over the record as data")
	require.Contains(t, req.Messages[1].Text(), `- "compiler" (one fact at most): which version`)
}

func TestFactsOfParts(t *testing.T) {
	t.Parallel()
	var seen []*middleware.Request
	number := 0
	author := modelwriter.Author{Window: 4000, Model: func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		seen = append(seen, req)
		number++
		return answer(fmt.Sprintf(`{"facts": {"build": ["It fails.", "Log %d says so."], "compiler": ["Version %d."]}}`, number, number)), nil
	}}
	msgs := marked(folded(60))
	s, err := modelwriter.Facts(t.Context(), modelwriter.Request{Folded: msgs, Earlier: "Earlier: version 0.", Writer: author, Parallel: 1}, concepts)
	require.NoError(t, err)
	requireShown(t, msgs, seen)
	require.Contains(t, seen[0].Messages[1].Text(), "[earlier summary]\n\tEarlier: version 0.\n", "what is known is not lost")
	require.Greater(t, number, 2)
	require.Equal(t, 1, strings.Count(s.Text, "It fails."), "the same fact once")
	require.Equal(t, 1, strings.Count(s.Text, "Version"), "one fact at most")
	require.Contains(t, s.Text, fmt.Sprintf("Version %d.", number), "the newest")
	for i := 1; i <= number; i++ {
		require.Contains(t, s.Text, fmt.Sprintf("Log %d says so.", i))
	}
}

// words are so many different ones.
func words(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%dx ", (first+i)*7919)
	}
	return b.String()
}

// TestFactsOfManyParts shows that facts which are too many together are asked for
// once more.
func TestFactsOfManyParts(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	author := modelwriter.Author{Window: 4000, Model: func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		number := int(asked.Add(1))
		body := req.Messages[1].Text()
		if strings.Contains(body, "[facts about build]") {
			return answer(`{"facts": {"build": ["All of it."], "compiler": []}}`), nil
		}
		return answer(fmt.Sprintf(`{"facts": {"build": ["%d: %s"], "compiler": []}}`, number, words(number*1000, 40))), nil
	}}
	s, err := modelwriter.Facts(t.Context(), modelwriter.Request{Folded: folded(60), Writer: author, MaxTokens: 300}, concepts)
	require.NoError(t, err)
	require.Equal(t, "## KNOWN FACTS ABOUT build (what is known of the nightly build)\n- All of it.", s.Text)
}

func TestFactsOfOneConcept(t *testing.T) {
	t.Parallel()
	author, _ := script(say(`{"facts": {"build": [], "compiler": ["Go 1.26."]}}`))
	s, err := modelwriter.Facts(t.Context(), modelwriter.Request{Folded: folded(12), Writer: author, Language: text.Chinese}, concepts)
	require.NoError(t, err)
	require.Equal(t, "## KNOWN FACTS ABOUT compiler (which version)\n- Go 1.26.", s.Text, "a concept without facts has no section")
}

func TestFactsRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   modelwriter.Reason
		detail string
	}{
		"nothing found":      {`{"facts": {"build": [], "compiler": []}}`, modelwriter.Nothing, ""},
		"no JSON":            {"The build fails.", modelwriter.Malformed, "invalid character"},
		"another key":        {`{"fact": {}}`, modelwriter.Malformed, `unknown field "fact"`},
		"unknown keyword":    {`{"facts": {"build": [], "compiler": [], "weather": []}}`, modelwriter.Malformed, "weather is no key"},
		"missing keyword":    {`{"facts": {"build": []}}`, modelwriter.Malformed, `"compiler" is missing`},
		"two where one":      {`{"facts": {"build": [], "compiler": ["1", "2"]}}`, modelwriter.Malformed, `"compiler" has 2 facts`},
		"a number":           {`{"facts": {"build": [7], "compiler": []}}`, modelwriter.Malformed, `"build" is no list of texts`},
		"too long":           {`{"facts": {"build": ["` + words(0, 800) + `"], "compiler": []}}`, modelwriter.TooLong, ""},
		"a marker in a fact": {`{"facts": {"build": ["【Summary】"], "compiler": []}}`, modelwriter.Nested, ""},
		"more behind":        {`{"facts": {"build": [], "compiler": []}} {}`, modelwriter.Malformed, "there is more after"},
		"refusal":            {"I can't help with that.", modelwriter.Refusal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			author, _ := script(say(c.answer))
			_, err := modelwriter.Facts(t.Context(), modelwriter.Request{Folded: folded(60), Writer: once(author), Markers: []string{"【Summary】"}}, concepts)
			require.Equal(t, c.want, modelwriter.ReasonOf(err), "%v", err)
			require.ErrorContains(t, err, c.detail)
			var f *modelwriter.FailedError
			require.True(t, errors.As(err, &f) && len(f.Attempts) == 1)
		})
	}
}

package modelwriter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

var concepts = []modelwriter.Concept{
	{Keyword: "build", Description: "what is known of the nightly build", Many: true},
	{Keyword: "compiler", Description: "which version"},
}

// TestFactsOfParts shows that a long record is read in parts, and the facts are found in
// notes of what these contain about the concepts.
func TestFactsOfParts(t *testing.T) {
	t.Parallel()
	var seen []*middleware.Request
	number := 0
	author := modelwriter.Author{Window: 4000, Model: func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		if strings.Contains(req.Messages[1].Text(), `{"facts": {"keyword"`) {
			for i := 1; i <= number; i++ {
				require.Contains(t, req.Messages[1].Text(), fmt.Sprintf("Log %d says so.", i))
			}
			return answer(`{"facts": {"build": ["It fails.", "All logs say so."], "compiler": []}}`), nil
		}
		require.Contains(t, req.Messages[1].Text(), `- "build" (any number of facts): what is known of the nightly build`)
		seen = append(seen, req)
		number++
		return answer(fmt.Sprintf("It fails. Log %d says so.", number)), nil
	}}
	msgs := marked(folded(60))
	s, err := askFacts(t.Context(), modelwriter.Request{
		Folded: msgs, Earlier: strings.Repeat("Earlier: version 0. ", 300), Writer: author, Parallel: 1,
	}, concepts)
	require.NoError(t, err)
	requireShown(t, msgs, seen)
	require.Contains(t, seen[0].Messages[1].Text(), "[earlier summary", "what is known is not lost")
	require.Greater(t, number, 2)
	require.Equal(t, "## KNOWN FACTS ABOUT build (what is known of the nightly build)\n- It fails.\n- All logs say so.", s.Text)
}

// TestNewestFactCounts shows that several facts of a single concept do not lose the others, and what else models write
// for a list.
func TestNewestFactCounts(t *testing.T) {
	t.Parallel()
	for facts, want := range map[string]string{
		`"build": ["It fails.", "On Friday."], "compiler": ["no", "yes, on Friday"]`: "- It fails.\n- On Friday.\n\n## KNOWN FACTS ABOUT compiler (which version)\n- yes, on Friday",
		`"build": "It fails.", "compiler": null`:                                     "- It fails.",
	} {
		author, model := script(say(`{"facts": {` + facts + `}}`))
		s, err := askFacts(t.Context(), modelwriter.Request{Folded: folded(12), Writer: once(author)}, concepts)
		require.NoError(t, err, facts)
		require.Equal(t, "## KNOWN FACTS ABOUT build (what is known of the nightly build)\n"+want, s.Text)
		require.Len(t, model.Requests(), 1)
	}
}

const goodJSON = `{"topics": ["The nightly build"], "entities": ["build/1.log: its log"], "decisions": [], "actions": ["read_file of\tbuild/1.log"]}`

func TestStructured(t *testing.T) {
	t.Parallel()
	want := "## Topics\n- The nightly build\n\n## Entities\n- build/1.log: its log\n\n## Actions\n- read_file of build/1.log"
	for name, body := range map[string]string{
		"as it is":      goodJSON,
		"in a fence":    "```json\n" + goodJSON + "\n```",
		"in a bare one": " ```\n" + goodJSON + "```\n",
	} {
		author, model := script(say(body))
		s, err := ask(t.Context(), modelwriter.Request{Folded: folded(12), Writer: once(author), Structured: true})
		require.NoError(t, err, name)
		require.Equal(t, want, s.Text, name)
		require.Contains(t, model.Requests()[0].Messages[1].Text(), `{"topics": […], `)
	}
	author, _ := script(say(goodJSON))
	s, err := ask(t.Context(), modelwriter.Request{Folded: folded(12), Writer: author, Structured: true, Language: text.Chinese})
	require.NoError(t, err)
	require.Contains(t, s.Text, "## 主题\n- The nightly build")
}

func TestStructuredRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   modelwriter.Reason
		detail string
	}{
		"prose":           {good, modelwriter.Malformed, "no JSON object"},
		"prose behind":    {goodJSON + "\nThat is all.", modelwriter.Malformed, "after top-level value"},
		"unknown key":     {`{"topics": [], "mood": []}`, modelwriter.Malformed, "is no list of texts"},
		"object within":   {"{\"topics\": [\n  \"a\",\n  {}]}", modelwriter.Malformed, `"topics" is no list of texts`},
		"empty text":      {`{"topics": ["\u200b"]}`, modelwriter.Malformed, `"topics" has no text at 0`},
		"half a fence":    {"```json\n" + goodJSON, modelwriter.Malformed, "no JSON object"},
		"all empty":       {`{"topics": null, "entities": [], "decisions": [], "actions": []}`, modelwriter.Empty, "all lists are empty"},
		"a marker within": {`{"topics": ["【Summary】"], "entities": [], "decisions": [], "actions": []}`, modelwriter.Copied, ""},
		"error":           {`{"error": {"code": 500}}`, modelwriter.NoSummary, ""},
	} {
		t.Run(name, func(t *testing.T) {
			author, _ := script(say(c.answer))
			_, err := ask(t.Context(), modelwriter.Request{
				Folded: folded(12), Writer: once(author), Structured: true, Markers: []string{"【Summary】"},
			})
			require.Equal(t, c.want, reasonOf(err), "%v", err)
			require.ErrorContains(t, err, c.detail)
		})
	}
}

package scribe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/scribe"
)

const goodJSON = `{"topics": ["The nightly build"], "entities": ["build/1.log: its log"], "decisions": [], "actions": ["read_file of\tbuild/1.log"]}`

func TestStructured(t *testing.T) {
	t.Parallel()
	want := "## Topics\n- The nightly build\n\n## Entities\n- build/1.log: its log\n\n## Actions\n- read_file of build/1.log"
	for name, text := range map[string]string{
		"as it is":      goodJSON,
		"in a fence":    "```json\n" + goodJSON + "\n```",
		"in a bare one": " ```\n" + goodJSON + "```\n",
		"another order": `{"actions": ["read_file of build/1.log"], "topics": ["The nightly build"], "decisions": [], "entities": ["build/1.log: its log"]}`,
	} {
		author, model := script(say(text))
		s, err := scribe.Write(t.Context(), scribe.Brief{Folded: folded(12), Writer: once(author), Form: scribe.Structured})
		require.NoError(t, err, name)
		require.Equal(t, want, s.Text, name)
		require.Contains(t, model.Requests()[0].Messages[1].Text(), `{"topics": […], `)
	}
	author, _ := script(say(goodJSON))
	s, err := scribe.Write(t.Context(), scribe.Brief{Folded: folded(12), Writer: author, Form: scribe.Structured, Language: scribe.Chinese})
	require.NoError(t, err)
	require.Contains(t, s.Text, "## 主题\n- The nightly build")
}

func TestStructuredRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   scribe.Reason
		detail string
	}{
		"prose":           {good, scribe.Malformed, "answer, line 1, column 1: no JSON"},
		"prose before":    {"Here it is:\n" + goodJSON, scribe.Malformed, "answer, line 1"},
		"prose behind":    {goodJSON + "\nThat is all.", scribe.Malformed, "there is more behind the JSON"},
		"ends early":      {goodJSON[:60], scribe.Malformed, "the JSON ends too early"},
		"a list":          {`["topics"]`, scribe.Malformed, "answer, line 1, column 2: it is a list, want an object"},
		"unknown key":     {`{"topics": [], "mood": []}`, scribe.Malformed, "mood is no key"},
		"twice":           {`{"topics": [], "topics": []}`, scribe.Malformed, `"topics" is there twice`},
		"missing":         {`{"topics": ["a"], "entities": [], "decisions": []}`, scribe.Malformed, `"actions" is missing`},
		"null":            {`{"topics": null, "entities": [], "decisions": [], "actions": []}`, scribe.Malformed, "answer.topics, line 1, column 16: it is null, want a list"},
		"text for a list": {`{"topics": "a"}`, scribe.Malformed, "answer.topics, line 1, column 15: it is a text, want a list"},
		"object within":   {"{\"topics\": [\n  \"a\",\n  {}]}", scribe.Malformed, "answer.topics[1], line 3, column 4: it is an object, want a text"},
		"boolean within":  {`{"topics": [true]}`, scribe.Malformed, "it is a boolean"},
		"empty text":      {`{"topics": ["\u200b"]}`, scribe.Malformed, "answer.topics[0], line 1, column 21: the text is empty"},
		"zero byte":       {`{"topics": ["a\u0000"]}`, scribe.Malformed, "the text is empty"},
		"trailing comma":  {`{"topics": ["a",]}`, scribe.Malformed, "no JSON"},
		"half a fence":    {"```json\n" + goodJSON, scribe.Malformed, "no JSON"},
		"all empty":       {`{"topics": [], "entities": [], "decisions": [], "actions": []}`, scribe.Empty, "all lists are empty"},
		"a marker within": {`{"topics": ["【Summary】"], "entities": [], "decisions": [], "actions": []}`, scribe.Nested, ""},
		"error":           {`{"error": {"code": 500}}`, scribe.ErrorText, ""},
	} {
		t.Run(name, func(t *testing.T) {
			author, _ := script(say(c.answer))
			_, err := scribe.Write(t.Context(), scribe.Brief{
				Folded: folded(12), Writer: once(author), Form: scribe.Structured, Markers: []string{"【Summary】"},
			})
			require.Equal(t, c.want, scribe.ReasonOf(err), "%v", err)
			require.ErrorContains(t, err, c.detail)
		})
	}
}

package modelwriter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
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
		s, err := modelwriter.Write(t.Context(), modelwriter.Brief{Folded: folded(12), Writer: once(author), Form: modelwriter.Structured})
		require.NoError(t, err, name)
		require.Equal(t, want, s.Text, name)
		require.Contains(t, model.Requests()[0].Messages[1].Text(), `{"topics": […], `)
	}
	author, _ := script(say(goodJSON))
	s, err := modelwriter.Write(t.Context(), modelwriter.Brief{Folded: folded(12), Writer: author, Form: modelwriter.Structured, Language: modelwriter.Chinese})
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
		"prose":           {good, modelwriter.Malformed, "answer, line 1, column 1: no JSON"},
		"prose before":    {"Here it is:\n" + goodJSON, modelwriter.Malformed, "answer, line 1"},
		"prose behind":    {goodJSON + "\nThat is all.", modelwriter.Malformed, "there is more behind the JSON"},
		"ends early":      {goodJSON[:60], modelwriter.Malformed, "the JSON ends too early"},
		"a list":          {`["topics"]`, modelwriter.Malformed, "answer, line 1, column 2: it is a list, want an object"},
		"unknown key":     {`{"topics": [], "mood": []}`, modelwriter.Malformed, "mood is no key"},
		"twice":           {`{"topics": [], "topics": []}`, modelwriter.Malformed, `"topics" is there twice`},
		"missing":         {`{"topics": ["a"], "entities": [], "decisions": []}`, modelwriter.Malformed, `"actions" is missing`},
		"null":            {`{"topics": null, "entities": [], "decisions": [], "actions": []}`, modelwriter.Malformed, "answer.topics, line 1, column 16: it is null, want a list"},
		"text for a list": {`{"topics": "a"}`, modelwriter.Malformed, "answer.topics, line 1, column 15: it is a text, want a list"},
		"object within":   {"{\"topics\": [\n  \"a\",\n  {}]}", modelwriter.Malformed, "answer.topics[1], line 3, column 4: it is an object, want a text"},
		"boolean within":  {`{"topics": [true]}`, modelwriter.Malformed, "it is a boolean"},
		"empty text":      {`{"topics": ["\u200b"]}`, modelwriter.Malformed, "answer.topics[0], line 1, column 21: the text is empty"},
		"zero byte":       {`{"topics": ["a\u0000"]}`, modelwriter.Malformed, "the text is empty"},
		"trailing comma":  {`{"topics": ["a",]}`, modelwriter.Malformed, "no JSON"},
		"half a fence":    {"```json\n" + goodJSON, modelwriter.Malformed, "no JSON"},
		"all empty":       {`{"topics": [], "entities": [], "decisions": [], "actions": []}`, modelwriter.Empty, "all lists are empty"},
		"a marker within": {`{"topics": ["【Summary】"], "entities": [], "decisions": [], "actions": []}`, modelwriter.Nested, ""},
		"error":           {`{"error": {"code": 500}}`, modelwriter.ErrorText, ""},
	} {
		t.Run(name, func(t *testing.T) {
			author, _ := script(say(c.answer))
			_, err := modelwriter.Write(t.Context(), modelwriter.Brief{
				Folded: folded(12), Writer: once(author), Form: modelwriter.Structured, Markers: []string{"【Summary】"},
			})
			require.Equal(t, c.want, modelwriter.ReasonOf(err), "%v", err)
			require.ErrorContains(t, err, c.detail)
		})
	}
}

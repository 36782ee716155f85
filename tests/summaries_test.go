package tests

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
)

const summaries = "../docs/summaries.md"

// TestSummariesPage makes the before and after of docs/summaries.md with the first
// chain file on it.
func TestSummariesPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/data/nightly.json")
	require.NoError(t, err)
	c, err := openai.Parse(data)
	require.NoError(t, err)
	history := c.History()
	var files []*chainfile.File
	for i, text := range chainFilesOn(t, summaries) {
		f, err := chainfile.Parse(fmt.Sprintf("summaries.md, chain %d", i+1), []byte(text))
		require.NoError(t, err)
		files = append(files, f)
	}
	sent, events, err := middleware.Apply(t.Context(), files[0].With(middleware.Env{}), &middleware.Request{Messages: history})
	require.NoError(t, err)
	var folds []middleware.Event
	for _, e := range events {
		if e.Kind == middleware.Edited {
			folds = append(folds, e)
		}
	}
	require.Len(t, folds, 1, "%v", events)
	shows(t, summaries, "before", outlined(history)+fmt.Sprintf("\n%s tokens\n", thousands(folds[0].Before)))
	shows(t, summaries, "after", outlined(sent.Messages)+fmt.Sprintf("\n%s tokens\n", thousands(folds[0].After)))
}

// outlined shows each message in one line, and the parts of a summary whole.
func outlined(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		texts := 0
		for _, p := range m.Parts {
			if text, ok := p.(message.Text); ok && (texts > 0 || strings.Contains(text.Text, "\n")) {
				fmt.Fprintf(&b, "%-10s %s\n", roleAt(texts, string(m.Role)), strings.ReplaceAll(text.Text, "\n", "\n           "))
				texts++
				continue
			}
			fmt.Fprintf(&b, "%-10s %s\n", roleAt(texts, string(m.Role)), line(p))
			texts++
		}
	}
	return b.String()
}

// roleAt is the role of a message, at its first part alone.
func roleAt(n int, role string) string {
	if n > 0 {
		return ""
	}
	return role
}

// line is the beginning of a part.
func line(p message.Part) string {
	text := fmt.Sprintf("%T", p)
	switch p := p.(type) {
	case message.Text:
		text = p.Text
	case message.ToolCall:
		text = p.Name + " " + p.Arguments
	case message.ToolResult:
		text = p.Text
	case message.Thinking, message.Media, message.Opaque:
	}
	first, rest, more := strings.Cut(text, "\n")
	const width = 100
	if r := []rune(first); len(r) > width {
		first = string(r[:width]) + " …"
	}
	if more {
		first += fmt.Sprintf(" … %d more lines", 1+strings.Count(strings.TrimSuffix(rest, "\n"), "\n"))
	}
	return first
}

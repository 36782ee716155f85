package message_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

var update = flag.Bool("update", false, "write the table into docs/validity.md")

// TestPage keeps the table of docs/validity.md that of the code.
func TestPage(t *testing.T) {
	t.Parallel()
	const file, from, to = "../docs/validity.md", "<!-- rules -->\n", "<!-- end of rules -->"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(page), from)
	require.True(t, found, "%s has no %q", file, from)
	_, after, found := strings.Cut(rest, to)
	require.True(t, found, "%s has no %q", file, to)
	want := before + from + table() + to + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(page), "the table is out of date: go test ./message -run TestPage -update")
}

func table() string {
	var b strings.Builder
	b.WriteString("| rule | demand | OpenAI | Responses | Anthropic | Gemini | Bedrock | repair |\n|---|---|---|---|---|---|---|---|\n")
	for _, e := range message.Sheet() {
		name := string(e.Rule)
		if e.Common {
			name += " *"
		}
		fmt.Fprintf(&b, "| %s | %s |", name, e.Says)
		for _, r := range single {
			switch {
			case e.By&r != 0:
				b.WriteString(" ✓ |")
			case e.Maybe&r != 0:
				b.WriteString(" ? |")
			default:
				b.WriteString(" |")
			}
		}
		fmt.Fprintf(&b, " %s |\n", e.Mend)
	}
	b.WriteString("\nWhere each comes from; a source of the form owner/repo#n is a public issue or pull request that tells the error:\n\n")
	for _, e := range message.Sheet() {
		fmt.Fprintf(&b, "* **%s**: %s.\n", e.Rule, e.Source)
	}
	return b.String()
}

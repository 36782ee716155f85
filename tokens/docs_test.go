package tokens_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/tokens"
)

// TestFamiliesAreDocumented compares the table of docs/internals/tokens.md with that of
// the package.
func TestFamiliesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/internals/tokens.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "| family |")
	require.True(t, ok, "docs/internals/tokens.md has a table of families")
	var want strings.Builder
	for _, f := range tokens.Families() {
		want.WriteString(familyRow(f))
	}
	_, rows, _ := strings.Cut(table, "|---|\n")
	require.Equal(t, want.String(), rows, "the rows of docs/internals/tokens.md, which must end the page")
}

func familyRow(f string) string {
	e, _ := estimateFor(f)
	english, chinese := "fitted", "fitted"
	if !tokens.Fitted(f) {
		ratio := func(text string) string {
			return fmt.Sprintf("%.2f", float64(e.Count(text))/float64(tokens.Estimate{}.Count(text)))
		}
		english, chinese = ratio(strings.Repeat("word ", 10_000)), ratio(strings.Repeat("字", 10_000))
	}
	m, _ := framingOf(f)
	thinking := "counts"
	if m.OldThinkingFree {
		thinking = "newest turn"
	}
	return fmt.Sprintf("| %#q | %s | %s | %d | %d | %d | %d | %s | %d | %d |\n", f, english, chinese,
		m.PerRequest, m.PerMessage, m.ToolsOnce, m.PerTool, thinking, m.Images.Tokens(1024, 1024), m.Images.Unknown)
}

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
		if !tokens.Fitted(f) {
			want.WriteString(familyRow(f))
		}
	}
	_, rows, _ := strings.Cut(table, "|---|\n")
	require.Equal(t, want.String(), rows, "the rows of docs/internals/tokens.md, which must end the page")
}

func familyRow(f string) string {
	e, _ := estimateFor(f)
	ratio := func(text string) float64 { return float64(e.Count(text)) / float64(tokens.Estimate{}.Count(text)) }
	return fmt.Sprintf("| %#q | %.2f | %.2f |\n", f, ratio(strings.Repeat("word ", 10_000)), ratio(strings.Repeat("字", 10_000)))
}

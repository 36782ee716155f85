package eino_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocs keeps the programs of docs/eino.md those of the examples.
func TestDocs(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/eino.md")
	require.NoError(t, err)
	for _, name := range []string{"Wrap", "Options", "Tool", "Model", "Summaries"} {
		_, program, ok := strings.Cut(string(source), "// "+name+" begins.\n")
		require.True(t, ok)
		program, _, ok = strings.Cut(program, "\n\t// "+name+" ends.")
		require.True(t, ok)
		program = strings.ReplaceAll("\n"+program, "\n\t", "\n")[1:]
		require.Contains(t, string(page), "```go\n"+program+"\n```", "docs/eino.md shows another program than the example of %s", name)
	}
}

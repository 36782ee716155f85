package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

// TestGuaranteesAreHeld makes sure that each guarantee of docs/internals/guarantees.md, and each statement
// of docs/security.md on what an attacker cannot do, names tests, and that these are there.
func TestGuaranteesAreHeld(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	there := testsOfModule(t)
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	for name, page := range map[string]struct{ columns, rows int }{"internals/guarantees": {2, 30}, "security": {3, 10}} {
		text, err := os.ReadFile("../docs/" + name + ".md")
		require.NoError(t, err)
		rows, guarantees := 0, false
		for line := range strings.Lines(string(text)) {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				require.Contains(t, there, m[1], "a test that docs/%s.md names: %s", name, line)
			}
			switch cells := strings.Split(line, "|"); {
			case !strings.HasPrefix(line, "|"):
				guarantees = false
			case strings.Contains(line, "checked by"):
				guarantees = true
			case guarantees && !strings.Contains(line, "---"):
				rows++
				require.Len(t, cells, page.columns+2, "a row has a guarantee and its tests: %s", line)
				require.Regexp(t, named, cells[page.columns], "a guarantee names the tests that check it: %s", line)
			}
		}
		require.Greater(t, rows, page.rows, "the guarantees are rows of tables")
		for _, readme := range []string{"README.md", "README.zh-CN.md"} {
			text, err := os.ReadFile(filepath.Join("..", readme))
			require.NoError(t, err)
			require.Contains(t, string(text), "docs/"+name+".md", "%s leads to the page", readme)
		}
	}
}

// testsOfModule returns the names of all tests and fuzz targets.
func testsOfModule(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "..":
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	}))
	return names
}

package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line has one step: nothing is assigned in the head of an if to what is used after it, and no work is done in the head of
// a switch without a tag. An assignment has at most two values of its own.
func TestLinesHaveOneStep(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || path != ".." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if what := hidden(n); what != "" {
				t.Errorf("%s: %s", set.Position(n.Pos()), what)
			}
			return true
		})
		return nil
	}))
}

// hidden returns what a statement hides, or "".
func hidden(n ast.Node) string {
	const most = 2 // values of one assignment
	switch s := n.(type) {
	case *ast.IfStmt:
		if a, is := s.Init.(*ast.AssignStmt); is && a.Tok != token.DEFINE {
			return "an assignment in the head of an if: write it before the if"
		}
	case *ast.SwitchStmt:
		if s.Init != nil && s.Tag == nil {
			return "work in the head of a switch without a tag: write it before the switch"
		}
	case *ast.AssignStmt:
		if len(s.Rhs) > most && s.Tok != token.DEFINE {
			return "an assignment of more than two values: write several"
		}
	}
	return ""
}

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
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
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

// torn generates conversations as bad trimming, crashes and careless imports
// leave them behind.
func torn() *rapid.Generator[[]message.Message] {
	return rapid.Custom(func(t *rapid.T) []message.Message {
		var h []message.Message
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			m := message.Message{Role: rapid.SampledFrom([]message.Role{
				message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleAssistant, message.RoleTool, message.RoleTool,
			}).Draw(t, "role")}
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				id := rapid.SampledFrom([]string{"a", "b", "c", "a call with spaces"}).Draw(t, "id")
				m.Parts = append(m.Parts, rapid.SampledFrom([]message.Part{
					message.Text{Text: "text"},
					message.Text{},
					message.Media{Type: "image/png", URL: "https://example.org/a.png"},
					message.ToolCall{ID: id, Name: "tool", Arguments: `{"n":1}`},
					message.ToolCall{ID: id, Name: "tool", Arguments: `{"n":`},
					message.ToolResult{CallID: id, Text: "result"},
					message.ToolResult{CallID: id, Text: "further"},
				}).Draw(t, "part"))
			}
			h = append(h, m)
		}
		return h
	})
}

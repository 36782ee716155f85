package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

const architecture = "docs/architecture.md"

// TestArchitecturePage checks that each path and each name on docs/architecture.md exists. A name belongs to the file
// before it in its line; without a file, it may be in any package.
func TestArchitecturePage(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	text, err := os.ReadFile("../" + architecture)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.LessOrEqual(t, len(lines)-1, 145, "%s is one page", architecture)
	declared := declarations(t)
	code := regexp.MustCompile("`([^`]+)`")
	name := regexp.MustCompile(`^[A-Za-z]\w*(\.\w+)?$`)
	names := 0
	for i, line := range lines {
		file := ""
		for _, m := range code.FindAllStringSubmatch(line, -1) {
			switch word := m[1]; {
			case strings.Contains(word, "/"):
				_, err := os.Stat("../" + word)
				require.NoError(t, err, "%s:%d names %s, which does not exist: correct the path", architecture, i+1, word)
				file = word
			case name.MatchString(word) && path.Ext(file) == ".go":
				names++
				require.True(t, declared[file][word],
					"%s:%d: %s is not declared in %s: correct the name or the file (methods are written type.method)", architecture, i+1, word, file)
			case name.MatchString(word):
				require.True(t, declaredAnywhere(declared, word), "%s:%d: nothing is named %s: correct the name", architecture, i+1, word)
			}
		}
	}
	require.Greater(t, names, 40, "the page follows two calls through the functions of the core")
}

// TestArchitectureTree checks that the tree on docs/architecture.md has each package, and nothing else.
func TestArchitectureTree(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	text, err := os.ReadFile("../" + architecture)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "## The tree\n\n```\n")
	require.True(t, ok, "%s has a block after the title The tree", architecture)
	tree, _, _ := strings.Cut(rest, "```\n")
	shown := map[string]bool{}
	folders := map[int]string{} // by indent: the folder that the next deeper lines are in
	for line := range strings.Lines(tree) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for word := range strings.FieldsSeq(line) {
			if !strings.HasSuffix(word, "/") && !strings.Contains(word, "/") {
				break // the description
			}
			folder := path.Join(folders[indent-2], word)
			folders[indent] = folder
			shown[folder] = true
			info, err := os.Stat("../" + folder)
			require.NoError(t, err, "the tree of %s has %s, which does not exist", architecture, folder)
			require.True(t, info.IsDir(), "the tree of %s has folders only, not %s", architecture, folder)
		}
	}
	for file := range declarations(t) {
		if folder := path.Dir(file); !strings.HasPrefix(folder, "tests") && !strings.HasSuffix(file, "_test.go") {
			require.True(t, shown[folder], "package %s is missing in the tree of %s: add a line", folder, architecture)
		}
	}
}

// declarations returns, by file, the names that are declared at its top level; methods as type.method.
func declarations(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".."):
			return filepath.SkipDir
		case filepath.Ext(file) != ".go":
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := map[string]bool{}
		for _, decl := range parsed.Decls {
			declare(names, decl)
		}
		all[strings.TrimPrefix(filepath.ToSlash(file), "../")] = names
		return nil
	}))
	return all
}

func declare(names map[string]bool, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = typeName(d.Recv.List[0].Type) + "." + name
		}
		names[name] = true
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names[n.Name] = true
				}
			}
		}
	}
}

// typeName returns the name of the type of a receiver, without pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func declaredAnywhere(declared map[string]map[string]bool, name string) bool {
	for _, names := range declared {
		if names[name] {
			return true
		}
	}
	return false
}

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// nasty writes the tree of testdata/nasty.txtar, with files that are too long
// to be written down.
func nasty(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/nasty.txtar")
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}

	// Something stands across each boundary between two pages.
	var long strings.Builder
	long.WriteString("package nasty\n\n")
	across := []string{
		"\n// %[1]s is documented,\n// in two lines.\nfunc %[1]s() {}\n",
		"\n// A comment that documents nothing,\n\nfunc %[1]s() {}\n",
		"\n/*\n%[1]s is documented.\n*/\nfunc %[1]s() {}\n",
		"\nvar (\n\t%[1]s int\n\n\t%[1]sToo, %[1]sAsWell int\n)\n",
		"\n// A group.\ntype (\n\t%[1]s struct{}\n\n\t%[1]sToo struct{}\n)\n",
	}
	for i := 0; strings.Count(long.String(), "\n") < 500; i++ {
		text := fmt.Sprintf(across[i%len(across)], fmt.Sprintf("Across%d", i))
		half := strings.Count(text, "\n")/2 + i/len(across)%2
		for strings.Count(long.String(), "\n")%pageSize != pageSize-half {
			long.WriteString("\n")
		}
		long.WriteString(text)
	}
	files["long/long.go"] = long.String()
	files["long/crlf.go"] = strings.ReplaceAll(files["groups.go"], "\n", "\r\n")
	files["long/end.go"] = "package long\n\nfunc WithoutNewline() {}"
	files["long/page.go"] = "package long\n" + strings.Repeat("\n", pageSize-2) + "const LastOfPage = 1\n"
	return write(t, files)
}

// write makes a tree of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

// byAST audits a tree by other means than the example: go/parser, whole files.
func byAST(t *testing.T, dir string) answer {
	t.Helper()
	want := answer{Undocumented: []name{}, Longest: []length{}, PackagesWithoutExample: []string{}}
	files, tests := goFiles(t, dir)
	files = files[:min(len(files), maxFiles)]
	examples := map[string]bool{}
	for _, f := range tests {
		for _, d := range parse(t, dir, f).Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") {
				examples[path.Dir(f)] = true
			}
		}
	}
	for _, f := range files {
		source := string(readFile(t, dir, f))
		lines := strings.Count(source, "\n")
		if source != "" && !strings.HasSuffix(source, "\n") {
			lines++
		}
		want.Longest = append(want.Longest, length{File: f, Lines: lines})
		if p := path.Dir(f); !examples[p] && !slices.Contains(want.PackagesWithoutExample, p) {
			want.PackagesWithoutExample = append(want.PackagesWithoutExample, p)
		}
		if source == "" {
			continue
		}
		for _, n := range bareNames(parse(t, dir, f)) {
			want.Undocumented = append(want.Undocumented, name{File: f, Name: n})
		}
	}
	slices.Sort(want.PackagesWithoutExample)
	slices.SortFunc(want.Longest, func(a, b length) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.File, b.File))
	})
	want.Longest = want.Longest[:min(5, len(want.Longest))]
	return want
}

// goFiles returns the files that count, with the name of the tree before
// their path.
func goFiles(t *testing.T, dir string) (files, tests []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "vendor", ".hidden"}, d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(p, ".go"):
			return nil
		}
		rel, err := filepath.Rel(filepath.Dir(dir), p)
		if strings.HasSuffix(p, "_test.go") {
			tests = append(tests, filepath.ToSlash(rel))
		} else {
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	}))
	slices.Sort(files)
	return files, tests
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(dir), filepath.FromSlash(name)))
	require.NoError(t, err)
	return data
}

func parse(t *testing.T, dir, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, readFile(t, dir, name), parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return f
}

// bareNames is what undocumented should find in a whole file.
func bareNames(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if base := receiverOf(d); ast.IsExported(d.Name.Name) && (base == "" || ast.IsExported(base)) && bare(d.Doc) {
				names = append(names, strings.TrimPrefix(base+"."+d.Name.Name, "."))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && bare(d.Doc, s.Doc) {
						names = append(names, s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() && bare(d.Doc, s.Doc) {
							names = append(names, n.Name)
						}
					}
				}
			}
		}
	}
	return names
}

func bare(docs ...*ast.CommentGroup) bool {
	return !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return strings.TrimSpace(d.Text()) != "" })
}

// receiverOf returns the name of the type that has the method; "": a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	base := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && base == "" {
			base = id.Name
		}
		return base == ""
	})
	return base
}

// Command budget measures the weight of the tree, prints it beside the ceilings in
// .ci/budget, and fails above one. A change that raises a ceiling says why in its commit.
//
//	go run .ci/budget.go
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	judge  = regexp.MustCompile(`^(tests/|internal/(fakeprovider|testkit)/|middleware/middlewaretest/|wire/wiretest/)`)
	hidden = regexp.MustCompile(`(^|/)(internal|tests|cmd|examples|\.ci)/`)
)

func main() {
	log.SetFlags(0)
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.go", "*.md").Output()
	if err != nil {
		log.Fatal("budget: list the files: ", err)
	}
	now := map[string]int{}
	set := token.NewFileSet()
	var core []*ast.File
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it was removed and the removal is not committed
		}
		lines := bytes.Count(data, []byte("\n"))
		switch {
		case strings.Contains(name, "testdata/") || strings.HasPrefix(name, ".ci/") || name == "CHANGELOG.md":
		case strings.HasSuffix(name, ".md"):
			now["docs"] += len(bytes.Fields(data))
		case strings.HasSuffix(name, "_test.go"):
			now["tests"] += lines
		case judge.MatchString(name):
			now["judges"] += lines
		case !strings.HasPrefix(name, "examples/"):
			now["product"] += lines
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || hidden.MatchString(name) {
			continue
		}
		f, err := parser.ParseFile(set, name, data, 0)
		if err != nil {
			log.Fatal("budget: ", err)
		}
		for n := range declared(f) {
			if _, method, ok := strings.Cut(n, "."); ast.IsExported(n) && (!ok || ast.IsExported(method)) {
				now["exported"]++
			}
		}
		if strings.HasPrefix(name, "middleware/") && strings.Count(name, "/") == 1 {
			core = append(core, f)
		}
	}
	now["upwards"] = upwards(set, core)
	ceilings, err := os.ReadFile(".ci/budget")
	if err != nil {
		log.Fatal("budget: ", err)
	}
	above := false
	for line := range strings.Lines(string(ceilings)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		ceiling := 0
		if _, err := fmt.Sscan(rest, &ceiling); err != nil {
			continue // a comment
		}
		mark := ""
		if now[name] > ceiling {
			mark, above = "  ABOVE THE CEILING", true
		}
		fmt.Printf("%-9s %7d of %s%s\n", name, now[name], strings.TrimSpace(rest), mark)
	}
	if above {
		os.Exit(1)
	}
}

// declared returns the names at the top level of a file; methods as Type.Method.
func declared(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						name = id.Name + "." + d.Name.Name
					}
					return !strings.Contains(name, ".")
				})
			}
			names[name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names[id.Name] = true
					}
				}
			}
		}
	}
	return names
}

// upwards counts the pairs of files of which the lower one uses what the upper one
// declares. On top is always the file that uses most of the others and is used least.
func upwards(set *token.FileSet, files []*ast.File) int {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}} // other packages are not needed
	core, _ := conf.Check("middleware", set, files, &info)
	uses := map[string]map[string]bool{}
	for _, f := range files {
		uses[set.Position(f.Pos()).Filename] = map[string]bool{}
	}
	for id, obj := range info.Uses {
		user, maker := set.Position(id.Pos()).Filename, set.Position(obj.Pos()).Filename
		if obj.Pkg() == core && user != maker && uses[maker] != nil {
			uses[user][maker] = true
		}
	}
	count := 0
	for len(uses) > 0 {
		top, best := "", 0
		for name := range uses {
			score := len(uses[name])
			for other := range uses {
				if uses[other][name] {
					score--
				}
			}
			if top == "" || score > best || score == best && name < top {
				top, best = name, score
			}
		}
		delete(uses, top)
		for _, u := range uses {
			if u[top] {
				count++
				delete(u, top)
			}
		}
	}
	return count
}

type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

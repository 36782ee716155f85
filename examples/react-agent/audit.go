package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// exampleFunc matches the first line of an Example.
const exampleFunc = `^func Example\w*\(\)`

// audit returns what a report on the tree has to contain.
func (t *tree) audit() (answer, error) {
	var names []name
	for _, f := range t.files {
		found, err := t.undocumented(f)
		if err != nil {
			return answer{}, err
		}
		for _, d := range found {
			names = append(names, name{File: f.path, Name: d.name})
		}
	}
	bare, err := t.withoutExample()
	return newAnswer(t.files, names, bare), err
}

// withoutExample returns the packages without an Example, sorted.
func (t *tree) withoutExample() ([]string, error) {
	hits, err := t.search(exampleFunc)
	if err != nil {
		return nil, err
	}
	with := map[string]bool{}
	for line := range strings.Lines(hits) {
		if file, _, ok := strings.Cut(line, ".go: "); ok {
			with[path.Dir(file)] = true
		}
	}
	var bare []string
	for _, f := range t.files {
		if p := path.Dir(f.path); !with[p] {
			bare = append(bare, p)
		}
	}
	slices.Sort(bare)
	return slices.Compact(bare), nil
}

// declared is an exported name that a file declares in this line.
type declared struct {
	name string
	line int
}

// undocumented returns the exported names that a file declares without a doc comment: constants, variables, types and
// functions of the top level, and as "Type.Method" the methods of exported types. The comment of a group counts for all
// its members. Of a file with errors of syntax, it returns those that can be read.
func (t *tree) undocumented(f file) ([]declared, error) {
	lines, err := t.lines(f.path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	parsed, _ := parser.ParseFile(set, f.path, strings.Join(lines, "\n"), parser.ParseComments|parser.SkipObjectResolution)
	if parsed == nil {
		return nil, nil
	}
	var found []declared
	add := func(receiver string, id *ast.Ident, docs ...*ast.CommentGroup) {
		bare := !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return strings.TrimSpace(d.Text()) != "" })
		if bare && id.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
			found = append(found, declared{strings.TrimPrefix(receiver+"."+id.Name, "."), set.PositionFor(id.Pos(), false).Line})
		}
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiverOf(d), d.Name, d.Doc)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				ids, doc := declaredBy(s)
				for _, id := range ids {
					add("", id, d.Doc, doc)
				}
			}
		}
	}
	return found, nil
}

// declaredBy returns the names that a part of a group declares, and its comment.
func declaredBy(s ast.Spec) ([]*ast.Ident, *ast.CommentGroup) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}, s.Doc
	case *ast.ValueSpec:
		return s.Names, s.Doc
	}
	return nil, nil
}

// receiverOf returns the name of the type that has the method; "": a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.ParenExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// A mutant is one small fault. All mutants of a package are compiled into it at
// once; the variable MUTANT chooses the one that is on.
type mutant struct {
	ID      int      `json:"id"`
	Where   string   `json:"where"`
	What    string   `json:"what"`
	Killers []string `json:"killers,omitempty"`
	Reached bool     `json:"reached,omitempty"`
}

// switchboard is the file that each mutated package gets. With MUTANT_REACH, the
// mutants that are reached are noted in that file, each one once.
const switchboard = `package %s

import ("os"; "strconv"; "sync/atomic")

var (
	mutantActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantReach     = os.Getenv("MUTANT_REACH")
	mutantSeen      [%d]atomic.Bool
)

func mutantOn(id int) bool {
	if mutantReach != "" { mutantNote(id) }
	return id == mutantActive
}

func mutantNote(id int) {
	if mutantSeen[id].Swap(true) { return }
	f, err := os.OpenFile(mutantReach, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil { panic(err) }
	_, _ = f.WriteString(strconv.Itoa(id) + "\n")
	_ = f.Close()
}

func mutantZero[T any](id int, v T) T {
	var zero T
	if mutantOn(id) { return zero }
	return v
}

func mutantInt(id, v int) int { if mutantOn(id) { return v + 1 }; return v }

func mutantText(id int, v string) string { if mutantOn(id) { return v + "~" }; return v }
`

// An edit replaces a range of a file: text makes the new text of the old one and
// of the one in which the edits inside of the range are done.
type edit struct {
	from, to int
	text     func(old, inner string) string
}

type rewriter struct {
	set     *token.FileSet
	info    *types.Info
	mutants []mutant
	edits   []edit
}

// rewrite writes the files of the package with all mutants into folder, and
// returns the mutants and the files that the compiler takes instead.
func rewrite(p listed, export map[string]string, folder string) ([]mutant, map[string]string, error) {
	r := &rewriter{set: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(r.set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importsOf(r.set, export)}
	if _, err := conf.Check(p.ImportPath, r.set, files, r.info); err != nil {
		return nil, nil, err
	}
	overlay := map[string]string{}
	for i, f := range files {
		source, err := os.ReadFile(filepath.Join(p.Dir, p.GoFiles[i]))
		if err != nil {
			return nil, nil, err
		}
		r.edits = nil
		for _, d := range f.Decls {
			r.declaration(d)
		}
		// Wider edits first, so that those inside of another follow it.
		sort.SliceStable(r.edits, func(a, b int) bool {
			x, y := r.edits[a], r.edits[b]
			return x.from < y.from || x.from == y.from && x.to > y.to
		})
		out := filepath.Join(folder, p.GoFiles[i])
		if err := os.WriteFile(out, []byte(apply(string(source), 0, len(source), r.edits)), 0o600); err != nil {
			return nil, nil, err
		}
		overlay[filepath.Join(p.Dir, p.GoFiles[i])] = out
	}
	out := filepath.Join(folder, "mutant_switchboard.go")
	overlay[filepath.Join(p.Dir, "mutant_switchboard.go")] = out
	return r.mutants, overlay, os.WriteFile(out, fmt.Appendf(nil, switchboard, p.Name, len(r.mutants)+1), 0o600)
}

// apply returns source[from:to] with the edits done, which are sorted and nested.
func apply(source string, from, to int, edits []edit) string {
	var b strings.Builder
	for len(edits) > 0 {
		e, n := edits[0], 1
		for n < len(edits) && edits[n].from < e.to {
			n++
		}
		b.WriteString(source[from:e.from])
		b.WriteString(e.text(source[e.from:e.to], apply(source, e.from, e.to, edits[1:n])))
		from, edits = e.to, edits[n:]
	}
	return b.String() + source[from:to]
}

// add adds a mutant for the node. In the format, %[1]d is its number, %[2]s the old
// text, and %[3]s the one in which other mutants are compiled in.
func (r *rewriter) add(n ast.Node, what, format string) {
	id := len(r.mutants) + 1
	at := r.set.Position(n.Pos())
	r.mutants = append(r.mutants, mutant{ID: id, Where: fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line), What: what})
	r.edits = append(r.edits, edit{at.Offset, r.set.Position(n.End()).Offset, func(old, inner string) string {
		return fmt.Sprintf(format+"%.0[2]s", id, old, inner)
	}})
}

func (r *rewriter) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		if d.Tok == token.VAR {
			ast.Inspect(d, r.node)
		}
	case *ast.FuncDecl:
		if d.Body != nil && d.Name.Name != "init" {
			r.function(d.Type, d.Body)
		}
	}
}

// function looks through a body whose returns have the results of the type.
func (r *rewriter) function(t *ast.FuncType, body *ast.BlockStmt) {
	var results []types.Type
	if t.Results != nil {
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				results = append(results, r.info.Types[f.Type].Type)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == len(results) {
			for i, x := range ret.Results {
				r.returned(x, results[i])
			}
		}
		return r.node(n)
	})
}

func (r *rewriter) returned(x ast.Expr, want types.Type) {
	got := r.info.Types[x]
	if b, ok := want.Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
		r.add(x, "return not", "(%[3]s) != mutantOn(%[1]d)")
		return
	}
	_, pointer := want.Underlying().(*types.Pointer)
	if got.Value == nil && !got.IsNil() && !pointer && types.Identical(got.Type, want) {
		r.add(x, "return zero", "mutantZero(%[1]d, %[3]s)")
	}
}

func (r *rewriter) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType:
		return false
	case *ast.FuncLit:
		r.function(n.Type, n.Body)
		return false
	case *ast.IfStmt:
		r.add(n.Cond, "if not", "(%[3]s) != mutantOn(%[1]d)")
	case *ast.BlockStmt:
		r.statements(n.List)
	case *ast.CaseClause:
		r.statements(n.Body)
	case *ast.BinaryExpr:
		r.binary(n)
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			r.literal(e)
		}
	}
	return true
}

func (r *rewriter) literal(x ast.Expr) {
	lit, ok := x.(*ast.BasicLit)
	switch {
	case ok && lit.Kind == token.STRING && r.info.Types[x].Type == types.Typ[types.String]:
		r.add(x, "other text", "mutantText(%[1]d, %[3]s)")
	case ok && lit.Kind == token.INT && r.info.Types[x].Type == types.Typ[types.Int]:
		r.add(x, "one more", "mutantInt(%[1]d, %[3]s)")
	}
}

// binary moves the limits of comparisons, exchanges && and ||, and adds one to a literal.
func (r *rewriter) binary(n *ast.BinaryExpr) {
	t := r.info.Types[n]
	if t.Value != nil {
		return
	}
	other := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&", token.EQL: "!=", token.NEQ: "==",
	}[n.Op]
	if b, ok := t.Type.Underlying().(*types.Basic); ok && other != "" && (b.Kind() == types.UntypedBool || b.Kind() == types.Bool) {
		r.add(n, n.Op.String()+" to "+other, "")
		e := &r.edits[len(r.edits)-1]
		id, op, end := len(r.mutants), r.set.Position(n.OpPos).Offset-e.from, len(n.Op.String())
		e.text = func(old, inner string) string {
			return fmt.Sprintf("(mutantOn(%[1]d) && ((%[2]s) %[3]s (%[4]s)) || !mutantOn(%[1]d) && (%[5]s))", id, old[:op], other, old[op+end:], inner)
		}
		return
	}
	if n.Op == token.ADD || n.Op == token.SUB || n.Op == token.MUL {
		r.literal(n.X)
		r.literal(n.Y)
	}
}

// statements deletes single statements. Whether a function ends does not change.
func (r *rewriter) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			// A lock that is not taken, or not given back, is found by any test.
			call, ok := s.X.(*ast.CallExpr)
			if name := types.ExprString(s.X); !ok || strings.HasPrefix(name, "panic(") || strings.HasSuffix(types.ExprString(call.Fun), "ock") {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.BranchStmt:
			if s.Tok == token.GOTO || s.Tok == token.FALLTHROUGH {
				continue
			}
		default:
			continue
		}
		r.add(s, "deleted", "if !mutantOn(%[1]d) { %[3]s }")
	}
}

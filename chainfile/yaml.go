package chainfile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxDepth limits the nesting of maps and lists, because the parser is recursive.
const maxDepth = 32

// parse returns the value of the text. If there is none, it reports why.
func (src *source) parse(data []byte) (root node, ok bool) {
	if len(data) > maxSize {
		src.failf(0, 0, "", "is longer than %d bytes, which no chain file may be", maxSize)
		return node{}, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)) // the lexer would count some lines twice
	for i, line := range strings.Split(text, "\n") {
		if !utf8.ValidString(line) {
			good := strings.ToValidUTF8(line, "\ufffd")
			column := utf8.RuneCountInString(good[:strings.IndexRune(good, '\ufffd')]) + 1
			src.failf(i+1, column, "", "is not UTF-8: want a text file in that encoding")
		}
	}
	all := lexer.Tokenize(text)
	src.screen(all)
	if src.first != nil {
		return node{}, false
	}
	file, err := parser.Parse(all, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		src.syntax(err, text)
		return node{}, false
	}
	for _, doc := range file.Docs {
		const second = "a second document begins here: want one chain a file"
		switch {
		case ok && doc.Start != nil:
			src.failf(doc.Start.Position.Line, doc.Start.Position.Column, "", second)
		case doc.Body == nil:
		case ok:
			node{src: src, ast: doc.Body}.failf(second)
		default:
			root, ok = node{src: src, ast: doc.Body}, true
		}
	}
	if !ok {
		src.failf(0, 0, "", "is empty: want a list of middlewares under the key chain, as %s", smallest)
	}
	return root, ok
}

// unsupported are the parts of YAML that a chain file must not use, with what to write instead.
var unsupported = map[token.Type]string{
	token.AnchorType:     "an anchor (&) is not understood here: write the value where it is used",
	token.AliasType:      "an alias (*) is not understood here: write the value out, or put text in quotes",
	token.MergeKeyType:   "a merge key (<<) is not understood here: write the keys out",
	token.TagType:        "a tag (!) is not understood here: leave it out, or put text in quotes",
	token.DirectiveType:  "a directive (%) is not understood here: leave it out",
	token.MappingKeyType: "a key after a question mark is not understood here: write key: value",
}

// screen reports unsupported YAML and deep nesting before the parser reads it.
func (src *source) screen(all token.Tokens) {
	depth, dashes, line := 0, 0, 0
	for _, t := range all {
		at := t.Position
		if at.Line != line {
			line, dashes = at.Line, 0
		}
		switch t.Type { //nolint:exhaustive // the other tokens need no action
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		}
		if what, ok := unsupported[t.Type]; ok {
			src.failf(at.Line, at.Column, "", "%s", what)
		}
		if depth+dashes > maxDepth {
			src.failf(at.Line, at.Column, "", "lies in more than %d lists and maps, which is deeper than any chain", maxDepth)
		}
	}
}

// syntax reports an error of the parser in the text with its place.
func (src *source) syntax(err error, text string) {
	p, ok := errors.AsType[yaml.Error](err)
	if !ok || p.GetToken() == nil || p.GetToken().Position == nil {
		src.failf(0, 0, "", "is not YAML: %v", err)
		return
	}
	at := p.GetToken().Position
	line := strings.Split(text, "\n")[at.Line-1]
	if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; strings.Contains(indent, "\t") {
		src.failf(at.Line, strings.IndexByte(indent, '\t')+1, "", "is indented with a tab: YAML wants spaces")
		return
	}
	src.failf(at.Line, at.Column, "", "is not YAML: %s", p.GetMessage())
}

// node is a value of the file with its path.
type node struct {
	src  *source
	path string // as chain[0].keep; "": the whole file
	ast  ast.Node
	also string // what else is allowed here, for errors
}

// The kinds of values.
const (
	nothing = "left empty"
	aText   = "a text"
	aNumber = "a number"
	aBool   = "true or false"
	aList   = "a list"
	aMap    = "a map"
)

func (n node) kind() string {
	switch n.ast.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return aText
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return aNumber
	case *ast.BoolNode:
		return aBool
	case *ast.NullNode:
		return nothing
	case *ast.SequenceNode:
		return aList
	case ast.MapNode:
		return aMap
	}
	return "something else"
}

// raw returns the text of a plain value. A number is as it was written.
func (n node) raw() string {
	switch a := n.ast.(type) {
	case *ast.StringNode:
		return a.Value
	case *ast.LiteralNode:
		return a.Value.Value
	}
	return n.ast.GetToken().Value
}

// items returns the elements of a list.
func (n node) items() []node {
	list, ok := n.ast.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	items := make([]node, len(list.Values))
	for i, v := range list.Values {
		items[i] = node{src: n.src, path: fmt.Sprintf("%s[%d]", n.path, i), ast: v}
	}
	return items
}

// pair is a key of a map with its value.
type pair struct {
	name       string
	key, value node
}

// pairs returns the keys of a map with their values, and reports a key that is there twice.
func (n node) pairs() []pair {
	m, ok := n.ast.(ast.MapNode)
	if !ok {
		return nil
	}
	var all []pair
	lines := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		key := node{src: n.src, ast: it.Key()}
		name := key.raw()
		key.path = strings.TrimPrefix(n.path+"."+short(name), ".")
		line, _ := key.place()
		if first, ok := lines[name]; ok {
			key.failf("is here twice, first in line %d: want each key once", first)
		}
		lines[name] = line
		all = append(all, pair{name, key, node{src: n.src, path: key.path, ast: it.Value()}})
	}
	return all
}

// value returns the value of a key of a map.
func (n node) value(name string) (value node, ok bool) {
	for _, p := range n.pairs() {
		if p.name == name {
			return p.value, true
		}
	}
	return node{}, false
}

// place returns line and column. The parser gives a map in block style the place of its first colon.
func (n node) place() (line, column int) {
	at := n.ast.GetToken().Position
	column = max(1, at.Column)
	if m, ok := n.ast.(ast.MapNode); ok {
		if it := m.MapRange(); it.Next() {
			if first := it.Key().GetToken().Position; first.Line == at.Line {
				column = min(column, max(1, first.Column))
			}
		}
	}
	return at.Line, column
}

// errorf returns an error about the node.
func (n node) errorf(format string, args ...any) *Error {
	line, column := n.place()
	return n.src.errorf(line, column, n.path, format, args...)
}

// failf reports an error about the node.
func (n node) failf(format string, args ...any) {
	line, column := n.place()
	n.src.failf(line, column, n.path, format, args...)
}

// wrong reports that the node is something other than what is wanted.
func (n node) wrong(want string) { n.failf("is %s, want %s%s", n.describe(), want, n.also) }

// describe returns what the node is, for an error.
func (n node) describe() string {
	switch n.kind() {
	case aNumber, aBool:
		return short(n.raw())
	case aText:
		_, err := strconv.ParseFloat(n.raw(), 64)
		number := err == nil || errors.Is(err, strconv.ErrRange)
		if number && n.ast.GetToken().Type == token.StringType { // 010 is a text without quotes
			return short(n.raw())
		}
		return "the text " + strconv.Quote(short(n.raw()))
	}
	return n.kind()
}

// short returns the first 40 characters of a text.
func short(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest]) + "…"
}

package chainfile

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxDepth is how deep maps and lists may lie in one another. The parser goes
// down by recursion, so it must not be shown more.
const maxDepth = 32

// parseYAML returns the one value that the text holds.
func parseYAML(src *source, data []byte) (*node, error) {
	if len(data) > MaxSize {
		return nil, src.errorf(0, 0, "", "is longer than %d bytes, which no chain file may be", MaxSize)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	unix := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)) // the lexer would count some unix twice
	src.lines = strings.Split(strings.TrimSuffix(unix, "\n"), "\n")
	for i, line := range src.lines {
		if !utf8.ValidString(line) {
			good := strings.ToValidUTF8(line, "\ufffd")
			column := utf8.RuneCountInString(good[:strings.IndexRune(good, '\ufffd')]) + 1
			return nil, src.errorf(i+1, column, "", "is not UTF-8: want a text file in that encoding")
		}
	}
	all := lexer.Tokenize(unix)
	if err := src.screen(all); err != nil {
		return nil, err
	}
	file, err := parser.Parse(all, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, src.syntax(err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return src.node(doc.Body, "")
		}
	}
	return nil, src.errorf(0, 0, "", "is empty: want a list of middlewares under the key chain, as %s", smallest)
}

// unused is what a chain file does without, with the cure.
var unused = map[token.Type]string{
	token.AnchorType:     "an anchor (&) is not understood here: write the value where it is used",
	token.AliasType:      "an alias (*) is not understood here: write the value out, or put text in quotes",
	token.MergeKeyType:   "a merge key (<<) is not understood here: write the keys out",
	token.TagType:        "a tag (!) is not understood here: leave it out, or put text in quotes",
	token.DirectiveType:  "a directive (%) is not understood here: leave it out",
	token.MappingKeyType: "a key behind a question mark is not understood here: write key: value",
}

// screen reports what no chain file needs, before the parser sees it.
func (src *source) screen(all token.Tokens) error {
	depth, dashes, line := 0, 0, 0
	begun, ended := false, false
	for _, t := range all {
		at := t.Position
		if at.Line != line {
			line, dashes = at.Line, 0
		}
		if what, ok := unused[t.Type]; ok {
			return src.errorf(at.Line, at.Column, "", "%s", what)
		}
		switch t.Type { //nolint:exhaustive // of most tokens there is nothing to say
		case token.CommentType:
			continue
		case token.DocumentHeaderType:
			ended = ended || begun
			begun = true
			if !ended {
				continue
			}
		case token.DocumentEndType:
			ended = true
			continue
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		}
		if ended {
			return src.errorf(at.Line, at.Column, "", "a second document begins here: want one chain a file")
		}
		if depth+dashes > maxDepth {
			return src.errorf(at.Line, at.Column, "", "lies in more than %d lists and maps, which is deeper than any chain", maxDepth)
		}
		begun = true
	}
	return nil
}

// syntax returns what the parser found, with its place.
func (src *source) syntax(err error) *Error {
	type placed interface {
		error
		GetMessage() string
		GetToken() *token.Token
	}
	p, ok := errors.AsType[placed](err)
	if !ok || p.GetToken() == nil || p.GetToken().Position == nil {
		return src.errorf(0, 0, "", "is not YAML: %v", err)
	}
	at := p.GetToken().Position
	return src.errorf(at.Line, at.Column, "", "is not YAML: %s", p.GetMessage())
}

// node turns what was parsed into a node, with all below it.
func (src *source) node(n ast.Node, path string) (*node, error) {
	at := n.GetToken().Position
	out := &node{src: src, path: path, line: at.Line, column: max(1, at.Column), text: n.GetToken().Value}
	switch n := n.(type) {
	case *ast.StringNode:
		out.shape, out.text = aText, n.Value
		out.bare = n.Token.Type == token.StringType
	case *ast.LiteralNode:
		out.shape, out.text = aText, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.shape = aNumber
	case *ast.BoolNode:
		out.shape = aBool
	case *ast.NullNode:
		out.shape = nothing
	case *ast.SequenceNode:
		out.shape = aList
		if err := out.addItems(n.Values); err != nil {
			return nil, err
		}
	case *ast.MappingNode:
		out.shape = aMap
		if err := out.addPairs(n.Values); err != nil {
			return nil, err
		}
	case *ast.MappingValueNode:
		out.shape = aMap
		if err := out.addPairs([]*ast.MappingValueNode{n}); err != nil {
			return nil, err
		}
	default:
		return nil, out.errorf("is YAML that is not understood here: want a map, a list or a plain value")
	}
	return out, nil
}

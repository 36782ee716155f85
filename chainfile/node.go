package chainfile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// shape is what a node is.
type shape int

const (
	nothing shape = iota
	aText
	aNumber
	aBool
	aList
	aMap
)

// node is a value of the file, with its place.
type node struct {
	src          *source
	path         string // as chain[0].keep; "": the whole
	line, column int

	shape shape
	text  string // of what is neither list nor map; a number as it was written
	bare  bool   // a text without quotes
	items []*node
	pairs []pair
}

// pair is a key of a map with its value.
type pair struct {
	name  string
	at    *node // the key itself
	value *node
}

// value returns the value of a key of a map, nil if the map has none.
func (n *node) value(name string) *node {
	for _, p := range n.pairs {
		if p.name == name {
			return p.value
		}
	}
	return nil
}

func (n *node) addItems(items []ast.Node) error {
	for i, item := range items {
		child, err := n.src.node(item, fmt.Sprintf("%s[%d]", n.path, i))
		if err != nil {
			return err
		}
		n.items = append(n.items, child)
	}
	return nil
}

func (n *node) addPairs(pairs []*ast.MappingValueNode) error {
	seen := map[string]*node{}
	for _, p := range pairs {
		at, err := n.src.node(p.Key, n.path)
		if err != nil {
			return err
		}
		at.path = strings.TrimPrefix(n.path+"."+short(at.text), ".")
		if first := seen[at.text]; first != nil {
			return at.errorf("is here twice, first in line %d: want each key once", first.line)
		}
		seen[at.text] = at
		v, err := n.src.node(p.Value, at.path)
		if err != nil {
			return err
		}
		if len(n.pairs) == 0 && n.column > at.column && n.line == at.line {
			n.column = at.column // the token of a map in block style is its first colon
		}
		n.pairs = append(n.pairs, pair{name: at.text, at: at, value: v})
	}
	return nil
}

// errorf returns an error about the node.
func (n *node) errorf(format string, args ...any) *Error {
	return n.src.errorf(n.line, n.column, n.path, format, args...)
}

// wrong returns the error that the node is not what is wanted.
func (n *node) wrong(want string) *Error {
	return n.errorf("is %s, want %s", n.describe(), want)
}

// describe says for an error what the node is.
func (n *node) describe() string {
	switch n.shape {
	case nothing:
		return "left empty"
	case aNumber, aBool:
		return short(n.text)
	case aText:
		if _, err := strconv.ParseFloat(n.text, 64); n.bare && (err == nil || strings.HasSuffix(err.Error(), strconv.ErrRange.Error())) {
			return short(n.text)
		}
		return "the text " + strconv.Quote(short(n.text))
	case aList:
		return "a list"
	case aMap:
		return "a map"
	}
	return "something else"
}

// short returns the beginning of a text.
func short(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest]) + "…"
}

package main

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// undocumented returns the exported names that a page of a Go file declares without a doc comment: constants,
// variables, types and functions of the top level, and as "Type.Method" the methods of exported types. The comment
// of a group counts for all its members.
//
// A page may begin inside a declaration. So open is the shortest Go source that puts the scanner into that state:
// "" at the beginning of a file, else the rest that the call for the page before returned, as "const(\n" for a page
// that ends in an undocumented group of constants.
func undocumented(open, page string) (names []string, rest string) {
	o := outline{source: open + page}
	o.scan()
	return o.names, o.rest()
}

// stage is the part of a declaration that comes next.
type stage int

const (
	between   stage = iota // a declaration or, in a group, a member
	head                   // what follows const, var or type
	nameList               // another name, after a comma
	named                  // what follows a name
	funcHead               // what follows func
	receiver               // the rest of a receiver
	remainder              // the rest of a declaration, of which nothing matters
)

// outline is the state of the scan.
type outline struct {
	source string
	names  []string

	stage   stage
	keyword token.Token // of the declaration or group
	group   bool        // inside the parentheses of a group
	shared  bool        // the group has a doc comment
	doc     bool        // so has the declaration
	method  bool
	base    string // type of the receiver
	depth   int    // brackets open in the receiver or the remainder

	above comment // the newest comment on its own lines
	last  int     // line of the newest token

	cut      string // beginning of the unfinished comment or raw string at the end of the source
	trailing bool   // cut is a comment after a token on the same line
}

// comment is a run of comments without a blank line.
type comment struct {
	text bool // it has text other than directives
	end  int  // its last line
}

func (o *outline) scan() {
	set := token.NewFileSet()
	f := set.AddFile("", set.Base(), len(o.source))
	var s scanner.Scanner
	s.Init(f, []byte(o.source), nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		line := f.Line(pos)
		switch tok {
		case token.EOF:
			return
		case token.COMMENT:
			o.comment(text, line)
		default:
			o.doc = o.documented(line)
			o.above = comment{}
			o.last = line
			o.token(tok, text)
			if tok == token.STRING && text[0] == '`' && (len(text) == 1 || text[len(text)-1] != '`') {
				o.cut = "`"
				return
			}
		}
	}
}

// comment reads a comment. A comment after a token on the same line is no doc comment.
func (o *outline) comment(text string, line int) {
	block := strings.HasPrefix(text, "/*")
	open := block && (len(text) < len("/**/") || !strings.HasSuffix(text, "*/"))
	end := line + strings.Count(text, "\n")
	switch {
	case line == o.last:
		o.above = comment{}
		if open {
			o.cut = "/*"
			o.trailing = true
		}
		return
	case line > o.above.end+1:
		o.above = comment{}
	}
	o.above.text = o.above.text || hasText(text)
	o.above.end = end
	if open {
		o.cut = "/*"
		if o.above.text {
			o.cut = "/*x"
		}
	}
}

// documented reports whether the token in this line belongs to a declaration with a doc comment.
func (o *outline) documented(line int) bool {
	if o.stage != between {
		return o.doc
	}
	return o.above.text && line == o.above.end+1
}

func (o *outline) token(tok token.Token, text string) {
	switch o.stage {
	case between:
		o.begin(tok, text)
	case head:
		if tok == token.LPAREN {
			o.group, o.shared, o.stage = true, o.doc, between
			return
		}
		o.name(tok, text)
	case nameList:
		o.name(tok, text)
	case named:
		o.stage = remainder
		if tok == token.COMMA && o.keyword != token.TYPE {
			o.stage = nameList
			return
		}
		o.skip(tok)
	case funcHead:
		if tok == token.LPAREN && !o.method {
			o.stage, o.method, o.depth = receiver, true, 1
			return
		}
		o.name(tok, text)
	case receiver:
		if tok == token.IDENT && o.depth == 1 {
			o.base = text
		}
		o.depth += nesting(tok)
		if o.depth == 0 {
			o.stage = funcHead
		}
	case remainder:
		o.skip(tok)
	}
}

// begin reads the first token of a declaration or of a member of a group.
func (o *outline) begin(tok token.Token, text string) {
	switch {
	case tok == token.SEMICOLON:
	case o.group && tok == token.IDENT:
		o.doc = o.doc || o.shared
		o.name(tok, text)
	case tok == token.CONST, tok == token.VAR, tok == token.TYPE:
		o.keyword, o.stage = tok, head
	case tok == token.FUNC:
		o.keyword, o.stage, o.method, o.base = tok, funcHead, false, ""
	default:
		o.stage = remainder
		o.skip(tok)
	}
}

// name reads the declared name.
func (o *outline) name(tok token.Token, text string) {
	if tok != token.IDENT {
		o.stage = remainder
		o.skip(tok)
		return
	}
	o.stage = named
	function := o.keyword == token.FUNC
	switch {
	case o.doc, !token.IsExported(text):
	case !function || !o.method:
		o.names = append(o.names, text)
	case token.IsExported(o.base):
		o.names = append(o.names, o.base+"."+text)
	}
	if function {
		o.stage, o.depth = remainder, 0
	}
}

// skip reads a token of the remainder of a declaration.
func (o *outline) skip(tok token.Token) {
	switch {
	case tok == token.SEMICOLON && o.depth == 0:
		o.stage = between
	case tok == token.RPAREN && o.depth == 0:
		o.group = false
	default:
		o.depth += nesting(tok)
	}
}

func nesting(tok token.Token) int {
	switch tok { //nolint:exhaustive // all others do not nest
	case token.LPAREN, token.LBRACE, token.LBRACK:
		return 1
	case token.RPAREN, token.RBRACE, token.RBRACK:
		return -1
	}
	return 0
}

// rest returns the shortest source that leads to the state of the scan.
func (o *outline) rest() string {
	const doc = "//x\n"
	when := func(yes bool, text string) string {
		if yes {
			return text
		}
		return ""
	}
	keyword := o.keyword.String() + " "
	var b strings.Builder
	if o.group {
		b.WriteString(when(o.shared, doc) + keyword + "(\n")
		keyword = ""
	}
	switch o.stage {
	case between:
		lines := 1 + strings.Count(o.source, "\n")
		b.WriteString(when(o.above.text && o.above.end+1 == lines, doc))
	case head, funcHead:
		b.WriteString(when(o.doc, doc) + keyword)
	case nameList:
		b.WriteString(when(o.doc, doc) + keyword + "_,")
	case receiver:
		b.WriteString(when(o.doc, doc) + "func(" + o.base + "," + strings.Repeat("(", max(0, o.depth-1)))
	case named, remainder:
		b.WriteString(when(!o.group, "var ") + "_=" + strings.Repeat("(", max(0, o.depth)))
	}
	if o.cut != "" {
		return b.String() + when(o.trailing && o.stage == between, ";") + o.cut
	}
	return when(b.Len() > 0, strings.TrimSuffix(b.String(), "\n")+"\n")
}

// directive matches a comment for tools.
var directive = regexp.MustCompile(`^//(line |extern |export |[a-z0-9]+:[a-z0-9])`)

// hasText reports whether a comment has text for a reader.
func hasText(text string) bool {
	if directive.MatchString(text) {
		return false
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "//"), "/*")
	return strings.TrimSpace(strings.TrimSuffix(text, "*/")) != ""
}

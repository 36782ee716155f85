package main

import (
	"go/token"
	"regexp"
	"strings"
)

// The first lines of declarations in source that gofmt has formatted, with their receiver and names.
var (
	declaration = regexp.MustCompile(`^(?:func (?:\((?:\w+ )?\*?(\w+)(?:\[.*\])?\) )?|type |var |const )(\w+(?:, \w+)*)`)
	member      = regexp.MustCompile(`^\t()(\w+(?:, \w+)*)`)
	groupHead   = regexp.MustCompile(`^(?:type|var|const) \($`)
	directive   = regexp.MustCompile(`^//(?:line |extern |export |[a-z0-9]+:[a-z0-9])`) // a comment for tools
)

// undocumented returns the exported names that a page of a Go file declares without a doc comment: constants,
// variables, types and functions of the top level, and as "Type.Method" the methods of exported types. The comment
// of a group counts for all its members. It reads line by line, so the file must be formatted by gofmt.
//
// A page may begin inside a group or after a comment. So open is Go source that leads there: "" at the beginning of a
// file, else the rest that the call for the page before returned, as "const (\n" for a page that ends in an
// undocumented group.
func undocumented(open, page string) (names []string, rest string) {
	var group, shared, doc bool // inside a group; the group, or the next line, has a doc comment
	for line := range strings.Lines(open + page) {
		line = strings.TrimRight(line, "\r\n")
		var found []string
		switch {
		case isComment(line):
			doc = doc || hasText(line)
			continue
		case groupHead.MatchString(line):
			group, shared = true, doc
		case group:
			group = line != ")"
			found = member.FindStringSubmatch(line)
		default:
			found = declaration.FindStringSubmatch(line)
		}
		if found != nil && !doc && (!group || !shared) {
			names = append(names, exported(found[1], strings.Split(found[2], ", "))...)
		}
		doc = false
	}
	const comment = "//x\n"
	if group && shared {
		rest = comment
	}
	if group {
		rest += "const (\n"
	}
	if doc {
		rest += comment
	}
	return names, rest
}

// isComment reports whether a line is a comment, or the end of one.
func isComment(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "//") || strings.HasSuffix(line, "*/")
}

// hasText reports whether a comment has text for a reader.
func hasText(line string) bool {
	line = strings.TrimSpace(line)
	return line != "//" && !directive.MatchString(line)
}

// exported returns the exported names, with their receiver. Methods of other types are left out.
func exported(receiver string, names []string) []string {
	var all []string
	for _, name := range names {
		switch {
		case !token.IsExported(name):
		case receiver == "":
			all = append(all, name)
		case token.IsExported(receiver):
			all = append(all, receiver+"."+name)
		}
	}
	return all
}

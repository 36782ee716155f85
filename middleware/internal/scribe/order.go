package scribe

import (
	"errors"
	"fmt"
	"strings"
)

// order is what one request asks for.
type order struct {
	kind        kind
	part, parts int    // of the record, for notes and facts
	earlier     bool   // an earlier summary is shown
	tokens      int    // that the answer shall have at most
	failures    int    // attempts that came to nothing
	after       Reason // why the last of them was rejected; "": none was
}

// again returns the order for the attempt behind one that came to nothing. It is
// stricter only behind an answer: that a provider is down is no reason to be.
func (o order) again(err error) order {
	o.failures++
	if r, ok := errors.AsType[*RejectedError](err); ok {
		o.after = r.Reason
	}
	return o
}

type kind int

const (
	whole kind = iota // the summary
	notes             // of a piece of the record
	facts             // of a piece of the record
)

// ask returns the order to an author in words, without the record.
func (b Brief) ask(a Author, o order, concepts []Concept) string {
	w := b.Language.words()
	var lines []string
	switch {
	case o.kind == facts:
		lines = append(lines, w.facts, w.list(concepts), w.factForm)
	case a.Task != "":
		lines = append(lines, a.Task)
	default:
		lines = append(lines, w.task)
	}
	if o.earlier {
		lines = append(lines, w.earlier)
	}
	switch {
	case o.kind == notes:
		lines = append(lines, fmt.Sprintf(w.note, o.part, o.parts))
	case o.kind == whole && b.Form == Structured:
		lines = append(lines, w.form)
	case o.kind == whole && len(a.Sections) > 0:
		lines = append(lines, w.headings, w.headed(a.Sections))
	}
	lines = append(lines, fmt.Sprintf(w.length, max(20, o.tokens*w.words/100)))
	if a.Task == "" {
		lines = append(lines, w.language)
	}
	if o.after != "" {
		lines = append(lines, fmt.Sprintf(w.strict, w.because[o.after]))
	}
	return strings.Join(lines, "\n\n")
}

// headed lists the sections, the built-in ones with what belongs there.
func (w *wording) headed(sections []string) string {
	builtIn := len(sections) == len(w.sections) && &sections[0] == &w.sections[0]
	var lines []string
	for i, s := range sections {
		line := "## " + strings.TrimSpace(strings.TrimLeft(s, "# "))
		if builtIn {
			line += "\n(" + w.under[i] + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (w *wording) list(concepts []Concept) string {
	var lines []string
	for _, c := range concepts {
		many := w.factOne
		if c.Many {
			many = w.factMany
		}
		line := fmt.Sprintf("- %q (%s)", c.Keyword, many)
		if c.Description != "" {
			line += ": " + c.Description
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// question returns what the user asks, in a fence, and no more than so many code
// points of it: its beginning and its end.
func (b Brief) question() string {
	if !visible(b.Focus) {
		return ""
	}
	const head, tail = 700, 300
	q := []rune(b.Focus)
	if n := len(q) - head - tail; n > 0 {
		q = []rune(fmt.Sprintf("%s\n[… %d …]\n%s", string(q[:head]), n, string(q[len(q)-tail:])))
	}
	name := fence("question", b.Focus)
	return b.Language.words().focus + "\n<" + name + ">\n\t" + setIn.Replace(strings.TrimSpace(string(q))) + "\n</" + name + ">"
}

package agent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/store"
)

// passage is a text of which a model reads as much as fits into an answer.
// Lines and bytes are counted from 0 here, and from 1 in arguments and answers.
type passage struct {
	handle store.Handle
	text   string
	total  int // lines
	limit  int // bytes of an answer
}

func newPassage(h store.Handle, text string, limit int) *passage {
	total := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		total++
	}
	return &passage{handle: h, text: text, total: total, limit: limit}
}

// room is the number of bytes of an answer for lines. The others are for the note
// above them.
func (p *passage) room() int { return p.limit - 260 }

// width is the number of bytes shown of a line that is one of several.
func (p *passage) width() int { return p.limit / 8 }

// spot is a byte of a line.
type spot struct{ line, column int }

// String returns the arguments with which the model reads on from there.
func (s spot) String() string {
	if s.column == 0 {
		return fmt.Sprintf("from=%d", s.line+1)
	}
	return fmt.Sprintf("from=%d column=%d", s.line+1, s.column+1)
}

// read answers a call.
func (p *passage) read(ctx context.Context, in recallArgs) (string, error) {
	if p.text == "" {
		return "[the content is empty]", nil
	}
	find, problem := p.check(in)
	if problem != "" {
		shown, _ := visible("["+problem+"]", p.limit)
		return shown, nil
	}
	from, to := p.span(in)
	if find.index != nil {
		return p.search(ctx, from, to, find)
	}
	if in.From == 0 && in.To == 0 && in.Column == 0 {
		if shown, n := visible(p.text, p.limit); n == len(p.text) {
			return shown, nil
		}
	}
	return p.page(from, to), nil
}

// span returns the first byte and the last line that a call asks for.
func (p *passage) span(in recallArgs) (from spot, to int) {
	from, to = spot{max(in.From-1, 0), max(in.Column-1, 0)}, p.total-1
	if in.To > 0 {
		to = min(in.To-1, to)
	}
	return from, to
}

// check returns what is wrong with the arguments, or else what to search for, if
// they ask for a search.
func (p *passage) check(in recallArgs) (find finder, problem string) {
	switch {
	case in.From < 0 || in.To < 0 || in.Column < 0:
		problem = fmt.Sprintf("from=%d to=%d column=%d: want numbers from 1", in.From, in.To, in.Column)
	case in.From > p.total:
		problem = fmt.Sprintf("from=%d is behind the end: %s has %d lines", in.From, p.handle, p.total)
	case in.To > 0 && in.To < in.From:
		problem = fmt.Sprintf("from=%d is behind to=%d", in.From, in.To)
	case in.Column > 1 && in.Column > p.length(in.From):
		problem = fmt.Sprintf("column=%d is behind the end of line %d of %s, which has %d bytes",
			in.Column, max(in.From, 1), p.handle, p.length(in.From))
	case in.Search != "" && in.Pattern != "":
		problem = "search and pattern are both given, want one of them"
	case strings.Contains(in.Search, "\n"):
		problem = "search has a line break, want text that stands in one line"
	case in.Search != "":
		find = findText(in.Search)
	case in.Pattern != "":
		find, problem = findPattern(in.Pattern, p.size(p.span(in)))
	}
	return find, problem
}

// page returns the lines from a spot on, as many as fit.
func (p *passage) page(from spot, to int) string {
	var b strings.Builder
	next := spot{to + 1, 0}
	for n, line := range p.lines(from.line) {
		if n > to {
			break
		}
		at, width := spot{n, 0}, p.width()
		if n == from.line {
			at = from
			if n == to || from.column > 0 { // the call is about this line
				width = p.room() - markLen
			}
		}
		shown, _ := p.line(line, at, width)
		if b.Len()+len(shown)+1 > p.room() {
			next = at
			break
		}
		b.WriteString(shown)
		b.WriteByte('\n')
	}
	note := fmt.Sprintf("lines %d-%d of %d of %s", from.line+1, next.line, p.total, p.handle)
	if next.line <= to {
		note += "; more: " + next.String()
	}
	return "[" + note + "]\n" + strings.TrimSuffix(b.String(), "\n")
}

// markLen is the largest number of bytes of the note at the end of a cut line.
const markLen = 80

// line returns a line from a spot on, in at most width bytes and a note if it is
// cut. It also returns the column after what is shown.
func (p *passage) line(line string, at spot, width int) (string, int) {
	at.column = runeStart(line, at.column)
	shown, n := visible(line[at.column:], width)
	at.column += n
	if rest := len(line) - at.column; rest > 0 {
		shown += fmt.Sprintf(" […%d more bytes: %s]", rest, at)
	}
	return shown, at.column
}

// runeStart returns the first byte of the rune that has the byte at column. A byte of
// invalid UTF-8 is a rune of its own.
func runeStart(line string, column int) int {
	for at := column - 1; at >= 0 && at > column-utf8.UTFMax; at-- {
		if _, size := utf8.DecodeRuneInString(line[at:]); at+size > column {
			return at
		}
	}
	return column
}

// length returns the number of bytes of a line without its end. Lines are counted
// from 1, as in arguments.
func (p *passage) length(number int) int {
	for _, line := range p.lines(number - 1) {
		return len(line)
	}
	return 0
}

// size returns the number of bytes from a spot to the end of a line, with one byte
// for each line end.
func (p *passage) size(from spot, to int) int {
	n := -from.column
	for number, line := range p.lines(from.line) {
		if number > to {
			break
		}
		n += len(line) + 1
	}
	return n
}

// lines yields the lines from a number on, without their ends.
func (p *passage) lines(from int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(p.text) {
			line, ended := strings.CutSuffix(line, "\n")
			if ended {
				line = strings.TrimSuffix(line, "\r")
			}
			if n >= from && !yield(n, line) {
				return
			}
			n++
		}
	}
}

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
// Lines and bytes are counted from 0 here, and from 1 by the model.
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

// room is how many bytes of an answer are for lines; the rest is for the note
// above them.
func (p *passage) room() int { return p.limit - 260 }

// width is how many bytes are shown of a line that is one of several.
func (p *passage) width() int { return p.limit / 8 }

// spot is a byte of a line.
type spot struct{ line, column int }

// String writes the arguments by which the model reads on from there.
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
	if find != nil {
		return p.search(ctx, from, to, find)
	}
	if in.From == 0 && in.To == 0 && in.Column == 0 {
		if shown, n := visible(p.text, p.limit); n == len(p.text) {
			return shown, nil
		}
	}
	return p.page(from, to), nil
}

// span returns where a call asks to begin, and the last line that it asks for.
func (p *passage) span(in recallArgs) (from spot, to int) {
	from, to = spot{max(in.From-1, 0), max(in.Column-1, 0)}, p.total-1
	if in.To > 0 {
		to = min(in.To-1, to)
	}
	return from, to
}

// check says what is wrong with the arguments, or what to search for, if
// anything.
func (p *passage) check(in recallArgs) (find finder, problem string) {
	switch {
	case in.From < 0 || in.To < 0 || in.Column < 0:
		return nil, fmt.Sprintf("from=%d to=%d column=%d: want numbers from 1", in.From, in.To, in.Column)
	case in.From > p.total:
		return nil, fmt.Sprintf("from=%d is behind the end: %s has %d lines", in.From, p.handle, p.total)
	case in.To > 0 && in.To < in.From:
		return nil, fmt.Sprintf("from=%d is behind to=%d", in.From, in.To)
	case in.Column > 1 && in.Column > p.length(in.From):
		return nil, fmt.Sprintf("column=%d is behind the end of line %d of %s, which has %d bytes",
			in.Column, max(in.From, 1), p.handle, p.length(in.From))
	case in.Search != "" && in.Pattern != "":
		return nil, "search and pattern are both given, want one of them"
	case strings.Contains(in.Search, "\n"):
		return nil, "search has a line break, want text that stands in one line"
	case in.Search != "":
		return findText(in.Search), ""
	case in.Pattern == "":
		return nil, ""
	}
	return p.pattern(in)
}

// pattern returns what finds the pattern that is asked for, or says why it is not
// searched for.
func (p *passage) pattern(in recallArgs) (find finder, problem string) {
	const longest = 500
	if len(in.Pattern) > longest {
		return nil, fmt.Sprintf("pattern has %d bytes, want at most %d", len(in.Pattern), longest)
	}
	find, steps, err := findPattern(in.Pattern)
	if err != nil {
		return nil, fmt.Sprintf("pattern: %v; want RE2 syntax, or plain text in search", err)
	}
	if n := p.size(p.span(in)); steps > 0 && n > maxSteps/steps {
		return nil, fmt.Sprintf("pattern is too slow for %d bytes, as it may take %d steps for each: "+
			"want plain text in search, at most %d bytes by from and to, or a simpler pattern", n, steps, maxSteps/steps)
	}
	return find, ""
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
			if n == to || from.column > 0 { // this line above all
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

// markLen is how many bytes the note takes at most that stands where a line is
// cut.
const markLen = 80

// line shows a line from a spot on, in at most width bytes and a note where it
// is cut. It returns the column behind what is shown.
func (p *passage) line(line string, at spot, width int) (string, int) {
	at.column = runeStart(line, at.column)
	shown, n := visible(line[at.column:], width)
	at.column += n
	if rest := len(line) - at.column; rest > 0 {
		shown += fmt.Sprintf(" […%d more bytes: %s]", rest, at)
	}
	return shown, at.column
}

// runeStart returns where the rune begins that the byte at column is of. A byte
// that is no UTF-8 is for itself.
func runeStart(line string, column int) int {
	for at := column - 1; at >= 0 && at > column-utf8.UTFMax; at-- {
		if _, size := utf8.DecodeRuneInString(line[at:]); at+size > column {
			return at
		}
	}
	return column
}

// length is how many bytes a line has, without its end. Its number is the
// model's.
func (p *passage) length(number int) int {
	for _, line := range p.lines(number - 1) {
		return len(line)
	}
	return 0
}

// size is how many bytes there are from a spot to the end of a line, with a byte
// for the end of each.
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

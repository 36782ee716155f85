package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// around is how many lines are shown before and behind one that matches.
const around = 2

// hits are the lines of a passage that match, as they are shown: "7: " begins
// one that matches, "8- " one that stands beside it, and "--" stands for lines
// between.
type hits struct {
	*passage
	find   finder
	shown  strings.Builder
	last   int      // the line that was shown last; -1: none
	behind int      // lines still to be shown behind a match
	before []string // the newest lines that are not shown
	next   *spot    // where to go on; nil: there is room yet
}

// search returns the lines of a range that match, as many as fit, with their
// numbers and the lines around them.
func (p *passage) search(ctx context.Context, from spot, to int, find finder) (string, error) {
	h := hits{passage: p, find: find, last: -1}
	found := 0
	for n, line := range p.lines(from.line) {
		if n > to {
			break
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		at := spot{n, 0}
		if n == from.line {
			at.column = from.column
		}
		match := find(ctx, line[at.column:])
		if match < 0 {
			h.miss(n, line)
			continue
		}
		found++
		h.hit(ctx, at, line, match)
	}
	if err := ctx.Err(); err != nil { // the last line was perhaps not searched to its end
		return "", err
	}
	where := fmt.Sprintf("lines %d-%d of %d of %s", from.line+1, to+1, p.total, p.handle)
	if found == 0 {
		return fmt.Sprintf("[no match in %s; case counts, unless a pattern begins with (?i)]", where), nil
	}
	note := fmt.Sprintf("%d matching in %s", found, where)
	if h.next != nil {
		note += fmt.Sprintf("; more: the same with %s", h.next)
	}
	return "[" + note + "]\n" + strings.TrimSuffix(h.shown.String(), "\n"), nil
}

// miss shows a line that does not match, if it stands close behind one that
// does.
func (h *hits) miss(n int, line string) {
	if h.behind > 0 && h.next == nil {
		h.behind--
		if h.add(h.beside(n, line)) {
			h.last = n
			return
		}
		h.behind = 0
	}
	if len(h.before) == around { // moved and not cut, or huge texts would be searched at the cost of much memory
		h.before = slices.Delete(h.before, 0, 1)
	}
	h.before = append(h.before, line)
}

// hit shows a line that matches: all of it, or what is around each match. The
// first one is so many bytes behind the spot.
func (h *hits) hit(ctx context.Context, at spot, line string, match int) {
	for h.next == nil && match >= 0 {
		from := at
		if match > h.width()/2 {
			from.column = runeStart(line, at.column+match-h.width()/4)
		}
		shown, end := h.line(line, from, h.width())
		if !h.add(h.above(at.line) + label(from) + shown + "\n") {
			next := at // of which there is one, and not one of each line
			h.next = &next
			return
		}
		h.last, h.behind, h.before = at.line, around, h.before[:0]
		if end == len(line) {
			return
		}
		at.column = end
		match = h.find(ctx, line[end:])
	}
}

// above returns the lines right before a match that are not shown yet.
func (h *hits) above(n int) string {
	first := n - len(h.before)
	text := ""
	if h.last >= 0 && first > h.last+1 {
		text = "--\n"
	}
	for i, line := range h.before {
		text += h.beside(first+i, line)
	}
	return text
}

// beside is a line that stands beside a match.
func (h *hits) beside(n int, line string) string {
	shown, _ := h.line(line, spot{n, 0}, h.width())
	return fmt.Sprintf("%d- %s\n", n+1, shown)
}

// label stands before a match.
func label(at spot) string {
	if at.column == 0 {
		return fmt.Sprintf("%d: ", at.line+1)
	}
	return fmt.Sprintf("%d (column %d): ", at.line+1, at.column+1)
}

func (h *hits) add(text string) bool {
	if h.shown.Len()+len(text) > h.room() {
		return false
	}
	h.shown.WriteString(text)
	return true
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/store"
)

// around is the number of lines shown before and after one that matches.
const around = 2

// maxSteps bounds the instructions of a pattern times the bytes that are searched. For each
// byte an instruction takes up to 40 ns on a busy machine, as of `\pL{900}z`, so a search
// takes about 1.4 seconds at most.
const maxSteps = 1 << 25

// finder finds a text or a pattern in a line.
type finder struct {
	index func(line string) int // of the first match, or -1; nil: there is nothing to find
	left  int                   // bytes that may still be searched a second time; negative: no limit
}

func findText(text string) finder {
	return finder{index: func(line string) int { return strings.Index(line, text) }, left: -1}
}

// findPattern returns a finder for size bytes, or the reason why the pattern cannot be
// searched for.
func findPattern(pattern string, size int) (find finder, problem string) {
	const longest = 500
	if len(pattern) > longest {
		return find, fmt.Sprintf("pattern has %d bytes, want at most %d", len(pattern), longest)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return find, fmt.Sprintf("pattern: %v; want RE2 syntax, or plain text in search", err)
	}
	tree = core(tree)
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return find, fmt.Sprintf("pattern: %v; want RE2 syntax, or plain text in search", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return find, fmt.Sprintf("pattern: %v; want RE2 syntax, or plain text in search", err)
	}
	if text, all := re.LiteralPrefix(); all && program.StartCond() == 0 {
		return findText(text), ""
	}
	steps := len(program.Inst)
	if size > maxSteps/steps {
		return find, fmt.Sprintf("pattern is too slow for %d bytes, as it may take %d steps for each, and the limit "+
			"is %d: want plain text in search, at most %d bytes by from and to, or a simpler pattern",
			size, steps, maxSteps, maxSteps/steps)
	}
	index := func(line string) int {
		match := re.FindStringIndex(line)
		if match == nil {
			return -1
		}
		return match[0]
	}
	return finder{index: index, left: maxSteps/steps - size}, ""
}

// core removes the ".*" that an expression begins or ends with. The same lines match,
// and a match in a long line begins where the rest does.
func core(re *syntax.Regexp) *syntax.Regexp {
	if isAnything(re) {
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	}
	if re.Op != syntax.OpConcat {
		return re
	}
	parts := re.Sub
	if parts[0].Op == syntax.OpBeginText && len(parts) > 1 && isAnything(parts[1]) {
		parts = parts[1:]
	}
	for len(parts) > 0 && isAnything(parts[0]) {
		parts = parts[1:]
	}
	for len(parts) > 0 && isAnything(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	re.Sub = parts
	return re
}

// isAnything reports whether an expression is ".*" or ".*?".
func isAnything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && (re.Sub[0].Op == syntax.OpAnyCharNotNL || re.Sub[0].Op == syntax.OpAnyChar)
}

// hits are the lines of a passage that match, as they are shown: "7: " begins a line
// that matches, "8- " one next to it, and "--" replaces the lines between.
type hits struct {
	*passage
	find   finder
	shown  strings.Builder
	last   int      // number of the line shown last; -1 if none is
	after  int      // lines still to be shown after a match
	before []string // the newest lines that are not shown
	next   *spot    // where the next call continues; nil as long as there is room
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
		match := find.index(line[at.column:])
		if match < 0 {
			h.miss(n, line)
			continue
		}
		found++
		h.hit(at, line, match)
	}
	if err := ctx.Err(); err != nil {
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

// miss shows a line that does not match, if it closely follows one that does.
func (h *hits) miss(n int, line string) {
	if h.after > 0 && h.next == nil {
		h.after--
		if h.add(h.neighbour(n, line)) {
			h.last = n
			return
		}
		h.after = 0
	}
	if len(h.before) == around { // delete reuses the array; slicing would grow a new one for huge texts
		h.before = slices.Delete(h.before, 0, 1)
	}
	h.before = append(h.before, line)
}

// hit shows a line that matches: all of it, or the surroundings of each match. The
// first match is at match bytes after the spot.
func (h *hits) hit(at spot, line string, match int) {
	for h.next == nil && match >= 0 {
		from := at
		if match > h.width()/2 {
			from.column = runeStart(line, at.column+match-h.width()/4)
		}
		shown, end := h.line(line, from, h.width())
		if !h.add(h.above(at.line) + label(from) + shown + "\n") {
			h.next = &spot{at.line, at.column}
			return
		}
		h.last = at.line
		h.after = around
		h.before = h.before[:0]
		if end == len(line) {
			return
		}
		at.column = end
		if h.find.left >= 0 {
			h.find.left -= len(line) - end
			if h.find.left < 0 {
				h.next = &spot{at.line, at.column}
				return
			}
		}
		match = h.find.index(line[end:])
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
		text += h.neighbour(first+i, line)
	}
	return text
}

// neighbour returns a line next to a match as it is shown.
func (h *hits) neighbour(n int, line string) string {
	shown, _ := h.line(line, spot{n, 0}, h.width())
	return fmt.Sprintf("%d- %s\n", n+1, shown)
}

// label returns what is shown before a match.
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

// mostElsewhere is in how many other contents a search looks: a text may name any number.
const mostElsewhere = 1000

// elsewhere returns a note about a search in the contents whose handles are in a passage:
// under a note in the view, these are all that was removed before. The note has at most a
// half of the answer. The limit of a pattern is for all of the contents together.
func (r recall) elsewhere(ctx context.Context, p *passage, in recallArgs) (string, error) {
	if _, problem := p.check(in); problem != "" || in.Search+in.Pattern == "" || in.From+in.To+in.Column > 0 {
		return "", nil
	}
	size, slow := len(p.text), 0
	var found []string
	seen := map[store.Handle]bool{p.handle: true}
	for _, h := range archived.In(p.text) {
		if seen[h] || len(seen) > mostElsewhere {
			continue
		}
		seen[h] = true
		c, err := r.store.Get(ctx, h)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged), err == nil && isBinary(c.Data):
			continue
		case err != nil:
			return "", &unreadError{h, err}
		}
		size += len(c.Data)
		find, problem := findText(in.Search), ""
		if in.Pattern != "" {
			find, problem = findPattern(in.Pattern, size)
		}
		if problem != "" {
			slow++
			continue
		}
		matches, err := newPassage(h, c.Data, p.limit).has(ctx, find)
		if err != nil {
			return "", err
		}
		if matches {
			found = append(found, store.RecallTool+" "+h.String())
		}
	}
	return listed(found, slow, p.limit/2), nil
}

// has reports whether a line of the passage matches.
func (p *passage) has(ctx context.Context, find finder) (bool, error) {
	for _, line := range p.lines(0) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if find.index(line) >= 0 {
			return true, nil
		}
	}
	return false, nil
}

// listed names as many contents with a match as fit into a number of bytes, and says in how
// many the pattern is too slow to be searched for.
func listed(found []string, slow, room int) string {
	var notes []string
	if slow > 0 {
		notes = append(notes, fmt.Sprintf("%d more are not searched, since the pattern is too slow", slow))
		room -= len(notes[0])
	}
	for n := len(found); n > 0; n-- {
		also := "also matching: " + strings.Join(found[:n], ", ")
		if n < len(found) {
			also += fmt.Sprintf(" and %d more", len(found)-n)
		}
		if n == 1 || len(also)+len("\n[; ]") <= room {
			notes = append(notes, also)
			break
		}
	}
	if len(notes) == 0 {
		return ""
	}
	slices.Reverse(notes)
	return "\n[" + strings.Join(notes, "; ") + "]"
}

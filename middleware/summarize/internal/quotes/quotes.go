// Package quotes keeps the user's words, as they are, as far as there is room.
//
//	s := &quotes.Set{}
//	s.Add("Budget cap is $500 total. Never exceed it without approval. Thanks!")
//	section := s.Text(text.Options{Tokens: 3000, Counter: counter})
//
// Every message of at most 150 tokens is kept as it is. Of a longer one the first and the last 75 tokens are kept, and from
// its middle at most 300 tokens of the passages most of whose words occur nowhere else in it. If all this does not fit,
// passages are chosen by rank, of equal rank the newest; see [rank]. A passage is a sentence with those that refer to it, a
// short list with the line before it, or a line of code. A passage whose value a later message replaces is marked as changed.
// What programs write in the user's name is not kept. Of a message the first and the last 16 KiB are read.
package quotes

import (
	_ "embed" // for harness.txt
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Set holds the messages of the user. The zero value is empty. It is not safe for concurrent use.
type Set struct {
	said    []message      // oldest first
	all     []passage      // of all messages, in order
	newest  map[string]int // position of the newest message with a text
	missing bool           // an earlier section had no room for all rules
}

// message is a message of the user, or a line of an earlier section.
type message struct {
	from, to int  // its passages
	resumed  bool // from an earlier section: it is not shortened again
	repeated bool // a later message is the same
}

const longest = 1 << 9 // bytes of a passage

// passage is what is kept or left out as a whole.
type passage struct {
	text string // as it was written, with the white space after it
	of   int    // position of its message
	code bool   // a line of code, or of the output of a program, without a comment
	list bool   // it ends with an item of a list

	// what [Set.Text] decides
	wanted, taken bool    // it is kept if all fits, and as it fits
	mark          string  // before it, or ""
	cost          int     // in tokens
	inside        bool    // it is in the middle of a long message
	strange       float64 // how much it differs from the rest of its message; see [compare]
	own           bool    // it does so in more than its words
	rank          rank
	refers        bool // it is not understood without the passage before it
}

// Add adds a text of the user. Texts are added oldest first. Of a summary that the caller passes
// back, the section of the user's words is added.
func (s *Set) Add(said string) {
	if text.IsRecord(said) {
		s.Resume(text.SectionsOf(said).Quotes)
		return
	}
	s.add(said, false)
}

// Correct adds lines that a person wrote into a summary. They come before all else, and are marked; none is shortened.
func (s *Set) Correct(lines ...string) {
	for _, line := range lines {
		line = strings.TrimPrefix(text.Line(line, len(line)+1), Correction)
		s.put(Correction+line, message{resumed: true}, passage{text: line, mark: Correction})
	}
}

// put adds a message as the newest, in place of that with the same words.
func (s *Set) put(words string, m message, all ...passage) {
	if i, ok := s.newest[words]; ok {
		s.said[i].repeated = true
	} else if s.newest == nil {
		s.newest = map[string]int{}
	}
	s.newest[words] = len(s.said)
	for i := range all {
		all[i].of = len(s.said)
	}
	m.from, m.to = len(s.all), len(s.all)+len(all)
	s.said, s.all = append(s.said, m), append(s.all, all...)
}

// Corrections returns what a person wrote into summaries before, as the lines of a summary have it.
func Corrections(summary string) (lines []string) {
	for _, line := range linesOf(summary) {
		if line, ok := strings.CutPrefix(line, Correction); ok {
			line, _, _ = strings.Cut(line, "\n")
			lines = append(lines, line)
		}
	}
	return lines
}

// Resume adds the lines of a section that [Set.Text] has written. It serves if the texts of the user are no longer available.
func (s *Set) Resume(section string) {
	for _, line := range linesOf(section) {
		correction, corrects := strings.CutPrefix(line, Correction)
		switch {
		case line == english || line == chinese:
			s.missing = true
		case corrects:
			s.Correct(correction)
		default:
			s.add(line, true)
		}
	}
}

// linesOf returns the lines of a section, with the line breaks that the user wrote.
func linesOf(section string) []string {
	lines := strings.Split(section, "\n- ")[1:]
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "\n"+indent, "\n")
	}
	return lines
}

//go:embed harness.txt
var written string

// What programs write in the user's name: opening matches the beginning of a message, elements an element, or tags around
// what the user has typed.
var (
	starts, tags, _ = strings.Cut(written, "\n\n")
	opening         = regexp.MustCompile(`^\s*(?:` + strings.Join(strings.Fields(starts), "|") + ")")
	elements        = regexp.MustCompile("(?s)" + strings.Join(strings.Fields(tags), "|"))
)

// add adds a message.
func (s *Set) add(whole string, resumed bool) {
	const start = 100 // bytes in which a text of a program is recognised
	whole = text.Ends(whole)
	if !resumed {
		if opening.MatchString(shorten.Head(whole, start)) {
			return
		}
		whole = text.WithoutRanks(elements.ReplaceAllString(whole, ""))
	}
	whole = strings.TrimSpace(text.Clean(whole))
	if whole != "" {
		s.put(whole, message{resumed: resumed}, divide(whole)...)
	}
}

// divide returns the passages of a message.
func divide(whole string) (all []passage) {
	fenced := false
	for part := range text.Pieces(whole) {
		line := strings.TrimSpace(part)
		fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		fenced = fenced != fence
		p := passage{list: text.MarkOf(line) > 0}
		if last := len(all) - 1; last >= 0 && (line == "" || !fence && !fenced && all[last].goesOn(line, len(part))) {
			all[last].text += part
			all[last].list = all[last].list || p.list
			continue
		}
		indented := part[0] == '\t' || strings.HasPrefix(part, "  ")
		p.code = line != "" && comment(line) == "" && (fence || fenced || indented && !p.list || isCode(line))
		for part != "" {
			p.text = shorten.Head(part, longest)
			part = part[len(p.text):]
			all = append(all, p)
		}
	}
	return all
}

// goesOn reports whether a line is an item of the list that a passage is, or of the one that it announces.
func (s *passage) goesOn(line string, size int) bool {
	before := strings.TrimSpace(s.text)
	isApart := s.code || before == gap || line == gap || len(s.text)+size > longest
	return !isApart && text.MarkOf(line) > 0 && (s.list || endsIn(before, ":", "："))
}

package facts

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// partOfText is what is read of the beginning and of the end of a text of the
// user, in bytes.
const partOfText = 16 << 10

// longestSentence is what is kept of a sentence, in code points.
const longestSentence = 300

// instructions yields the sentences of a text that forbid, permit again, or say
// how things are to be done, each as it can stand in a line.
func instructions(said string) iter.Seq2[string, state] {
	return func(yield func(string, state) bool) {
		parts := []string{said}
		if len(said) > 2*partOfText {
			parts = []string{text.Head(said, partOfText), text.Tail(said, partOfText)}
		}
		for _, part := range parts {
			for s := range text.Sentences(part) {
				kind, at := kindOf(s.Text)
				if kind == unknown {
					continue
				}
				if !yield(excerpt(s.Text, at), kind) {
					return
				}
			}
		}
	}
}

// kindOf tells what a sentence is: banned, told, or unknown if it is no
// instruction; and about where it says so. A prohibition counts more than another
// instruction beside it.
func kindOf(sentence string) (kind state, at int) {
	low := lower(masked(sentence))
	if asksSomething(low) || looksLikeCode(sentence) {
		return unknown, 0
	}
	for _, p := range [...]*phrases{bansIn, liftsIn} {
		if k := p.in(low); k >= 0 {
			return banned, k
		}
	}
	for from := 0; from < len(low); {
		size, next := clauseAt(low[from:])
		switch k := kindOfClause(low[from : from+size]); {
		case k == banned:
			return banned, from
		case k != unknown && kind == unknown:
			kind, at = k, from
		}
		from += next
	}
	return kind, at
}

// kindOfClause tells what a clause is.
func kindOfClause(clause string) state {
	// Signs may stand in front: bullets, emphasis, ⚠️. At the end a word counts as well.
	clause = strings.TrimLeftFunc(clause, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + " "
	start := clause
	for filler := "."; filler != ""; {
		if statements.begin(start) {
			return unknown
		}
		if bansAt.begin(start) { // no new files, though no is a filler
			break
		}
		filler = fillers.at(start)
		start = strings.TrimLeft(start[len(filler):], " ")
	}
	switch {
	case len(rulesAt.at(start)) > len(bansAt.at(start)) && !tells(start): // do not forget
		return told
	case bansAt.begin(start) && !tells(start), liftsAt.begin(clause), liftsAt.begin(start):
		return banned
	case rulesIn.in(clause) >= 0:
		return told
	}
	return unknown
}

// tells reports whether the second word of a clause is a verb that tells what
// somebody does, rather than what to do: never fires.
func tells(clause string) bool {
	_, rest, _ := strings.Cut(clause, " ")
	verb, _, _ := strings.Cut(rest, " ")
	const shortest = 4
	third := strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss")
	return third && len(verb) >= shortest && strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz") == ""
}

// borders stand between two clauses.
var borders = list(
	", ", "; ", ": ", " (", ") ", " - ", " — ", " – ", "—", " and ", " but ", " so ", " then ", " because ", ". ", "! ", "，", "；",
	"：", "、", "（", "）", "。", "！",
)

// clauseAt returns the size of the clause that a text begins with, and where the
// next begins.
func clauseAt(s string) (size, next int) {
	for i := range len(s) {
		if b := borders.at(s[i:]); b != "" {
			return i, i + len(b)
		}
		// Between Chinese characters no space follows.
		if (s[i] == ',' || s[i] == ';' || s[i] == ':') && i+1 < len(s) && s[i+1] >= utf8.RuneSelf {
			return i, i + 1
		}
	}
	return len(s), len(s)
}

// asksSomething reports whether a sentence is a question.
func asksSomething(low string) bool {
	end := strings.TrimRight(low, " \"'”’」』）)*")
	for _, mark := range [...]string{"?", "？", "吗", "呢", "嗎"} {
		if strings.HasSuffix(strings.TrimRight(end, "。."), mark) {
			return true
		}
	}
	return asks.begin(low) || asksIn.in(low) >= 0
}

// looksLikeCode reports whether a sentence is a line of a program or of its
// output, rather than said.
func looksLikeCode(sentence string) bool {
	const mostMarks = 6 // one character of so many may be one
	if msg, _ := digest.Fault(sentence); msg == sentence {
		return true
	}
	for _, start := range [...]string{"//", "/*", "#!", "--", "$ ", "+ ", "@@", "<!--"} {
		if strings.HasPrefix(sentence, start) {
			return true
		}
	}
	last := sentence[len(sentence)-1]
	if strings.IndexByte("{};\\", last) >= 0 || strings.Contains(sentence, " := ") || strings.Contains(sentence, "=>") {
		return true
	}
	marks := 0
	for i := range len(sentence) {
		if strings.IndexByte("{}[]()<>=;|&$%\\/_^~", sentence[i]) >= 0 {
			marks++
		}
	}
	return marks*mostMarks > len(sentence)
}

// quotes open and close what somebody else says.
var quotes = []struct{ open, closing string }{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"「", "」"}, {"『", "』"}, {"«", "»"}, {"《", "》"}}

// masked returns a sentence with _ for each byte inside of quotes.
func masked(sentence string) string {
	for _, q := range quotes {
		for from := 0; ; {
			k := strings.Index(sentence[from:], q.open)
			if k < 0 {
				break
			}
			k += from + len(q.open)
			end := strings.Index(sentence[k:], q.closing)
			if end < 0 {
				break
			}
			sentence = sentence[:k] + strings.Repeat("_", end) + sentence[k+end:]
			from = k + end + len(q.closing)
		}
	}
	return sentence
}

// lower writes ASCII in lower case, ’ as ', and leaves emphasis out.
func lower(s string) string {
	b := []byte(strings.ReplaceAll(strings.ReplaceAll(s, "’", "'"), "**", ""))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// excerpt returns a sentence as a line. Of one that is very long the part stays
// that begins a little before at, where it instructs.
func excerpt(sentence string, at int) string {
	const before = 60 // bytes
	line := text.Line(sentence, len(sentence)+1)
	if utf8.RuneCountInString(line) <= longestSentence {
		return line
	}
	from := min(max(at-before, 0), len(sentence))
	for from > 0 && from < len(sentence) && !utf8.RuneStart(sentence[from]) {
		from++
	}
	if from > 0 {
		return "…" + text.Line(sentence[from:], longestSentence-1)
	}
	return text.Line(sentence, longestSentence)
}

// phrases are wordings, by their first byte.
type phrases [256][]string

func list(wordings ...string) *phrases {
	var p phrases
	for _, w := range wordings {
		p[w[0]] = append(p[w[0]], w)
	}
	return &p
}

// begin reports whether a text begins with one of them.
func (p *phrases) begin(s string) bool {
	return p.at(s) != ""
}

// at returns the first that a text begins with; "": none.
func (p *phrases) at(s string) string {
	if s == "" {
		return ""
	}
	for _, w := range p[s[0]] {
		if strings.HasPrefix(s, w) {
			return w
		}
	}
	return ""
}

// in returns where one of them stands in a text, at the beginning of a word; -1:
// nowhere.
func (p *phrases) in(s string) int {
	before := byte(' ')
	for i := range len(s) {
		b := s[i]
		inside := 'a' <= before && before <= 'z' && 'a' <= b && b <= 'z'
		if !inside && p.at(s[i:]) != "" {
			return i
		}
		before = b
	}
	return -1
}

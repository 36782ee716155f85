package facts

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// instructions yields the sentences of a text that are a [prohibition] or another
// [instruction], each as one line.
func instructions(said string) iter.Seq2[string, state] {
	return func(yield func(string, state) bool) {
		const readOfText = 16 << 10 // bytes at the beginning and at the end
		parts := []string{said}
		if len(said) > 2*readOfText {
			parts = []string{shorten.Head(said, readOfText), shorten.Tail(said, readOfText)}
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

// kindOf returns whether a sentence is a prohibition, another instruction, or neither
// (unknown), and about where its instruction begins. A prohibition wins if there are
// both.
func kindOf(sentence string) (kind state, at int) {
	low := lower(masked(sentence))
	if isQuestion(low) || looksLikeCode(sentence) {
		return unknown, 0
	}
	for _, p := range [...]*phrases{bansAnywhere, liftsAnywhere} {
		if k := p.index(low); k >= 0 {
			return prohibition, k
		}
	}
	for from := 0; from < len(low); {
		size, next := clauseAt(low[from:])
		switch k := kindOfClause(low[from : from+size]); {
		case k == prohibition:
			return prohibition, from
		case k != unknown && kind == unknown:
			kind, at = k, from
		}
		from += next
	}
	return kind, at
}

// kindOfClause returns the kind of one clause.
func kindOfClause(clause string) state {
	// Signs may come first: bullets, emphasis, ⚠️. The space makes the last word count.
	clause = strings.TrimLeftFunc(clause, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + " "
	start := clause
	for filler := "."; filler != ""; {
		if statements.begins(start) {
			return unknown
		}
		if bans.begins(start) { // "no new files", although "no" is a filler
			break
		}
		filler = fillers.prefix(start)
		start = strings.TrimLeft(start[len(filler):], " ")
	}
	switch {
	case len(rules.prefix(start)) > len(bans.prefix(start)) && !describes(start): // "do not forget"
		return instruction
	case bans.begins(start) && !describes(start), lifts.begins(clause), lifts.begins(start):
		return prohibition
	case rulesAnywhere.index(clause) >= 0:
		return instruction
	}
	return unknown
}

// describes reports whether the second word of a clause is a verb in the third person,
// as in "never fires": it describes something, and is not an instruction.
func describes(clause string) bool {
	_, rest, _ := strings.Cut(clause, " ")
	verb, _, _ := strings.Cut(rest, " ")
	const shortest = 4
	third := strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss")
	return third && len(verb) >= shortest && strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz") == ""
}

// borders separate clauses.
var borders = list(
	", ", "; ", ": ", " (", ") ", " - ", " — ", " – ", "—", " and ", " but ", " so ", " then ", " because ", ". ", "! ", "，", "；",
	"：", "、", "（", "）", "。", "！",
)

// clauseAt returns the size of the first clause of a text, and where the next one
// begins.
func clauseAt(s string) (size, next int) {
	for i := range len(s) {
		if b := borders.prefix(s[i:]); b != "" {
			return i, i + len(b)
		}
		// Before a Chinese character there is no space.
		if (s[i] == ',' || s[i] == ';' || s[i] == ':') && i+1 < len(s) && s[i+1] >= utf8.RuneSelf {
			return i, i + 1
		}
	}
	return len(s), len(s)
}

// isQuestion reports whether a sentence is a question.
func isQuestion(low string) bool {
	end := strings.TrimRight(low, " \"'”’」』）)*")
	for _, mark := range [...]string{"?", "？", "吗", "呢", "嗎"} {
		if strings.HasSuffix(strings.TrimRight(end, "。."), mark) {
			return true
		}
	}
	return asks.begins(low) || asksAnywhere.index(low) >= 0
}

// looksLikeCode reports whether a sentence is a line of a program or of its output.
func looksLikeCode(sentence string) bool {
	const mostMarks = 6 // one character of six may be a mark
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

// quotes are marks of quotations.
var quotes = []struct{ open, closing string }{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"「", "」"}, {"『", "』"}, {"«", "»"}, {"《", "》"}}

// masked returns a sentence with _ for each byte in quotes.
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

// lower returns ASCII in lower case, ’ as ', and no emphasis.
func lower(s string) string {
	b := []byte(strings.ReplaceAll(strings.ReplaceAll(s, "’", "'"), "**", ""))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// excerpt returns a sentence as one line. A very long one is shortened to the part
// that begins a little before at, where its instruction is.
func excerpt(sentence string, at int) string {
	const before = 60 // bytes
	line := text.Line(sentence, len(sentence)+1)
	if utf8.RuneCountInString(line) <= longestSentence {
		return line
	}
	if from := shorten.Border(sentence, at-before, 1); from > 0 {
		return "…" + text.Line(sentence[from:], longestSentence-1)
	}
	return text.Line(sentence, longestSentence)
}

// phrases are phrases by their first byte.
type phrases [256][]string

func list(all ...string) *phrases {
	var p phrases
	for _, w := range all {
		p[w[0]] = append(p[w[0]], w)
	}
	return &p
}

// begins reports whether a text begins with one of the phrases.
func (p *phrases) begins(s string) bool { return p.prefix(s) != "" }

// prefix returns the first phrase that a text begins with, or "".
func (p *phrases) prefix(s string) string {
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

// index returns where one of the phrases begins in a text, at the beginning of a word,
// or -1.
func (p *phrases) index(s string) int {
	before := byte(' ')
	for i := range len(s) {
		b := s[i]
		inside := 'a' <= before && before <= 'z' && 'a' <= b && b <= 'z'
		if !inside && p.begins(s[i:]) {
			return i
		}
		before = b
	}
	return -1
}

package quotes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/digest"
)

// rank is how much is lost without a piece.
type rank uint8

const (
	none    rank = iota // a courtesy, code
	other               // any other sentence, and a question
	request             // it asks for something, or has a value
	rule                // it forbids, or demands from now on
	order               // somebody else says so
)

// rank returns the rank of a piece. What corrects another one has at least the rank of that.
func (s *Set) rank(i int) rank {
	p := &s.all[i]
	if p.changed {
		return other
	}
	r := judge(p.text)
	if k := p.corrects; k >= 0 {
		r = max(r, request, judge(s.all[k].text))
	}
	return r
}

// judge returns the rank of a sentence, or of the comment in a line of code.
func judge(sentence string) rank {
	sentence = strings.TrimSpace(sentence)
	if said := comment(sentence); said != "" {
		sentence = said
	} else if isCode(sentence) {
		return none
	}
	low := lower(masked(sentence))
	said := fields(low)
	switch {
	case isCourtesy(sentence):
		return none
	case isQuestion(low, said):
		return other
	case words.in("rule", low, demanding(said)) || begins(said):
		return rule
	case asks(low, said) || hasValue(sentence, low, said):
		return request
	}
	return other
}

// IsRule reports whether a sentence forbids, or demands from now on.
func IsRule(sentence string) bool { return judge(sentence) == rule }

// inMiddle reports whether a piece is kept although it is neither at the beginning nor at the end of a long message:
// it is an order or a value of the user. Between code and output of programs, and in another script, every sentence is the
// user's.
func (s *Set) inMiddle(i int) bool {
	p := &s.all[i]
	if p.corrects >= 0 && !p.code {
		return true
	}
	if p.code {
		return false
	}
	sentence := strings.TrimSpace(p.text)
	commented := comment(sentence)
	if commented != "" {
		sentence = commented
	} else if s.said[p.of].material || p.han != s.said[p.of].han {
		return true
	}
	low := lower(masked(sentence))
	said := fields(low)
	if p.needs >= 0 && p.item && s.all[p.needs].of == p.of && s.inMiddle(p.needs) {
		return true
	}
	if isQuestion(low, said) {
		return false
	}
	return words.in("rule", low, demanding(said)) || imperatives(low) || commented != "" && asks(low, said) ||
		words.in("readers", low, said) && (asks(low, said) || hasValue(sentence, low, said))
}

// demanding returns the words of a sentence without negations that only tell something, as in "it never works".
func demanding(said []string) []string {
	for i := 1; i < len(said); i++ {
		if words.has("negations", said[i]) && words.has("narrators", said[i-1]) {
			said = slices.Concat(said[:i], []string{"…"}, said[i+1:])
		}
	}
	return said
}

// begins reports whether a sentence begins with a plain imperative.
func begins(said []string) bool {
	return len(said) > 2 && words.has("verbs", said[0]) && !words.has("thanking", said[0]) && !words.has("finite", said[1])
}

// asks reports whether a sentence asks for something.
func asks(low string, said []string) bool {
	return words.in("request", low, said) || imperatives(low) || endsIn(low, "!", "！")
}

// imperatives reports whether a clause of a sentence begins like a request, after what may come before one.
func imperatives(low string) bool {
	for clause := range strings.FieldsFuncSeq(low, isBreak) {
		said := fields(clause)
		for len(said) > 1 && words.has("fillers", said[0]) {
			said = said[1:]
		}
		switch {
		case len(said) == 0:
		case words.has("verbs", said[0]):
			if len(said) == 1 || !words.has("finite", said[1]) { // "Work is hard", "Test was red"
				return true
			}
		case !isASCII(said[0]) && words.begins("verbs", said[0]):
			return true
		}
	}
	return false
}

// isBreak reports whether a character ends a clause.
func isBreak(r rune) bool { return strings.ContainsRune(",;:()，；：、（）—–", r) }

// hasValue reports whether a sentence has a number, an identifier, a quotation or a name.
func hasValue(sentence, low string, said []string) bool {
	if strings.ContainsAny(low, "0123456789@#$€£¥％%_") || low != lower(sentence) || words.in("numerals", low, said) {
		return true
	}
	for i, word := range strings.Fields(sentence) {
		word = strings.Trim(word, ".,;:!?\"'()*")
		first, size := utf8.DecodeRuneInString(word)
		switch {
		case size == 0:
		case strings.ContainsAny(word[size:], "./\\") && !strings.Contains(word, "..."):
			return true // a file, a host
		case strings.IndexFunc(word[size:], unicode.IsUpper) >= 0 && strings.IndexFunc(word, unicode.IsLower) >= 0:
			return true // camelCase
		case i > 0 && unicode.IsUpper(first) && word != "I" && !strings.HasPrefix(word, "I'"):
			return true // a name
		}
	}
	return false
}

// isQuestion reports whether a sentence is a question, except for a polite request, which may end like one.
func isQuestion(low string, said []string) bool {
	bare := strings.TrimLeft(low, " *")
	if words.begins("polite", bare) {
		return false
	}
	if endsIn(low, "?", "？", "吗", "呢", "嗎") {
		return !words.in("polite anywhere", low, said)
	}
	return words.begins("asks at start", bare) || words.in("asks anywhere", low, said)
}

func endsIn(s string, marks ...string) bool {
	s = strings.TrimRight(s, " \"'”’」』）)*。.")
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasSuffix(s, mark) })
}

// isCourtesy reports whether a sentence has only courtesies, such as "ok, thanks".
func isCourtesy(sentence string) bool {
	const mostLetters = 40 // bytes
	if len(sentence) > mostLetters {
		return false
	}
	low := lower(sentence)
	for _, c := range words.list["courtesies"].inside {
		low = strings.ReplaceAll(low, c, " ")
	}
	return !slices.ContainsFunc(fields(low), func(w string) bool { return !words.has("courtesies", w) })
}

// refersBack reports whether a sentence is not understood without the one before it: it begins by linking to it, or has
// a pronoun.
func refersBack(sentence string) bool {
	low := lower(sentence)
	said := fields(low)
	return len(said) > 0 && (words.has("links", said[0]) || words.in("pronouns", low, said))
}

// comment returns the comment of a line of code, or "".
func comment(line string) string {
	for _, mark := range [...]string{"//", "/*", "# ", "--", "<!--", "* "} {
		before, said, found := strings.Cut(line, mark)
		if !found || before != "" && (!strings.HasSuffix(before, " ") || !isCode(before)) {
			continue
		}
		said = strings.TrimSpace(strings.TrimRight(strings.TrimLeft(said, "/-!* "), "*/->"))
		if strings.ContainsFunc(said, unicode.IsLetter) {
			return said
		}
	}
	return ""
}

// isCode reports whether a line is one of a program, of its output, or of a table.
func isCode(line string) bool {
	const mostMarks, fewChars = 6, 16 // one character of six may be a mark; "No, 9090." is none
	if msg, _ := digest.Fault(line); msg == line {
		return true
	}
	for _, start := range [...]string{"//", "/*", "#!", "--", "$ ", "+ ", "@@", "<!--", "|", ">"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	plain := masked(line)
	last := rune(plain[len(plain)-1])
	if isLogged(line) || strings.Contains(plain, " := ") || strings.ContainsRune("{};\\", last) || strings.Contains(plain, "=>") {
		return true
	}
	marks, letters, all := 0, 0, 0
	for _, r := range plain {
		switch {
		case isIdeograph(r):
			letters += 3
		case unicode.IsLetter(r):
			letters++
		case strings.ContainsRune("{}[]()<>=;|&$%\\/_^~", r):
			marks++
		}
		if !unicode.IsSpace(r) {
			all++
		}
	}
	return marks*mostMarks > len(plain) || all > fewChars && 2*letters < all || isListing(plain)
}

// isLogged reports whether a line begins with a time to the second, as that of a log.
func isLogged(line string) bool {
	stamp := strings.TrimLeft(line, "[(")
	end := strings.IndexFunc(stamp, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("-/.:TZ ", r) })
	return end > 0 && strings.Count(stamp[:end], ":") >= 2 && unicode.IsDigit(rune(stamp[0]))
}

// isListing reports whether a line has hardly any words, as a list of files. In scripts without spaces, what is between
// two spaces is several words, and values.
func isListing(plain string) bool {
	const least, third = 4, 3
	all, n := 0, 0
	for w := range strings.FieldsSeq(plain) {
		w = strings.Trim(w, ".,;:!?()*")
		if strings.ContainsFunc(w, isIdeograph) {
			return false
		}
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			all++
		}
		if w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }) < 0 {
			n++
		}
	}
	return all >= least && n*third < all
}

// quoteMarks are marks of quotations.
var quoteMarks = []struct{ open, closing string }{{"`", "`"}, {`"`, `"`}, {"“", "”"}, {"「", "」"}, {"『", "』"}, {"«", "»"}, {"《", "》"}}

// masked returns a sentence with x for each byte in quotes.
func masked(sentence string) string {
	for _, q := range quoteMarks {
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
			sentence = sentence[:k] + strings.Repeat("x", end) + sentence[k+end:]
			from = k + end + len(q.closing)
		}
	}
	return sentence
}

// lower returns letters in lower case, ’ as ', and no emphasis.
func lower(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "’", "'"), "**", ""))
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

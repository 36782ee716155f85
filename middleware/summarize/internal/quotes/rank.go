package quotes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// rank is how much is lost without a sentence.
type rank uint8

const (
	none    rank = iota // a courtesy, a question, code
	other               // any other sentence
	request             // it asks for something
	fact                // it has a value
	rule                // it holds from now on
	order               // somebody else says so
)

// Points of a sentence. It is a rule from three points on, and a request from two.
const (
	strong = 3
	weak   = 2
	hint   = 1
)

// rankOf returns the rank of a sentence, and whether it looks like code. Inside of a long paste it
// must address the reader.
func rankOf(sentence string, inPaste bool) (r rank, code bool) {
	plain := masked(sentence)
	if looksLikeCode(sentence, plain) {
		return none, true
	}
	low := lower(plain)
	if isCourtesy(sentence) || isQuestion(low) {
		return none, false
	}
	points := pointsOf(low)
	valued := hasValue(sentence, low)
	if valued {
		points += weak
	}
	switch {
	case inPaste && !addresses(low):
		return other, false
	case points >= strong:
		return rule, false
	case valued:
		return fact, false
	case points >= weak || endsIn(low, "!", "！"):
		return request, false
	}
	return other, false
}

// score has the points of each kind of word in a sentence.
type score map[string]int

func (s score) note(w weight) { s[w.kind] = max(s[w.kind], w.points) }

// pointsOf returns the points of the words of a sentence. Each kind of word counts once.
func pointsOf(low string) (points int) {
	s := score{}
	s.english(fields(low))
	if !isASCII(low) {
		s.chinese(low)
	}
	for clause := range clauses(low) {
		if imperative(clause) {
			s.note(weight{"request", weak})
		}
	}
	for _, n := range s {
		points += n
	}
	return points
}

func (s score) english(all []string) {
	for i, w := range all {
		if i > 0 && words.has("negations", w) && words.has("narrators", all[i-1]) { // "it never works"
			continue
		}
		for _, weight := range words.weights[w] {
			s.note(weight)
		}
		for _, p := range words.phrases[w] {
			if n := len(p.rest); n < len(all)-i && slices.Equal(all[i+1:i+1+n], p.rest) {
				s.note(p.weight)
			}
		}
	}
}

func (s score) chinese(low string) {
	for _, harmless := range words.list["harmless"].all {
		low = strings.ReplaceAll(low, harmless, "")
	}
	for _, p := range words.weighted {
		if strings.Contains(low, p.text) {
			s.note(p.weight)
		}
	}
}

// clauses yields the clauses of a sentence, without what may come before an instruction.
func clauses(low string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for clause := range strings.FieldsFuncSeq(low, func(r rune) bool { return strings.ContainsRune(",;:()，；：、（）—–", r) }) {
			clause = strings.TrimLeftFunc(clause, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			for {
				word, rest, found := strings.Cut(clause, " ")
				if !found || !words.has("fillers", word) {
					break
				}
				clause = rest
			}
			if !yield(clause) {
				return
			}
		}
	}
}

// imperative reports whether a clause begins like a request.
func imperative(clause string) bool {
	word, rest, _ := strings.Cut(clause, " ")
	next, _, _ := strings.Cut(rest, " ")
	if words.has("verbs", strings.TrimRight(word, ".!")) {
		return !words.has("finite", next) // "Work is hard", "Test was red"
	}
	if isASCII(clause) {
		return false
	}
	_, ok := words.cut("verbs", clause)
	return ok
}

// addresses reports whether a sentence addresses its reader.
func addresses(low string) bool {
	return words.in("readers", fields(low))
}

// hasValue reports whether a sentence has a number, an identifier, a quotation or a name.
func hasValue(sentence, low string) bool {
	if strings.ContainsAny(low, "0123456789@#$€£¥％%_") || low != lower(sentence) || words.in("numerals", fields(low)) {
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

// isQuestion reports whether a sentence is a question, except for a polite request, which
// may end like one.
func isQuestion(low string) bool {
	if _, polite := words.cut("polite", strings.TrimLeft(low, " *")); polite {
		return false
	}
	said := fields(low)
	if endsIn(low, "?", "？", "吗", "呢", "嗎") {
		return !words.in("polite anywhere", said)
	}
	word, rest, _ := strings.Cut(low, " ")
	next, _, _ := strings.Cut(rest, " ")
	if words.has("question verbs", word) {
		return words.has("subjects", next)
	}
	if words.has("asks", word) && !words.has("subjects", next) {
		return true
	}
	_, asks := words.cut("asks at start", low)
	return asks || words.in("asks anywhere", said)
}

func endsIn(s string, marks ...string) bool {
	s = strings.TrimRight(s, " \"'”’」』）)*。.")
	for _, mark := range marks {
		if strings.HasSuffix(s, mark) {
			return true
		}
	}
	return false
}

func endsInColon(sentence string) bool { return endsIn(sentence, ":", "：") }

// isCourtesy reports whether a sentence has only courtesies, such as "ok, thanks".
func isCourtesy(sentence string) bool {
	const mostLetters = 40 // bytes
	if len(sentence) > mostLetters {
		return false
	}
	low := lower(sentence)
	if !isASCII(low) {
		for _, c := range words.list["courtesies"].all {
			if !isASCII(c) {
				low = strings.ReplaceAll(low, c, " ")
			}
		}
	}
	return !slices.ContainsFunc(fields(low), func(w string) bool { return !words.has("courtesies", w) })
}

// isShort reports whether a sentence says more together with the one before it.
func isShort(sentence string) bool {
	const fewWords, fewRunes = 8, 16
	low := lower(sentence)
	if isASCII(low) {
		return len(fields(low)) <= fewWords
	}
	return utf8.RuneCountInString(low) <= fewRunes
}

// refersBack reports whether a sentence is not understood without the one before it: it begins
// by linking to it, or has a pronoun.
func refersBack(sentence string) bool {
	all := fields(lower(sentence))
	return words.has("links", all[0]) || words.in("pronouns", all)
}

// looksLikeCode reports whether a sentence, also given without its quotations, is a line of a
// program or of its output.
func looksLikeCode(sentence, plain string) bool {
	const mostMarks = 6 // one character of six may be a mark
	if msg, _ := digest.Fault(sentence); msg == sentence {
		return true
	}
	for _, start := range [...]string{"//", "/*", "#!", "--", "$ ", "+ ", "@@", "<!--"} {
		if strings.HasPrefix(sentence, start) {
			return true
		}
	}
	if isLogged(sentence) {
		return true
	}
	last := plain[len(plain)-1]
	if strings.IndexByte("{};\\", last) >= 0 || strings.Contains(plain, " := ") || strings.Contains(plain, "=>") {
		return true
	}
	marks := 0
	for i := range len(plain) {
		if strings.IndexByte("{}[]()<>=;|&$%\\/_^~", plain[i]) >= 0 {
			marks++
		}
	}
	return marks*mostMarks > len(plain) || isListing(plain)
}

// isLogged reports whether a sentence begins with a time to the second, as the line of a log.
func isLogged(sentence string) bool {
	stamp := strings.TrimLeft(sentence, "[(")
	end := strings.IndexFunc(stamp, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("-/.:TZ ", r) })
	return end > 0 && strings.Count(stamp[:end], ":") >= 2 && unicode.IsDigit(rune(stamp[0]))
}

// isListing reports whether a sentence has hardly any words, as a list of files. In scripts without spaces, what is
// between two spaces is several words, and values.
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
	return all >= least && n*third < all && !addresses(lower(plain))
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
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// excerpt returns a sentence as one line: all of it, or its beginning and its end.
func excerpt(sentence string) string {
	line := text.Line(sentence, len(sentence)+1)
	if utf8.RuneCountInString(line) <= longest {
		return line
	}
	const half = longest / 2
	return text.Line(line, half) + " " + text.Line(shorten.Tail(line, half), half)
}

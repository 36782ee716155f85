package quotes

import (
	"cmp"
	_ "embed" // for lists of words
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// rank is how much is lost without a piece.
type rank uint8

const (
	none    rank = iota // a courtesy
	other               // code, a question, what is to be done once, any other sentence
	hint                // it has a word that many orders have
	long                // a request of more than 20 tokens
	request             // it asks for something, or has a value
	rule                // it forbids, or demands from now on
	order               // another person states it
)

// token is a word, a Chinese or Japanese character, an item of a list in these scripts, or a mark between two clauses.
type token struct {
	text string
	in   []string // lists, also those of phrases that begin with it
}

type sentence []token

// judge returns the rank of a sentence, or of the comment in a line of code.
func judge(piece string) rank {
	said := strings.TrimSpace(piece)
	said = cmp.Or(comment(said), said)
	low := lower(said)
	s := read(low)
	switch {
	case s.isCourtesy():
		return none
	case s.isQuestion(low) && !s.begins("polite") || s.begins("once"):
		return other
	case s.demands():
		return rule
	case s.has("request") || s.has("verbs") || s.has("numerals") || endsIn(low, "!", "！") || values.MatchString(said):
		return request
	case s.has("hint"):
		return hint
	}
	return other
}

// demands reports whether a sentence begins with an imperative, or has a word of rules, unless it only reports something, as in
// "it never works".
func (s sentence) demands() bool {
	for i, t := range s {
		if tells := i > 0 && t.is("negations") && s[i-1].is("narrators"); t.is("rule") && !tells {
			return true
		}
	}
	return len(s) > 2 && s.begins("verbs") && !isHan(s[0].text)
}

// values matches a number, an identifier, a quotation, a file, or a name.
var values = regexp.MustCompile("[0-9@#$€£¥％%_/\\\\`\"“「『«《]|\\w\\.\\w|[a-z][A-Z]|[^.!?\\s]\\s+[(*]*\\p{Lu}[^\\s']")

func (s sentence) isQuestion(low string) bool {
	return len(s) > 0 && endsIn(low, "?", "？", "吗", "呢", "嗎") || s.begins("asks at start") || s.has("asks anywhere")
}

func endsIn(s string, marks ...string) bool {
	s = strings.TrimRight(s, "\n \"'”’」』）)*。.")
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasSuffix(s, mark) })
}

// isCourtesy reports whether a sentence has only courtesies, such as "ok, thanks".
func (s sentence) isCourtesy() bool {
	const most = 10 // words
	return len(s) <= most && !slices.ContainsFunc(s, func(t token) bool { return !t.is("courtesies") && !t.is("break") })
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
	const mostMarks, fewChars = 6, 16 // one character of six may be a mark; "No, 9090." is not
	msg, _ := digest.Fault(line)
	plain := unquoted(line)
	if msg == line || codeStart.MatchString(line) || strings.ContainsRune("{};\\", rune(plain[len(plain)-1])) {
		return true
	}
	marks, letters, all := 0, 0, 0
	for _, r := range plain {
		switch {
		case lex.IsHan(r):
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
	return marks*mostMarks > len(plain) || all > fewChars && 2*letters < all
}

var (
	// codeStart matches the beginning of a line of a program, of a log, or of a table.
	codeStart = regexp.MustCompile(`^(?://|/\*|#!|--|\$ |\+ |@@|<!--|\||>|[\[(]?\d[-\d/.:TZ ]*\d:\d\d:\d\d` +
		`|(?:SELECT|FROM|WHERE|GROUP BY|ORDER BY|JOIN|INSERT|UPDATE|DELETE|CREATE|ALTER|AND) \S)`)
	quotation = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|«[^»]*»|《[^》]*》")
	emphasis  = strings.NewReplacer("’", "'", "**", "")
)

// unquoted returns a text with x for each quotation.
func unquoted(s string) string {
	if !strings.ContainsAny(s, "`\"“「『«《") {
		return s
	}
	return quotation.ReplaceAllString(s, "x")
}

// lower returns a text in lower case, without quotations and emphasis.
func lower(s string) string { return strings.ToLower(emphasis.Replace(unquoted(s))) }

//go:embed words.txt
var words string

// lists has the names of the lists of each item.
var lists = parse(words)

const longer = "longer" // the list of words and characters with which longer items begin

func parse(words string) map[string][]string {
	lists := map[string][]string{}
	for line := range strings.Lines(words) {
		name, items, _ := strings.Cut(line, ":")
		for item := range strings.SplitSeq(items, ",") {
			if item = strings.TrimSpace(item); item != "" && line[0] != '#' {
				lists[item] = append(lists[item], name)
				if first := item[:unit(item)]; first != item && !slices.Contains(lists[first], longer) {
					lists[first] = append(lists[first], longer)
				}
			}
		}
	}
	return lists
}

// read divides a text in lower case.
func read(low string) (s sentence) {
	const most, mean = 7, 5 // words or characters of an item; bytes of a word
	s = make(sentence, 0, len(low)/mean)
	for at := 0; at < len(low); {
		end := at + unit(low[at:])
		t := token{low[at:end], lists[low[at:end]]}
		wide := isHan(t.text)
		more := t.is(longer)
		for n, to := 1, end; more && n < most && to < len(low) && (wide || low[to] == ' '); n++ {
			if low[to] == ' ' {
				to++
			}
			to += unit(low[to:])
			if in, ok := lists[low[at:to]]; ok && wide {
				t, end = token{low[at:to], in}, to
			} else if ok {
				t.in = slices.Concat(t.in, in)
			}
		}
		at = end
		if r, _ := utf8.DecodeRuneInString(t.text); isWord(r) || lex.IsHan(r) {
			s = append(s, t)
		} else if strings.ContainsRune(",;:()，；：、（）—–", r) {
			s = append(s, token{t.text, []string{"break"}})
		}
	}
	return s
}

// unit returns the bytes of the word or the character with which a text begins.
func unit(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	return max(size, len(text)-len(strings.TrimLeftFunc(text, isWord)))
}

func isWord(r rune) bool {
	return r == '\'' || r == '-' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !lex.IsHan(r)
}

func isHan(s string) bool { return strings.ContainsFunc(s, lex.IsHan) }

// is reports whether a token is an item of a list.
func (t token) is(list string) bool { return slices.Contains(t.in, list) }

// has reports whether an item of a list occurs.
func (s sentence) has(list string) bool {
	return slices.ContainsFunc(s, func(t token) bool { return t.is(list) })
}

// begins reports whether the sentence begins with an item of a list.
func (s sentence) begins(list string) bool { return len(s) > 0 && s[0].is(list) }

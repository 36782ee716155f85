package quotes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// content is what corrections are recognised by.
type content struct {
	tokens   []string // words, numbers and quotations in order; of Chinese text, each character
	words    []string // those with content that are no values, sorted
	values   []string // those with a digit, and quotations, sorted
	rejected []string // words that it names as not, or no longer, right
	states   bool     // it says what something is
	marked   bool     // it says that it corrects something
}

// elliptic is the number of words with content, at most, of a sentence that says little by
// itself, such as a number after "no".
const elliptic = 3

// contentOf returns the content of a sentence.
func contentOf(sentence string) (c content) {
	low := strings.TrimLeft(lower(sentence), " *")
	c.rejected = rejectedIn(low)
	low, marked := words.cut("corrects at start", low)
	c.marked = marked || words.in("corrects", low, fields(low))
	c.tokens = tokensOf(low)
	for _, t := range c.tokens {
		switch {
		case words.has("states", t):
			c.states = true
		case isValue(t):
			c.values = append(c.values, t)
		case !words.has("stop", t):
			c.words = append(c.words, t)
		}
	}
	slices.Sort(c.words)
	slices.Sort(c.values)
	c.words, c.values = slices.Compact(c.words), slices.Compact(c.values)
	return c
}

// rejectedIn returns the words that a sentence names as wrong: "it's not Laura, it's Denise",
// "12, not 15", "yarn instead of npm".
func rejectedIn(low string) []string {
	for _, clause := range strings.FieldsFunc(low, isBreak) {
		for _, mark := range words.list["rejects"].all {
			before, after, found := strings.Cut(strings.TrimSpace(clause), mark)
			denies := strings.HasSuffix(before, "is ") || strings.HasSuffix(before, "'s ") // and says in the next clause what is right
			if found && (mark != "not" || before == "" || denies && strings.Contains(low, ",")) {
				return slices.DeleteFunc(tokensOf(after), func(t string) bool { return words.has("stop", t) })
			}
		}
	}
	return nil
}

// has reports whether a token is in the sentence.
func (c *content) has(token string) bool { return slices.Contains(c.tokens, token) }

// rejects reports whether a sentence names as wrong what an older one on the same subject says.
func (c *content) rejects(old *content) bool {
	const most = 4
	if len(c.rejected) == 0 || len(c.rejected) > most || slices.Equal(c.rejected, old.rejected) {
		return false
	}
	if slices.ContainsFunc(c.rejected, func(t string) bool { return !old.has(t) }) {
		return false
	}
	same := func(w string) bool { return !slices.Contains(c.rejected, w) && slices.Contains(old.words, w) }
	return c.states && old.states || slices.ContainsFunc(c.words, same)
}

// quotation begins a token that was in quotes.
const quotation = '"'

// tokensOf splits a text in lower case.
func tokensOf(low string) (tokens []string) {
	for i, plain := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune("\"“”`「」『』", r) }) {
		if quoted := i%2 == 1 && !strings.HasPrefix(low, plain); quoted {
			tokens = append(tokens, string(quotation)+plain)
			continue
		}
		from := 0 // of the word
		flush := func(to, next int) {
			if word := strings.Trim(plain[from:to], ".:'-/"); word != "" {
				tokens = append(tokens, word)
			}
			from = next
		}
		for i, r := range plain {
			switch {
			case isIdeograph(r):
				flush(i, i+utf8.RuneLen(r))
				if n := len(tokens); n > 0 && words.has("digits", string(r)) && isNumber(tokens[n-1]) {
					tokens[n-1] += string(r)
				} else {
					tokens = append(tokens, string(r))
				}
			case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("'.:-_/$€£¥%@#", r):
			default:
				_, size := utf8.DecodeRuneInString(plain[i:])
				flush(i, i+size)
			}
		}
		flush(len(plain), len(plain))
	}
	return slices.DeleteFunc(tokens, func(t string) bool { return words.has("markers", t) })
}

// isValue reports whether a token is a number, a name with one of a few characters, or a quotation.
func isValue(token string) bool {
	return strings.ContainsAny(token, "0123456789/_@"+string(quotation)) || isNumber(token) || words.has("numerals", token)
}

// isNumber reports whether a token is a Chinese number, such as 六百五十.
func isNumber(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return words.has("digits", string(r))
}

func isIdeograph(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// replaces reports whether a sentence has newer values of what an older one says.
func (c *content) replaces(old *content) bool {
	if c.rejects(old) {
		return true
	}
	if !c.marked && !c.states || slices.ContainsFunc(c.rejected, isValue) && !slices.ContainsFunc(c.rejected, old.has) {
		return false // it names a value as wrong that the older one does not have
	}
	common := shared(c.words, old.words)
	valued := len(c.values) > 0 && len(old.values) > 0
	switch {
	case c.marked && len(c.values) > 1 && shared(c.values, old.values) > 0:
		return true // "9090 instead of 8080"
	case valued && (shared(c.values, old.values) > 0 || !alike(c.values, old.values)):
		return false
	case valued && c.marked:
		return common > 0
	case valued: // "The port is 9090", but not "Never touch a1.go", "Never touch a2.go"
		return c.states && old.states && common > 0 && common == len(c.words) && len(c.values) == len(old.values)
	}
	if !c.marked || len(c.values)+len(old.values) > 0 {
		return false
	}
	return common > 1 && common == len(old.words) || c.differsInOneWord(old) // "you no longer have to ask before you push"
}

// replacesValue reports whether a correction that names no subject, such as "no, 9090", has a value of the form of an older one.
func (c *content) replacesValue(old *content) bool {
	return c.marked && len(c.words) == 0 && !slices.ContainsFunc(c.rejected, isValue) && alike(c.values, old.values)
}

// differsInOneWord reports whether the sentences are the same but for a word or two, or as many
// Chinese characters, in the same place.
func (c *content) differsInOneWord(old *content) bool {
	const most = 2
	a, b := c.tokens, old.tokens
	same := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, same = a[1:], b[1:], same+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, same = a[:len(a)-1], b[:len(b)-1], same+1
	}
	return same > 0 && len(a) > 0 && len(a) == len(b) && len(a) <= most
}

// alike reports whether one of the values has the shape of one of the others.
func alike(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return shape(x) == shape(y) })
	})
}

// shape returns a value with 0 for each number and a for each word.
func shape(value string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			r = '0'
		case unicode.IsLetter(r):
			r = 'a'
		}
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// shared returns how many words two sorted lists have in common.
func shared(a, b []string) (n int) {
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return n
}

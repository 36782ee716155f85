package trim

import (
	"context"
	"iter"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// ByUse is the default of [Options.Score], also for summarize.Options.Score. It gives a higher score to units with an identifier
// that a later message uses, in the arguments of a call or in a text of user or assistant. An identifier is a long
// number, a word in capitals, a path, an address, a file name, a name in snake or camel
// case or another ASCII word with letters and digits. Keys of JSON objects do not count.
// Of a text of more than 32 KiB only the beginning and the end are read.
func ByUse(v *middleware.View) func(u message.Unit) float64 {
	return byUse(context.Background(), v)
}

func byUse(ctx context.Context, v *middleware.View) func(u message.Unit) float64 {
	var known *uses
	return func(u message.Unit) float64 {
		if known == nil {
			known = usesIn(ctx, v)
		}
		if known.after(v, u) {
			return 1
		}
		return 0
	}
}

// uses are the identifiers in the messages of a view.
type uses struct {
	last   map[string]int // position of the last message that uses an identifier
	filter [1 << 12]bool  // by hash: false if no identifier has this hash
}

func usesIn(ctx context.Context, v *middleware.View) *uses {
	s := &uses{last: make(map[string]int, 512)}
	for i, m := range v.Messages() {
		if ctx.Err() != nil {
			break
		}
		if m.Role != message.RoleAssistant && m.Role != message.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			if _, isResult := p.(message.ToolResult); isResult {
				continue
			}
			for word, key := range words(shorten.Text(p)) {
				if !key && isIdentifier(word) {
					s.last[word] = i
					s.filter[hash(word)] = true
				}
			}
		}
	}
	return s
}

// after reports whether a message after a unit uses an identifier of the unit.
func (s *uses) after(v *middleware.View, u message.Unit) bool {
	for i := u.First; i <= u.Last; i++ {
		for _, p := range v.At(i).Parts {
			before := "" // logs repeat words
			for word := range words(shorten.Text(p)) {
				if word != before && len(word) >= shortestIdentifier && s.filter[hash(word)] && s.last[word] > u.Last {
					return true
				}
				before = word
			}
		}
	}
	return false
}

// hash maps a word of two or more bytes to its length and a few of its letters.
func hash(word string) int {
	n := len(word)
	return (n ^ int(word[0])<<2 ^ int(word[n-1])<<4 ^ int(word[n/2])<<5 ^ int(word[n-2])<<7) & (1<<12 - 1)
}

// Classes of bytes in identifiers, as bits.
const (
	lower uint8 = 1 << iota
	upper
	digit
	joint // - . : #, which also occur around words in sentences
	bond  // _ / @, which do not
)

// classes has the class of each byte; 0: it separates words.
var classes = func() (c [256]uint8) {
	for b := 'a'; b <= 'z'; b++ {
		c[b] = lower
		c[b-'a'+'A'] = upper
	}
	for b := '0'; b <= '9'; b++ {
		c[b] = digit
	}
	for _, b := range "-.:#" {
		c[b] = joint
	}
	for _, b := range "_/@" {
		c[b] = bond
	}
	return c
}()

// Sizes in bytes.
const (
	shortestIdentifier = 4
	shortestPlain      = 5 // of an identifier of digits or capitals only
	longestIdentifier  = 128
	longestHead        = 24 << 10 // of a text that is read
	longestTail        = 8 << 10
)

// words yields all identifiers in a text and some other words, in order, and
// whether a word is a key of a JSON object. It leaves out the middle of a long text.
func words(text string) iter.Seq2[string, bool] {
	return func(yield func(word string, key bool) bool) {
		if len(text) <= longestHead+longestTail {
			scan(text, yield)
		} else if scan(text[:longestHead], yield) {
			scan(text[len(text)-longestTail:], yield)
		}
	}
}

// scan yields the words of a text. It returns false if yield does.
func scan(text string, yield func(word string, key bool) bool) bool {
	for i := 0; i < len(text); i++ {
		kinds := classes[text[i]]
		if kinds == 0 {
			continue
		}
		first := i
		for i++; i < len(text); i++ {
			c := classes[text[i]]
			if c == 0 {
				break
			}
			kinds |= c
		}
		if kinds == lower || i-first < shortestIdentifier {
			continue // most words
		}
		if !yield(trimmed(text[first:i]), i+1 < len(text) && text[i] == '"' && text[i+1] == ':') {
			return false
		}
	}
	return true
}

// trimmed returns a word without the punctuation around it.
func trimmed(word string) string {
	for word != "" && classes[word[0]] == joint {
		word = word[1:]
	}
	for word != "" && classes[word[len(word)-1]] == joint {
		word = word[:len(word)-1]
	}
	return word
}

// isIdentifier reports whether a word does not look like an ordinary one.
func isIdentifier(word string) bool {
	if len(word) < shortestIdentifier || len(word) > longestIdentifier {
		return false
	}
	var kinds uint8
	digits, dot, hump := 0, false, false
	for i := range len(word) {
		c := classes[word[i]]
		digits += int(c & digit / digit)
		dot = dot || word[i] == '.'
		hump = hump || c == upper && i > 0 && classes[word[i-1]] == lower
		kinds |= c
	}
	letters := kinds&(lower|upper) != 0
	switch {
	case kinds&digit != 0 && letters, kinds&bond != 0 && kinds != bond, hump:
		return true
	case letters:
		return dot || kinds == upper && len(word) >= shortestPlain
	}
	return digits >= shortestPlain
}

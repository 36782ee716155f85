package digest

import (
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

// tokenAt returns the token at i: a word, name, number, path or link. It is a run of letters and digits with signs between them.
// It is empty if there are only signs. next is where reading continues.
func tokenAt(text string, i int) (from, end, next int) {
	signs := false
	for end = i; end < len(text); {
		c, size := lex.ClassAt(text, end)
		if c == lex.Sign {
			if text[end] == ':' && end > i && strings.HasPrefix(text[end:], "://") {
				end = linkEnd(text, end+len("://"))
				return i, end, end
			}
			signs, size = true, joinAt(text, i, end)
		} else if !c.InWord() {
			break
		}
		if size == 0 {
			break
		}
		end += size
	}
	if next = max(end, i+1); !signs {
		return i, end, next
	}
	w := strings.TrimRight(text[i:end], ".-:@+#$~")
	end = i + len(w)
	if strings.Contains(w, "/") { // ./a and ~/b
		w = strings.TrimLeft(w, ":-+")
	} else {
		w = strings.TrimLeft(w, ".:-+~")
	}
	if from = end - len(w); w != "" && isDigit(w[0]) && from > i && strings.IndexByte("+-", text[from-1]) >= 0 { // -5
		from--
	}
	return from, end, next
}

// joinAt returns how many bytes from i on belong to the token that begins at from, if a sign is at i; 0 if it ends there.
func joinAt(text string, from, i int) (size int) {
	after := text[i+1:]
	digit := after != "" && isDigit(after[0])
	ok := false
	switch text[i] {
	case '.', '-', '_', '@':
		ok = true
	case '$':
		ok = i == from
	case '/':
		ok = after == "" || after[0] <= ' ' || isName(after, 0) || after[0] > 0x7f || strings.IndexByte(".-@~$", after[0]) >= 0 || strings.Contains(text[from:i], "/")
	case '#':
		ok = i == from
	case '+', '~':
		ok = i == from || digit
	case '%':
		ok = i > from && isDigit(text[i-1])
	case ':': // localhost:8080, std::sort, C:\dir
		ok = digit || strings.HasPrefix(after, ":") || i > from && text[i-1] == ':' || i == from+1 && strings.HasPrefix(after, `\`)
	case '\\':
		ok = i > from+1 && text[from+1] == ':'
	case ',': // 1,299
		group := text[max(from, i-len("999"), strings.LastIndexByte(text[:i], ',')+1):i]
		if strings.Trim(group, "$+-"+digits) == "" && strings.ContainsAny(group, digits) && skip(after, 0, digits) == len("999") && !isName(after, 3) && !strings.HasPrefix(after[3:], `"`) {
			return len(",999")
		}
	}
	if ok {
		return 1
	}
	return 0
}

// linkEnd returns the end of the link whose host begins at i.
func linkEnd(text string, i int) int {
	end := i
	for end < len(text) && (isName(text, end) || strings.IndexByte("./-:@+#$~%&=?,;!()*", text[end]) >= 0) {
		end++
	}
	return i + len(strings.TrimRight(text[i:end], ".,;:!?)*_"))
}

const digits = "0123456789"

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isName reports whether a text has a letter, digit or underscore of ASCII at i.
func isName(text string, i int) bool {
	return i >= 0 && i < len(text) && (isDigit(text[i]) || text[i] == '_' || 'a' <= text[i]|0x20 && text[i]|0x20 <= 'z')
}

// skip returns the first position from i on that has none of the characters.
func skip(text string, i int, characters string) int {
	for i < len(text) && strings.IndexByte(characters, text[i]) >= 0 {
		i++
	}
	return i
}

// traits are the characters of a token.
type traits struct {
	n         [lex.Wide + 1]int // how many of each class
	letters   int
	humps     int  // lower case before upper case: getUser
	beyondHex bool // has a letter that is not a hexadecimal digit
}

func traitsOf(s string) (t traits) {
	before := lex.Sign
	for i := 0; i < len(s); {
		c, size := lex.ClassAt(s, i)
		t.n[c]++
		if c == lex.Upper && before == lex.Lower {
			t.humps++
		}
		t.beyondHex = t.beyondHex || c >= lex.Lower && c != lex.Digit && s[i]|0x20 > 'f'
		before = c
		i += size
	}
	t.letters = t.n[lex.Lower] + t.n[lex.Upper] + t.n[lex.Letter] + t.n[lex.Wide]
	return t
}

// isPlainWord reports whether a token is a word such as Order. Most tokens of prose are.
func isPlainWord(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (i > 0 || b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}

var (
	fileName = regexp.MustCompile(`^..+\.[a-z][a-z\d]{0,4}$`) // also obj.field
	day      = regexp.MustCompile(`^(?:\d{4}([-/.])\d\d?[-/.]\d\d?(?:[T_].*)?|\d\d?[-/.]\d\d?[-/.]\d{4})$`)
)

// shapeOf returns the kind of a token by its shape.
func shapeOf(s string) kind {
	if isPlainWord(s) {
		return none
	}
	t := traitsOf(s)
	digits, dots, slashes := t.n[lex.Digit], strings.Count(s, "."), strings.Count(s, "/")
	switch at := strings.IndexByte(s, '@'); {
	case strings.Contains(s, "://"):
		return link
	case at > 0 && slashes == 0 && strings.IndexByte(s[at:], '.') > 1:
		return email
	case digits >= 6 && t.letters <= 2 && t.n[lex.Sign] >= 2 && day.MatchString(s):
		return date
	case t.letters == 0:
		return numericShape(s, digits, dots+slashes)
	case strings.Contains(s, `:\`), slashes > 0 && isPath(s, digits):
		return path
	case slashes > 0:
		return none
	case strings.Contains(s, "::"):
		return symbol
	case strings.Contains(s, ":"):
		if strings.HasPrefix(s, "sha256:") {
			return hash
		}
		return host
	case isHash(s, &t):
		return hash
	case dots > 0 && fileName.MatchString(s):
		return file
	}
	return wordShape(s, &t, dots)
}

// numericShape returns the kind of a token without letters.
func numericShape(s string, digits, dots int) kind {
	const phone = 6 // digits
	switch {
	case digits == 0:
		return none
	case s[0] == '#', digits > phone && (s[0] == '+' || strings.LastIndexByte(s, '-') > 0 && !strings.Contains(s, ":")):
		return id
	case s[0] == '$':
		return amount
	case strings.Contains(s, "/"):
		return none
	case dots > 1:
		return host
	}
	return number
}

// isPath tells paths from words such as and/or.
func isPath(s string, digits int) bool {
	inner := strings.Count(strings.Trim(s, "/"), "/")
	rooted := strings.IndexByte("/.~", s[0]) >= 0
	return inner > 1 || inner > 0 && (rooted || digits > 0) || s[len(s)-1] == '/' || strings.ContainsAny(s, "_.")
}

// isHash reports whether a token is a hexadecimal number of seven digits or more, or a UUID.
func isHash(s string, t *traits) bool {
	const short, uuid = 7, 36
	digits := t.n[lex.Digit]
	return !t.beyondHex && digits > 0 && (t.n[lex.Lower] == 0 || t.n[lex.Upper] == 0) &&
		(len(s) == uuid && strings.Count(s, "-") == 4 || len(s) >= short && digits+t.letters == len(s))
}

// wordShape returns the kind of a token without slashes and colons.
func wordShape(s string, t *traits, dots int) kind {
	const unit = 3 // letters
	digits, joined := t.n[lex.Digit], strings.ContainsAny(s, "_-")
	rest := strings.TrimLeft(s, "0123456789.")
	switch {
	case digits > 0 && !joined && (len(s) < 7 && !t.beyondHex || len(rest) < len(s) && len(rest) <= unit && t.letters > 0 && !strings.ContainsAny(rest, "0123456789#")): // 9c0, 12kB
		return number
	case dots > 0:
		if len(s) > 2*dots+1 { // not e.g
			return symbol
		}
	case digits > 0 && (t.n[lex.Lower]+t.n[lex.Letter]+t.n[lex.Wide] == 0 || joined || digits > 2 || s[0] == '#'):
		return id
	case digits > 0, t.humps > 0, strings.Contains(s, "_") && t.letters > 1, s[0] == '@':
		return symbol
	case t.n[lex.Upper] > 1 && t.n[lex.Upper] == t.letters:
		return code
	}
	return none
}

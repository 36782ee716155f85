package claims

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	word      kind = iota // letters, digits and underscores, or a flag such as --force
	number                // digits, also in Chinese
	ideograph             // one character
	mark                  // any other character
)

// token is a piece of a text. Tokens of two texts are equal if they mean the same: case, digit grouping and wide forms do
// not count.
type token struct {
	kind   kind
	text   string // normalised
	raw    string // as in the folded text
	from   int    // its position there
	glued  bool   // no space before it
	amount amount // of the digits that it begins with; has is false if there are none
	suffix string // the letters after these digits
}

// amount is a number with its precision.
type amount struct {
	has   bool
	value float64
	step  float64 // the smallest difference that is written: 0.01 for 17.79
}

func (t token) to() int { return t.from + len(t.raw) }

func (t token) is(marks string) bool {
	return t.kind == mark && t.raw != "" && strings.Contains(marks, t.raw)
}

// at returns a token, or an empty mark.
func at(toks []token, i int) token {
	if i < 0 || i >= len(toks) {
		return token{kind: mark}
	}
	return toks[i]
}

// fold returns a text with characters of usual width, plain dashes and apostrophes, without what is not visible.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0 || r == 0xAD || r >= 0x200B && r <= 0x200F || r == 0xFEFF || r == utf8.RuneError:
			return -1
		case r == 0x2009 || r == 0x202F: // thin spaces group digits
			return -1
		case r == 0xA0 || r == 0x3000:
			return ' '
		case r >= 0xFF01 && r <= 0xFF5E:
			return r - 0xFEE0
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			return '-'
		case r == 0x2019 || r == 0x02BC:
			return '\''
		}
		return r
	}, strings.ReplaceAll(s, "…", "..."))
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func digitsAt(s string, i int) (n int) {
	for i+n < len(s) && isDigit(rune(s[i+n])) {
		n++
	}
	return n
}

// isHan reports whether a character is a word by itself.
func isHan(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !isHan(r)
}

var flag = regexp.MustCompile(`^--?[A-Za-z][\w-]*`)

// lex appends the tokens of a folded text.
func lex(toks []token, s string) []token {
	glued, last := false, ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			glued, last = false, r
			i += size
			continue
		}
		t := token{kind: mark, from: i, glued: glued}
		end := i + size
		switch {
		case isDigit(r):
			end = readNumber(&t, s)
		case isLetter(r):
			if !isDigit(last) || !isStampT(s[i:]) { // T is a mark in 2026-11-17T02:00
				t.kind, end = word, wordEnd(s, i)
			}
		case isHan(r):
			t.kind = ideograph
			end = max(end, readHan(&t, s))
		case r == '-' && !isLetter(last) && !isDigit(last) && !isHan(last):
			if f := flag.FindString(s[i:]); f != "" {
				t.kind, end = word, i+len(f)
			}
		}
		t.raw = s[i:end]
		if t.text == "" {
			t.text = normal(t.raw)
		}
		toks = append(toks, t)
		glued = true
		last, _ = utf8.DecodeLastRuneInString(t.raw)
		i = end
	}
	return toks
}

// isStampT reports whether a text begins as the time in 2026-11-17T02:00.
func isStampT(s string) bool { return len(s) > 3 && s[0] == 'T' && digitsAt(s, 1) == 2 && s[3] == ':' }

// wordEnd returns the end of a word, as of v1.2 and don't.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		inside := r == '.' && i > 0 && isDigit(rune(s[i-1])) && digitsAt(s, i+1) > 0 ||
			r == '\'' && i+1 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z'
		if !isLetter(r) && !isDigit(r) && !inside {
			break
		}
		i += size
	}
	return i
}

// normal returns the text by which tokens are compared.
func normal(raw string) string {
	return strings.ToLower(plainMarks.Replace(cmp.Or(strings.Trim(raw, "_"), raw)))
}

var plainMarks = strings.NewReplacer("'", "", `\`, "/")

// readNumber reads digits and the letters after them, and returns the end. Marks group digits, as in 1,204 and 1_204, or
// divide a fraction, as in 1.2 and 12,34.
func readNumber(t *token, s string) int {
	const most = 12 // groups of digits: the time is linear
	i := t.from + digitsAt(s, t.from)
	digits, step, dots := s[t.from:i], 1.0, 0
	for range most {
		n := digitsAt(s, i+1)
		if n == 0 {
			break
		}
		if s[i] == '.' || s[i] == ',' && n == 2 && dots == 0 {
			digits += "."
			dots++
			step = math.Pow10(-n)
		} else if n != 3 || dots > 0 || strings.IndexByte(",'_", s[i]) < 0 {
			break
		}
		digits += s[i+1 : i+1+n]
		i += 1 + n
	}
	if dots <= 1 {
		v, err := strconv.ParseFloat(digits, 64)
		t.amount = amount{err == nil, v, step}
	}
	if dots == 1 {
		digits = strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
	}
	end := i
	if r, _ := utf8.DecodeRuneInString(s[i:]); isLetter(r) && !isStampT(s[i:]) {
		end = wordEnd(s, i)
	}
	t.kind, t.suffix = number, s[i:end]
	if t.suffix != "" {
		t.kind = word
	}
	t.text = digits + strings.ToLower(t.suffix)
	return end
}

// hanDigits are the digits from 0, twice, since some are written in two ways.
const hanDigits, hanUnits = "零一二三四五六七八九〇壹两", "十百千万亿"

// readHan reads a Chinese numeral, and returns its end, or 0 if there is none.
func readHan(t *token, s string) int {
	const most = 60 // bytes
	rest := s[t.from:min(len(s), t.from+most)]
	n := len(rest) - len(strings.TrimLeft(rest, hanDigits+hanUnits))
	v, ok := hanValue(rest[:n])
	if single := n == len("一"); !ok || single && (v == 1 || !strings.HasPrefix(rest[n:], "点") && unitName(s[t.from+n:]) == "") {
		return 0
	}
	t.kind, t.amount, t.text = number, amount{true, v, 1}, strconv.FormatFloat(v, 'f', -1, 64)
	return t.from + n
}

// hanValue returns the value of a Chinese numeral: 三千五百, 十五, or digit by digit 二〇二六.
func hanValue(s string) (v float64, ok bool) {
	section, digits := 0.0, 0.0 // below 10,000; of the digits before a unit
	for i, r := range s {
		if k := strings.IndexRune(hanDigits, r); k >= 0 {
			digits = digits*10 + float64(k/len("零")%10)
			continue
		}
		if i == 0 {
			digits = 1 // 十 alone is 10
		}
		unit := [...]float64{10, 100, 1000, 1e4, 1e8}[strings.IndexRune(hanUnits, r)/len("十")]
		if unit >= 1e4 {
			v += (section + digits) * unit
			section = 0
		} else {
			section += unit * digits
		}
		digits = 0
	}
	const year = 4 // digits
	count := utf8.RuneCountInString(s)
	leads := strings.HasPrefix(s, "十") || strings.IndexAny(s, hanUnits) != 0
	return v + section + digits, leads && (count == 1 || count == year || strings.ContainsAny(s, hanUnits))
}

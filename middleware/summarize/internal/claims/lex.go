package claims

import (
	"math"
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
	first  bool   // it is the first of its line
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

// fold returns a text with characters of usual width, plain dashes and apostrophes, without what is not visible.
func fold(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] < utf8.RuneSelf && s[i] != 0
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == 0 || r == 0xAD || r >= 0x200B && r <= 0x200F || r == 0xFEFF || r == utf8.RuneError:
		case r == 0xA0 || r == 0x2009 || r == 0x202F:
			if i == 0 || !isDigit(rune(s[i-1])) || !startsWithDigit(s[i+utf8.RuneLen(r):]) { // not a group of digits
				b.WriteByte(' ')
			}
		case r >= 0xFF01 && r <= 0xFF5E:
			b.WriteRune(r - 0xFEE0)
		case r == 0x3000:
			b.WriteByte(' ')
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			b.WriteByte('-')
		case r == 0x2019 || r == 0x02BC:
			b.WriteByte('\'')
		case r == 0x2026:
			b.WriteString("...")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func startsWithDigit(s string) bool { return s != "" && isDigit(rune(s[0])) }

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

// lex appends the tokens of a folded text.
func lex(toks []token, s string) []token {
	glued, first := false, true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			glued, first = false, first || r == '\n'
			i += size
			continue
		}
		t := token{kind: mark, from: i, glued: glued, first: first}
		end := i + size
		switch {
		case isDigit(r):
			t.kind = number
			end = readNumber(&t, s)
		case glued && isStampT(s[i:]) && isDigit(rune(s[i-1])): // a mark
		case isLetter(r):
			t.kind = word
			end = wordEnd(s, i)
		case isHan(r):
			t.kind = ideograph
			end = max(end, readHan(&t, s))
		case r == '-' && (!glued || !endsWord(s[:i])) && isFlag(s[i:]):
			t.kind = word
			end = flagEnd(s, i)
		}
		t.raw = s[i:end]
		if t.text == "" {
			t.text = normal(t)
		}
		toks = append(toks, t)
		glued, first = true, false
		i = end
	}
	return toks
}

// endsWord reports whether a text ends in a letter or digit.
func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isLetter(r) || isDigit(r) || isHan(r)
}

// isFlag reports whether a text begins as -x or --xy.
func isFlag(s string) bool {
	s = strings.TrimPrefix(s[1:], "-")
	return s != "" && 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z'
}

func flagEnd(s string, i int) int {
	for i < len(s) && (s[i] == '-' || isDigit(rune(s[i])) || s[i] < utf8.RuneSelf && isLetter(rune(s[i]))) {
		i++
	}
	return i
}

// wordEnd returns the end of a word, as of v1.2 and don't.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case isLetter(r) || isDigit(r):
		case r == '.' && isDigit(rune(s[i-1])) && startsWithDigit(s[i+1:]):
		case r == '\'' && endsWord(s[:i]) && i+1 < len(s) && s[i+1] < utf8.RuneSelf && isLetter(rune(s[i+1])) && s[i+1] != '_':
		default:
			return i
		}
		i += size
	}
	return i
}

// normal returns the text by which tokens are compared.
func normal(t token) string {
	s := t.raw
	if t.kind == word {
		if trimmed := strings.Trim(s, "_"); trimmed != "" {
			s = trimmed
		}
		s = strings.ReplaceAll(s, "'", "")
	}
	if s == "\\" {
		return "/"
	}
	return strings.ToLower(s)
}

// readNumber reads digits and the letters after them, and returns the end.
func readNumber(t *token, s string) int {
	i := t.from
	for i < len(s) && isDigit(rune(s[i])) {
		i++
	}
	const most = 12 // groups of digits: the time is linear
	digits, step, dots := s[t.from:i], 1.0, 0
	for range most {
		n, grouped := groupAt(s, t.from, i, dots)
		if n == 0 {
			break
		}
		if !grouped {
			digits += "."
			dots++
			step = math.Pow10(-n)
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
	if i < len(s) && !isStampT(s[i:]) {
		if r, _ := utf8.DecodeRuneInString(s[i:]); isLetter(r) {
			end = wordEnd(s, i)
		}
	}
	if t.suffix = s[i:end]; t.suffix != "" {
		t.kind = word
	}
	t.text = digits + strings.ToLower(t.suffix)
	return end
}

// groupAt returns how many digits after a mark at i belong to the number that begins at from, and whether the mark
// groups digits, as in 1,204 and 1_204, or divides a fraction, as in 1.2 and 12,34.
func groupAt(s string, from, i, dots int) (n int, grouped bool) {
	if i >= len(s) {
		return 0, false
	}
	n = digitsAt(s, i+1)
	after := s[min(i+1+n, len(s)):]
	switch c := s[i]; {
	case n == 0:
	case c == '_' && n == 3, c == '.':
		return n, c == '_'
	case (c == ',' || c == '\'') && n == 3 && dots == 0:
		if first := i-from <= 3 && s[from] != '0'; first || i >= 4 && s[i-4] == c {
			return n, true
		}
	case c == ',' && n == 2 && dots == 0 && i-from <= 6 && (after == "" || after[0] != ',' && after[0] != '/'):
		return n, false
	}
	return 0, false
}

// isStampT reports whether a text begins as the time in 2026-11-17T02:00.
func isStampT(s string) bool { return len(s) > 3 && s[0] == 'T' && digitsAt(s, 1) == 2 && s[3] == ':' }

func digitsAt(s string, i int) (n int) {
	for i+n < len(s) && isDigit(rune(s[i+n])) {
		n++
	}
	return n
}

var sameDigits = strings.NewReplacer("〇", "零", "两", "二")

const hanDigits = "零一二三四五六七八九"

// readHan reads a Chinese numeral, and returns its end, or 0 if there is none.
func readHan(t *token, s string) int {
	const percent, most = "百分之", 60 // bytes
	from := t.from
	if strings.HasPrefix(s[from:], percent) {
		from += len(percent)
	}
	end := from
	for _, r := range s[from:] {
		if end == from && strings.ContainsRune("百千万亿", r) {
			return 0
		}
		if !strings.ContainsRune(hanDigits+"〇两十百千万亿", r) || end-from > most {
			break
		}
		end += utf8.RuneLen(r)
	}
	v, ok := hanValue(s[from:end])
	single := end-from == len("一") && from == t.from
	if !ok || single && (v == 1 || !measures(s[end:])) {
		return 0
	}
	t.kind, t.amount, t.text = number, amount{true, v, 1}, strconv.FormatFloat(v, 'f', -1, 64)
	if from > t.from {
		t.suffix = "%"
	}
	return end
}

// measures reports whether a text begins with what a single numeral may count.
func measures(rest string) bool {
	return unitOf(strings.TrimPrefix(rest, "个")) != "" || strings.HasPrefix(rest, "月") || strings.HasPrefix(rest, "点")
}

// hanValue returns the value of a Chinese numeral.
func hanValue(s string) (v float64, ok bool) {
	runes := []rune(sameDigits.Replace(s))
	if len(runes) == 0 || strings.ContainsRune("百千万亿", runes[0]) {
		return 0, false
	}
	total, section, digit, years := 0.0, 0.0, -1.0, len(runes) == 4
	for i, r := range runes {
		if k := strings.IndexRune(hanDigits, r); k >= 0 {
			d := float64(k / len("零"))
			if digit > 0 && !years {
				return 0, false // 三五
			}
			if years {
				v = v*10 + d
			}
			digit = d
			continue
		}
		years = false
		unit := map[rune]float64{'十': 10, '百': 100, '千': 1000, '万': 1e4, '亿': 1e8}[r]
		switch {
		case unit >= 1e4:
			total += (section + max(digit, 0)) * unit
			section = 0
		case digit < 0 && i > 0:
			return 0, false
		default:
			section += unit * math.Abs(digit) // 十 alone is 10
		}
		digit = 0
	}
	if years {
		return v, true
	}
	return total + section + max(digit, 0), strings.ContainsAny(s, "十百千万亿") || len(runes) == 1
}

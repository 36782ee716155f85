// Package lex reads what can be compared in a text of any language: words, Chinese characters, numbers, amounts, dates, times,
// names, paths, links and quotations.
//
//	for _, it := range lex.Read("见 a/b.go，共 １，２９９ 元").Items {
//		fmt.Println(it.Kind, it.Text) // path a/b.go, number 1,299 元
//	}
//
// [Fold] gives characters their usual width, [Tokens] divides a folded text, [Values] finds the numbers, and [Read] all of it.
// Positions are those of the folded text, in bytes. Two things are the same if their normalised forms are: [Token.Text],
// [Value], [Item.Words]. All functions take any text, also invalid UTF-8, and need time proportional to its length.
package lex

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Word   Kind = iota // letters, digits and underscores, or a flag such as --force
	Digits             // a number, also in Chinese
	Han                // one character of a script that [IsHan] has, or of Hangul
	Mark               // any other character but a space
)

// Token is a piece of a text. Tokens of two texts are equal if they mean the same: case, digit grouping and wide forms do not count.
type Token struct {
	Kind   Kind
	Glued  bool   // no space before it
	Text   string // normalised
	Raw    string // as in the folded text
	From   int    // its position there
	Amount Amount // of the digits that it begins with
	Suffix string // the letters after these digits
}

// Amount is a number with its precision.
type Amount struct {
	Has   bool // false: there is no number
	Value float64
	Step  float64 // the smallest difference that is written: 0.01 for 17.79
}

// To returns the position after the token.
func (t *Token) To() int { return t.From + len(t.Raw) }

// Is reports whether the token is one of some marks.
func (t *Token) Is(marks string) bool {
	return t.Kind == Mark && t.Raw != "" && strings.Contains(marks, t.Raw)
}

// At returns a token, or an empty mark. The result must not be modified.
func At(toks []Token, i int) *Token {
	if i < 0 || i >= len(toks) {
		return &none
	}
	return &toks[i]
}

var none = Token{Kind: Mark}

// Fold returns a text with characters of usual width, plain dashes and apostrophes, without what is not visible.
func Fold(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || r == 0 }); i < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return -1
		case r < utf8.RuneSelf, r >= 0x3001 && r < 0xFE00:
			return r
		case r == 0xAD, r >= 0x200B && r <= 0x200F, r == 0xFEFF, r == utf8.RuneError, r == 0x2009, r == 0x202F: // thin spaces group digits
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

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func digitsAt(s string, i int) (n int) {
	for i+n < len(s) && isDigit(s[i+n]) {
		n++
	}
	return n
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !isSyllable(r)
}

// Tokens appends the tokens of a folded text to others.
func Tokens(toks []Token, s string) []Token {
	glued, last := false, ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			glued, last = false, r
			i += size
			continue
		}
		toks = append(toks, Token{Kind: Mark, From: i, Glued: glued})
		t := &toks[len(toks)-1]
		end, afterDigit := i+size, last < utf8.RuneSelf && isDigit(byte(last))
		switch {
		case isDigit(s[i]):
			end = t.readDigits(s)
		case isLetter(r):
			if !afterDigit || !isStampT(s[i:]) { // T is a mark in 2026-11-17T02:00
				t.Kind, end = Word, wordEnd(s, i)
			}
		case isSyllable(r):
			t.Kind = Han
			end = max(end, t.readHan(s))
		case r == '-' && !isLetter(last) && !afterDigit && !isSyllable(last):
			if n := flagLen(s[i:]); n > 0 {
				t.Kind, end = Word, i+n
			}
		}
		t.Raw = s[i:end]
		if t.Text == "" {
			t.Text = normal(t.Raw)
		}
		glued = true
		last, _ = utf8.DecodeLastRuneInString(t.Raw)
		i = end
	}
	return toks
}

// flagLen returns the length of a flag such as --force at the beginning of a text, or 0.
func flagLen(s string) int {
	n := 1
	if strings.HasPrefix(s, "--") {
		n++
	}
	if n == len(s) || s[n] == '_' || s[n] >= utf8.RuneSelf || !isLetter(rune(s[n])) {
		return 0
	}
	for n < len(s) && s[n] < utf8.RuneSelf && (s[n] == '-' || isDigit(s[n]) || isLetter(rune(s[n]))) {
		n++
	}
	return n
}

// isStampT reports whether a text begins as the time in 2026-11-17T02:00.
func isStampT(s string) bool { return len(s) > 3 && s[0] == 'T' && digitsAt(s, 1) == 2 && s[3] == ':' }

// wordEnd returns the end of a word, as of v1.2 and don't.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		inside := r == '.' && i > 0 && isDigit(s[i-1]) && digitsAt(s, i+1) > 0 ||
			r == '\'' && i+1 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z'
		if !isLetter(r) && !isDigit(s[i]) && !inside {
			break
		}
		i += size
	}
	return i
}

// normal returns the text by which tokens are compared.
func normal(raw string) string {
	odd := func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' && (r < 0x3000 || r > 0x9FFF) }
	if !strings.ContainsFunc(raw, odd) {
		return raw
	}
	return strings.ToLower(plainMarks.Replace(cmp.Or(strings.Trim(raw, "_"), raw)))
}

var plainMarks = strings.NewReplacer("'", "", `\`, "/")

// readDigits reads digits and the letters after them, and returns the end. Marks group digits, as in 1,204 and 1_204, or
// divide a fraction, as in 1.2 and 12,34.
func (t *Token) readDigits(s string) int {
	const most = 12 // groups of digits: the time is linear
	i := t.From + digitsAt(s, t.From)
	digits, step, dots := s[t.From:i], 1.0, 0
	for range most {
		n := digitsAt(s, i+1)
		if n == 0 {
			break
		}
		if s[i] == '.' || s[i] == ',' && n == 2 && dots == 0 {
			digits += "."
			dots++
			step = math.Pow10(-n)
		} else if n != 3 || dots > 0 || strings.IndexByte(",'_", s[i]) < 0 && (s[i] != ' ' || !isGroup(s[i+1:])) {
			break
		}
		digits += s[i+1 : i+1+n]
		i += 1 + n
	}
	if dots <= 1 {
		v, err := strconv.ParseFloat(digits, 64)
		t.Amount = Amount{err == nil, v, step}
	}
	if dots == 1 {
		digits = strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
	}
	end := i
	if r, _ := utf8.DecodeRuneInString(s[i:]); isLetter(r) && !isStampT(s[i:]) {
		end = wordEnd(s, i)
	}
	t.Kind, t.Suffix = Digits, s[i:end]
	if t.Suffix != "" {
		t.Kind = Word
	}
	t.Text = digits + strings.ToLower(t.Suffix)
	return end
}

// isGroup reports whether three digits and a fraction with a comma begin a text, as after the space of 1 299,50.
func isGroup(s string) bool {
	return digitsAt(s, 0) == 3 && len(s) > 3 && s[3] == ',' && digitsAt(s, 4) == 2
}

// hanDigits are the digits from 0, twice, since some are written in two ways.
const hanDigits, hanUnits = "零一二三四五六七八九〇壹两", "十百千万亿"

// readHan reads a Chinese numeral, and returns its end, or 0 without one.
func (t *Token) readHan(s string) int {
	const most = 60 // bytes
	rest := s[t.From:min(len(s), t.From+most)]
	n := len(rest) - len(strings.TrimLeft(rest, hanDigits+hanUnits))
	if n == 0 {
		return 0
	}
	v, ok := hanValue(rest[:n])
	if single := n == len("一"); !ok || single && (v == 1 || !strings.HasPrefix(rest[n:], "点") && unitName(s[t.From+n:]) == "") {
		return 0
	}
	t.Kind = Digits
	t.Amount = Amount{true, v, 1}
	t.Text = strconv.FormatFloat(v, 'f', -1, 64)
	return t.From + n
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

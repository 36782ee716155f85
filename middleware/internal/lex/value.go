package lex

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Value is a number, a date or a time in tokens.
type Value struct {
	Amount

	Units   []Unit // what it may measure; nil: it is a plain number
	Date    Day    // zero: none
	Clock   string // "14:05", or "14:05:33"; "": none
	Label   bool   // the word before it shows that it is a name, as in port 80
	near    bool   // it is only about right
	Literal string // its digits
	From    int    // the first token
	To      int    // the one after the last
}

// Values returns the numbers of tokens, in order.
func Values(toks []Token) (all []Value) {
	for i := 0; i < len(toks); {
		if t := &toks[i]; t.Kind != Digits && !t.Amount.Has && !begins[t.Text] {
			i++
			continue
		}
		v, ok := valueAt(toks, i)
		if !ok {
			i++
			continue
		}
		all = append(all, v)
		i = v.To
	}
	return all
}

// begins are the words that begin a value.
var begins = func() map[string]bool {
	all := map[string]bool{"周": true, "星": true, "礼": true}
	for _, name := range []string{"month", "weekday", "numeral", "currency"} {
		for w := range lists[name].means {
			all[w] = true
		}
	}
	return all
}()

func valueAt(toks []Token, i int) (v Value, ok bool) {
	if v, ok = readTime(toks, i); ok {
		return v, true
	}
	if v, ok = readAmount(toks, i); ok {
		return v, true
	}
	return readWords(toks, i)
}

// isAmount reports whether a text is a number with a unit.
func isAmount(s string) bool {
	toks := Tokens(nil, s)
	v, ok := valueAt(append(toks, none), 0)
	return ok && v.To == len(toks) && v.Has
}

// readAmount reads a number in digits, with its unit.
func readAmount(toks []Token, i int) (Value, bool) {
	v, t := Value{From: i}, toks[i]
	if currencies.Has(t.Text) { // $5, EUR 5
		if next := At(toks, i+1); next.Amount.Has && (t.Kind == Word || next.Glued || t.Raw != "$") {
			i, t, v.Units = i+1, *next, []Unit{{money, 1}}
		}
	}
	if t.Kind != Digits && !t.Amount.Has {
		return Value{}, false
	}
	v.Amount, v.To, v.Literal = t.Amount, i+1, strings.TrimSuffix(t.Text, strings.ToLower(t.Suffix))
	if !v.Has { // 1.2.3
		return v, true
	}
	if size := multipliers[t.Suffix]; size != 0 {
		v.scale(size)
	} else if t.Suffix != "" && t.Suffix != "Z" && t.Suffix != "x" && !IsOrdinal(t.Suffix) {
		u := unitsOf(t.Suffix)
		if u == nil {
			return Value{}, false
		}
		v.Units = append(v.Units, u...)
	}
	if v.Units == nil {
		v.readUnit(toks)
	}
	before := At(toks, v.From-1).Text
	v.near = v.near || approximate.Has(before)
	v.Label = labels.Has(before)
	return v, true
}

func (v *Value) scale(by float64) {
	v.Value *= by
	v.Step *= by
	v.near = true
}

// readUnit reads the words after a number.
func (v *Value) readUnit(toks []Token) {
	t := At(toks, v.To)
	if size := multipliers[t.Raw]; size != 0 && (t.Kind == Han || len(t.Raw) > 1) {
		v.scale(size)
		v.To++
		t = At(toks, v.To)
	}
	var chinese strings.Builder
	for k := v.To; k < v.To+longest && At(toks, k).Kind == Han; k++ {
		chinese.WriteString(At(toks, k).Text)
	}
	if name := unitName(chinese.String()); name != "" {
		v.Units, v.To = unitsOf(strings.TrimPrefix(name, "个")), v.To+utf8.RuneCountInString(name)
	} else if len(t.Raw) != 1 || t.Glued || strings.IndexByte("sgVAWB%", t.Raw[0]) >= 0 { // 5 a day
		if v.Units = unitsOf(t.Raw); v.Units != nil {
			v.To++
		}
	}
}

const longest = 5 // characters of a Chinese unit

// unitName returns the longest Chinese name of a unit at the beginning of a text, with 个 before it, or "".
func unitName(s string) string {
	for n := min(len(s), longest*len("个")); n > 0; n-- {
		if n < len(s) && !utf8.RuneStart(s[n]) {
			continue
		}
		if units[strings.TrimPrefix(s[:n], "个")] != nil {
			return s[:n]
		}
	}
	return ""
}

// readWords reads a number in English words.
func readWords(toks []Token, i int) (Value, bool) {
	const most = 12 // words
	total, part, k := 0.0, 0.0, i
	for ; k < min(len(toks), i+most); k++ {
		t := toks[k]
		switch n := numerals[t.Text]; {
		case n >= 1000:
			total, part = total+part*n, 0
		case n == 100:
			part *= n
		case n > 0:
			part += n
		}
		joint := part >= 20 && t.Is("-") || part >= 100 && t.Text == "and" // thirty-five, two hundred and two
		if numerals[t.Text] == 0 && !(joint && numerals[At(toks, k+1).Text] != 0) {
			break
		}
	}
	v := Value{Amount: Amount{true, total + part, 1}, From: i, To: k}
	if v.Value <= 1 {
		return Value{}, false
	}
	v.readUnit(toks)
	return v, v.Units != nil || v.Value > Small
}

// Small is the largest number that words alone do not make: "one of them" is no number without a unit.
const Small = 20

// Precision is the size of the last digit that is sure, or 0 if the number is exact. That of an amount that is about right
// is a tenth of it at most.
func (v *Value) Precision() float64 {
	switch {
	case v.near && v.Step == 1:
		step := 1.0
		for v.Value >= 10*step && math.Mod(v.Value, 10*step) == 0 {
			step *= 10
		}
		if v.Units != nil && math.Mod(v.Value, 5*step) == 0 { // 55, 250
			step *= 5
		}
		if v.Units != nil {
			step = min(step, max(1, v.Value/10))
		}
		return step
	case v.near, v.Units != nil, v.Step < 1:
		return v.Step
	}
	return 0
}

// MoneyOrDate returns the length of the amount of money or of the date that begins a text with more than its first word, in
// bytes: 1,299 元, USD 250, 16 May 2024. word is the length of the first word. It returns 0 without one.
func MoneyOrDate(text string, word int) (n int, isDate bool) {
	const longest, tokens = 16, 12
	if n = hanDay(text, word); n > 0 {
		return n, true
	}
	if !goesOn(text[:word], text[word:]) {
		return 0, false
	}
	text = text[:min(len(text), word+longest)]
	folded := Fold(text)
	var buffer [tokens]Token
	toks := Tokens(buffer[:0], folded)
	v, ok := valueAt(toks, 0)
	isDate = v.Date.Month > 0
	if !ok || !isDate && !slices.ContainsFunc(v.Units, func(u Unit) bool { return u.Dimension == money }) {
		return 0, false
	}
	n = toks[v.To-1].To()
	for k := range text { // the length before folding
		if len(folded) != len(text) && len(Fold(text[:k])) >= n {
			n = k
			break
		}
	}
	if n <= word {
		return 0, false
	}
	return n, isDate
}

// hanDay returns the length of a day such as 2026年3月15日 at the beginning of a text, or 0. word is the length of its digits.
func hanDay(text string, word int) (n int) {
	if word == 0 || !strings.HasPrefix(text[word:], "年") && !strings.HasPrefix(text[word:], "月") {
		return 0
	}
	for _, unit := range [...]string{"年", "月", "日", "号"} {
		if d := digitsAt(text, n); d > 0 && strings.HasPrefix(text[n+d:], unit) {
			n += d + len(unit)
		}
	}
	return n
}

// goesOn reports whether an amount of money or a date may begin with a word and continue after it.
func goesOn(word, rest string) bool {
	if rest == "" {
		return false
	}
	if word != "" && 'a' <= word[0] && word[0] <= 'z' {
		return false
	}
	c, size := ClassAt(rest, 0)
	if word == "" {
		return c == Currency
	}
	first, _ := ClassAt(word, 0)
	if first != Digit {
		return first == Upper && (c == Blank || c == Digit) && capital[word] != 0
	}
	if rest[0] == ',' { // 299,50 EUR
		return digitsAt(rest, 1) == 2 && len(rest) > 3 && rest[3] == ' '
	}
	if rest[0] == ' ' && len(rest) > 1 {
		rest = rest[1:]
		c, size = ClassAt(rest, 0)
	}
	switch {
	case c == Wide, c == Letter:
		return strings.Contains(joinsNumber, rest[:size])
	case c == Upper, c.InWord() && size > 1:
		next := rest[:RunEnd(rest, 0)]
		return currencies.Has(next) || capital[next] == aCurrency || capital[next] == aMonth && len(word) <= len("31st")
	}
	return c == Currency || c == Digit && isGroup(rest)
}

const aMonth, aCurrency = 1, 2

// capital has the names of months, such as May, and the codes of currencies, such as USD.
var capital = func() map[string]int {
	all := map[string]int{}
	for _, w := range lists["month"].Words {
		all[strings.ToUpper(w[:1])+w[1:]] = aMonth
	}
	for _, w := range currencies.Words {
		all[strings.ToUpper(w)] = aCurrency
	}
	return all
}()

// joinsNumber has the Chinese characters that continue an amount of money or a date after a number.
var joinsNumber = strings.Join(currencies.Words, "") + hanUnits + "年月"

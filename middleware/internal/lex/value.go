package lex

import (
	"math"
	"regexp"
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
		v, ok := readTime(toks, i)
		if !ok {
			v, ok = readAmount(toks, i)
		}
		if ok {
			all = append(all, v)
		}
		i = max(i+1, v.To)
	}
	return all
}

// begins are the words that begin a value.
var begins = func() map[string]bool {
	all := map[string]bool{"周": true, "星": true, "礼": true}
	for _, name := range []string{"month", "weekday", "currency"} {
		for w := range lists[name].means {
			all[w] = true
		}
	}
	return all
}()

// readAmount reads a number in digits, with its unit.
func readAmount(toks []Token, i int) (Value, bool) {
	v, t := Value{From: i}, toks[i]
	if next := At(toks, i+1); currencies.Has(t.Text) && next.Amount.Has { // $5, EUR 5
		i++
		t = *next
		v.Units = []Unit{{money, 1}}
	}
	if t.Kind != Digits && !t.Amount.Has {
		return Value{}, false
	}
	v.Amount = t.Amount
	v.To = i + 1
	v.Literal = strings.TrimSuffix(t.Text, strings.ToLower(t.Suffix))
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
		v.Units = unitsOf(t.Raw)
		if v.Units != nil {
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
	const longest = 32 // bytes after the word
	if rest := strings.TrimPrefix(text[word:], " "); rest == "" || !goesOn(text, rest, word == 0) {
		return 0, false
	}
	m := moneyOrDate.FindStringSubmatchIndex(text[:min(len(text), word+longest)])
	if len(m) == 0 || m[1] <= word {
		return 0, false
	}
	for k := 4; k < len(m); k += 2 { // names of months, then of currencies
		if name := strings.ToLower(text[max(0, m[k]):max(0, m[k+1])]); name != "" && months[name] == 0 && !currencies.Has(name) {
			return 0, false
		}
	}
	return m[1], m[2] >= 0
}

// goesOn reports whether an amount of money or a date may begin with a word and continue with the rest, after a space: most
// words are excluded at once.
func goesOn(word, rest string, isSign bool) bool {
	first, _ := ClassAt(word, 0)
	next, _ := ClassAt(rest, 0)
	if isSign || first == Upper {
		return next == Digit || next == Currency
	}
	isAfter := next == Upper || next == Currency || next == Wide || next == Letter
	return first == Digit && (isAfter || next == Digit && isGroup(rest) || rest[0] == ',') // 299,50 EUR
}

// moneyOrDate matches amounts of money, and dates as its first group. Its other groups are names of months and currencies.
var moneyOrDate = func() *regexp.Regexp {
	var signs []string
	for _, w := range slices.Backward(currencies.Words) { // 元人民币 before 元
		if w[0] >= utf8.RuneSelf || w == "$" {
			signs = append(signs, regexp.QuoteMeta(w))
		}
	}
	const number, day, year = `\p{Nd}+(?:[., ]\p{Nd}{3})*(?:[.,]\p{Nd}{1,2})?`, `\d\d?(?:st|nd|rd|th)?`, `\d{4}`
	const month, code = `([A-Z][a-z]{2,8})`, `([A-Z]{3})\b`
	sign := "(?:" + strings.Join(signs, "|") + ")"
	const ofYear = `\b(?:,? ` + year + `\b)?`
	return regexp.MustCompile(`^(?:(` +
		day + ` ` + month + ofYear + `|` + month + ` (?:` + year + `|` + day + ofYear + `)|(?:\d+年)?\d+月(?:\d+[日号])?|` + year + `年)|` +
		number + ` ?(?:[` + hanUnits + `]*` + sign + `|` + code + `)|(?:` + sign + `|` + code + `) ?` + number + `)`)
}()

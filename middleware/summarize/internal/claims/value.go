package claims

import (
	"math"
	"strings"
	"unicode/utf8"
)

// value is a number, a date or a time in tokens.
type value struct {
	amount

	units   []unit // what it may measure; nil: it is a plain number
	date    date   // zero: none
	clock   string // "14:05", or "14:05:33"; "": none
	label   bool   // a word before it says that it is a name, as in port 80
	near    bool   // it is only about right
	literal string // its digits
	from    int    // the first token
	to      int    // the one after the last
}

// values returns the numbers of tokens, in order.
func values(toks []token) (all []value) {
	for i := 0; i < len(toks); {
		if t := &toks[i]; t.kind != number && !t.amount.has && !begins[t.text] {
			i++
			continue
		}
		v, ok := valueAt(toks, i)
		if !ok {
			i++
			continue
		}
		all = append(all, v)
		i = v.to
	}
	return all
}

// begins are the words that begin a value.
var begins = func() map[string]bool {
	all := map[string]bool{"周": true, "星": true, "礼": true}
	for _, name := range []string{"month", "weekday", "numeral", "currency"} {
		for w := range lists[name].words {
			all[w] = true
		}
	}
	return all
}()

func valueAt(toks []token, i int) (v value, ok bool) {
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
	toks := lex(nil, s)
	v, ok := valueAt(append(toks, token{kind: mark}), 0)
	return ok && v.to == len(toks) && v.has
}

// readAmount reads a number in digits, with its unit.
func readAmount(toks []token, i int) (value, bool) {
	v, t := value{from: i}, toks[i]
	if c := currencies[t.text]; c != "" { // $5, EUR 5
		if next := at(toks, i+1); next.amount.has && (t.kind == word || next.glued) {
			i, t, v.units = i+1, next, []unit{{c, 1}}
		}
	}
	if t.kind != number && !t.amount.has {
		return value{}, false
	}
	v.amount, v.to, v.literal = t.amount, i+1, strings.TrimSuffix(t.text, strings.ToLower(t.suffix))
	if !v.has { // 1.2.3
		return v, true
	}
	if size := multipliers[t.suffix]; size != 0 {
		v.scale(size)
	} else if t.suffix != "" && t.suffix != "Z" && t.suffix != "x" && !isOrdinal(t.suffix) {
		u := unitsOf(t.suffix)
		if u == nil {
			return value{}, false
		}
		v.units = append(v.units, u...)
	}
	if v.units == nil {
		v.readUnit(toks)
	}
	before := at(toks, v.from-1).text
	v.near = v.near || approximate.has(before)
	v.label = labels.has(before)
	return v, true
}

func (v *value) scale(by float64) {
	v.value *= by
	v.step *= by
	v.near = true
}

// readUnit reads the words after a number.
func (v *value) readUnit(toks []token) {
	t := at(toks, v.to)
	if size := multipliers[t.raw]; size != 0 && (t.kind == ideograph || len(t.raw) > 1) {
		v.scale(size)
		v.to++
		t = at(toks, v.to)
	}
	var chinese strings.Builder
	for k := v.to; k < v.to+longest && at(toks, k).kind == ideograph; k++ {
		chinese.WriteString(at(toks, k).text)
	}
	if name := unitName(chinese.String()); name != "" {
		v.units, v.to = unitsOf(strings.TrimPrefix(name, "个")), v.to+utf8.RuneCountInString(name)
	} else if len(t.raw) != 1 || t.glued || strings.IndexByte("sgVAWB%", t.raw[0]) >= 0 { // 5 a day
		if v.units = unitsOf(t.raw); v.units != nil {
			v.to++
		}
	}
}

const longest = 5 // characters of a Chinese unit

// unitName returns the longest Chinese name of a unit at the beginning of a text, with 个 before it, or "".
func unitName(s string) string {
	for n := min(len(s), longest*len("个")); n > 0; n-- {
		if unitsOf(strings.TrimPrefix(s[:n], "个")) != nil {
			return s[:n]
		}
	}
	return ""
}

// readWords reads a number in English words.
func readWords(toks []token, i int) (value, bool) {
	const most = 12 // words
	total, part, k := 0.0, 0.0, i
	for ; k < min(len(toks), i+most); k++ {
		t := toks[k]
		switch n := numerals[t.text]; {
		case n >= 1000:
			total, part = total+part*n, 0
		case n == 100:
			part *= n
		case n > 0:
			part += n
		}
		joint := part >= 20 && t.is("-") || part >= 100 && t.text == "and" // thirty-five, two hundred and two
		if numerals[t.text] == 0 && !(joint && numerals[at(toks, k+1).text] != 0) {
			break
		}
	}
	v := value{amount: amount{true, total + part, 1}, from: i, to: k}
	if v.value <= 1 {
		return value{}, false
	}
	v.readUnit(toks)
	return v, v.units != nil || v.value > small
}

// small numbers without a unit are not checked: models count.
const small = 20

// precision is the size of the last digit that is sure, or 0 if the number is exact.
func (v *value) precision() float64 {
	switch {
	case v.near && v.units == nil && v.step == 1:
		step := 1.0
		for v.value >= 10*step && math.Mod(v.value, 10*step) == 0 {
			step *= 10
		}
		return step
	case v.near, v.units != nil, v.step < 1:
		return v.step
	}
	return 0
}

package claims

import (
	"math"
	"strings"
)

// value is a number, a date or a time in tokens.
type value struct {
	amount

	units   []unit // what it may measure; nil: it is a plain number
	date    date   // zero: none
	clock   string // "14:05", or "14:05:33"; "": none
	label   bool   // a word before it says that it is a name, as in port 80
	near    bool   // it is only about right
	part    bool   // it is a part of a name or a path, or counts lines
	literal string // its digits
	from    int    // the first token
	to      int    // the one after the last
}

// unit is a dimension, with the size of the unit in it.
type unit struct {
	dimension string
	size      float64
}

// values returns the numbers of tokens, in order.
func values(toks []token) (all []value) {
	for i := 0; i < len(toks); {
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

func valueAt(toks []token, i int) (value, bool) {
	for _, read := range [...]func([]token, int) (value, bool){readDate, readClock, readAmount, readWords} {
		if v, ok := read(toks, i); ok {
			return v, true
		}
	}
	return value{}, false
}

// at returns a token, or an empty mark.
func at(toks []token, i int) token {
	if i < 0 || i >= len(toks) {
		return token{kind: mark}
	}
	return toks[i]
}

// whole returns the value of a token that is a whole number without letters, from low to high, or -1.
func whole(t token, low, high int) int {
	if t.kind != number || !t.amount.has || t.amount.step != 1 || strings.ContainsAny(t.raw, ",.") {
		return -1
	}
	if v := t.amount.value; v >= float64(low) && v <= float64(high) {
		return int(v)
	}
	return -1
}

// readAmount reads a number in digits, with its unit.
func readAmount(toks []token, i int) (value, bool) {
	t := toks[i]
	currency := currencies[t.raw]
	if currency == "" && t.kind == word {
		currency = currencies[t.text]
	}
	v := value{from: i}
	if currency != "" { // $5, EUR 5
		if next := at(toks, i+1); next.amount.has && (t.kind == word || next.glued) {
			i, t = i+1, next
			v.units = []unit{{currency, 1}}
		}
	}
	if t.kind != number && (!t.amount.has || t.suffix == "") {
		return value{}, false
	}
	v.amount, v.to, v.literal = t.amount, i+1, strings.TrimSuffix(t.text, strings.ToLower(t.suffix))
	if !v.has { // 1.2.3
		v.part = true
		return v, true
	}
	if !v.readSuffix(t.suffix) {
		return value{}, false
	}
	if v.units == nil {
		v.readUnit(toks)
	}
	before := at(toks, v.from-1)
	v.near = v.near || approximate[before.text] || before.is("~≈约近") || before.text == "than"
	v.label = labels[before.text] || before.is("#") || chineseLabel(toks, v)
	v.part = v.part || isPart(toks, i, v)
	return v, true
}

// readSuffix reads the letters after the digits. It returns false if they make a name of it.
func (v *value) readSuffix(suffix string) bool {
	if suffix == "" || isOrdinal(suffix) || suffix == "Z" || strings.EqualFold(suffix, "x") {
		return true
	}
	if size := multipliers[suffix]; size != 0 {
		v.scale(size)
		return true
	}
	u := unitsOf(suffix)
	v.units = append(v.units, u...)
	return u != nil
}

func (v *value) scale(by float64) {
	v.value *= by
	v.step *= by
	v.near = true
}

// readUnit reads the words after a number.
func (v *value) readUnit(toks []token) {
	t := at(toks, v.to)
	if next := at(toks, v.to+1); t.is("-") && t.glued && next.kind == word && next.glued { // 30-second
		if u := unitsOf(next.raw); u != nil {
			v.units, v.to = u, v.to+2
		}
		return
	}
	if size := multipliers[t.raw]; size != 0 && (t.kind == ideograph || len(t.raw) > 1) {
		v.scale(size)
		v.to++
		t = at(toks, v.to)
	}
	if t.first {
		return
	}
	if t.kind == ideograph {
		v.readChineseUnit(toks)
		return
	}
	u := unitsOf(t.raw)
	if t.is("°") {
		u = []unit{{"temperature", 1}}
	}
	if spaced := len(t.raw) == 1 && t.kind == word && !t.glued; u == nil || spaced && !strings.ContainsAny(t.raw, "sgVAWB") {
		return
	}
	v.units, v.to = u, v.to+1
}

func (v *value) readChineseUnit(toks []token) {
	k, s := v.to, ""
	if at(toks, k).text == "个" {
		k++
	}
	for n := k; n < k+4 && at(toks, n).kind == ideograph; n++ {
		s += at(toks, n).text
	}
	name := unitOf(s)
	if name == "" {
		return
	}
	if v.units == nil {
		v.units = unitsOf(name)
	}
	v.to = k + len([]rune(name))
}

// chineseLabel reports whether words such as 行 or 端口 show that a number is a name.
func chineseLabel(toks []token, v value) bool {
	before := at(toks, v.from-1).text
	return before == "第" && at(toks, v.to).text == "行" || chineseLabels[at(toks, v.from-2).text+before]
}

// isPart reports whether a number is a part of a name, a path or a place in a file.
func isPart(toks []token, i int, v value) bool {
	t, before, next := toks[i], at(toks, i-1), at(toks, v.to)
	far := at(toks, i-2)
	switch {
	case t.glued && before.is("_/.") && before.glued,
		t.glued && before.is("-") && before.glued && far.kind != number && far.kind != mark,
		t.glued && before.kind == word && currencies[before.text] == "":
		return true
	case next.glued && next.is("_/") && at(toks, v.to+1).glued && at(toks, v.to+1).kind == word && v.units == nil:
		return true
	case next.glued && next.is("-") && at(toks, v.to+1).kind == word && at(toks, v.to+1).glued && v.units == nil:
		return true
	}
	place := t.glued && before.is(":") && before.glued && far.kind == word && far.glued && at(toks, i-3).is("./")
	return place || t.first && v.units == nil && next.is(":|→")
}

// readWords reads a number in English words.
func readWords(toks []token, i int) (value, bool) {
	const most = 12 // words
	total, part, k := 0.0, 0.0, i
	for ; k < min(len(toks), i+most); k++ {
		n := numerals[toks[k].text]
		switch {
		case n >= 1000 && part > 0:
			total, part = total+part*n, 0
		case n == 100 && part > 0:
			part *= n
		case n > 0 && n < 100 && (part == 0 || part >= 100 || part >= 20 && n < 10 && math.Mod(part, 10) == 0):
			part += n
		case k > i && (toks[k].is("-") || toks[k].text == "and") && part >= 20 && numerals[at(toks, k+1).text] != 0: // thirty-five
		default:
			n = -1
		}
		if n < 0 {
			break
		}
	}
	v := value{amount: amount{true, total + part, 1}, from: i, to: k}
	if v.value <= 1 {
		return value{}, false
	}
	v.readUnit(toks)
	return v, v.units != nil || v.value > 20
}

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

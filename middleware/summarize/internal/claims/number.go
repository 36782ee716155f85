package claims

import (
	"math"
	"slices"
	"strings"
	"time"
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

type date struct{ year, month, day int }

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

func isYear(t token) int { return whole(t, 1900, 2199) }

// yearAt returns a year that does not begin a date, or -1.
func yearAt(toks []token, k int) int {
	if next := at(toks, k+1); next.is("-/年") && next.glued {
		return -1
	}
	return isYear(at(toks, k))
}

// readDate reads a date with at least two of year, month and day.
func readDate(toks []token, i int) (value, bool) {
	a, b, c, d, e := at(toks, i), at(toks, i+1), at(toks, i+2), at(toks, i+3), at(toks, i+4)
	found := func(y, m, day, n int) (value, bool) {
		return value{date: date{y, m, day}, from: i, to: i + n}, true
	}
	y := isYear(a)
	if a.kind == number && strings.Count(a.raw, ".") == 2 { // 2026.11.17, 17.11.2026
		return dottedDate(a, i)
	}
	switch month := months[a.text]; {
	case y > 0 && b.is("-/") && b.glued && whole(c, 1, 12) > 0 && len(c.raw) <= 2 && c.glued:
		if d.is(b.raw) && d.glued && whole(e, 1, 31) > 0 {
			return found(y, whole(c, 1, 12), whole(e, 1, 31), 5)
		}
		if len(c.raw) == 2 && b.raw == "-" {
			return found(y, whole(c, 1, 12), 0, 3)
		}
	case y > 0 && b.text == "年" && whole(c, 1, 12) > 0 && d.text == "月":
		if isDay(toks, i+4) {
			return found(y, whole(c, 1, 12), whole(e, 1, 31), 6)
		}
		return found(y, whole(c, 1, 12), 0, 4)
	case whole(a, 1, 12) > 0 && b.text == "月" && isDay(toks, i+2):
		return found(0, whole(a, 1, 12), whole(c, 1, 31), 4)
	case month > 0 && a.kind == word:
		return monthFirst(toks, i, month)
	case dayOf(a) > 0:
		k := i + 1
		if at(toks, k).text == "of" {
			k++
		}
		m := months[at(toks, k).text]
		if m == 0 {
			break
		}
		n := k + 1 - i
		if y := yearAt(toks, k+2); y > 0 && at(toks, k+1).is(",.") {
			return found(y, m, dayOf(a), n+2)
		}
		if y := yearAt(toks, k+1); y > 0 {
			return found(y, m, dayOf(a), n+1)
		}
		return found(0, m, dayOf(a), n)
	}
	if w := weekdays[a.text]; w > 0 && a.kind == word {
		return value{date: date{day: -w}, from: i, to: i + 1}, true
	}
	return chineseWeekday(toks, i)
}

func chineseWeekday(toks []token, i int) (value, bool) {
	a, b := at(toks, i), at(toks, i+1)
	n := 1
	if a.text == "星" && b.text == "期" || a.text == "礼" && b.text == "拜" {
		n, b = 2, at(toks, i+2)
	} else if a.text != "周" {
		return value{}, false
	}
	w := strings.Index("一二三四五六日天", b.raw)
	if b.raw == "" || w < 0 {
		return value{}, false
	}
	return value{date: date{day: -min(w/len("一")+1, 7)}, from: i, to: i + n + 1}, true
}

// isDay reports whether a token is a day of a month in Chinese.
func isDay(toks []token, i int) bool {
	return whole(at(toks, i), 1, 31) > 0 && strings.Contains("日号", at(toks, i+1).text) && at(toks, i+1).kind == ideograph
}

// dayOf returns the day in 17 or 17th, or 0.
func dayOf(t token) int {
	if d := whole(t, 1, 31); d > 0 {
		return d
	}
	if t.amount.has && isOrdinal(t.suffix) && t.amount.value <= 31 {
		return int(t.amount.value)
	}
	return 0
}

func isOrdinal(suffix string) bool {
	return slices.Contains([]string{"st", "nd", "rd", "th"}, strings.ToLower(suffix))
}

// monthFirst reads a date as November 17, 2026.
func monthFirst(toks []token, i, month int) (value, bool) {
	k := i + 1
	if at(toks, k).is(".") && at(toks, k).glued {
		k++
	}
	v := value{date: date{month: month}, from: i}
	if y := yearAt(toks, k); y > 0 {
		v.date.year, v.to = y, k+1
		return v, true
	}
	if v.date.day = dayOf(at(toks, k)); v.date.day == 0 {
		return value{}, false
	}
	v.to = k + 1
	if at(toks, v.to).is(",") {
		k++
	}
	if y := yearAt(toks, k+1); y > 0 {
		v.date.year, v.to = y, k+2
	}
	return v, true
}

func dottedDate(t token, i int) (value, bool) {
	var n [3]int
	for k, part := range strings.SplitN(t.raw, ".", 3) {
		for _, r := range part {
			n[k] = min(n[k]*10+int(r-'0'), 1e6)
		}
	}
	if n[0] < 1900 {
		n[0], n[2] = n[2], n[0]
	}
	if n[0] < 1900 || n[0] > 2199 || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 {
		return value{}, false
	}
	return value{date: date{n[0], n[1], n[2]}, from: i, to: i + 1}, true
}

// readClock reads 14:05, 14:05:33, 2 pm, and 下午3点.
func readClock(toks []token, i int) (value, bool) {
	const noon = 12
	a, k := at(toks, i), i+1
	hour, minute, second := -1, 0, ""
	if a.amount.has && a.kind == number {
		hour = whole(a, 0, 24)
	} else if a.amount.has && (a.suffix == "am" || a.suffix == "pm") {
		hour, k = int(a.amount.value), i
	}
	before := at(toks, i-1)
	if hour < 0 || hour > 24 || before.is(":") && a.glued {
		return value{}, false
	}
	exact, pm := false, false
	switch b, c := at(toks, i+1), at(toks, i+2); {
	case b.is(":") && b.glued && c.glued && digitsAt(c.raw, 0) == 2 && c.amount.has && c.amount.value < 60:
		minute, k, exact = int(c.amount.value), i+3, true
		if d, e := at(toks, k), at(toks, k+1); d.is(":") && d.glued && digitsAt(e.raw, 0) >= 2 && e.glued {
			second, k = e.raw[:2], k+2
		}
		pm = c.suffix == "pm"
	case b.text == "点" && !strings.Contains("数击赞", c.text+"?"):
		k, exact = i+2, true
		if m := whole(c, 0, 59); m >= 0 && c.glued {
			minute, k = m, i+3
		} else if c.text == "半" {
			minute, k = 30, i+3
		}
	}
	for n := 1; n <= 2; n++ {
		pm = pm || strings.Contains("下午 晚上", at(toks, i-n-1).text+at(toks, i-n).text) && at(toks, i-n).kind == ideograph && at(toks, i-n-1).kind == ideograph
	}
	switch t := at(toks, k); {
	case k == i || t.text == "am" || t.text == "pm":
		pm, exact = pm || strings.HasSuffix(t.text, "pm"), true
		k++
	case (t.text == "a" || t.text == "p") && at(toks, k+1).is(".") && at(toks, k+2).text == "m":
		pm, exact = pm || t.text == "p", true
		k += 3
	}
	if !exact {
		return value{}, false
	}
	if pm && hour < noon {
		hour += noon
	}
	clock := two(hour) + ":" + two(minute)
	if second != "" {
		clock += ":" + second
	}
	return value{clock: clock, from: i, to: k}, true
}

func two(n int) string { return string([]byte{byte('0' + n/10%10), byte('0' + n%10)}) }

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
	rest := t.suffix
	if t.suffix != "" && !isOrdinal(t.suffix) && t.suffix != "Z" && !strings.EqualFold(t.suffix, "x") {
		size, u := multiplierOf(t.suffix), unitsOf(t.suffix)
		switch {
		case size != 0:
			v.scale(size)
		case u != nil:
			v.units = append(v.units, u...)
		default:
			return value{}, false // a name
		}
	}
	if rest == "" || v.units == nil {
		v.readUnit(toks)
	}
	before := at(toks, v.from-1)
	v.near = v.near || approximate[before.text] || before.is("~≈约近") || before.text == "than"
	v.label = labels[before.text] || before.is("#") || before.is("第") || at(toks, v.from-1).text == "号" && at(toks, v.from-2).text == "端"
	v.label = v.label || chineseLabel(toks, v)
	v.part = v.part || isPart(toks, i, v)
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
	if t.is("-") && t.glued && at(toks, v.to+1).kind == word && at(toks, v.to+1).glued { // 30-second
		if u := unitsOf(at(toks, v.to+1).raw); u != nil {
			v.units, v.to = u, v.to+2
		}
		return
	}
	if size := multiplierOf(t.raw); size != 0 && (t.kind == ideograph || len(t.raw) > 1) {
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
	if c := currencies[t.raw]; c != "" && t.kind == mark || t.kind == word && currencies[t.text] != "" {
		if c == "" {
			c = currencies[t.text]
		}
		u = []unit{{c, 1}}
	}
	if t.is("°") {
		u, v.to = []unit{{"temperature", 1}}, v.to+1
	}
	if u != nil && (len(t.raw) > 1 || t.glued || t.kind == mark || strings.ContainsAny(t.raw, "sgVAWB")) {
		if v.units == nil {
			v.units = u
		}
		v.to = min(v.to+1, len(toks))
	}
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
	before := at(toks, v.from-2).text + at(toks, v.from-1).text
	return strings.Contains("端口 出码 态码 版本 错误", before) && len(before) >= 6 || before != "" && at(toks, v.to).text == "行" && at(toks, v.from-1).text == "第"
}

// isPart reports whether a number is a part of a name, a path or a place in a file.
func isPart(toks []token, i int, v value) bool {
	t, before, next := toks[i], at(toks, i-1), at(toks, v.to)
	far := at(toks, i-2)
	switch {
	case t.glued && before.is("_/.") && before.glued, t.glued && before.is("-") && before.glued && far.kind != number && far.kind != mark,
		t.glued && before.kind == word && currencies[before.text] == "":
		return true
	case next.glued && next.is("_/") && at(toks, v.to+1).glued && at(toks, v.to+1).kind == word && v.units == nil:
		return true
	case next.glued && next.is("-") && at(toks, v.to+1).kind == word && at(toks, v.to+1).glued && v.units == nil:
		return true
	}
	return t.first && v.units == nil && next.is(":|→") || t.glued && before.is(":") && far.kind == word && before.glued && far.glued && at(toks, i-3).is("./")
}

// readWords reads a number in English words.
func readWords(toks []token, i int) (value, bool) {
	if toks[i].kind != word || numerals[toks[i].text] == 0 {
		return value{}, false
	}
	total, part, k := 0.0, 0.0, i
	for ; k < min(len(toks), i+12); k++ {
		t := toks[k]
		n := numerals[t.text]
		switch {
		case n == 0 && k > i && (t.is("-") || t.text == "and") && numerals[at(toks, k+1).text] != 0 && part >= 20:
		case n == 100 && k > i:
			part *= n
		case n >= 1000 && k > i:
			total, part = total+part*n, 0
		case n > 0 && n < 100 && (part == 0 || part >= 20 && n < 10 || part >= 100 && n < 100):
			part += n
		default:
			n = -1
		}
		if n < 0 || n == 0 && !t.is("-") && t.text != "and" {
			break
		}
	}
	v := value{amount: amount{true, total + part, 1}, from: i, to: k}
	v.readUnit(toks)
	if v.value <= 1 || v.units == nil && v.value <= 20 {
		return value{}, false
	}
	return v, true
}

// weekday returns the day of the week of a date with a year, from 1 for Monday, or 0.
func (d date) weekday() int {
	if d.year == 0 || d.day <= 0 || d.month == 0 {
		return 0
	}
	return (int(time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday())+6)%7 + 1
}

// precision is the size of the last digit that is sure, or 0 if the number is exact.
func (v value) precision() float64 {
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

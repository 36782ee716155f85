package lex

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
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
		t := &toks[i]
		isDay := months[t.Text] > 0 || weekdays[t.Text] > 0 || slices.Contains([]string{"周", "星", "礼"}, t.Text)
		if t.Kind != Digits && !t.Amount.Has && !isDay && !currencies.Has(t.Text) {
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

// readAmount reads a number in digits, with its unit.
func readAmount(toks []Token, i int) (Value, bool) {
	v, t := Value{From: i}, toks[i]
	if next := At(toks, i+1); currencies.Has(t.Text) && next.Amount.Has { // $5, EUR 5
		i++
		t = *next
		v.Units = []Unit{{"money", 1}}
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
		u := units[strings.ToLower(t.Suffix)]
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
		v.Units, v.To = units[strings.ToLower(strings.TrimPrefix(name, "个"))], v.To+utf8.RuneCountInString(name)
	} else if len(t.Raw) != 1 || t.Glued || strings.IndexByte("sgVAWB%", t.Raw[0]) >= 0 { // 5 a day
		v.Units = units[strings.ToLower(t.Raw)]
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
		if v.Units == nil {
			return step
		}
		if math.Mod(v.Value, 5*step) == 0 { // 55, 250
			step *= 5
		}
		return min(step, max(1, v.Value/10))
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
	isFraction := rest[0] == ',' && digitsAt(rest, 1) == len("50") && strings.HasPrefix(rest[len(",50"):], " ") // 299,50 EUR
	return first == Digit && (isAfter || next == Digit && isGroup(rest) || isFraction)
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

// Day is a day, a month of a year, a day of any year, or, with a negative day, a day of the week: -1 is Monday.
type Day struct{ Year, Month, Day int }

// forms are how dates and times are written, longer ones first. Some letters are [fields]. Anything else is written as it
// is. What begins with ~ follows without a space; what ends in ? may be missing.
var forms = [...]string{
	"Y ~- ~M ~- ~D", "Y ~/ ~M ~/ ~D", "Y ~- ~M", "Y 年 M 月 D 日", "Y 年 M 月 D 号", "Y 年 M 月", "M 月 D 日", "M 月 D 号",
	"D of? N ,? Y", "D of? N", "N .? Y", "N .? D ,? Y", "N .? D", "W", "星 期 w", "礼 拜 w", "周 w",
	"h ~: ~i ~: ~s p?", "h ~: ~i P . m", "h ~: ~i p?", "h 点 n", "h 点", "h P . m", "h p", "H",
}

// fields are numbers by the letters of their fields: Y year, M month, N its name, D day, W its name, w in Chinese, h hour,
// H with am or pm, i minute, n of any length, s second, p am or pm, P a or p.
type fields [unicode.MaxASCII]int16

const am, pm = 1, 2

var halves = map[string]int16{"am": am, "pm": pm}

// ranges are the least and the highest number of a field, and the least length.
var ranges = [unicode.MaxASCII][3]int16{
	'Y': {1900, 2199}, 'M': {1, 12}, 'D': {1, 31}, 'h': {0, 24}, 'H': {0, 12}, 'i': {0, 59, 2}, 'n': {0, 59}, 's': {0, 60, 2},
}

// read reads a token as a field.
func (f *fields) read(field byte, t *Token) (ok bool) {
	half, n := halves[strings.ToLower(t.Suffix)], int16(0)
	r := ranges[field]
	switch {
	case field == 'N':
		n = int16(months[t.Text])
	case field == 'w', field == 'W' && t.Kind == Word:
		n = int16(weekdays[strings.ToLower(t.Raw)])
	case field == 'p':
		n = halves[t.Text]
	case field == 'P':
		n = halves[t.Text+"m"]
	case field == 'n' && t.Text == "半":
		f[field] = 30
		return true
	case t.Amount.Has && t.Amount.Value < 3000:
		whole := field == 's' || t.Amount.Step == 1 && !strings.Contains(t.Raw, ",") // 33.5Z
		plain := t.Kind == Digits || field == 's' || half > 0 || field == 'D' && IsOrdinal(t.Suffix)
		f[field] = int16(t.Amount.Value)
		f['p'] = max(f['p'], half)
		return whole && plain && r[0] <= f[field] && f[field] <= r[1] && len(t.Raw) >= int(r[2]) && (half > 0 || field != 'H')
	}
	f[field] = n
	return n > 0
}

// readTime reads a date with at least two of year, month and day, a day of the week, or a time.
func readTime(toks []Token, i int) (Value, bool) {
	t, next := &toks[i], At(toks, i+1)
	if t.Amount.Has && (t.Suffix == "" || IsOrdinal(t.Suffix)) && !next.Is("-/:") && months[next.Text] == 0 && !timed.Has(next.Text) {
		return Value{}, false
	}
	for _, form := range forms {
		if strings.ContainsAny(form[:1], "YMDhH") != t.Amount.Has {
			continue
		}
		var f fields
		n := f.match(form, toks, i)
		isClock := strings.ContainsAny(form[:1], "hH")
		if n == 0 || isClock && At(toks, i-1).Is(":") {
			continue
		}
		v := Value{Date: Day{int(f['Y']), int(f['M'] + f['N']), int(f['D'] - f['W'] - f['w'])}, From: i, To: i + n}
		if isClock {
			v.Clock = f.clock(At(toks, i-2).Text + At(toks, i-1).Text)
		}
		return v, true
	}
	return Value{}, false
}

// match returns the number of tokens that have a form, or 0.
func (f *fields) match(form string, toks []Token, i int) (n int) {
	for e := range strings.SplitSeq(form, " ") {
		t, next := At(toks, i+n), At(toks, i+n+1)
		e, isGlued := strings.CutPrefix(e, "~")
		e, isOptional := strings.CutSuffix(e, "?")
		isField := len(e) == 1 && strings.IndexByte("YMNDWwhHinspP", e[0]) >= 0
		if e == "Y" && n > 0 && (next.Is("-/") && next.Glued || next.Text == "年") { // 18 November, 2027-11-17
			return 0
		}
		if (!isGlued || t.Glued) && (!isField && t.Text == e || isField && f.read(e[0], t)) {
			n++
		} else if !isOptional {
			return 0
		}
	}
	return n
}

// clock returns a time after a word.
func (f *fields) clock(before string) string {
	const noon = 12
	hour, half := f['h']+f['H'], max(f['p'], f['P'])
	switch {
	case hour < noon && (half == pm || before == "下午" || before == "晚上"):
		hour += noon
	case hour == noon && half == am:
		hour = 0
	}
	clock := fmt.Sprintf("%02d:%02d", hour, f['i']+f['n'])
	if f['s'] > 0 {
		clock += fmt.Sprintf(":%02d", f['s'])
	}
	return clock
}

// Weekday returns the day of the week of a day with a year, as a date has it, or 0.
func (d Day) Weekday() int {
	if d.Year == 0 || d.Day <= 0 || d.Month == 0 {
		return 0
	}
	return -cmp.Or(int(time.Date(d.Year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Weekday()), 7)
}

// IsOrdinal reports whether letters after digits are those of 2nd.
func IsOrdinal(suffix string) bool {
	return slices.Contains([]string{"st", "nd", "rd", "th"}, strings.ToLower(suffix))
}

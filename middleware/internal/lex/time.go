package lex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

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
		isField := len(e) == 1 && strings.Contains("YMNDWwhHinspP", e)
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

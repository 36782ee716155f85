package claims

import (
	"slices"
	"strings"
	"time"
)

// date is a day, a month of a year, a day of any year, or, with a negative day, a day of the week: -1 is Monday.
type date struct{ year, month, day int }

// readDate reads a date with at least two of year, month and day, or a day of the week.
func readDate(toks []token, i int) (value, bool) {
	for _, read := range [...]func([]token, int) (date, int){numericDate, chineseDate, dayFirst, monthFirst, weekday} {
		if d, n := read(toks, i); n > 0 {
			return value{date: d, from: i, to: i + n}, true
		}
	}
	return value{}, false
}

// numericDate reads 2026-11-17, 2026/11/17, 2026-11 and 17.11.2026. The others return the number of tokens as well.
func numericDate(toks []token, i int) (d date, n int) {
	a, dash, month, dash2, day := at(toks, i), at(toks, i+1), at(toks, i+2), at(toks, i+3), at(toks, i+4)
	if a.kind == number && strings.Count(a.raw, ".") == 2 {
		return dottedDate(a)
	}
	d = date{year: isYear(a), month: whole(month, 1, 12)}
	switch {
	case d.year < 0 || d.month < 0 || !dash.is("-/") || !dash.glued || !month.glued || len(month.raw) > 2:
	case dash2.is(dash.raw) && dash2.glued && whole(day, 1, 31) > 0:
		d.day = whole(day, 1, 31)
		return d, 5
	case len(month.raw) == 2 && dash.raw == "-":
		return d, 3
	}
	return d, 0
}

func dottedDate(t token) (d date, tokens int) {
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
		return date{}, 0
	}
	return date{n[0], n[1], n[2]}, 1
}

// chineseDate reads 2026年11月17日, 2026年11月 and 11月17日.
func chineseDate(toks []token, i int) (d date, n int) {
	if y := isYear(at(toks, i)); y > 0 && at(toks, i+1).text == "年" {
		d.year, n = y, 2
	}
	d.month = whole(at(toks, i+n), 1, 12)
	if d.month < 0 || at(toks, i+n+1).text != "月" {
		return date{}, 0
	}
	n += 2
	if end := at(toks, i+n+1).text; whole(at(toks, i+n), 1, 31) > 0 && (end == "日" || end == "号") {
		d.day = whole(at(toks, i+n), 1, 31)
		return d, n + 2
	}
	if d.year == 0 {
		return date{}, 0
	}
	return d, n
}

// dayFirst reads 17 November 2026 and 17th of November.
func dayFirst(toks []token, i int) (d date, n int) {
	n = 1
	if at(toks, i+n).text == "of" {
		n++
	}
	d = date{day: dayOf(at(toks, i)), month: months[at(toks, i+n).text]}
	if d.day == 0 || d.month == 0 {
		return date{}, 0
	}
	return withYear(toks, i, d, n+1)
}

// monthFirst reads November 17, 2026 and November 2026.
func monthFirst(toks []token, i int) (d date, n int) {
	d.month, n = months[at(toks, i).text], 1
	if d.month == 0 || at(toks, i).kind != word {
		return date{}, 0
	}
	if dot := at(toks, i+n); dot.is(".") && dot.glued {
		n++
	}
	if d.year = max(0, yearAt(toks, i+n)); d.year > 0 {
		return d, n + 1
	}
	if d.day = dayOf(at(toks, i+n)); d.day == 0 {
		return date{}, 0
	}
	return withYear(toks, i, d, n+1)
}

// withYear adds the year after n tokens of a date.
func withYear(toks []token, i int, d date, n int) (date, int) {
	k := n
	if comma := at(toks, i+k); comma.is(",.") {
		k++
	}
	if y := yearAt(toks, i+k); y > 0 {
		d.year = y
		return d, k + 1
	}
	return d, n
}

// weekday reads Monday, 周一 and 星期一.
func weekday(toks []token, i int) (d date, n int) {
	a, b := at(toks, i), at(toks, i+1)
	if w := weekdays[a.text]; w > 0 && a.kind == word {
		return date{day: -w}, 1
	}
	n = 2
	if a.text == "星" && b.text == "期" || a.text == "礼" && b.text == "拜" {
		n, b = 3, at(toks, i+2)
	} else if a.text != "周" {
		return date{}, 0
	}
	w := slices.Index([]string{"一", "二", "三", "四", "五", "六", "日", "天"}, b.raw)
	if w < 0 {
		return date{}, 0
	}
	return date{day: -min(w+1, 7)}, n
}

func isYear(t token) int { return whole(t, 1900, 2199) }

// yearAt returns a year that does not begin a date, or -1.
func yearAt(toks []token, k int) int {
	if next := at(toks, k+1); next.is("-/") && next.glued || next.text == "年" {
		return -1
	}
	return isYear(at(toks, k))
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

// weekday returns the day of the week of a day with a year, as a date has it, or 0.
func (d date) weekday() int {
	if d.year == 0 || d.day <= 0 || d.month == 0 {
		return 0
	}
	return -((int(time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday())+6)%7 + 1)
}

// readClock reads 14:05, 14:05:33, 2 pm, and 下午3点半.
func readClock(toks []token, i int) (value, bool) {
	a := at(toks, i)
	hour := whole(a, 0, 24)
	if half := strings.ToLower(a.suffix); a.amount.has && (half == "am" || half == "pm") && a.amount.value <= 12 {
		hour = int(a.amount.value)
	}
	if before := at(toks, i-1); hour < 0 || before.is(":") && a.glued {
		return value{}, false
	}
	minutes, n := clockMinutes(toks, i)
	half, more, after := halfOfDay(toks, i, n)
	if n == 0 && !after {
		return value{}, false
	}
	const noon = 12
	switch {
	case half == "pm" && hour < noon:
		hour += noon
	case half == "am" && hour == noon:
		hour = 0
	}
	if minutes == "" {
		minutes = ":00"
	}
	return value{clock: two(hour) + minutes, from: i, to: i + max(n, 1) + more}, true
}

// clockMinutes returns the minutes, and seconds, after an hour, as :05:33, and the tokens of the time.
func clockMinutes(toks []token, i int) (minutes string, n int) {
	b, c := at(toks, i+1), at(toks, i+2)
	switch {
	case b.is(":") && b.glued && c.glued && digitsAt(c.raw, 0) == 2 && c.amount.has && c.amount.value < 60:
		minutes, n = ":"+c.raw[:2], 3
		if d, e := at(toks, i+3), at(toks, i+4); d.is(":") && d.glued && digitsAt(e.raw, 0) >= 2 && e.glued {
			return minutes + ":" + e.raw[:2], 5
		}
		return minutes, n
	case b.text != "点" || slices.Contains([]string{"数", "击", "赞"}, c.text):
		return "", 0
	case c.text == "半":
		return ":30", 3
	case whole(c, 0, 59) >= 0 && c.glued:
		return ":" + two(whole(c, 0, 59)), 3
	}
	return "", 2
}

// halfOfDay returns am or pm, before or after a time of n tokens, the tokens of that after it, and whether there is one
// after it.
func halfOfDay(toks []token, i, n int) (half string, more int, after bool) {
	k := i + max(n, 1)
	last, t, dot, m := at(toks, k-1), at(toks, k), at(toks, k+1), at(toks, k+2)
	if s := strings.ToLower(last.suffix); s == "am" || s == "pm" {
		return s, 0, true
	}
	switch {
	case t.text == "am" || t.text == "pm":
		return t.text, 1, true
	case (t.text == "a" || t.text == "p") && dot.is(".") && m.text == "m":
		return t.text + "m", 3, true
	}
	for k := i - 1; k >= max(1, i-2); k-- {
		if before := at(toks, k-1).text + at(toks, k).text; before == "下午" || before == "晚上" {
			return "pm", 0, false
		}
	}
	return "", 0, false
}

func two(n int) string { return string([]byte{byte('0' + n/10%10), byte('0' + n%10)}) }

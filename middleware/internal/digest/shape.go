package digest

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// kind is the kind of a fact, mostly by its shape.
type kind uint8

const (
	none   kind = iota // a word of a sentence
	number             // 1633, 54.04, 15%, 12:30
	amount             // $54.04, 1,299元
	date               // 2024-05-15, 16 May 2024, 2026年3月15日
	email              // ann@example.com
	link               // https://example.com/a
	path               // /a/b.go, a/b_c
	file               // b.go
	id                 // HAT045, #W123, credit_card_7815826, +1 555 123 4567
	hash               // 4afd4e47, 3f2504e0-4f89-11d3-9a0c-0305e82c3301
	host               // 127.0.0.1, localhost:8080, v1.26.8
	symbol             // getUser, get_user, self.model
	code               // JFK
	text               // all of a value, or words in quotes
	fault              // the message of an error
	lines              // lines 601-1116: the numbers before the lines of a listing
	kinds
)

// traits are the characters of a token: how many of each class.
type traits struct {
	n         [classes]int
	letters   int
	humps     int  // lower case before upper case: getUser
	beyondHex bool // has a letter that is not a hexadecimal digit
}

func traitsOf(s string) (t traits) {
	before := mark
	for i := 0; i < len(s); {
		c, size := classAt(s, i)
		t.n[c]++
		if c == upper && before == lower {
			t.humps++
		}
		t.beyondHex = t.beyondHex || c >= lower && c != digit && s[i]|0x20 > 'f'
		before = c
		i += size
	}
	t.letters = t.n[lower] + t.n[upper] + t.n[letter] + t.n[ideograph]
	return t
}

// isPlainWord reports whether a token is a word such as Order. Most tokens of prose
// are.
func isPlainWord(s string) bool {
	for i := range len(s) {
		if b := s[i]; b >= utf8.RuneSelf || ascii[b] != lower && (i > 0 || ascii[b] != upper) {
			return false
		}
	}
	return true
}

// shapeOf returns the kind of a token by its shape.
func shapeOf(s string) kind {
	if isPlainWord(s) {
		return none
	}
	t := traitsOf(s)
	n := &t.n
	switch {
	case strings.Contains(s, "://"):
		return link
	case n[at] == 1 && n[slash]+n[colon] == 0 && s[0] != '@' && strings.IndexByte(s[strings.IndexByte(s, '@'):], '.') > 1:
		return email
	case t.letters == 0:
		return numericShape(s, &t)
	case strings.Contains(s, `:\`):
		return path
	case t.letters <= 2 && len(s) > 12 && s[4] == '-' && s[7] == '-' && s[10]|0x20 == 't': // 2024-05-15T12:18:24Z
		return date
	case n[slash] > 0:
		return slashedShape(s, &t)
	case strings.Contains(s, "::"):
		return symbol
	case n[colon] > 0:
		if _, rest, _ := strings.Cut(s, ":"); shapeOf(rest) == hash { // sha256:…
			return hash
		}
		return host
	case n[under] == 0 && n[digit] > 0 && (t.letters == 1 && s[0]|0x20 == 'v' || n[dot] > 1 && is(s, 0, digit)): // v1.26.8, 1.2.3-rc1
		return host
	case isHash(s, &t):
		return hash
	case n[dot] > 0 && (n[dot] == 1 || n[under]+n[dash] > 0) && fileName.MatchString(s):
		return file
	}
	return wordShape(s, &t)
}

var (
	fileName = regexp.MustCompile(`^..+\.[a-z][a-z\d]{0,4}$`) // also obj.field
	// 12kB, 3rd, 0x1F, 9c0.
	measure = regexp.MustCompile(`^(?:0x[\da-fA-F]{1,4}|\d[\d.]*[^\d.]{1,3}|[\da-f]{1,6})$`)
)

// wordShape returns the kind of a token without slashes and colons.
func wordShape(s string, t *traits) kind {
	n := &t.n
	switch {
	case n[digit] > 0 && n[under]+n[dash]+n[sign] == 0 && (len(s) < 7 || is(s, 0, digit) && len(s) < 24) && measure.MatchString(s):
		return number
	case n[dot] > 0:
		if len(s) > 2*n[dot]+1 { // not e.g
			return symbol
		}
	case n[digit] > 0 && (n[lower]+n[letter]+n[ideograph] == 0 || n[under]+n[dash] > 0 || n[digit] > 2 || s[0] == '#'):
		return id
	case n[digit] > 0, t.humps > 0, n[under] > 0 && t.letters > 1, s[0] == '@':
		return symbol
	case n[upper] > 1 && n[upper] == t.letters:
		return code
	}
	return none
}

// days matches 2024-05-15, 5/15/2024 and 15.05.2024.
var days = regexp.MustCompile(`^(?:\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d{4}\.\d\d?\.\d\d?|` +
	`\d\d?-\d\d?-\d{4}|\d\d?/\d\d?/(?:\d\d|\d{4})|\d\d?\.\d\d?\.\d{4})$`)

// numericShape returns the kind of a token without letters.
func numericShape(s string, t *traits) kind {
	n := &t.n
	switch {
	case n[digit] == 0:
		return none
	case s[0] == '#', s[0] == '+' && n[digit] > 6:
		return id
	case s[0] == '$':
		return amount
	case n[dash]+n[slash]+n[dot] == 2 && days.MatchString(s):
		return date
	case n[slash] > 0:
		return none
	case n[dot] > 1:
		return host
	case n[dash] > 0 && s[0] != '-' && n[digit] > 6 && n[colon] == 0:
		return id
	}
	return number
}

// slashedShape tells paths and links from words such as and/or.
func slashedShape(s string, t *traits) kind {
	inner := strings.Count(strings.Trim(s, "/"), "/")
	switch {
	case inner > 0 && s[0] != '.' && strings.IndexByte(s[:strings.IndexByte(s, '/')], '.') > 0:
		return link // example.com/a/b
	case inner > 1, strings.HasSuffix(s, "/"), t.n[under] > 0, t.n[dot] > 0 && !strings.HasPrefix(s, "./"),
		inner > 0 && (t.n[digit] > 0 || strings.IndexByte("/.~", s[0]) >= 0):
		return path
	}
	return none
}

// isHash matches hexadecimal numbers of seven digits or more, and UUIDs.
func isHash(s string, t *traits) bool {
	const short, uuid = 7, 36
	return !t.beyondHex && t.n[digit] > 0 && (t.n[lower] == 0 || t.n[upper] == 0) &&
		(len(s) == uuid && t.n[dash] == 4 || len(s) >= short && t.n[digit]+t.letters == len(s))
}

// What a token is extended by: a number, a month, or + and a digit. Currencies are
// codes of ISO 4217 and a few words.
var (
	isCurrency = setOf("USD EUR GBP CNY RMB JPY INR KRW CHF CAD AUD NZD HKD TWD SGD BRL MXN RUB ZAR SEK NOK DKK PLN CZK HUF RON TRY UAH " +
		"THB IDR MYR PHP VND AED SAR QAR EGP NGN KES ILS PKR BDT ARS CLP COP PEN BTC ETH kr руб zł 원 만원")
	isMonth = setOf("January February March April May June July August September October November December " +
		"Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec")
	moreDigits  = regexp.MustCompile(`^(?: \d{3})*(?:,\d\d)?`)
	easternUnit = regexp.MustCompile(`^(?:[万亿美欧日]?元|块|万?円)`)
	easternDate = regexp.MustCompile(`^(?:年(?:\d\d?月(?:\d\d?[日号])?)?|月\d\d?[日号])`)
	year        = regexp.MustCompile(`^[ ,.]{1,2}\d{4}\b`)
	afterMonth  = regexp.MustCompile(`^[ ,.]{1,2}(?:\d\d?(?:st|nd|rd|th)?\b(?:[ ,.]{1,2}\d{4}\b)?|\d{4}\b)`)
	phone       = regexp.MustCompile(`^(?:[ ()-]{0,2}\d){5,}`)
)

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// extension returns how much of rest belongs to a token of a kind that precedes it,
// and the kind of both. It is 0 for most tokens.
func extension(w string, k kind, rest string) (n int, whole kind) {
	const longest = 32
	rest = rest[:min(len(rest), longest)]
	switch {
	case k == none && isMonth[w]:
		return len(afterMonth.FindString(rest)), date
	case w[0] == '+':
		return len(phone.FindString(rest)), id
	case k != number || rest == "":
		return 0, k
	case strings.HasPrefix(rest, "年"), strings.HasPrefix(rest, "月"):
		return len(easternDate.FindString(rest)), date
	case rest[0] == ',' && skip(rest, 1, digits) == len(",00"), rest[0] == ' ' && len(w) <= 3 && skip(rest, 1, digits) == len(" 000"):
		n = len(moreDigits.FindString(rest))
	}
	from := skip(rest[:min(len(rest), n+1)], n, " ")
	if from == len(rest) {
		return 0, k
	}
	end := wordEnd(rest, from)
	switch c, size := classAt(rest, from); {
	case c == currency:
		return from + size, amount
	case c == ideograph:
		if unit := len(easternUnit.FindString(rest[from:])); unit > 0 {
			return from + unit, amount
		}
	case c == digit || end == from:
	case isCurrency[rest[from:end]]:
		return end, amount
	case from == 1 && len(w) <= 2 && isMonth[rest[from:end]]:
		if more := len(year.FindString(rest[end:])); more > 0 {
			return end + more, date
		}
	}
	return 0, k
}

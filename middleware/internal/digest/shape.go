package digest

import (
	"slices"
	"strings"
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
	kinds
)

// traits are the characters of a token.
type traits struct {
	lower, upper, digit, letter               int
	dot, slash, dash, under, colon, at, other int
	humps                                     int  // lower case before upper case: getUser
	beyondHex                                 bool // has a letter that is not a hexadecimal digit
}

func (t *traits) letters() int { return t.lower + t.upper + t.letter }

func traitsOf(s string) (t traits) {
	before := mark
	for i := 0; i < len(s); {
		c, size := classAt(s, i)
		switch c {
		case lower:
			t.lower++
			t.beyondHex = t.beyondHex || s[i] > 'f'
		case upper:
			t.upper++
			t.beyondHex = t.beyondHex || s[i] > 'F'
			if before == lower {
				t.humps++
			}
		case digit:
			t.digit++
		case letter, ideograph:
			t.letter++
			t.beyondHex = true
		case joint:
			t.addJoint(s[i])
		default:
			t.other++
		}
		before = c
		i += size
	}
	return t
}

func (t *traits) addJoint(b byte) {
	switch b {
	case '.':
		t.dot++
	case '/':
		t.slash++
	case '-':
		t.dash++
	case '_':
		t.under++
	case ':':
		t.colon++
	case '@':
		t.at++
	default:
		t.other++
	}
}

// isPlainWord reports whether a token is lower-case letters, but for the first.
// Most tokens of prose are.
func isPlainWord(s string) bool {
	for i := range len(s) {
		if b := s[i]; b >= 0x80 || ascii[b] != lower && (i > 0 || ascii[b] != upper) {
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
	switch {
	case strings.Contains(s, "://"):
		return link
	case t.at == 1 && isEmail(s, &t):
		return email
	case t.letters() == 0:
		return numericShape(s, &t)
	case t.other > 0 && strings.Contains(s, `:\`):
		return path
	case isTimestamp(s, &t):
		return date
	case t.slash > 0:
		return slashedShape(s, &t)
	case t.colon > 0:
		return colonShape(s)
	case t.under == 0 && t.digit > 0 && (t.letters() == 1 && (s[0] == 'v' || s[0] == 'V') || t.dot >= 2 && isDigit(s[0])): // v1.26.8, 1.2.3-rc1
		return host
	case isHash(s, &t):
		return hash
	case isFile(s, &t):
		return file
	}
	return plainShape(s, &t)
}

// plainShape returns the kind of a token without slashes and colons.
func plainShape(s string, t *traits) kind {
	switch {
	case t.digit > 0 && isMeasure(s, t):
		return number
	case t.dot > 0:
		if slices.ContainsFunc(strings.Split(s, "."), func(part string) bool { return len(part) > 1 }) { // not e.g.
			return symbol
		}
	case t.digit > 0 && (t.lower+t.letter == 0 || t.under+t.dash > 0 || t.digit > 2 || s[0] == '#'):
		return id
	case t.digit > 0, t.humps > 0, t.under > 0 && t.letters() > 1, s[0] == '@':
		return symbol
	case t.upper > 1 && t.upper == t.letters():
		return code
	}
	return none
}

// numericShape returns the kind of a token without letters.
func numericShape(s string, t *traits) kind {
	negative := s[0] == '-'
	switch {
	case t.digit == 0:
		return none
	case s[0] == '#', s[0] == '+' && t.digit >= 7:
		return id
	case s[0] == '$':
		return amount
	case isDate(s, t):
		return date
	case t.slash > 0:
		return none
	case t.dot >= 2:
		return host
	case t.dash > 0 && !negative && t.digit >= 7 && t.colon == 0:
		return id
	}
	return number
}

// isDate matches 2024-05-15, 5/15/2024 and 15.05.2024.
func isDate(s string, t *traits) bool {
	if t.dash+t.slash+t.dot != 2 || t.digit < 5 || t.digit > 8 || t.colon+t.other > 0 || !isDigit(s[0]) {
		return false
	}
	first, last := strings.IndexAny(s, "-/."), strings.LastIndexAny(s, "-/.")
	return s[first] == s[last] && last-first > 1 && last-first <= 3 && (first == 4 || len(s)-last == 5 || t.dot == 0 && t.digit == 6)
}

// isTimestamp matches 2024-05-15T12:18:24Z.
func isTimestamp(s string, t *traits) bool {
	const day = len("2024-05-15")
	if t.dash < 2 || t.letters() > 2 || len(s) < day+3 || s[day] != 'T' && s[day] != 't' {
		return false
	}
	begin := traitsOf(s[:day])
	return isDate(s[:day], &begin)
}

func isEmail(s string, t *traits) bool {
	local, domain, _ := strings.Cut(s, "@")
	return t.slash+t.colon == 0 && local != "" && strings.IndexByte(domain, '.') > 0
}

// slashedShape tells paths and links from words such as and/or.
func slashedShape(s string, t *traits) kind {
	inner := strings.Count(strings.Trim(s, "/"), "/")
	ends := strings.HasSuffix(s, "/")
	switch {
	case t.letters()+t.digit == 0:
		return none
	case inner > 0 && s[0] != '.' && strings.IndexByte(s[:strings.IndexByte(s, '/')], '.') > 0:
		return link // example.com/a/b
	case inner > 1, ends, t.under > 0, t.dot > 0 && !strings.HasPrefix(s, "./"), inner > 0 && (t.digit > 0 || strings.IndexByte("/.~", s[0]) >= 0):
		return path
	}
	return none
}

// colonShape returns the kind of a token with colons and letters.
func colonShape(s string) kind {
	_, after, _ := strings.Cut(s, ":")
	t := traitsOf(after)
	switch {
	case strings.Contains(s, "::"):
		return symbol
	case isHash(after, &t): // sha256:…
		return hash
	}
	return host
}

// isHash matches hexadecimal numbers of seven digits or more, and UUIDs.
func isHash(s string, t *traits) bool {
	const short, uuid = 7, 36
	if t.beyondHex || t.digit == 0 || t.lower > 0 && t.upper > 0 {
		return false
	}
	return len(s) == uuid && t.dash == 4 || len(s) >= short && t.digit+t.letters() == len(s)
}

// isFile matches a name with a short ending. It also matches obj.field.
func isFile(s string, t *traits) bool {
	k := strings.LastIndexByte(s, '.')
	if k <= 1 || len(s)-k > 6 || len(s)-k < 2 || t.dot > 1 && t.under+t.dash == 0 {
		return false
	}
	ending := traitsOf(s[k+1:])
	return ending.lower > 0 && ending.lower+ending.digit == len(s)-k-1
}

// isMeasure matches 12kB, 3rd, 1.5GB, 0x1F and 9c0.
func isMeasure(s string, t *traits) bool {
	const short = 7 // digits of a hash
	if t.under+t.dash+t.other > 0 {
		return false
	}
	if len(s) < short && (strings.HasPrefix(s, "0x") || !t.beyondHex && t.upper+t.dot == 0) {
		return true
	}
	k := 0
	for k < len(s) && (isDigit(s[k]) || s[k] == '.') {
		k++
	}
	return k > 0 && len(s)-k <= 3 && !strings.ContainsAny(s[k:], "0123456789")
}

// currencies are codes of ISO 4217, and units that follow a number.
var currencies = setOf("USD EUR GBP CNY RMB JPY INR KRW CHF CAD AUD NZD HKD TWD SGD BRL MXN RUB ZAR SEK NOK DKK PLN CZK HUF RON " +
	"TRY UAH THB IDR MYR PHP VND AED SAR QAR EGP NGN KES ILS PKR BDT ARS CLP COP PEN BTC ETH 元 万元 亿元 美元 欧元 日元 块 円 万円 원 만원 руб zł kr")

var months = func() map[string]bool {
	const long = "January February March April May June July August September October November December"
	m := setOf(long + " Sept")
	for w := range strings.FieldsSeq(long) {
		m[w[:3]] = true
	}
	return m
}()

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// money takes the amount whose currency is from i to after, and returns where
// reading continues.
func (s *scanner) money(i, after, to int) (next int) {
	k := after
	if k < to && s.text[k] == ' ' {
		k++
	}
	if k < to && isDigit(s.text[k]) || k+2 < to && s.text[k] >= 0x80 {
		if from, end, _ := tokenAt(s.text[:to], k); from == k && shapeOf(s.text[k:end]) == number {
			s.add(span{i, end}, amount)
			return end
		}
	}
	s.fresh = false
	return after
}

// extended takes a number, or a word that can be a month or a currency, with what
// belongs to it. It returns where reading continues.
func (s *scanner) extended(p span, k kind, to int) (next int) {
	rest, token := s.text[:to], p
	switch {
	case k == none && currencies[s.text[p.from:p.to]]:
		return s.money(p.from, p.to, to)
	case k == none && months[s.text[p.from:p.to]]:
		if end := monthDateEnd(rest, p.to); end > p.to {
			p.to, k = end, date
		}
	case s.text[p.from] == '+':
		if end := phoneEnd(rest, p.to); digitsIn(s.text[p.from:end]) >= 7 {
			p.to, k = end, id
		}
	case k == number && p.to < to && (s.text[p.to] >= 0x80 || ascii[s.text[p.to]] != mark || s.text[p.to] == ','):
		if end := amountEnd(rest, p); end > p.to {
			p.to, k = end, amount
		} else if end := dateEnd(rest, p); end > p.to {
			p.to, k = end, date
		}
	}
	if p != token && splitsWord(s.text, p.to) {
		p, k = token, shapeOf(s.text[token.from:token.to])
	}
	s.add(p, k)
	return p.to
}

func digitsIn(s string) (n int) {
	for i := range len(s) {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

// amountEnd returns the end of the amount that begins with the number at p: 12 €,
// 1 299,50 руб. It is p.to if no currency follows.
func amountEnd(text string, p span) int {
	const group = len(" 000")
	end := p.to
	for p.to-p.from <= 3 && end+group <= len(text) && text[end] == ' ' && digitsEnd(text, end+1) == end+group {
		end += group
	}
	if end < len(text) && text[end] == ',' && digitsEnd(text, end+1) == end+len(",00") {
		end += len(",00")
	}
	if end < len(text) && text[end] == ' ' {
		end++
	}
	if end == len(text) {
		return p.to
	}
	switch c, size := classAt(text, end); c {
	case currency:
		return end + size
	case ideograph:
		for _, long := range [...]int{2 * size, size} {
			if end+long <= len(text) && currencies[text[end:end+long]] {
				return end + long
			}
		}
	case upper, lower, letter:
		if n := wordEnd(text, end); currencies[text[end:n]] {
			return n
		}
	}
	return p.to
}

// dateEnd returns the end of the date that begins with the number at p: 16 May
// 2024, 2026年3月15日. It is p.to if there is none.
func dateEnd(text string, p span) int {
	end, parts := p.to, 0
	for _, units := range [...]string{"年", "月", "日号"} {
		k := end
		if parts > 0 {
			k = digitsEnd(text, end)
		}
		if k+len("年") <= len(text) && strings.Contains(units, text[k:k+len("年")]) && (parts == 0 || k > end) {
			end = k + len("年")
			parts++
		}
	}
	if parts > 1 || parts == 1 && strings.HasPrefix(text[p.to:], "年") {
		return end
	}
	if p.to+1 < len(text) && text[p.to] == ' ' && p.to-p.from <= 2 && text[p.to+1] < 0x80 && ascii[text[p.to+1]] == upper {
		if n := wordEnd(text, p.to+1); months[text[p.to+1:n]] {
			return max(p.to, monthDateEnd(text, n))
		}
	}
	return p.to
}

// monthDateEnd returns the end of the date whose month ends at i: May 16th, 2024
// or May 2024. It is 0 if no number follows.
func monthDateEnd(text string, i int) (end int) {
	const day, year = 2, 4 // digits
	for _, longest := range [...]int{day, year} {
		k := max(end, i)
		for gap := k + 2; k < min(len(text), gap) && strings.IndexByte(" ,.", text[k]) >= 0; {
			k++
		}
		to := digitsEnd(text, k)
		n := to - k
		if k == max(end, i) || n == 0 || n != year && n > longest || to < len(text) && text[to] == ':' {
			continue
		}
		if end = to; n == year {
			return end
		}
		if end+2 <= len(text) && slices.Contains([]string{"st", "nd", "rd", "th"}, text[end:end+2]) {
			end += 2
		}
	}
	return end
}

// phoneEnd returns the end of the phone number that continues at i: +1 (555)
// 123-4567.
func phoneEnd(text string, i int) int {
	end := i
	for k := i; k < len(text) && k-end < 3; k++ {
		switch b := text[k]; {
		case isDigit(b):
			end = k + 1
		case strings.IndexByte(" -()", b) < 0:
			return end
		}
	}
	return end
}

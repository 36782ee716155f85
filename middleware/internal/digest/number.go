package digest

import (
	"slices"
	"strings"
)

// units are what makes an amount of a number in front of them.
var units = []string{"元", "万元", "亿元", "美元", "欧元", "日元", "块", "円", "万円", "원", "만원", "руб", "zł", "kr"}

// currencies are codes of ISO 4217.
const currencies = " USD EUR GBP CNY RMB JPY INR KRW CHF CAD AUD NZD HKD TWD SGD BRL MXN RUB ZAR SEK NOK DKK PLN CZK HUF RON " +
	"TRY UAH THB IDR MYR PHP VND AED SAR QAR EGP NGN KES ILS PKR BDT ARS CLP COP PEN BTC ETH "

func isCurrency(w string) bool {
	return len(w) == 3 && narrow[w[0]&0x7F] == upper && strings.Contains(currencies, " "+w+" ")
}

// money takes the amount behind a sign of currency at i and returns where
// reading goes on.
func (s *scanner) money(i, behind, to int) int {
	k := behind
	if k < to && s.text[k] == ' ' {
		k++
	}
	p, _ := s.wordAt(k, to)
	if p.from != k || shapeOf(s.text[p.from:p.to]) != number {
		return behind
	}
	s.add(span{i, p.to}, amount)
	return p.to
}

// extended takes a number, or a word that may be a month or a currency, together
// with what belongs to it. It returns where reading goes on.
func (s *scanner) extended(p span, k kind, to int) int {
	switch {
	case k == none && isCurrency(s.text[p.from:p.to]):
		return s.money(p.from, p.to, to)
	case k == none:
		end := s.monthDate(p, to)
		if end == 0 {
			return p.to
		}
		p.to, k = end, date
	case s.text[p.from] == '+':
		if end := s.phoneEnd(p.to, to); digitsIn(s.text[p.from:end]) >= 7 {
			p.to, k = end, phone
		}
	case k == number:
		p.to, k = s.numberEnd(p.to, to)
	}
	s.add(p, k)
	return p.to
}

// numberEnd returns where the number ends that has its digits in front of i, and
// what it is.
func (s *scanner) numberEnd(i, to int) (end int, k kind) {
	if end := s.amountEnd(i, to); end > i {
		return end, amount
	}
	rest := s.text[i:to]
	word := strings.TrimPrefix(rest, " ")
	gap := len(rest) - len(word)
	if n := easternLen(rest); n > 0 {
		return i + n, date
	}
	if gap > 0 && isMonth(word) && s.digitsBefore(i) <= 2 { // 16 May 2024
		if end := s.monthDate(span{i + gap, i + gap + wordLen(word)}, to); end > 0 {
			return end, date
		}
	}
	return i, number
}

// amountEnd returns where an amount ends that goes on at i: € in 12€,  299,50 руб
// in 1 299,50 руб; i: there is none.
func (s *scanner) amountEnd(i, to int) int {
	end := i
	for s.digitsBefore(i) <= 3 && s.isGroup(end, to) {
		end += len(" 000")
	}
	if rest := s.text[end:to]; len(rest) > 2 && rest[0] == ',' && digitsIn(rest[1:3]) == 2 {
		end += len(",00")
	}
	if end < to && s.text[end] == ' ' {
		end++
	}
	if n := unitLen(s.text[end:to]); n > 0 {
		return end + n
	}
	return i
}

// isGroup reports whether a space and three digits stand at i.
func (s *scanner) isGroup(i, to int) bool {
	const long = len(" 000")
	return i+long <= to && s.text[i] == ' ' && s.digitsEnd(i+1, to) == i+long
}

func digitsIn(text string) (n int) {
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			n++
		}
	}
	return n
}

// unitLen returns how long the currency is that a text begins with.
func unitLen(text string) int {
	if text == "" {
		return 0
	}
	switch c, size := classAt(text, 0); c {
	case currency:
		return size
	case upper:
		if n := wordLen(text); isCurrency(text[:n]) {
			return n
		}
	case lower, letter:
		n := wordLen(text)
		if slices.Contains(units, text[:n]) {
			return n
		}
	case ideograph:
		for _, u := range units {
			if strings.HasPrefix(text, u) {
				return len(u)
			}
		}
	default:
	}
	return 0
}

func (s *scanner) digitsBefore(i int) (n int) {
	const enough = 8
	for i > n && n < enough && s.text[i-n-1] >= '0' && s.text[i-n-1] <= '9' {
		n++
	}
	return n
}

// easternLen returns how long the rest of a date is whose first digits are a year
// or a month: 年3月15日.
func easternLen(text string) int {
	end, parts := 0, 0
	for _, units := range [][]string{{"年"}, {"月"}, {"日", "号"}} {
		k := end
		for k < min(len(text), end+3) && (text[k] == ' ' || text[k] >= '0' && text[k] <= '9') {
			k++
		}
		for _, u := range units {
			if strings.HasPrefix(text[k:], u) {
				end = k + len(u)
				parts++
			}
		}
	}
	if parts < 2 && !strings.HasPrefix(text, "年") {
		return 0
	}
	return end
}

// monthDate returns where a date ends whose month stands at p: May 16, 2024 or
// May 2024; 0: there is none.
func (s *scanner) monthDate(p span, to int) int {
	if !isMonth(s.text[p.from:p.to]) {
		return 0
	}
	const day, year = 2, 4 // digits
	end := 0
	for _, longest := range []int{day, year} {
		k := max(end, p.to)
		for gap := k + 2; k < min(to, gap) && strings.IndexByte(" ,.", s.text[k]) >= 0; {
			k++
		}
		digits := s.digitsEnd(k, to)
		n := digits - k
		if k == max(end, p.to) || n != year && (n == 0 || n > longest) || digits < to && s.text[digits] == ':' {
			continue
		}
		if end = digits; n == year {
			return end
		}
		if end+2 <= to && slices.Contains([]string{"st", "nd", "rd", "th"}, s.text[end:end+2]) {
			end += 2
		}
	}
	return end
}

// isMonth reports whether a text begins with the English name of a month.
func isMonth(text string) bool {
	const short = 3
	n := wordLen(text)
	if n < short || narrow[text[0]&0x7F] != upper {
		return false
	}
	w := strings.ToLower(text[:n])
	return slices.ContainsFunc(months, func(m string) bool { return w == m || w == m[:short] || w == "sept" && m[0] == 's' })
}

var months = []string{
	"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
}

// wordLen returns how long the word is that a text begins with, if that is not
// much.
func wordLen(text string) int {
	const longest = 12
	for i := range min(len(text), longest) {
		if b := text[i]; b < 0x80 && !narrow[b].isWord() {
			return i
		}
	}
	return min(len(text), longest)
}

// phoneEnd returns where a phone number ends that goes on at i: +1 (555) 123-4567.
func (s *scanner) phoneEnd(i, to int) int {
	end := i
	for k := i; k < to && k-end < 3; k++ {
		switch b := s.text[k]; {
		case b >= '0' && b <= '9':
			end = k + 1
		case strings.IndexByte(" -()", b) < 0:
			return end
		}
	}
	return end
}

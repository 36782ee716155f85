package claims

import (
	"math"
	"slices"
	"strings"
)

// Supports reports whether the source has what a claim is about.
func (s *Source) Supports(c Claim) bool {
	switch c.Kind {
	case Number, Date:
		return s.hasValue(c.value)
	case Path:
		return s.hasPath(c)
	case Identifier, Address:
		return s.hasName(c)
	case Code:
		return s.hasCode(c)
	case Quotation:
		return s.hasQuotation(c)
	case Outcome:
	}
	return true
}

func (s *Source) hasQuotation(c Claim) bool {
	const few = 3
	if s.has(c.words) || c.open && s.hasStart(c.words) {
		return true
	}
	return len(c.words) == 1 && s.hasInflected(c.words[0]) || len(c.words) <= few && !isChinese(c.Text) && s.hasNear(c.words)
}

// hasStart reports whether words are in the source if the last one may be longer there.
func (s *Source) hasStart(words []string) bool {
	p := pattern(words)
	return s.words.Lookup(p[:len(p)-1], 1) != nil
}

// hasInflected reports whether a word of natural language is in the source, also with another end.
func (s *Source) hasInflected(w string) bool {
	const least = 4
	for _, end := range [...]string{"", "s", "es", "ed", "d", "ing", "ly"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= least && s.hasPart(stem) {
			return true
		}
	}
	return false
}

func (s *Source) hasCode(c Claim) bool {
	words := c.words
	for len(words) > 1 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case len(words) == 1:
		return plainWords[words[0]] || isPlainWord(words[0]) && s.hasInflected(words[0]) || s.hasName(c)
	case strings.ContainsAny(c.Text, `/\`) && !strings.Contains(c.Text, " "):
		return s.hasPath(c)
	case isFile(words) && !strings.Contains(c.Text, " "):
		return false
	}
	return s.hasNear(words)
}

func isPlainWord(w string) bool {
	return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
}

func isFile(words []string) bool { return len(words) > 1 && fileEnds[words[len(words)-1]] }

func (s *Source) hasName(c Claim) bool {
	const shortHash = 7
	words := c.words
	for len(words) > 1 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	last := words[len(words)-1]
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case strings.HasPrefix(c.Text, "_"): // the end of several names
		return s.hasPart("_" + last)
	case strings.Contains(c.Text, "-") && len(words) > 1 && !strings.ContainsAny(c.Text, "0123456789.@:#_"): // non-WebSocket
		return !slices.ContainsFunc(strings.Split(c.Text, "-"), func(part string) bool {
			return slices.ContainsFunc(Find(part), func(c Claim) bool { return !s.Supports(c) })
		})
	case len(words) == 1 && len(last) >= shortHash && strings.Trim(last, "0123456789abcdef") == "":
		return s.hasPrefix(last)
	case len(words) == 1 && c.Kind == Identifier:
		if stem, ok := strings.CutSuffix(last, "s"); ok && s.has([]string{stem}) {
			return true
		}
		return s.has(humps(c.Text))
	}
	return c.Kind == Identifier && strings.ContainsAny(c.Text, ".:") && !isFile(words) && !strings.Contains(c.Text, "@") && s.hasNear(words)
}

// humps returns the words of a name such as WebSocket, or a name that nobody has.
func humps(name string) (words []string) {
	from := 0
	for i, r := range name {
		if i > from && 'A' <= r && r <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			words, from = append(words, strings.ToLower(name[from:i])), i
		}
	}
	if words == nil {
		return []string{"\x02"}
	}
	return append(words, strings.ToLower(name[from:]))
}

// hasPath reports whether the source has a path, or its end in a folder that it has.
func (s *Source) hasPath(c Claim) bool {
	words := c.words
	for len(words) > 0 && words[0] == "/" {
		words = words[1:]
	}
	for len(words) > 0 && words[len(words)-1] == "/" {
		words = words[:len(words)-1]
	}
	const most = 100 // words
	switch {
	case s.has(words), c.open && s.hasStart(words):
		return true
	case len(words) > most:
		return false
	}
	if c.weak && !s.has([]string{words[0], "/"}) {
		return true
	}
	absolute := strings.ContainsAny(c.Text[:1], `/~\`) || len(c.Text) > 1 && c.Text[1] == ':'
	for k, w := range words {
		if w != "/" || !s.beginsPath(words[k+1:]) {
			continue
		}
		if s.has(words[:k]) || absolute && slices.Contains(words[k+1:], "/") {
			return true
		}
	}
	return false
}

// beginsPath reports whether words begin a path of the source.
func (s *Source) beginsPath(words []string) bool {
	const most = 1000
	for _, at := range s.words.Lookup(pattern(words), most) {
		if at < 2 || s.stream[at-1] != '/' || s.stream[at-2] != 0 {
			return true
		}
	}
	return false
}

// plainWords may be in backticks without being in the source.
var plainWords = set("true false nil null none undefined yes no ok error string int bool float void main test tests void any object")

// has reports whether words are next to each other in the source.
func (s *Source) has(words []string) bool {
	return len(words) == 0 || s.words.Lookup(pattern(words), 1) != nil
}

func pattern(words []string) []byte { return []byte("\x00" + strings.Join(words, "\x00") + "\x00") }

// hasPrefix reports whether a word begins with a text.
func (s *Source) hasPrefix(head string) bool { return s.words.Lookup([]byte("\x00"+head), 1) != nil }

// hasPart reports whether a text is in a word, as refund in RefundTotal.
func (s *Source) hasPart(part string) bool { return s.words.Lookup([]byte(part), 1) != nil }

// hasNear reports whether words are close to each other in the source, in any order.
func (s *Source) hasNear(words []string) bool {
	const most, window = 500, 120 // places that are looked at; bytes on each side, besides the words
	rarest, places := 0, []int(nil)
	for i, w := range words {
		found := s.words.Lookup(pattern(words[i:i+1]), most)
		if found == nil {
			return false
		}
		if _ = w; places == nil || len(found) < len(places) {
			rarest, places = i, found
		}
	}
	size := window
	for _, w := range words {
		size += len(w) + 1
	}
	if len(words) > most {
		return false
	}
	slices.Sort(places)
	for _, at := range places {
		around := string(s.stream[max(0, at-size):min(len(s.stream), at+size)])
		all := true
		for i, w := range words {
			all = all && (i == rarest || strings.Contains(around, "\x00"+w+"\x00"))
		}
		if all {
			return true
		}
	}
	return len(words) == 0
}

// hasAmount reports whether a number of a dimension is in the source that may be written as v: half a step less, as
// rounded up, or nearly a step more, as cut off.
func (s *Source) hasAmount(dimension string, v, step float64) bool {
	all, exact := s.amounts[dimension], math.Abs(v)*1e-9
	k, _ := slices.BinarySearch(all, v-step*0.5-exact)
	return k < len(all) && all[k] <= v+step*0.95+exact
}

// hasValue reports whether a value is in the source.
func (s *Source) hasValue(v value) bool {
	switch {
	case v.clock != "":
		return s.clocks[v.clock] || s.clocks[v.clock[:len("00:00")]] && len(v.clock) == len("00:00")
	case v.date.month == 0 && v.date.day < 0, v.date.month > 0:
		return s.hasDate(v.date)
	case !v.has:
		return s.digits[plainDigits(v.literal)] || s.hasPrefix(v.literal+".")
	}
	m := v.precision()
	if v.units == nil {
		return s.digits[plainDigits(v.literal)] || s.hasAmount(asWritten, v.value, m)
	}
	for _, u := range v.units {
		inBytes := u.dimension == "bytes" && s.hasAmount(bare, v.value*u.size, m*u.size)
		if inBytes || s.hasAmount(u.dimension, v.value*u.size, m*u.size) {
			return true
		}
	}
	return s.hasAmount(bare, v.value, m) || v.units[0].dimension == "ratio" && s.hasAmount(bare, v.value/100, m/100)
}

func (s *Source) hasDate(d date) bool {
	return s.dates[d] || d.year > 0 && d.day > 0 && s.dates[date{0, d.month, d.day}] && !s.otherYear(d)
}

// otherYear reports whether the source has the day in other years only.
func (s *Source) otherYear(d date) bool {
	for year := 1900; year < 2200; year++ {
		if s.dates[date{year, d.month, d.day}] {
			return true
		}
	}
	return false
}

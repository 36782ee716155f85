package claims

import (
	"index/suffixarray"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
)

// Source is what claims are compared with: the texts of messages that are folded. Building it takes linear time. A
// Source does not change and is safe for concurrent use.
type Source struct {
	stream []byte // the normalised tokens, each between two zero bytes
	words  *suffixarray.Index

	digits   map[string]bool      // digits of all numbers, also in names
	amounts  map[string][]float64 // by dimension, sorted; those without a unit under bare, and each as it is written under any
	dates    map[date]bool        // also without year or day; weekdays have a negative day
	clocks   map[string]bool
	commands map[string]*command
}

const (
	bare      = "" // of numbers without a unit
	asWritten = "any"
	anyYear   = -1 // of dates with a year
)

// SourceOf returns the source of messages and of other texts, such as earlier summaries of them. The outcomes of
// commands are those that package facts records.
func SourceOf(msgs []message.Message, others ...string) *Source {
	s := NewSource(append(Texts(msgs), others...)...)
	for _, r := range facts.Runs(msgs) {
		s.addRun(r)
	}
	return s
}

// Texts returns the texts of messages: also thoughts, names, arguments and results.
func Texts(msgs []message.Message) (texts []string) {
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			texts = append(texts, shorten.Text(p))
			switch p := p.(type) {
			case message.Thinking:
				texts = append(texts, p.Text)
			case message.ToolCall:
				texts = append(texts, p.Name)
			case message.ToolResult:
				texts = append(texts, p.Name)
			case message.Media:
				texts = append(texts, p.Name, p.URL)
			case message.Text, message.Opaque:
			}
		}
	}
	return texts
}

// NewSource returns the source of texts. JSON texts are read with and without their escapes.
func NewSource(texts ...string) *Source {
	s := &Source{
		digits: map[string]bool{}, amounts: map[string][]float64{}, dates: map[date]bool{}, clocks: map[string]bool{},
		commands: map[string]*command{},
	}
	var toks []token
	for _, t := range texts {
		const deepest = 3 // JSON in JSON in JSON
		before := ""
		for n := 0; n <= deepest && t != before; n++ {
			s.stream = append(s.stream, 0, 1, 0) // nothing begins in one text and ends in another
			for piece := range pieces(t) {
				toks = lex(toks[:0], fold(piece))
				s.add(toks)
			}
			before, t = t, unescape(t)
		}
	}
	for _, all := range s.amounts {
		slices.Sort(all)
	}
	s.words = suffixarray.New(s.stream)
	return s
}

// pieces yields a text in pieces that end with a line, or in a long line with a word.
func pieces(text string) iter.Seq[string] {
	const usual, most = 4 << 10, 16 << 10
	return func(yield func(string) bool) {
		for rest := text; rest != ""; {
			piece := shorten.Head(rest, most)
			if k := strings.IndexByte(piece[min(len(piece), usual):], '\n'); k >= 0 {
				piece = piece[:usual+k+1]
			} else if k := strings.LastIndexAny(piece, " ,;，。"); k > 0 && len(piece) < len(rest) {
				piece = piece[:k]
			}
			if rest = rest[len(piece):]; !yield(piece) {
				return
			}
		}
	}
}

var escape = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|["\\/'nrt])`)

// unescape returns a text without the escapes of JSON.
func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case 'u':
			r, _ := strconv.ParseUint(e[2:], 16, 32) // four digits
			return string(rune(r))
		case 'n', 'r', 't':
			return "\n"
		}
		return e[1:]
	})
}

// inStream reports whether a token counts when words are compared.
func inStream(t token) bool { return t.kind != mark || t.text == "/" }

func (s *Source) add(toks []token) {
	for _, t := range toks {
		if inStream(t) {
			s.stream = append(append(s.stream, t.text...), 0)
		}
		s.addDigits(t.text)
		if t.amount.has && strings.Contains(t.raw, ",") { // 101,102 may be two
			s.addDigits(t.raw)
		}
	}
	for _, v := range values(toks) {
		s.addValue(toks, v)
	}
}

// addDigits adds the digits in a word, and of 1.2.3 also 1.2 and 1.
func (s *Source) addDigits(word string) {
	for run := range strings.FieldsFuncSeq(word, func(r rune) bool { return !isDigit(r) && r != '.' }) {
		run = strings.Trim(run, ".")
		for k := len(run); k > 0; k = strings.LastIndexByte(run[:k], '.') {
			s.digits[plainDigits(run[:k])] = true
		}
	}
}

// plainDigits removes zeros at the beginning.
func plainDigits(d string) string {
	if d = strings.TrimLeft(d, "0"); d == "" || d[0] == '.' {
		return "0" + d
	}
	return d
}

func (s *Source) addValue(toks []token, v value) {
	switch {
	case v.clock != "":
		s.clocks[v.clock], s.clocks[v.clock[:len("00:00")]] = true, true
		return
	case v.date != date{}:
		d := v.date
		s.dates[d], s.dates[date{day: d.dayOfWeek()}] = true, true
		if d.month > 0 {
			s.dates[date{d.year, d.month, 0}], s.dates[date{0, d.month, d.day}] = true, true
		}
		if d.year > 0 {
			s.dates[date{anyYear, d.month, d.day}] = true
		}
		return
	case !v.has:
		return
	}
	s.digits[plainDigits(v.literal)] = true
	s.put(asWritten, v, unit{size: 1})
	for _, u := range v.units {
		s.put(u.dimension, v, u)
	}
	if v.units != nil {
		return
	}
	s.put(bare, v, unit{size: 1})
	for k := v.from - 1; k >= max(0, v.from-3); k-- {
		if t := toks[k]; t.kind == word { // "timeout_ms": 30000
			for _, u := range unitsOf(keyEnd.FindString(t.raw)) {
				s.put(u.dimension, v, u)
			}
			break
		}
	}
}

// keyEnd matches the unit at the end of a key, as in timeout_ms and sizeMB.
var keyEnd = regexp.MustCompile(`[A-Z]?[a-z]+$|[A-Z]+$`)

func (s *Source) put(dimension string, v value, u unit) {
	s.amounts[dimension] = append(s.amounts[dimension], v.value*u.size)
}

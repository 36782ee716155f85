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
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Source is what claims are compared with: the texts of messages that are folded. Building it takes linear time. A Source
// does not change and is safe for concurrent use.
type Source struct {
	stream []byte // the normalised tokens, each between two zero bytes
	words  *suffixarray.Index
	parts  []part // of the stream, in order

	digits   map[string]bool      // digits of all numbers, also in names
	amounts  map[string][]float64 // by dimension, sorted; those without a unit under bare, and each as it is written under any
	measured map[string]bool      // dimensions of which there is a unit, also without a number
	dates    map[date]bool        // also without year or day; weekdays have a negative day
	clocks   map[string]bool
	sums     [][]float64 // amounts of one text each

	commands   map[string]*command
	tested     bool // a text, not of the assistant, tells how tests ended
	calls      int
	runs       int
	statements []statement
	with       map[string][]int // statements by word
	users      int              // texts of the user
	assents    bool             // the user has agreed to something
	told       [2]int           // statements of the newest text of the assistant, while the source is built
	ideographs int
	seen       map[string]bool // lines of results, while the source is built
	toks       []token
	keys       map[string][]unit // at the end of keys
}

// part begins at a byte of the stream, and ends where the next one begins.
type part struct {
	from int
	by   role
}

const (
	bare      = "" // of numbers without a unit
	asWritten = "any"
	anyYear   = -1 // of dates with a year
)

// SourceOf returns the source of messages that a summary covers, of those in view, and of other texts, such as earlier
// summaries. The outcomes of commands are those that package facts records.
func SourceOf(covered, view []message.Message, others ...string) *Source {
	s := &Source{
		digits: map[string]bool{}, amounts: map[string][]float64{}, measured: map[string]bool{}, dates: map[date]bool{},
		clocks: map[string]bool{}, sums: [][]float64{nil}, commands: map[string]*command{}, with: map[string][]int{},
		seen: map[string]bool{}, keys: map[string][]unit{},
	}
	read := s.addRuns(covered, view)
	texts := map[string]bool{}
	for _, m := range slices.Concat(covered, view) {
		for _, p := range m.Parts {
			by := roleOf(m.Role, p, read)
			for _, t := range textsOf(p) {
				if key := string(m.Role) + t; !texts[key] {
					texts[key] = true
					s.addText(t, by)
				}
			}
		}
	}
	for _, t := range others {
		s.addText(t, other)
	}
	for _, all := range s.amounts {
		slices.Sort(all)
	}
	s.words, s.seen = suffixarray.New(s.stream), nil
	return s
}

// NewSource returns the source of texts.
func NewSource(texts ...string) *Source { return SourceOf(nil, nil, texts...) }

// textsOf returns the texts of a part: also thoughts, names, arguments and results.
func textsOf(p message.Part) []string {
	switch p := p.(type) {
	case message.Thinking:
		return []string{p.Text}
	case message.ToolCall:
		return []string{p.Arguments, p.Name}
	case message.ToolResult:
		return []string{p.Text, p.Name}
	case message.Media:
		return []string{p.Name, p.URL}
	case message.Text, message.Opaque:
	}
	return []string{shorten.Text(p)}
}

// addRuns adds the outcomes of calls, and returns the calls that changed nothing.
func (s *Source) addRuns(covered, view []message.Message) (read map[message.ToolCall]bool) {
	read = map[message.ToolCall]bool{}
	ids := map[string]bool{}
	for i, msgs := range [...][]message.Message{covered, view} {
		for _, r := range facts.Runs(msgs) {
			read[r.Call] = r.Reads || r.Failed && r.Command == ""
			if i == 0 || !ids[r.Call.ID] { // otherwise the same call, perhaps with a placeholder
				s.addRun(r)
			}
			ids[r.Call.ID] = ids[r.Call.ID] || i == 0
		}
	}
	return read
}

// roleOf returns whose words a part is.
func roleOf(r message.Role, p message.Part, read map[message.ToolCall]bool) role {
	switch p := p.(type) {
	case message.ToolCall:
		if read[p] {
			return asked
		}
		return changed
	case message.Text:
		switch {
		case r == message.RoleAssistant:
			return told
		case r == message.RoleUser && !text.IsRecord(p.Text):
			return said
		}
		return other
	case message.Thinking, message.ToolResult, message.Media, message.Opaque:
	}
	return shown
}

// addText adds a text. JSON is read with and without its escapes. The facts in a summary are no statements.
func (s *Source) addText(t string, by role) {
	const deepest = 3 // JSON in JSON in JSON
	if by == other {
		words, written, rest := facts.Divide(t)
		t = words
		if rest != "" {
			s.addText(written, changed)
			s.addText(rest, shown)
		}
	}
	if t == "" {
		return
	}
	s.parts = append(s.parts, part{len(s.stream), by})
	s.sums = append(s.sums, nil)
	switch by {
	case said, told, other:
		if by == said {
			s.users++
		}
		s.note(t, by)
	case asked, changed:
		s.calls++
	case shown:
		t = s.unseen(t)
	}
	before := ""
	for n := 0; n <= deepest && t != before; n++ {
		s.stream = append(s.stream, 0, 1, 0) // nothing begins in one text and ends in another
		for piece := range pieces(t) {
			s.toks = lex(s.toks[:0], fold(piece))
			s.add(s.toks, by)
		}
		before, t = t, unescape(t)
	}
}

// unseen returns the lines of a result that are not in those before.
func (s *Source) unseen(t string) string {
	const least = 8 // bytes
	var b strings.Builder
	n := 0
	for line := range strings.Lines(t) {
		n++
		if len(line) < least || !s.seen[line] {
			s.seen[line] = true
			b.WriteString(line)
		}
	}
	s.digits[strconv.Itoa(n)] = true // who counts them is right
	return b.String()
}

// pieces yields a text in pieces that end with a line, or in a long line with a word.
func pieces(body string) iter.Seq[string] {
	const usual, most = 4 << 10, 16 << 10
	return func(yield func(string) bool) {
		for rest := body; rest != ""; {
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

func (s *Source) add(toks []token, by role) {
	for i, t := range toks {
		if inStream(t) {
			s.stream = append(append(s.stream, t.text...), 0)
		}
		switch {
		case t.kind == number || t.amount.has || strings.ContainsAny(t.text, "0123456789"):
			s.addDigits(t.text)
			if t.amount.has && strings.Contains(t.raw, ",") { // 101,102 may be two
				s.addDigits(t.raw)
			}
		case t.kind == ideograph:
			s.ideographs++
			if !s.measures(t.text + at(toks, i+1).text) {
				s.measures(t.text)
			}
		case len(t.text) > 1 || t.kind == mark:
			s.measures(t.text)
		}
	}
	s.tested = s.tested || by != told && tellsOfTests(toks)
	for _, v := range values(toks) {
		s.addValue(toks, v, by)
	}
}

// tellsOfTests reports whether an outcome is near a word for tests.
func tellsOfTests(toks []token) bool {
	const near = 6
	test := -near - 1
	for i, t := range toks {
		if t.kind == word && subjects.words[t.text] == "test" {
			test = i
		} else if t.kind == word && i-test <= near && outcomes.has(t.text) {
			return true
		}
	}
	return false
}

// measures notes the dimension of a unit that may have no number.
func (s *Source) measures(name string) bool {
	all := unitsOf(name)
	for _, u := range all {
		s.measured[u.dimension] = true
	}
	return all != nil
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

func (s *Source) addValue(toks []token, v value, by role) {
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
	size := 1.0
	for _, u := range slices.Backward(v.units) {
		s.put(u.dimension, v, u)
		size = u.size // of the first
	}
	last := len(s.sums) - 1
	s.sums[last] = append(s.sums[last], v.value*size)
	if by == said || by == told {
		s.sums[0] = append(s.sums[0], v.value*size)
	}
	if v.units != nil {
		return
	}
	s.put(bare, v, unit{size: 1})
	for k := v.from - 1; k >= max(0, v.from-3); k-- {
		if t := toks[k]; t.kind == word { // "timeout_ms": 30000
			all, ok := s.keys[t.raw]
			if !ok {
				all = unitsOf(keyEnd.FindString(t.raw))
				s.keys[t.raw] = all
			}
			for _, u := range all {
				s.put(u.dimension, v, u)
			}
			break
		}
	}
}

// keyEnd matches the unit at the end of a key, as in timeout_ms and sizeMB.
var keyEnd = regexp.MustCompile(`[A-Z]?[a-z]+$|[A-Z]+$`)

func (s *Source) put(dimension string, v value, u unit) {
	s.measured[dimension] = true
	s.amounts[dimension] = append(s.amounts[dimension], v.value*u.size)
}

package modelwriter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// entry is one part of a message in a record:
//
//	[4 result of read_log c1]
//		exit status 2
//
// Only heads begin a line. The body is indented, so that it can neither begin an entry nor end the record.
type entry struct {
	head string // one line without brackets
	body string // the text of the part
}

func (e entry) text() string {
	if e.body == "" {
		return "[" + e.head + "]\n"
	}
	return "[" + e.head + "]\n\t" + indent.Replace(text.WithoutTemplate(e.body)) + "\n"
}

// indent indents every line, after each character that a model may read as a line end.
var indent = strings.NewReplacer(
	"\r\n", "\r\n\t", "\n", "\n\t", "\r", "\r\t", "\v", "\v\t", "\f", "\f\t",
	"\u0085", "\u0085\t", "\u2028", "\u2028\t", "\u2029", "\u2029\t",
)

// unit is a list of entries that is shown in one request if it fits.
type unit []entry

// record returns the messages as units of a record. Every message has at least one entry. Media are named, not shown.
func record(msgs []message.Message) []unit {
	names := map[string]string{} // of the tool, by the id of the call
	var units []unit
	for _, u := range message.Units(msgs) {
		var entries unit
		for i := u.First; i <= u.Last; i++ {
			m := msgs[i]
			who := fmt.Sprintf("%d %s", i+1, word(string(m.Role)))
			if m.Name != "" {
				who += " " + word(m.Name)
			}
			for _, p := range m.Parts {
				entries = append(entries, entryOf(p, who, i+1, names))
			}
			if len(m.Parts) == 0 {
				entries = append(entries, entry{who, "(nothing)"})
			}
		}
		units = append(units, entries)
	}
	return units
}

func entryOf(p message.Part, who string, number int, names map[string]string) entry {
	switch p := p.(type) {
	case message.Text:
		return entry{who, p.Text}
	case message.Thinking:
		return entry{who + " thinks", cmp.Or(p.Text, "(sealed)")}
	case message.Media:
		return entry{who, "(not shown: " + text.Shown(p, nil) + ")"}
	case message.ToolCall:
		names[p.ID] = p.Name
		return entry{who + " calls " + word(p.Name) + " " + word(p.ID), p.Arguments}
	case message.ToolResult:
		kind := map[bool]string{false: "result", true: "error"}[p.Error]
		e := entry{fmt.Sprintf("%d %s of %s %s", number, kind, word(cmp.Or(p.Name, names[p.CallID])), word(p.CallID)), p.Text}
		if p.Content != nil {
			e.body = strings.TrimPrefix(p.Text+"\n"+entryOf(p.Content, "", number, names).body, "\n")
		}
		return e
	case message.Opaque:
		return entry{who, fmt.Sprintf("(not shown: %s, %d bytes that only its provider reads)", word(p.Kind), len(p.Data))}
	}
	return entry{who, "(nothing)"}
}

// word returns a name in a form that can end neither a head nor a line. A long one is shortened and ends in "…".
func word(s string) string {
	const longest = 100 // bytes
	if len(s) > longest {
		s = shorten.Head(s, longest) + "…"
	}
	odd := func(r rune) bool {
		return r == '[' || r == ']' || r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

var blanks = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "＞", ">")

// fence returns the name of an element, with a number if needed, that does not occur in a
// text, in any case and with any spaces, so that nothing in the text looks like its end.
func fence(element, data string) string {
	bare := strings.ToLower(blanks.Replace(data))
	for n := 1; ; n++ {
		name := element
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		if !strings.Contains(bare, name+">") {
			return name
		}
	}
}

func textOf(units []unit) string {
	var b strings.Builder
	for _, u := range units {
		for _, e := range u {
			b.WriteString(e.text())
		}
	}
	return b.String()
}

// piece is as much of a record as one request shows.
type piece struct {
	units  []unit
	tokens int
}

// leastRoom is the least number of tokens of a record that a request must have room for. The longest head has fewer.
const leastRoom = 512

func (s *session) count(words string) int { return s.Meter.Part(message.Text{Text: words}) }

func (s *session) size(u unit) int { return s.count(textOf([]unit{u})) }

// pieces divides units into pieces of at most room tokens. Units that fit are not divided.
func (s *session) pieces(units []unit, room int) (out []piece) {
	add := func(u unit, n int) {
		if last := len(out) - 1; last >= 0 && out[last].tokens+n <= room {
			out[last].units, out[last].tokens = append(out[last].units, u), out[last].tokens+n
			return
		}
		out = append(out, piece{[]unit{u}, n})
	}
	for _, u := range units {
		if n := s.size(u); n <= room {
			add(u, n)
			continue
		}
		for _, e := range u {
			for _, part := range s.split(e, room) {
				add(unit{part}, s.count(part.text()))
			}
		}
	}
	return out
}

// split divides an entry that has more tokens than room. The head of each part has its number.
func (s *session) split(e entry, room int) []entry {
	n := s.count(e.text())
	if n <= room {
		return []entry{e}
	}
	const mark = 32 // tokens for the number of the part
	room -= mark
	var bodies []string
	for rest := e.body; rest != ""; {
		size := max(utf8.UTFMax, len(e.body)*room/n)
		at := border(rest, size)
		for size > utf8.UTFMax && s.count(entry{e.head, rest[:at]}.text()) > room {
			size = size * 3 / 4
			at = border(rest, size)
		}
		bodies, rest = append(bodies, rest[:at]), rest[at:]
	}
	out := make([]entry, len(bodies))
	for i, body := range bodies {
		out[i] = entry{fmt.Sprintf("%s, part %d of %d", e.head, i+1, len(bodies)), body}
	}
	return out
}

// border returns where to divide a text after at most size bytes: after a line, else after a word, else after a character.
func border(s string, size int) int {
	if len(s) <= size {
		return len(s)
	}
	from := size * 3 / 4
	for _, ends := range [...]string{"\n", " \t"} {
		if i := strings.LastIndexAny(s[from:size], ends); i >= 0 {
			return from + i + 1
		}
	}
	return cmp.Or(max(0, shorten.Border(s, size, -1)), size) // size: invalid UTF-8
}

// byProgram reports whether a line is a marker or the last line of a summary, which only the program writes.
func byProgram(line string, markers []string) bool {
	isLine := func(marker string) bool { return strings.TrimSpace(marker) == line }
	return text.TallyOf(line) != (text.Tally{}) || slices.ContainsFunc(markers, isLine)
}

package modelwriter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
)

// entry is one thing that was said, as it stands in a record:
//
//	[4 result of read_log c1]
//		exit status 2
//
// Heads begin a line, and whatever was said is set in from it, so that it can
// neither begin an entry nor end the record.
type entry struct {
	head string // in one line, without brackets
	body string // as it was said
}

func (e entry) text() string {
	if e.body == "" {
		return "[" + e.head + "]\n"
	}
	return "[" + e.head + "]\n\t" + setIn.Replace(e.body) + "\n"
}

// setIn sets in every line. Some models take each of these for a line's end.
var setIn = strings.NewReplacer(
	"\r\n", "\r\n\t", "\n", "\n\t", "\r", "\r\t", "\v", "\v\t", "\f", "\f\t",
	"\u0085", "\u0085\t", "\u2028", "\u2028\t", "\u2029", "\u2029\t",
)

// unit is what stays together in a record as long as it fits.
type unit []entry

// record returns the messages as units of a record. Every message has an entry
// at least; media are named, not shown.
func record(msgs []message.Message) []unit {
	names := map[string]string{} // of the tool, by the id of the call
	var units []unit
	for _, u := range message.Units(msgs) {
		var entries unit
		for i := u.First; i <= u.Last; i++ {
			entries = append(entries, entriesOf(msgs[i], i+1, names)...)
		}
		units = append(units, entries)
	}
	return units
}

func entriesOf(m message.Message, number int, names map[string]string) unit {
	who := fmt.Sprintf("%d %s", number, word(string(m.Role)))
	if m.Name != "" {
		who += " " + word(m.Name)
	}
	var entries unit
	for _, p := range m.Parts {
		if c, ok := p.(message.ToolCall); ok {
			names[c.ID] = c.Name
		}
		entries = append(entries, entryOf(p, who, number, names))
	}
	if entries == nil {
		return unit{{head: who, body: "(nothing)"}}
	}
	return entries
}

func entryOf(p message.Part, who string, number int, names map[string]string) entry {
	switch p := p.(type) {
	case message.Text:
		return entry{who, p.Text}
	case message.Thinking:
		if p.Text == "" {
			return entry{who + " thinks", "(sealed)"}
		}
		return entry{who + " thinks", p.Text}
	case message.Media:
		return entry{who, mediaOf(p)}
	case message.ToolCall:
		return entry{who + " calls " + word(p.Name) + " " + word(p.ID), p.Arguments}
	case message.ToolResult:
		return resultOf(p, number, names)
	case message.Opaque:
		return entry{who, opaqueOf(p)}
	}
	return entry{who, "(nothing)"}
}

func resultOf(r message.ToolResult, number int, names map[string]string) entry {
	kind, name := "result", r.Name
	if r.Error {
		kind = "error"
	}
	if name == "" {
		name = names[r.CallID]
	}
	e := entry{fmt.Sprintf("%d %s of %s %s", number, kind, word(name), word(r.CallID)), r.Text}
	if r.Content != nil {
		e.body = strings.TrimPrefix(r.Text+"\n"+entryOf(r.Content, "", number, names).body, "\n")
	}
	return e
}

func mediaOf(m message.Media) string {
	text := "(not shown: " + word(m.Type)
	if m.Name != "" {
		text += " " + word(m.Name)
	}
	if m.URL != "" && !strings.HasPrefix(m.URL, "data:") {
		text += " " + word(m.URL)
	}
	return text + ")"
}

func opaqueOf(o message.Opaque) string {
	return fmt.Sprintf("(not shown: %s, %d bytes that only its provider reads)", word(o.Kind), len(o.Data))
}

// longestWord bounds names, ids and addresses in heads, in bytes.
const longestWord = 100

// word returns a name such that it can end neither a head nor a line. What it
// leaves out it marks.
func word(s string) string {
	if len(s) > longestWord {
		s = strings.ToValidUTF8(s[:longestWord], "") + "…"
	}
	odd := func(r rune) bool {
		return r == '[' || r == ']' || r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r)
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// fence returns the name of an element, or of one with a number, that does not occur
// in a text, so that not even a careless reader takes something in it for its end.
func fence(element, text string) string {
	for n := 1; ; n++ {
		name := element
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		if !strings.Contains(text, name+">") {
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

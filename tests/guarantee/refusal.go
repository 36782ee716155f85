package guarantee

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// Refused returns what is wrong with the error of a request that was not sent. Its kind must be Irreducible, its largest
// share must be that of the history, and there must be no way to make the request fit. The last is tried if the history is
// sound and short, the provider's usage is the count, and all texts are UTF-8:
// the error has sizes without repairs.
func (c *Call) Refused(err error) []Breach {
	c.arrange()
	l := &ledger{call: c, sound: c.sound()}
	e, ok := errors.AsType[*fit.Irreducible](err)
	if !ok || middleware.KindOf(err) != middleware.Irreducible {
		l.notef(Typed, "a request that was not sent fails with an error of kind %q: %v", middleware.KindOf(err), err)
		return l.breaches
	}
	l.numbers(e)
	counted := e.Limit == "tokens" && !c.Usage
	l.sound = l.sound && !c.mended
	if counted && !c.Folded && l.sound {
		l.largest(e)
	}
	if (counted || e.Limit != "tokens") && !c.Folded {
		l.everyWay(e)
	}
	return l.breaches
}

// numbers checks that the total is more than the room, and has the largest share.
func (l *ledger) numbers(e *fit.Irreducible) {
	switch {
	case e.Total <= e.Room:
		l.notef(True, "%d %s would fit into %d: %+v", e.Total, e.Limit, e.Room, *e)
	case e.Limit == "tokens" && l.call.Room > 0 && e.Room != l.call.Room:
		l.notef(True, "the error has a room of %d tokens, and it is %d", e.Room, l.call.Room)
	case (e.Largest == "") != (e.LargestSize == 0) || e.LargestSize < 0 || e.LargestSize > e.Total:
		l.notef(True, "%q have %d of %d %s", e.Largest, e.LargestSize, e.Total, e.Limit)
	}
}

// largest checks the largest share against the history. Shortening takes from all but tools and system messages.
func (l *ledger) largest(e *fit.Irreducible) {
	c := l.call
	most := map[string]int{"the tools": c.Meter.Tools(c.Tools)}
	for i, p := range protections(c.History) {
		share := map[protection]string{
			whole: "the pinned messages", words: "the questions", calls: "the newest round", fresh: "the newest round",
		}[p]
		if c.History[i].Role == message.RoleSystem {
			share = "the system messages"
		}
		most[share] += c.Meter.Message(c.History[i])
	}
	if len(c.Tools) == 0 && c.Rules&demandTools != 0 {
		most["the tools"] = e.Total // fit has declared some
	}
	if n := most[e.Largest]; e.Largest != "" && e.LargestSize > n {
		l.notef(True, "%s have at most %d tokens, and the error has %d", e.Largest, n, e.LargestSize)
	}
	for _, share := range []string{"the tools", "the system messages"} { // are not shortened
		if e.Largest != share && most[share] > e.LargestSize && most[share] < e.Total {
			l.notef(True, "%s have %d tokens, more than %q with %d", share, most[share], e.Largest, e.LargestSize)
		}
	}
}

// demandTools are the providers that require a declaration of each called tool. If the caller declares none, fit does.
const demandTools = message.Anthropic | message.Bedrock

// mostUnits is the most units of which everyWay tries all choices.
const mostUnits = 10

// everyWay tries to make the request fit by removing each choice of units and shortening the rest as far as allowed.
func (l *ledger) everyWay(e *fit.Irreducible) {
	c := l.call
	units := message.Units(c.History)
	guarded := protections(c.History)
	may := slices.DeleteFunc(slices.Clone(units), func(u message.Unit) bool {
		return slices.ContainsFunc(guarded[u.First:u.Last+1], func(p protection) bool { return p != free })
	})
	if !l.sound || len(may) > mostUnits || len(may) == len(units) { // if nothing is protected, fit may choose what to keep
		return
	}
	all := 1<<len(may) - 1
	fillers := c.fillers(without(c.History, may, all))
	for choice := range all + 1 {
		left := without(c.History, may, choice)
		repaired := c.Rules.Repair(left).Messages
		if len(left) > 0 && c.keeps(e, repaired, fillers) {
			l.notef(True, "the error has %d %s that cannot be removed, but this fits into %d:\n%s",
				e.Total, e.Limit, e.Room, Show(repaired))
			return
		}
	}
}

// without returns the history without the units that have a bit in choice, and the rest shortened as far as allowed.
func without(history []message.Message, may []message.Unit, choice int) []message.Message {
	var left []message.Message
	guarded := protections(history)
	for i, m := range history {
		k := slices.IndexFunc(may, func(u message.Unit) bool { return u.First <= i && i <= u.Last })
		if k < 0 || choice>>k&1 == 0 {
			left = append(left, guarded[i].least(m))
		}
	}
	return left
}

// weight is the size of messages.
type weight struct{ tokens, bytes int }

// fillers returns what repairs add to a history without all removable units. A short message in place of them could be
// smaller, which fit does not try.
func (c *Call) fillers(left []message.Message) weight {
	repaired := c.Rules.Repair(left).Messages
	n := weight{c.Meter.Request(repaired, nil) - c.Meter.Request(left, nil), 0}
	for _, m := range repaired {
		n.bytes += payload.Of(&m).Bytes
	}
	for _, m := range left {
		n.bytes -= payload.Of(&m).Bytes
	}
	return weight{max(0, n.tokens), max(0, n.bytes)}
}

// keeps reports whether messages are within the limit of the error with room for more.
func (c *Call) keeps(e *fit.Irreducible, msgs []message.Message, more weight) bool {
	tools := c.declared(msgs)
	if e.Limit == "tokens" {
		return c.Meter.Request(msgs, tools)+more.tokens <= c.Room
	}
	besides := payload.OfTools(tools...)
	if e.Limit == payload.RequestBytes {
		besides.Bytes += more.bytes
	}
	return !slices.ContainsFunc(payload.Broken(c.Limits, msgs, besides), func(x payload.Excess) bool { return x.Limit == e.Limit })
}

// declared returns the tools of a request: the caller's, or if there are none, those that fit declares for the calls.
func (c *Call) declared(msgs []message.Message) []message.ToolDef {
	if len(c.Tools) > 0 || c.Rules&demandTools == 0 {
		return c.Tools
	}
	if c.Rules&message.InPlace != 0 {
		msgs = c.History
	}
	var tools []message.ToolDef
	for _, m := range msgs {
		for call := range m.Calls() {
			if !slices.ContainsFunc(tools, func(t message.ToolDef) bool { return t.Name == call.Name }) {
				tools = append(tools, message.ToolDef{
					Name: call.Name, Description: "Not available any more.", Parameters: `{"type":"object","properties":{}}`,
				})
			}
		}
	}
	return tools
}

// least returns a message shortened as far as its protection allows: of the newest results the first characters, and
// notes in place of their media and of those of the questions.
func (p protection) least(m message.Message) message.Message {
	if p != fresh && p != words {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for k, part := range m.Parts {
		switch part := part.(type) {
		case message.Media:
			if p == words { // of the newest results only those inside of a result
				m.Parts[k] = message.Text{Text: leftOut(part)}
			}
		case message.ToolResult:
			if p != fresh {
				break
			}
			if media, ok := part.Content.(message.Media); ok {
				part.Content, part.Text = nil, strings.TrimPrefix(part.Text+"\n"+leftOut(media), "\n")
			}
			if part.Content == nil {
				part.Text = leastOf(part.Text)
			}
			m.Parts[k] = part
		case message.Text, message.Thinking, message.ToolCall, message.Opaque:
		}
	}
	return m
}

// leftOut is the note of fit in place of media with a short name or type.
func leftOut(m message.Media) string {
	return fmt.Sprintf("(%s: left out of the request)", cmp.Or(m.Name, m.Type, "media"))
}

// leastOf returns the shortest form of a text by fit: its first three bytes, up to the end of a character, and an
// ellipsis.
func leastOf(text string) string {
	const ellipsis = "…"
	n := min(len(ellipsis), len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) && n < len(ellipsis)+utf8.UTFMax {
		n++
	}
	if n+len(ellipsis) >= len(text) {
		return text
	}
	return text[:n] + ellipsis
}

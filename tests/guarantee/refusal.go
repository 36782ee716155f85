package guarantee

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
)

// Refused returns what is wrong with an error in place of a request. It has to be
// of kind Irreducible, its parts have to be those of the history, and there must
// be no way to make the request fit; this last is tried out if the history is
// sound, not too long, and what is counted is what is charged.
func (c *Call) Refused(err error) []Breach {
	l := &ledger{call: c, sound: c.sound()}
	e, ok := errors.AsType[*fit.Irreducible](err)
	if !ok || middleware.KindOf(err) != middleware.Irreducible {
		l.notef(Typed, "a request that was not sent fails with an error of kind %s: %v", middleware.KindOf(err), err)
		return l.breaches
	}
	l.breakdown(e)
	counted := e.Limit == fit.Tokens && !c.Told
	if counted && !c.Held {
		l.shares(e)
	}
	if (counted || e.Limit != fit.Tokens) && !c.Held {
		l.everyWay(e)
	}
	return l.breaches
}

// breakdown checks that the numbers add up, and to more than there is room for.
func (l *ledger) breakdown(e *fit.Irreducible) {
	sum := 0
	for _, n := range []int{e.System, e.Tools, e.Pinned, e.Questions, e.Newest, e.Rest} {
		sum += n
		if n < 0 {
			l.notef(True, "a part of the breakdown is negative: %+v", *e)
		}
	}
	switch {
	case sum != e.Total:
		l.notef(True, "the parts add up to %d %s, and the total is %d: %+v", sum, e.Limit, e.Total, *e)
	case e.Total <= e.Room:
		l.notef(True, "%d %s would fit into %d: %+v", e.Total, e.Limit, e.Room, *e)
	case e.Limit == fit.Tokens && l.call.Room > 0 && e.Room != l.call.Room:
		l.notef(True, "the room is said to be %d tokens, and is %d", e.Room, l.call.Room)
	}
}

// shares checks each number against the history.
func (l *ledger) shares(e *fit.Irreducible) {
	c := l.call
	system, most := 0, map[protection]int{}
	for i, p := range protections(c.History) {
		n := c.Meter.Message(c.History[i])
		if c.History[i].Role == message.RoleSystem {
			system += n
		} else {
			most[p] += n
		}
	}
	if l.sound && (e.System != system || e.Pinned != most[whole]) {
		l.notef(True, "system messages have %d tokens and pinned ones %d, and are said to have %d and %d",
			system, most[whole], e.System, e.Pinned)
	}
	if l.sound && (e.Questions > most[words] || e.Newest > most[calls]+most[fresh]) {
		l.notef(True, "questions have %d tokens and the newest round %d, and are said to have %d and %d",
			most[words], most[calls]+most[fresh], e.Questions, e.Newest)
	}
	tools := c.Meter.Tools(c.Tools)
	if (len(c.Tools) > 0 || c.Rules&demandTools == 0) && e.Tools != tools {
		l.notef(True, "the tools have %d tokens, and are said to have %d", tools, e.Tools)
	}
}

// demandTools are the providers that want the tools declared whose calls are in
// the messages; where the caller declares none, fit does.
const demandTools = message.Anthropic | message.Bedrock

// mostUnits bounds how many units everyWay tries all choices of.
const mostUnits = 10

// everyWay tries to make the request fit by leaving out any choice of units, with as
// little of the rest as may be.
func (l *ledger) everyWay(e *fit.Irreducible) {
	c := l.call
	units := message.Units(c.History)
	guarded := protections(c.History)
	may := slices.DeleteFunc(slices.Clone(units), func(u message.Unit) bool {
		return slices.ContainsFunc(guarded[u.First:u.Last+1], func(p protection) bool { return p != free })
	})
	if !l.sound || len(may) > mostUnits || len(may) == len(units) { // where nothing must stay, it is a question of taste what does
		return
	}
	all := 1<<len(may) - 1
	fillers := c.fillers(without(c.History, may, all))
	for choice := range all + 1 {
		left := without(c.History, may, choice)
		mended := c.Rules.Repair(left).Messages
		if len(left) > 0 && c.keeps(e, mended, fillers) {
			l.notef(True, "it is said that %d %s cannot be left out, but this fits into %d:\n%s", e.Total, e.Limit, e.Room, Show(mended))
			return
		}
	}
}

// without returns the history without the units that a choice has a bit for, and
// with as little of the rest as may be.
func without(history []message.Message, may []message.Unit, choice int) []message.Message {
	var left []message.Message
	guarded := protections(history)
	for i, m := range history {
		k := slices.IndexFunc(may, func(u message.Unit) bool { return u.Contains(i) })
		if k < 0 || choice>>k&1 == 0 {
			left = append(left, guarded[i].least(m))
		}
	}
	return left
}

// weight is how large messages are.
type weight struct{ tokens, bytes int }

// fillers returns what repairs add to what is left when all is gone that may go. A
// short message that was spared could do the same for less, which fit does not try.
func (c *Call) fillers(left []message.Message) weight {
	mended := c.Rules.Repair(left).Messages
	n := weight{c.Meter.Request(mended, nil) - c.Meter.Request(left, nil), 0}
	for _, m := range mended {
		n.bytes += m.Load().Bytes
	}
	for _, m := range left {
		n.bytes -= m.Load().Bytes
	}
	return weight{max(0, n.tokens), max(0, n.bytes)}
}

// keeps reports whether messages keep the limit that is said not to be kept, and
// have room for something more.
func (c *Call) keeps(e *fit.Irreducible, msgs []message.Message, more weight) bool {
	if e.Limit == fit.Tokens {
		return c.Meter.Request(msgs, nil)+e.Tools+more.tokens <= c.Room
	}
	besides := load(c.Tools)
	if e.Limit == message.RequestBytes {
		besides.Bytes = e.Tools + more.bytes // fit may have to declare some
	}
	return !slices.ContainsFunc(c.Limits.Broken(msgs, besides), func(x message.Excess) bool { return x.Limit == e.Limit })
}

// least returns a message with as little in it as its protection allows: of the
// newest results the first characters, and notes in place of their media and of
// those of the questions.
func (p protection) least(m message.Message) message.Message {
	if p != fresh && p != words {
		return m
	}
	m.Parts = slices.Clone(m.Parts)
	for k, part := range m.Parts {
		switch part := part.(type) {
		case message.Media:
			m.Parts[k] = message.Text{Text: leftOut(part)}
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

// leftOut is the note that fit puts in place of media with a short name or type.
func leftOut(m message.Media) string {
	return fmt.Sprintf("(%s: left out of the request)", cmp.Or(m.Name, m.Type, "media"))
}

// leastOf returns as little of a text as fit leaves: its first three bytes, up
// to the end of a character, and an ellipsis.
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

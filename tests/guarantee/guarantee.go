// Package guarantee checks whether a model call keeps the promises of docs/internals/guarantees.md for a chain that ends with fit.
//
//	call := guarantee.Call{Rules: message.Anthropic, Room: 8000, History: history, Sent: sent, Events: events}
//	for _, b := range call.Broken() { … }
//
// It compares the messages of the caller, the messages that the model received and the events, so it can also check
// code that is not a chain. It has its own rules for what is protected, and asks a server of the provider if there is one.
package guarantee

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// Guarantee names a promise.
type Guarantee string

// The promises.
const (
	Valid     Guarantee = "valid"     // no rule of the provider is broken
	Accepted  Guarantee = "accepted"  // a server of the provider accepts the request
	Fitting   Guarantee = "fitting"   // the tokens are at most the room
	Limited   Guarantee = "limited"   // bytes, images and documents are at most the provider's limits
	Protected Guarantee = "protected" // system, pinned, first and last question and newest round are kept
	Ordered   Guarantee = "ordered"   // unchanged parts are in the order of the history
	Verbatim  Guarantee = "verbatim"  // thinking, media and opaque parts are unchanged or removed
	Paired    Guarantee = "paired"    // calls and results are those of the history
	Plain     Guarantee = "plain"     // no note is inside another note
	Reported  Guarantee = "reported"  // each change has an event
	Stable    Guarantee = "stable"    // messages sent before are sent again, except for the changes in events
	Typed     Guarantee = "typed"     // a request that is not sent fails with an error of the right kind
	True      Guarantee = "true"      // the numbers of that error are right
)

// Breach is a broken promise.
type Breach struct {
	Of   Guarantee
	Text string // where and how
}

// String returns the breach in one line.
func (b Breach) String() string { return string(b.Of) + ": " + b.Text }

// Call is one model call as it is seen from outside. It is for one goroutine. Its fields must not change after the
// first check, which puts the results of each round of History into the order of their calls, as promised.
type Call struct {
	Rules  message.Rules
	Limits message.Limits
	Room   int          // tokens that the request may have; 0: any number
	Meter  tokens.Meter // counts them
	Usage  bool         // the provider has reported usage, which may differ from the count
	Folded bool         // an editor or the provider may have folded protected messages together with others

	History []message.Message // of the caller
	Tools   []message.ToolDef
	Sent    []message.Message  // to the model, with Tools
	View    *middleware.View   // of Sent; may be nil
	Events  []middleware.Event // of the call

	mended   bool              // a text was not UTF-8
	repaired *message.Repaired // the repaired history; nil before the first use
}

// arrange puts the results of each round into the order of its calls, if each message answers one of them, and replaces what is
// not UTF-8 in the parts. Signed thinking that is not UTF-8 is removed.
func (c *Call) arrange() {
	own := slices.Clone(c.History)
	for i := range own {
		own[i].Parts = nil
		for _, p := range c.History[i].Parts {
			text := message.Internals(inside.Key{}).WithText(p)
			c.mended = c.mended || text != p
			if t, ok := p.(message.Thinking); !ok || t.Signature == "" || text == p {
				own[i].Parts = append(own[i].Parts, text)
			}
		}
	}
	for first := range own {
		last := first
		for last+1 < len(own) && own[last+1].Role == message.RoleTool {
			last++
		}
		if own[first].Role == message.RoleAssistant && last > first {
			arrangeRound(own[first], own[first+1:last+1])
		}
	}
	c.History = own
}

// arrangeRound sorts the results of a round, unless a call or the answer to it is not clear.
func arrangeRound(answer message.Message, results []message.Message) {
	order := map[string]int{}
	for call := range answer.Calls() {
		if _, twice := order[call.ID]; twice || call.ID == "" {
			return
		}
		order[call.ID] = len(order)
	}
	place := func(m message.Message) int {
		for r := range m.Results() {
			if at, ok := order[r.CallID]; ok {
				return at
			}
			break
		}
		return -1
	}
	seen := map[int]bool{-1: true}
	for _, m := range results {
		if seen[place(m)] {
			return
		}
		seen[place(m)] = true
	}
	slices.SortFunc(results, func(a, b message.Message) int { return place(a) - place(b) })
}

// repair returns the history after a repair by the provider's rules.
func (c *Call) repair() *message.Repaired {
	if c.repaired == nil {
		c.repaired = c.Rules.Repair(c.History)
	}
	return c.repaired
}

// sound reports whether the history breaks no rule, so that it needs no repair.
func (c *Call) sound() bool { return len(c.repair().Fixes) == 0 }

// Broken returns the promises that the call broke, one breach for each place.
func (c *Call) Broken() []Breach {
	c.arrange()
	l := &ledger{call: c, sound: c.sound()}
	l.validity()
	l.size()
	l.protection()
	l.order()
	l.parts()
	l.notes()
	return l.breaches
}

// BrokenSince returns the promises that the call broke since the call before it, whose history has grown; nil: it is
// the first call of its conversation.
func (c *Call) BrokenSince(before *Call) []Breach {
	l := &ledger{call: c}
	if before == nil {
		before = &Call{Rules: c.Rules}
	}
	c.arrange()
	before.arrange()
	l.stability(before)
	return l.breaches
}

// ledger collects the breaches of a call.
type ledger struct {
	call     *Call
	sound    bool
	breaches []Breach
}

func (l *ledger) notef(of Guarantee, format string, args ...any) {
	l.breaches = append(l.breaches, Breach{Of: of, Text: fmt.Sprintf(format, args...)})
}

// validity checks the sent messages against the rules, and with the server of the provider if there is one.
func (l *ledger) validity() {
	c := l.call
	for _, v := range c.Rules.Violations(c.Sent) {
		l.notef(Valid, "%s, which %s rejects", v, c.Rules)
	}
	if c.Rules&message.OpenAI == 0 || len(c.Sent) == 0 {
		return
	}
	if err := AskOpenAI(c.Sent, c.Rules&message.Gemini != 0); err != nil {
		l.notef(Accepted, "%v", err)
	}
}

// size checks that the request fits. The view counts if there is one, because it knows the reported usage.
func (l *ledger) size() {
	c := l.call
	n, by := c.Meter.Request(c.Sent, c.Tools), "the meter"
	if c.View != nil {
		n, by = c.View.Size().Tokens, "the view"
	}
	if c.Room > 0 && n > c.Room {
		l.notef(Fitting, "%d tokens by %s, and there is room for %d", n, by, c.Room)
	}
	for _, e := range payload.Broken(c.Limits, c.Sent, payload.OfTools(c.Tools...)) {
		l.notef(Limited, "%d %s, and the provider accepts %d", e.Is, e.Limit, e.Most)
	}
}

func sameMessages(a, b []message.Message) bool {
	return slices.EqualFunc(a, b, message.Message.Equal)
}

// Show returns messages one a line, shortened, for failure texts.
func Show(msgs []message.Message) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%3d %s %q", i, m.Role, m.Name)
		if m.Hints.Pinned {
			b.WriteString(" (pinned)")
		}
		for _, p := range m.Parts {
			b.WriteString(" " + showPart(p))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// showPart returns a part with at most 48 bytes of each text.
func showPart(p message.Part) string {
	text := strings.TrimPrefix(fmt.Sprintf("%T%+.48v", p, p), "message.")
	return strings.ReplaceAll(text, "\n", `\n`)
}

// short returns a text in quotes; of a long text, its beginning, end and length.
func short(s string) string {
	const most = 48
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…%q (%d bytes)", s[:most/2], s[len(s)-most/4:], len(s))
}

// AskOpenAI returns the error of a strict server of OpenAI chat completions for a list of messages, or nil. The server
// shares no code with package message. As in an adapter, content without a field in that format is left out: sealed
// thinking, empty texts, media without type or address. With inOrder, the server requires results in
// the order of their calls.
func AskOpenAI(msgs []message.Message, inOrder bool) error {
	var wire []openai.Message
	for i, m := range msgs {
		for _, one := range byCall(m) {
			one.Parts = onWire(one)
			if len(one.Parts) == 0 {
				continue
			}
			w, err := openai.New(one)
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			wire = append(wire, w)
		}
	}
	if len(wire) == 0 {
		return nil // this format has no field for any of it
	}
	body, err := json.Marshal(map[string]any{"model": servedModel, "messages": wire})
	if err != nil {
		return err
	}
	r, err := fakeprovider.Parse(body)
	if err != nil {
		return err
	}
	return r.Check(fakeprovider.Options{Models: map[string]int{servedModel: unbounded}, Lenient: !inOrder})
}

const (
	servedModel = "gpt-4o"
	unbounded   = 1 << 50 // tokens; size checks whether the request fits
)

// onWire returns the parts that the format has a field for, calls last.
func onWire(m message.Message) []message.Part {
	var content, calls []message.Part
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			if p.Text != "" {
				content = append(content, p)
			}
		case message.ToolCall:
			calls = append(calls, p)
		case message.ToolResult:
			if p.Text != "" || p.Content != nil {
				content = append(content, p)
			}
		case message.Media:
			if p.Data != "" && p.Type != "" || strings.HasPrefix(p.URL, "https://") {
				content = append(content, p)
			}
		case message.Thinking, message.Opaque:
		}
	}
	if len(content) == 0 && m.Role == message.RoleTool {
		return m.Parts[:1] // an empty result is a result
	}
	return append(content, calls...)
}

// byCall splits a tool message into one for each call, as the format requires.
func byCall(m message.Message) []message.Message {
	if m.Role != message.RoleTool {
		return []message.Message{m}
	}
	var ids []string
	for r := range m.Results() {
		if !slices.Contains(ids, r.CallID) {
			ids = append(ids, r.CallID)
		}
	}
	var out []message.Message
	for _, id := range ids {
		one := message.Message{Role: message.RoleTool}
		for r := range m.Results() {
			if r.CallID == id {
				one.Parts = append(one.Parts, r)
			}
		}
		out = append(out, one)
	}
	return out
}

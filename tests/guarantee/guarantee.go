// Package guarantee judges what came of a model call: whether it keeps what
// docs/guarantees.md promises of a chain that ends with fit.
//
//	call := guarantee.Call{Rules: message.Anthropic, Room: 8000, History: history, Sent: sent, Events: events}
//	for _, b := range call.Broken() { … }
//
// It sees what the caller passed, what the model was sent and what was told on
// the way, so it can judge what is no chain just as well. What is protected it
// finds out by itself; where a server of the provider can be asked, it is asked.
package guarantee

import (
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
)

// Guarantee names a promise.
type Guarantee string

// The promises.
const (
	Valid     Guarantee = "valid"     // no rule of the provider is broken
	Accepted  Guarantee = "accepted"  // a server of the provider takes the request
	Fitting   Guarantee = "fitting"   // the tokens are at most the room
	Limited   Guarantee = "limited"   // so are bytes, images and documents
	Protected Guarantee = "protected" // system, pinned, first and last question, newest round
	Ordered   Guarantee = "ordered"   // what survives stands in the order of the history
	Verbatim  Guarantee = "verbatim"  // thinking, media and opaque parts are there as they were, or not at all
	Paired    Guarantee = "paired"    // calls and results are those of the history
	Plain     Guarantee = "plain"     // no note stands inside another
	Told      Guarantee = "told"      // what was changed was told
	Stable    Guarantee = "stable"    // what was sent before is sent again, but for what an event tells
	Typed     Guarantee = "typed"     // a request that is not sent fails with an error that says why
	True      Guarantee = "true"      // what it says is so
)

// Breach is a promise that was not kept.
type Breach struct {
	Of   Guarantee
	Says string // where, and how
}

// String returns the breach in one line.
func (b Breach) String() string { return string(b.Of) + ": " + b.Says }

// Call is one call of a model, as it is seen from outside. It is for one goroutine,
// and nothing in it is written to; its fields do not change once it is judged.
type Call struct {
	Rules  message.Rules
	Limits message.Limits
	Room   int          // tokens that the request may have; 0: any number
	Meter  tokens.Meter // by which they are counted
	Told   bool         // the provider has told what it charges, which may be something else
	Held   bool         // an editor may have folded what may not go together with what may

	History []message.Message // that the caller passed
	Tools   []message.ToolDef
	Sent    []message.Message  // to the model, with Tools
	View    *middleware.View   // of what was sent; nil: who made it has none
	Events  []middleware.Event // on the way

	repaired *message.Repaired // the history as the provider would have it; nil: not asked yet
}

// mended returns the history as the provider would have it.
func (c *Call) mended() *message.Repaired {
	if c.repaired == nil {
		c.repaired = c.Rules.Repair(c.History)
	}
	return c.repaired
}

// sound reports whether the history breaks no rule, so that there is nothing to
// mend in it.
func (c *Call) sound() bool { return len(c.mended().Fixes) == 0 }

// Broken returns the promises that a call did not keep, one breach for each
// place.
func (c *Call) Broken() []Breach {
	l := &ledger{call: c, sound: c.sound()}
	l.validity()
	l.size()
	l.protection()
	l.order()
	l.parts()
	l.notes()
	return l.breaches
}

// BrokenSince returns the promises that a call did not keep to the one before it,
// whose history it has grown from; nil: it is the first of its conversation.
func (c *Call) BrokenSince(before *Call) []Breach {
	l := &ledger{call: c}
	if before == nil {
		before = &Call{Rules: c.Rules}
	}
	l.stability(before)
	return l.breaches
}

// ledger takes down what is wrong with a call.
type ledger struct {
	call     *Call
	sound    bool
	breaches []Breach
}

func (l *ledger) notef(of Guarantee, format string, args ...any) {
	l.breaches = append(l.breaches, Breach{Of: of, Says: fmt.Sprintf(format, args...)})
}

// validity checks what was sent against the rules, and where there is a server
// to ask, against that.
func (l *ledger) validity() {
	c := l.call
	for _, v := range c.Rules.Violations(c.Sent) {
		l.notef(Valid, "%s, which %s does not take", v, c.Rules)
	}
	if c.Rules&message.OpenAI == 0 || len(c.Sent) == 0 {
		return
	}
	if err := AskOpenAI(c.Sent, c.Rules&message.Gemini != 0); err != nil {
		l.notef(Accepted, "%v", err)
	}
}

// size checks that what was sent fits, in tokens by the count of the view if there
// is one: that knows what the provider has told.
func (l *ledger) size() {
	c := l.call
	n, by := c.Meter.Request(c.Sent, c.Tools), "the meter"
	if c.View != nil {
		n, by = c.View.Size().Tokens, "the view"
	}
	if c.Room > 0 && n > c.Room {
		l.notef(Fitting, "%d tokens by %s, and there is room for %d", n, by, c.Room)
	}
	for _, e := range c.Limits.Broken(c.Sent, load(c.Tools)) {
		l.notef(Limited, "%d %s, and the provider takes %d", e.Is, e.Limit, e.Most)
	}
}

// load returns what tools weigh.
func load(tools []message.ToolDef) message.Load {
	var sum message.Load
	for _, t := range tools {
		sum = sum.Add(t.Load())
	}
	return sum
}

func sameMessages(a, b []message.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// Package trigger decides when an editing middleware edits.
//
//	trigger.Any(trigger.Tokens(100_000), trigger.All(trigger.Fraction(0.75), trigger.Rounds(10)))
//
// Tokens are those of all that would be sent: system prompt, tool definitions and
// messages. A threshold is met when it is reached. Triggers are values, safe for
// concurrent use. A wrong one, as with a negative threshold, is reported when it is given
// to a middleware.
//
// [Any] and [All] ask [Reclaims] and [Func] last, since these may need the plan: with
// All(Tokens(100_000), Reclaims(20_000)) no plan is made below 100,000 tokens.
package trigger

import (
	"errors"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/when"
)

// Tokens is met when at least n tokens would be sent.
func Tokens(n int) middleware.Trigger { return when.Tokens(n) }

// Messages is met when the view has at least n messages.
func Messages(n int) middleware.Trigger {
	return when.Limit("messages", n, (*middleware.View).Len)
}

// Rounds is met when the view has at least n rounds: assistant messages with tool
// calls.
func Rounds(n int) middleware.Trigger {
	return when.Limit("rounds", n, rounds)
}

func rounds(v *middleware.View) (n int) {
	for _, m := range v.Messages() {
		if m.Role == message.RoleAssistant && m.HasCalls() {
			n++
		}
	}
	return n
}

// ToolUses is met when the view has at least n tool calls, answered or not. Parallel calls
// count one by one. A call counts if its result is cleared, and not if it is folded.
func ToolUses(n int) middleware.Trigger {
	return when.Limit("tool calls", n, toolUses)
}

func toolUses(v *middleware.View) (n int) {
	for _, m := range v.Messages() {
		if m.Role == message.RoleAssistant {
			for range m.Calls() {
				n++
			}
		}
	}
	return n
}

// Fraction is met when this share of the room, the window less the reserve, would be
// filled: more than 0, at most 1. It is an error if the window is not known.
func Fraction(share float64) middleware.Trigger { return when.Fraction(share) }

// AtUser is met when a message of the user ends the request, and in other requests only when the limit is; nil: never.
// Join it by [All] to what else must be met:
//
//	trigger.All(trigger.Tokens(50_000), trigger.AtUser(trigger.Fraction(0.75)))
//
// Some models accept thinking only after the messages that it was made with. For these, an edit inside of a turn makes
// the thinking of that turn void; see [models.Model].
func AtUser(limit middleware.Trigger) middleware.Trigger { return when.AtUser(limit) }

// Reclaims is met when the plan would make the view at least n tokens shorter. Alone it
// has a plan made in each call, so join it by [All] to what must be met before. A plan
// that breaks a rule frees nothing.
func Reclaims(n int) middleware.Trigger { return when.Reclaims(n) }

// Worth is met when an edit has become worth its price: with n calls since the newest edit of the editor,
//
//	read × removed × n/2 ≥ (write − read) × kept + void
//
// removed are the tokens that the edit removes, kept those after its first change that are in the cache, void is the price, as
// output, of the thinking that the edit makes void; see [models.Model]. What is removed has come in over these calls, so half
// of them have paid for reading it. The cost is about twice that of knowing the future.
//
// All is computed from the history: nothing is stored, and a restart does not begin at zero. Of 344 recorded conversations, rules
// that add up the age of each result and look for the best place to begin are cheaper by less than 0.5 %.
func Worth(o EconomyOptions) middleware.Trigger { return when.Worth(when.Prices(o)) }

// Cold is met when an edit costs nothing: the provider's cache has expired, by the times
// of the messages and the clock of the chain, or an earlier edit of this call breaks the prefix
// before all that it changes. Without times it is the time since this process has sent the request before.
func Cold(o EconomyOptions) middleware.Trigger { return when.Cold(when.Prices(o)) }

// Economy is met when [Cold] or [Worth] is, and under pressure: when a share of the room
// is filled.
func Economy(o EconomyOptions) middleware.Trigger { return when.Economy(when.Prices(o)) }

// EconomyOptions configure [Worth], [Cold] and [Economy]. The zero value suits most programs.
type EconomyOptions struct {
	// Read and Write are the prices of a token that is read from the provider's cache, and
	// of one that is written to it, in those of an input token: 0.1 and 1.25. Both 0: those
	// of the request's model in the table of models; if it is unknown, 0.1 and 1.25.
	Read, Write float64

	// TTL is how long the provider keeps a prefix after its last use. 0: as the table of
	// models says, but at least an hour if the provider caches by itself, and without end if
	// the table has no time. Set it if requests ask for a longer time.
	TTL time.Duration

	// Pressure is the share of the room, the window less the reserve, at which Economy makes each edit that removes 2 % of the
	// room, or a tenth of what is written again. 0: 0.75; negative: never. No effect if the window is not known.
	Pressure float64

	// Factor is what Worth multiplies the price of an edit by: above 1, it edits later,
	// and conversations that end soon after an edit cost less; below 1, it edits sooner. 0: 1.
	Factor float64
}

// Any is met when one of the triggers is met. Triggers that may be expensive are asked
// last, [Reclaims] after all others. It is an error if no trigger is met and one of them
// cannot work.
func Any(triggers ...middleware.Trigger) middleware.Trigger { return when.Any(triggers...) }

// All is met when all triggers are met. Triggers that may be expensive are asked last,
// [Reclaims] after all others. It is an error if all others are met and one cannot work.
func All(triggers ...middleware.Trigger) middleware.Trigger { return when.All(triggers...) }

// Not is met when the trigger is not met. A trigger that cannot work is an error, as it is
// without Not. Not of a number of tokens, messages, rounds or calls is met when the view
// has become short, also through later middlewares: then a repeated call may be edited
// further.
func Not(t middleware.Trigger) middleware.Trigger { return when.Not(t) }

// Func makes a trigger of a function that keeps the contract of
// [middleware.Trigger]. [Any] and [All] ask it after the others.
func Func(met func(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error)) middleware.Trigger {
	return function(met)
}

type function func(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error)

func (f function) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	return f(v, plan)
}

func (f function) Validate() error {
	if f == nil {
		return errors.New("trigger.Func of nil")
	}
	return nil
}

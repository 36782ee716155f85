package fit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// ofWindow is the limit that the window sets, in addition to [message.Limits].
const ofWindow = "tokens"

// unbounded is a room without a limit.
const unbounded = math.MaxInt

// judgement is what is wrong with a view, and how large it is.
type judgement struct {
	view   *middleware.View
	own    message.Rules // of the options, or of the API and the model
	rules  message.Rules // these, or the strict ones
	limits message.Limits
	budget middleware.Budget
	sure   bool // the budget is not a guess
	room   int  // tokens that the request may have, less the margin
	margin int  // for the error of the count; 0 if sure, and if the whole room may be filled

	repaired *message.Repaired // what is sent instead of the view; nil: the view itself
	sent     *middleware.View  // the view with these repairs
	declared []message.ToolDef // if the request declares no tools, but has calls

	tools    []message.ToolDef // of the request
	toolLoad payload.Load      // of tools and declared
	bound    payload.Load      // upper bound for the messages
}

// judge examines a view. Of a conversation that was examined before, it looks at the new messages only, as long as nothing
// was wrong. If sure is true, the window is not a guess after a refusal, and nothing is kept free for the error of the count.
func (f *fitter) judge(ctx context.Context, v *middleware.View, sure bool) *judgement {
	j := &judgement{view: v, sure: sure, room: unbounded, tools: v.Request().Tools}
	b, ok := v.Budget()
	if sure {
		b, ok = v.SureBudget()
	}
	if ok {
		j.budget, j.room = b, b.Room()
		if !sure {
			j.margin = min(v.Size().Margin, j.room/16) // what is sent is as large as the room, not as the view before
			j.room -= j.margin
		}
	}
	j.own = f.rulesOf(v)
	j.rules = j.own
	more := f.net.rules(ctx, v)
	if more&^message.AnyID != 0 {
		j.rules &^= message.Prefill | message.AsSent
	}
	j.rules |= more
	before, _ := v.Load(memoryKey{f}).(*judgement)
	if before == nil || before.rules != j.rules {
		before = &judgement{}
	}
	j.limits = before.limits
	if before.view == nil || before.budget.Window != j.budget.Window {
		j.limits = within.LimitsOr(f.opts.Limits, j.own.Limits(j.budget.Window))
	}
	j.examine(before)
	j.sent = v
	if j.repaired != nil {
		j.sent = v.WithRepairs(j.repaired)
	}
	j.declared = j.declarations()
	j.toolLoad = before.toolLoad
	if !slices.Equal(before.tools, j.tools) || len(before.declared)+len(j.declared) > 0 {
		j.toolLoad = payload.OfTools(slices.Concat(j.tools, j.declared)...)
	}
	return j
}

// memoryKey is the key of the newest judgement of a conversation. Without this memory, a call with nothing to do on 2,000 messages
// takes 1,200 µs in place of 27: all of them are examined again.
type memoryKey struct{ *fitter }

func (f *fitter) remember(j *judgement) { j.view.Store(memoryKey{f}, j) }

// examine finds violations and the load of the messages that were not examined before.
func (j *judgement) examine(before *judgement) {
	msgs := j.view.Messages()
	valid, from := j.view.Shared(before.view), 0
	if before.view != nil && valid == before.view.Len() && (before.repaired == nil || valid == len(msgs)) {
		from = valid
		j.repaired, j.bound = before.repaired, before.bound
		if from == len(msgs) {
			return
		}
	}
	if before.repaired != nil || before.view != nil && valid < before.view.Len() {
		valid = 0
	}
	if len(within.ViolationsFrom(j.rules, msgs, valid)) > 0 {
		j.repaired = j.rules.Repair(msgs)
		j.bound = payload.Load{}
		from = 0
		msgs = j.repaired.Messages
	}
	for i := range msgs[from:] {
		j.bound = j.bound.Add(payload.Bound(&msgs[from+i]))
	}
}

// withoutMargin returns the judgement with the whole room.
func (j *judgement) withoutMargin() *judgement {
	whole := *j
	whole.room, whole.margin = j.room+j.margin, 0
	return &whole
}

// charged returns the tokens that would be charged for a view if its messages had so many tokens more by the meter.
func (j *judgement) charged(v *middleware.View, more int) int {
	if len(j.declared) > 0 {
		more += v.Meter().Tools(j.declared)
	}
	return v.Without(-more).Size().Tokens
}

// excess returns the limits that would be exceeded, or nil.
func (j *judgement) excess() (found []payload.Excess) {
	if n := j.charged(j.sent, 0); n > j.room {
		found = append(found, payload.Excess{Limit: ofWindow, At: -1, Part: -1, Is: n, Most: j.room})
	}
	if !payload.Allow(j.limits, j.bound.Add(j.toolLoad)) {
		found = append(found, payload.Broken(j.limits, j.sent.Messages(), j.toolLoad)...)
	}
	return found
}

// reason returns in words which limit is exceeded.
func (j *judgement) reason() string {
	if excess := j.withoutMargin().excess(); excess != nil {
		return excess[0].String()
	}
	if excess := j.excess(); excess != nil {
		return fmt.Sprintf("%s, besides %d for the error of the count", excess[0], j.margin)
	}
	return fmt.Sprintf("the provider has refused the request, of %d tokens by our count and at most %d", j.charged(j.sent, 0), j.room)
}

// Irreducible is why a request cannot be made to fit: what cannot be left out of it is larger than the room.
//
//	if e, ok := errors.AsType[*fit.Irreducible](err); ok { … e.Largest … }
type Irreducible struct { //nolint:errname // it is what errors of kind middleware.Irreducible hold
	Limit string // that is exceeded: "tokens" for the window, or one of the provider, such as "bytes of the request"
	Room  int    // how much a request may have, in the unit of the limit
	Total int    // how much of it cannot be left out, repairs included

	Window  int // of the model, in tokens; 0: not known
	Reserve int // tokens of the window that are kept free for the answer

	// Largest names what takes most of Total: "the system messages", "the tools", "the pinned messages", "the questions" (the
	// first and the last message of the user), "the protected tools" (their calls and results), or "the newest round", which
	// no model has answered. Results count with the few characters that are left of them. It is "" if nothing of these takes any.
	Largest     string
	LargestSize int // in the unit of the limit
}

// cures are what to do about the largest share.
var cures = map[string]string{
	"the system messages": "shorten the system prompt, or ",
	"the tools":           "declare fewer tools, or ",
	"the pinned messages": "pin less, or ",
	"the questions":       "put long material into a file that a tool reads, or ",
	"the protected tools": "protect fewer tools, or ",
	"the newest round":    "have fewer calls made at once, and less written in one, or ",
}

// Error returns the numbers, and a cure for the largest share.
func (e *Irreducible) Error() string {
	text := fmt.Sprintf("%d %s cannot be left out, and there is room for %d", e.Total, e.Limit, e.Room)
	more := "raise Limits if the provider accepts more"
	if e.Limit == ofWindow {
		text += fmt.Sprintf(" (window %d, %d of it for the answer)", e.Window, e.Reserve)
		more = "take a model with a larger window, or correct the Budget"
	}
	if e.Largest != "" {
		text += fmt.Sprintf("; %s have %d", e.Largest, e.LargestSize)
	}
	return text + ": " + cures[e.Largest] + more
}

// least returns the plan of the smallest request, and what the view is then.
func (f *fitter) least(ctx context.Context, j *judgement) (*middleware.Plan, *judgement, error) {
	d := f.draft(ctx, j, attempt{lastResort: true, opaque: true, least: true}, nil, 0)
	d.shrink()
	return f.planOf(ctx, d)
}

// irreducible returns why a view cannot be made to fit, or nil if it can.
func (f *fitter) irreducible(ctx context.Context, j *judgement) *Irreducible {
	_, least, err := f.least(ctx, j)
	if err != nil {
		least = j
	}
	excess := least.excess()
	if excess == nil {
		return nil
	}
	b, x := least.budget, excess[0]
	e := &Irreducible{Limit: x.Limit, Room: x.Most, Total: x.Is, Window: b.Window, Reserve: b.Reserve}
	e.Largest, e.LargestSize = least.largest(x)
	return e
}

// largest returns which share of a request takes most of what exceeds a limit, and its size without repairs. Of tokens, the
// size is what the provider charges.
func (j *judgement) largest(excess payload.Excess) (name string, size int) {
	if excess.At >= 0 { // one part is too large
		return shareOf(j.sent, excess.At), excess.Is
	}
	sizeOf, scale, sizes := j.view.Meter().Message, 1.0, map[string]int{}
	if excess.Limit == ofWindow {
		scale = float64(excess.Is) / float64(j.sent.Size().Counted)
		sizes["the tools"] = j.view.Meter().Tools(slices.Concat(j.tools, j.declared))
	} else {
		sizeOf = func(m message.Message) int { return countedBy(excess.Limit, payload.Of(&m)) }
		sizes["the tools"] = countedBy(excess.Limit, j.toolLoad)
	}
	for i, m := range j.view.Messages() {
		sizes[shareOf(j.view, i)] += sizeOf(m)
	}
	for _, share := range slices.Sorted(maps.Keys(cures)) {
		if n := min(excess.Is, int(scale*float64(sizes[share]))); n > size { // a repair that joins two messages makes the total smaller
			name, size = share, n
		}
	}
	return name, size
}

// shareOf returns the share that a message counts for; "" if it is none of them.
func shareOf(v *middleware.View, i int) string {
	p := v.Protected(i)
	switch {
	case v.At(i).Role == message.RoleSystem:
		return "the system messages"
	case p.Whole:
		return "the pinned messages"
	case p.Text:
		return "the questions"
	case p.Newest:
		return "the newest round"
	case p.Tool, p.Plan:
		return "the protected tools"
	}
	return ""
}

package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Tokens is the limit that the window sets, in addition to [message.Limits].
const Tokens = "tokens"

// unbounded is a limit that does not exist.
const unbounded = math.MaxInt

// judgement is what is wrong with a view, and how large it is.
type judgement struct {
	view   *middleware.View
	rules  message.Rules
	known  bool // the rules are those of the model's provider, or of the options
	limits message.Limits
	budget middleware.Budget
	sure   bool // the budget is not a guess
	room   int  // tokens that the request may have, less the margin
	margin int  // for the error of the count; 0 if sure

	repaired *message.Repaired // what is sent instead of the view; nil: the view itself
	added    int               // tokens by the meter that repairs add
	called   []message.ToolDef // declarations of the called tools, if the provider demands them
	declared []message.ToolDef // called, if the request declares no tools

	tools    []message.ToolDef // of the request
	toolLoad payload.Load      // of tools and declared
	bound    payload.Load      // upper bound for the messages
	exact    payload.Load      // of the messages, if measured
	measured bool
}

// judge examines a view. Of a conversation that was examined before, it looks at the
// new messages only, as long as nothing was wrong. If sure is true, the window is not
// one that was guessed after a refusal, and nothing is kept free for the error of the count.
func (f *fitter) judge(v *middleware.View, sure bool) *judgement {
	j := &judgement{view: v, sure: sure, room: unbounded}
	budget := v.Budget
	if sure {
		budget = v.SureBudget
	}
	if b, ok := budget(); ok {
		j.budget, j.room = b, b.Room()
		if !sure {
			j.margin = min(v.Size().Margin, j.room/16) // what is sent is as large as the room, not as the view before
			j.room -= j.margin
		}
	}
	j.rules, j.known = f.rulesOf(v)
	before, same := f.remembered(v, j.rules)
	j.limits = f.opts.limits(j.rules.Limits(j.budget.Window))
	j.examine(before, same)
	if j.tools = v.Request().Tools; len(j.tools) == 0 {
		if j.declared = j.called; j.known && j.rules&message.InPlace != 0 {
			j.declared = allNamed(v)
		}
	}
	if before != nil && slices.Equal(before.tools, j.tools) && len(before.declared)+len(j.declared) == 0 {
		j.toolLoad = before.toolLoad
	} else {
		j.toolLoad = payload.OfTools(slices.Concat(j.tools, j.declared)...)
	}
	return j
}

// withoutMargin returns the judgement with the whole room.
func (j *judgement) withoutMargin() *judgement {
	whole := *j
	whole.room, whole.margin = j.room+j.margin, 0
	return &whole
}

// target returns the share of the room that is to be filled: a margin does not make it smaller.
func (j *judgement) target(share float64) float64 {
	return min(1, share*float64(j.room+j.margin)/float64(j.room))
}

// examine finds violations, called tools and the load of the view. The first messages,
// same in number, were examined before.
func (j *judgement) examine(before *judgement, same int) {
	v, from := j.view, 0
	if before != nil && same == before.view.Len() {
		j.repaired, j.added, j.called = before.repaired, before.added, before.called
		j.bound, j.exact, j.measured = before.bound, before.exact, before.measured
		if from = same; same == v.Len() {
			return
		}
	}
	if len(j.rules.ViolationsFrom(v.Messages(), same)) > 0 {
		j.repaired = j.rules.Repair(v.Messages())
		j.added = core.WithRepairs(v, j.repaired).Size().Counted - v.Size().Counted
		j.called, j.bound, j.exact, j.measured, from = nil, payload.Load{}, payload.Load{}, false, 0
	}
	added := j.messages()[from:]
	j.declareCalls(added)
	for i := range added {
		j.bound = j.bound.Add(payload.Bound(&added[i]))
		if j.measured {
			j.exact = j.exact.Add(payload.Of(&added[i]))
		}
	}
}

// messages returns what would be sent.
func (j *judgement) messages() []message.Message {
	if j.repaired != nil {
		return j.repaired.Messages
	}
	return j.view.Messages()
}

// memoryKey is the key of the newest judgement of a conversation.
type memoryKey struct{ *fitter }

func (f *fitter) remember(j *judgement) { j.view.Store(memoryKey{f}, j) }

// remembered returns the newest judgement of the conversation, and how many of the
// first messages of the view it covers. It returns nil if there is none for these
// rules, or if it has repairs for another view.
func (f *fitter) remembered(v *middleware.View, r message.Rules) (before *judgement, same int) {
	before, _ = v.Load(memoryKey{f}).(*judgement)
	if before == nil || before.rules != r {
		return nil, 0
	}
	same = core.Shared(v, before.view)
	if before.repaired != nil && (same < v.Len() || same < before.view.Len()) {
		return nil, 0
	}
	return before, same
}

// excess returns the limits that would be exceeded, or nil.
func (j *judgement) excess() []payload.Excess {
	var found []payload.Excess
	if n := j.charged(); n > j.room {
		found = append(found, payload.Excess{Limit: Tokens, At: -1, Part: -1, Is: n, Most: j.room})
	}
	if payload.Allow(j.limits, j.bound.Add(j.toolLoad)) {
		return found
	}
	if msgs := j.messages(); !j.measured {
		j.measured = true
		for i := range msgs {
			j.exact = j.exact.Add(payload.Of(&msgs[i]))
		}
	}
	if payload.Allow(j.limits, j.exact.Add(j.toolLoad)) {
		return found
	}
	return append(found, payload.Broken(j.limits, j.messages(), j.toolLoad)...)
}

// reason returns in words which limit is exceeded.
func (j *judgement) reason() string {
	if excess := j.withoutMargin().excess(); excess != nil {
		return excess[0].String()
	}
	if excess := j.excess(); excess != nil {
		return fmt.Sprintf("%s, besides %d for the error of the count", excess[0], j.margin)
	}
	return fmt.Sprintf("the provider has refused the request, of %d tokens by our count and at most %d", j.charged(), j.room)
}

// charged returns the tokens that would be charged for what would be sent.
func (j *judgement) charged() int {
	added := j.added
	if len(j.declared) > 0 {
		added += j.view.Meter().Tools(j.declared)
	}
	return core.Without(j.view, -added).Size().Tokens
}

// free returns the tokens and bytes that the view may have, without a margin and
// what repairs and tools take. Bytes are unbounded unless they are close to the limit.
func (j *judgement) free(view, margin load) (tokens, bytes int) {
	tokens, bytes = unbounded, unbounded
	if j.room != unbounded {
		tokens = j.room - (j.charged() - j.view.Size().Tokens) - margin.tokens
	}
	if j.measured && j.limits.Bytes > 0 {
		bytes = j.limits.Bytes - j.toolLoad.Bytes - (j.exact.Bytes - view.bytes) - margin.bytes
	}
	return tokens, bytes
}

// Irreducible is why a request cannot be made to fit: what cannot be left out of it
// is larger than the room. Its numbers are those of the request without all the rest,
// and add up to Total.
//
//	if e, ok := errors.AsType[*fit.Irreducible](err); ok { … e.System … }
type Irreducible struct { //nolint:errname // it is what errors of kind middleware.Irreducible hold
	Limit string // that is exceeded: [Tokens], or one of the provider, such as "bytes of the request"
	Room  int    // how much a request may have; all numbers but the next two are in the unit of the limit
	Total int    // how much of it cannot be left out

	Window  int // of the model, in tokens; 0: not known
	Reserve int // part of the window, kept free for the answer

	System    int // system messages
	Tools     int // tool definitions
	Pinned    int // other messages that the host has pinned
	Questions int // the first and the last message of the user, without attachments
	Protected int // calls and results of protected tools, cut to nothing
	Newest    int // the newest round, which no model has answered, with results cut to nothing
	Rest      int // frames of messages, and repairs

	Arguments int // how much of Newest are arguments of calls
}

// share is one part of the total.
type share struct {
	name, cure string
	size       *int
}

func (e *Irreducible) shares() []share {
	newest, cure := "the newest round", "have fewer calls made at once, or "
	if 2*e.Arguments > e.Newest {
		newest, cure = fmt.Sprintf("the newest round with %d in arguments of calls", e.Arguments), "have less written in one call, or "
	}
	return []share{
		{"system messages", "shorten the system prompt, or ", &e.System},
		{"tools", "declare fewer tools, or ", &e.Tools},
		{"pinned messages", "pin less, or ", &e.Pinned},
		{"questions", "put long material into a file that a tool reads, or ", &e.Questions},
		{"protected tools", "protect fewer tools, or ", &e.Protected},
		{newest, cure, &e.Newest},
		{"the rest", "", &e.Rest},
	}
}

// Error returns each number, and a cure for the largest share.
func (e *Irreducible) Error() string {
	text := fmt.Sprintf("%d %s cannot be left out, and there is room for %d", e.Total, e.Limit, e.Room)
	more := "raise Limits if the provider accepts more"
	if e.Limit == Tokens {
		text += fmt.Sprintf(" (window %d, %d of it for the answer)", e.Window, e.Reserve)
		more = "take a model with a larger window, or correct the Budget"
	}
	var numbers []string
	largest, cure := 0, ""
	for _, s := range e.shares() {
		if *s.size > 0 {
			numbers = append(numbers, fmt.Sprintf("%s %d", s.name, *s.size))
		}
		if s.cure != "" && *s.size > largest {
			largest, cure = *s.size, s.cure
		}
	}
	return text + ": " + strings.Join(numbers, ", ") + "; " + cure + more
}

// irreducible returns why a view cannot be made to fit, or nil if it can.
func (f *fitter) irreducible(ctx context.Context, j *judgement) *Irreducible {
	s := f.sketch(ctx, j, attempt{lastResort: true, least: true})
	s.shrinkAll()
	_, least, err := f.planOf(s, j)
	if err != nil {
		least = j
	}
	excess := least.excess()
	if excess == nil {
		return nil
	}
	e := &Irreducible{
		Limit: excess[0].Limit, Room: excess[0].Most, Total: excess[0].Is,
		Window: least.budget.Window, Reserve: least.budget.Reserve,
	}
	e.divide(least, excess[0])
	return e
}

// divide computes the shares of the total.
func (e *Irreducible) divide(j *judgement, excess payload.Excess) {
	v, sent := j.view, j.view
	if j.repaired != nil {
		sent = core.WithRepairs(v, j.repaired)
	}
	left := make([]int, v.Len()) // of each message of the view; what is sent in addition comes from repairs
	for i := range left {
		if left[i] = excess.Is; excess.At < 0 {
			left[i] = amount(excess, v, i)
		}
	}
	from := func(i int) int { return i } // position in the view of a message that is sent
	sends := make([]bool, v.Len())
	if j.repaired != nil && j.repaired.From != nil {
		from = func(i int) int { return j.repaired.From[i] }
	}
	for i := range sent.Len() {
		sends[from(i)] = true
	}
	all := 0 // of what is sent, by the meter
	for i := range sent.Len() {
		size := amount(excess, sent, i)
		all += size
		for at := from(i); size > 0 && at < v.Len() && (at == from(i) || !sends[at]); at++ { // repairs join messages with the one before
			n := min(size, left[at])
			size, left[at] = size-n, left[at]-n
			if share := e.shareOf(v, at); share != nil {
				*share += n
			}
		}
	}
	for i := range v.Len() {
		if e.shareOf(v, i) == &e.Newest {
			e.Arguments += arguments(excess, v, i)
		}
	}
	e.Arguments = min(max(0, e.Arguments), e.Newest)
	switch e.Limit {
	case Tokens:
		e.Tools = v.Meter().Tools(j.tools)
		all += e.Tools + v.Meter().Once()
	case payload.RequestBytes:
		e.Tools = j.toolLoad.Bytes
	default:
	}
	e.charge(all)
}

// charge makes the shares parts of the total, of which all is the size by the meter.
func (e *Irreducible) charge(all int) {
	charged := func(n int) int {
		if e.Limit == Tokens {
			return int(int64(n) * int64(e.Total) / int64(all))
		}
		return n
	}
	e.Rest, e.Arguments = e.Total, charged(e.Arguments)
	for _, s := range e.shares() {
		if s.size != &e.Rest {
			*s.size = charged(*s.size)
			e.Rest -= *s.size
		}
	}
}

// shareOf returns the share that a message counts for; nil: the rest.
func (e *Irreducible) shareOf(v *middleware.View, i int) *int {
	switch p := v.Protected(i); {
	case v.At(i).Role == message.RoleSystem:
		return &e.System
	case p&middleware.ProtectWhole != 0:
		return &e.Pinned
	case p&middleware.ProtectText != 0:
		return &e.Questions
	case p&middleware.ProtectNewest != 0:
		return &e.Newest
	case p&middleware.ProtectTool != 0:
		return &e.Protected
	}
	return nil
}

// arguments returns how much of message i are arguments of calls.
func arguments(e payload.Excess, v *middleware.View, i int) (n int) {
	for c := range v.At(i).Calls() {
		bare := c
		bare.Arguments = "{}"
		switch e.Limit {
		case Tokens:
			n += v.Meter().Part(c) - v.Meter().Part(bare)
		case payload.RequestBytes:
			n += len(c.Arguments) - len(bare.Arguments)
		default:
		}
	}
	return n
}

// amount returns how much message i has of what a limit counts.
func amount(e payload.Excess, v *middleware.View, i int) int {
	switch {
	case e.Limit == Tokens:
		return v.TokensOf(i)
	case e.At < 0:
		return countedBy(e.Limit, payload.Of(new(v.At(i))))
	case e.At == i:
		return e.Is
	}
	return 0
}

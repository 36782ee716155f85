package fit

import (
	"math"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Tokens is the limit that the window sets, in addition to those of [message.Limits].
const Tokens message.Limit = "tokens"

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
	room   int  // tokens that the request may have

	repaired *message.Repaired // what is sent instead of the view; nil: the view itself
	added    int               // tokens by the meter that repairs add
	called   []message.ToolDef // declarations of the called tools, if the provider demands them
	declared []message.ToolDef // called, if the request declares no tools

	tools    []message.ToolDef // of the request
	toolLoad message.Load      // of tools and declared
	bound    message.Load      // upper bound for the messages
	exact    message.Load      // of the messages, if measured
	measured bool
}

// judge examines a view. Of a conversation that was examined before, it looks at the
// new messages only, as long as nothing was wrong. If sure is true, the window is not
// one that was guessed after a refusal.
func (f *fitter) judge(v *middleware.View, sure bool) *judgement {
	j := &judgement{view: v, sure: sure, room: unbounded}
	budget := v.Budget
	if sure {
		budget = v.SureBudget
	}
	if b, ok := budget(); ok {
		j.budget, j.room = b, b.Room()
	}
	j.rules, j.known = f.rulesOf(v)
	before, same := f.remembered(v, j.rules)
	if before != nil && before.budget.Window == j.budget.Window {
		j.limits = before.limits
	} else {
		j.limits = f.opts.limits(j.rules.Limits(j.budget.Window))
	}
	j.examine(before, same)
	if j.tools = v.Request().Tools; len(j.tools) == 0 {
		j.declared = j.called
	}
	if before != nil && slices.Equal(before.tools, j.tools) && len(before.declared)+len(j.declared) == 0 {
		j.toolLoad = before.toolLoad
	} else {
		for _, t := range slices.Concat(j.tools, j.declared) {
			j.toolLoad = j.toolLoad.Add(t.Load())
		}
	}
	return j
}

// examine finds violations, called tools and the load of the view. Its first
// messages, as many as same says, were examined before.
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
		j.added = v.Repaired(j.repaired).Size().Counted - v.Size().Counted
		j.called, j.bound, j.exact, j.measured, from = nil, message.Load{}, message.Load{}, false, 0
	}
	added := j.messages()[from:]
	j.declareCalls(added)
	for i := range added {
		j.bound = j.bound.Add(added[i].LoadBound())
		if j.measured {
			j.exact = j.exact.Add(added[i].Load())
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
	same = v.Shared(before.view)
	if before.repaired != nil && (same < v.Len() || same < before.view.Len()) {
		return nil, 0
	}
	return before, same
}

// excess returns the limits that would be exceeded, or nil.
func (j *judgement) excess() []message.Excess {
	var found []message.Excess
	if n := j.charged(); n > j.room {
		found = append(found, message.Excess{Limit: Tokens, At: -1, Part: -1, Is: n, Most: j.room})
	}
	if j.limits.Allow(j.bound.Add(j.toolLoad)) {
		return found
	}
	if msgs := j.messages(); !j.measured {
		j.measured = true
		for i := range msgs {
			j.exact = j.exact.Add(msgs[i].Load())
		}
	}
	if j.limits.Allow(j.exact.Add(j.toolLoad)) {
		return found
	}
	return append(found, j.limits.Broken(j.messages(), j.toolLoad)...)
}

// charged returns the tokens that would be charged for what would be sent.
func (j *judgement) charged() int {
	added := j.added
	if len(j.declared) > 0 {
		added += j.view.Meter().Tools(j.declared)
	}
	return j.view.Without(-added).Size().Tokens
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

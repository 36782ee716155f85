package fit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// judgement is what was found out about one view.
type judgement struct {
	view   *middleware.View
	rules  message.Rules
	known  bool // the rules are those of the model's provider, or the option's
	limits message.Limits
	budget middleware.Budget
	sure   bool // the budget is no guess
	room   int  // tokens that the request may have

	mended   *message.Repaired // what is sent in place of the view; nil: the view itself
	added    int               // tokens by the meter that the repairs add
	called   []message.ToolDef // declarations of the tools that are called, if the provider demands them
	declared []message.ToolDef // of these, what the request lacks

	tools    []message.ToolDef // that the request declares
	besides  message.Load      // what all tools weigh
	bound    message.Load      // what the messages weigh, at most
	exact    message.Load      // what they weigh, if measured
	measured bool
}

// judge tells what is to be known of a view: what is wrong with it, and what it
// weighs. Of a conversation that was judged before, only what is new is looked
// at, as long as nothing was wrong.
func (f *fitter) judge(v *middleware.View) *judgement { return f.judgeBy(v, false) }

// judgeBy is judge, if it is to be sure, by a window that is no guess.
func (f *fitter) judgeBy(v *middleware.View, sure bool) *judgement {
	j := &judgement{view: v, sure: sure, room: unbounded}
	budget := v.Budget
	if sure {
		budget = v.SureBudget
	}
	if b, ok := budget(); ok {
		j.budget, j.room = b, b.Room()
	}
	j.rules, j.known = f.rulesOf(v)
	before, from := f.judged(v, j.rules)
	if before != nil && before.budget.Window == j.budget.Window {
		j.limits = before.limits
	} else {
		j.limits = f.opts.limits(j.rules.Limits(j.budget.Window))
	}
	if before != nil && from == v.Len() && from == before.view.Len() {
		j.mended, j.added, j.called = before.mended, before.added, before.called
		j.bound, j.exact, j.measured = before.bound, before.exact, before.measured
	} else {
		j.look(before, from)
	}
	if len(v.Request().Tools) == 0 {
		j.declared = j.called
	}
	j.weighTools(before)
	return j
}

// look finds out what is wrong with the view, and what it weighs.
func (j *judgement) look(before *judgement, from int) {
	v := j.view
	if len(j.rules.ViolationsFrom(v.Messages(), from)) > 0 {
		j.mended = j.rules.Repair(v.Messages())
		j.added = v.Repaired(j.mended).Size().Counted - v.Size().Counted
		before = nil
	}
	fresh := j.messages()
	if before != nil && from == before.view.Len() {
		j.bound, j.exact, j.measured = before.bound, before.exact, before.measured
		j.called, fresh = before.called, fresh[from:]
	}
	j.declareCalls(fresh)
	for i := range fresh {
		j.bound = j.bound.Add(fresh[i].LoadBound())
		if j.measured {
			j.exact = j.exact.Add(fresh[i].Load())
		}
	}
}

// messages returns what would be sent.
func (j *judgement) messages() []message.Message {
	if j.mended != nil {
		return j.mended.Messages
	}
	return j.view.Messages()
}

// weighTools weighs what is declared.
func (j *judgement) weighTools(before *judgement) {
	j.tools = j.view.Request().Tools
	if before != nil && slices.Equal(before.tools, j.tools) && len(before.declared)+len(j.declared) == 0 {
		j.besides = before.besides
		return
	}
	for _, t := range slices.Concat(j.tools, j.declared) {
		j.besides = j.besides.Add(t.Load())
	}
}

// judgedBy is the key of a note.
type judgedBy struct{ *fitter }

// judged returns the newest judgement of the conversation, and how many of the
// first messages of the view it says are in order. It is nil if it was made by
// other rules, or says that something is wrong in another view.
func (f *fitter) judged(v *middleware.View, r message.Rules) (before *judgement, from int) {
	before, _ = v.Load(judgedBy{f}).(*judgement)
	if before == nil || before.rules != r {
		return nil, 0
	}
	from = v.Shared(before.view)
	if before.mended != nil && (from < v.Len() || from < before.view.Len()) {
		return nil, 0
	}
	return before, from
}

// keep notes the judgement for the calls to come.
func (f *fitter) keep(j *judgement) { j.view.Store(judgedBy{f}, j) }

func (f *fitter) rulesOf(v *middleware.View) (r message.Rules, known bool) {
	if f.opts.Rules != 0 {
		return f.opts.Rules, true
	}
	return rulesOf(v)
}

// excess returns which limits would be broken; nil: none.
func (j *judgement) excess() []message.Excess {
	var found []message.Excess
	if n := j.charged(); n > j.room {
		found = append(found, message.Excess{Limit: Tokens, At: -1, Part: -1, Is: n, Most: j.room})
	}
	if j.limits.Allow(j.bound.Add(j.besides)) {
		return found
	}
	j.measure()
	if j.limits.Allow(j.exact.Add(j.besides)) {
		return found
	}
	return append(found, j.limits.Broken(j.messages(), j.besides)...)
}

// measure looks at each byte of what would be sent.
func (j *judgement) measure() {
	if j.measured {
		return
	}
	j.measured = true
	msgs := j.messages()
	for i := range msgs {
		j.exact = j.exact.Add(msgs[i].Load())
	}
}

// charged returns the tokens that would be charged for what would be sent.
func (j *judgement) charged() int {
	added := j.added
	if len(j.declared) > 0 {
		added += j.view.Meter().Tools(j.declared)
	}
	return j.view.Without(-added).Size().Tokens
}

// roomBeside returns the room for the messages of the view, beside its tools and
// what repairs add. Bytes are bounded only if it is close.
func (j *judgement) roomBeside(view load) room {
	r := room{tokens: unbounded, bytes: unbounded}
	if j.room != unbounded {
		r.tokens = j.room - (j.charged() - j.view.Size().Tokens)
	}
	if j.measured && j.limits.Bytes > 0 {
		r.bytes = j.limits.Bytes - j.besides.Bytes - (j.exact.Bytes - view.bytes)
	}
	return r
}

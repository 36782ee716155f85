package fit

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// judgement is what was found out about one view.
type judgement struct {
	view   *middleware.View
	rules  message.Rules
	known  bool // the rules are those of the model's provider, or the option's
	budget middleware.Budget
	room   room

	load     load              // of the view
	mended   *message.Mended   // what is sent in its place; nil: the view itself
	repairs  load              // what that adds, or takes away
	declared []message.ToolDef // tools that must be declared beside it
}

// judge tells what is to be known of a view: what is wrong with it, and what it
// weighs. Of a conversation that was judged before, only what is new is looked
// at, as long as nothing was wrong.
func (f *fitter) judge(v *middleware.View) *judgement {
	j := &judgement{view: v}
	j.rules, j.known = f.rulesOf(v)
	j.room, j.budget = roomOf(v)
	j.load.tokens = v.Counted()
	before, from := f.judged(v, j.rules)
	switch {
	case before != nil && from == v.Len() && from == before.view.Len():
		j.mended, j.repairs = before.mended, before.repairs
	case len(j.rules.ViolationsFrom(v.Messages(), from)) > 0:
		mended := j.rules.Mend(v.Messages())
		j.mended = &mended
		j.repairs.tokens = v.Mended(&mended).Counted() - v.Counted()
	}
	j.declared = j.undeclared()
	return j
}

// judgedBy is the key of a note.
type judgedBy struct{ *fitter }

// judged returns the newest judgement of the conversation, and how many of the
// first messages of the view it says are in order. It is nil if it was made by
// other rules, or says that something is wrong in another view.
func (f *fitter) judged(v *middleware.View, r message.Rules) (before *judgement, from int) {
	before, _ = v.Noted(judgedBy{f}).(*judgement)
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
func (f *fitter) keep(j *judgement) { j.view.Note(judgedBy{f}, j) }

func (f *fitter) rulesOf(v *middleware.View) (r message.Rules, known bool) {
	if f.opts.Rules != 0 {
		return f.opts.Rules, true
	}
	return rulesOf(v)
}

// roomOf returns what a request may have, and the budget that says so.
func roomOf(v *middleware.View) (room, middleware.Budget) {
	r := room{tokens: unbounded, bytes: unbounded}
	b, ok := v.Budget()
	if ok {
		r.tokens = b.Room()
	}
	return r, b
}

// sent returns the load of what would be sent: tokens as the provider charges
// them.
func (j *judgement) sent() load {
	added := j.repairs.tokens
	if len(j.declared) > 0 {
		added += j.view.Meter().Tools(j.declared)
	}
	return load{tokens: j.view.TokensWithout(-added), bytes: j.load.bytes + j.repairs.bytes}
}

// margin returns by how much what would be sent is more than the view.
func (j *judgement) margin() load {
	return j.sent().minus(load{j.view.Tokens(), j.load.bytes})
}

// exceeds returns what there would be too much of; "": nothing.
func (j *judgement) exceeds() Unit {
	sent := j.sent()
	for _, u := range units {
		if sent.in(u) > j.room.in(u) {
			return u
		}
	}
	return ""
}

// beyond returns by how much what would be sent is more than the room.
func (j *judgement) beyond() load {
	sent := j.sent()
	return load{max(0, sent.tokens-j.room.tokens), max(0, sent.bytes-j.room.bytes)}
}

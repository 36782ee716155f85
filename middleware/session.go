package middleware

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/models"
)

// session is one history under the edits of a chain. It does not change while editors run.
type session struct {
	*history.Track[state]

	opened *history.Track[state] // as it was before the edits of this call were remembered
	chain  *chain
	log    entries.Log
	all    []message.Message // the history as the caller passed it
	told   int               // position in Body from which on an event of this call says what differs from the call before; untold
	model  *namedModel       // of the request before a layer has changed it

	asked     int  // number of messages that it has in common with the history of an earlier call
	answered  bool // in an earlier call, a model has answered this history
	overtaken bool // the journal has another entry than in the earlier call
	taken     bool // another process has edited this very history, and this one sees it for the first time

	thinking thinking
	budget   Budget // that this request or the table of models declares; zero: none
}

// state is what a chain knows of a history in addition to its messages.
type state struct {
	entries.Known // of the journal for this history

	list      edit.List // the edits that hold
	unwritten edit.List // all edits, if they could not be written: used instead of Known.All until a write succeeds. nil: none

	unwrittenThinking *journal.Thinking     // the same of what the entry has of thinking
	unwrittenSent     edit.List             // the edits of that request, also if there were none
	head              *atomic.Pointer[head] // of the call that was last; nil inside: there was none

	wholeCount, question, window int             // as they were when list was found to hold
	rule                         models.Thinking // the same
	once                         bool            // an edit of the list holds for this history only

	tokens     calibrate.Tokens
	model      string      // of the last call
	calibrated int         // number of messages that were searched for a reported usage
	unclear    message.Run // lengths of prompts of which it is not known whether they had edits that have ended

	result edit.Result // the history with list applied, if shown
	shown  bool

	last         *lastSent
	conversation *conversation
}

func newState() state {
	return state{Known: entries.Unknown(), head: new(atomic.Pointer[head]), last: new(lastSent), conversation: new(conversation)}
}

// known returns the edits that the chain uses.
func (st *state) known() edit.List {
	if st.unwritten != nil {
		return st.unwritten
	}
	return st.All
}

// follow adapts the state of an earlier call to the changes of its history.
func (st *state) follow(ch history.Change) {
	if ch.Copied {
		st.last = st.last.fork()
	}
	if !ch.Grown || ch.Noted { // reports are gone, or may be new; else none is read twice
		st.tokens.KeepFirst(ch.Common)
		st.calibrated = st.tokens.At
	}
	if ch.Unlike {
		st.last, st.conversation = new(lastSent), new(conversation)
		st.tokens.Forget()
	}
	if ch.Copied || ch.NewLead {
		st.result, st.shown = edit.Result{}, false
	}
	if !ch.Grown {
		st.Cut(ch.Common)
		st.unwrittenThinking = nil
	}
}

// loadEdits finds the edits that are remembered for the history and hold. The journal is not
// read if the history has grown by an answer of this chain; see [entries.Log.Refresh].
func (s *session) loadEdits(ctx context.Context, req *Request, ch history.Change) error {
	st, known := &s.State, s.State.list
	s.asked, s.answered = ch.Common, st.last.answered(s.IDs)
	st.follow(ch)
	found, err := s.log.Refresh(ctx, st.Known, ch.Grown && st.unwritten == nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.chain.report(ctx, req, Event{
			Kind: Failed, By: "middleware", Err: err, Why: "the call continues with the edits that are known",
		})
	}
	s.reportSkipped(ctx, req, &found)
	if found.Gone {
		s.reportLost(ctx, req)
	}
	n, same := len(known), found.Entry.Rev == st.Entry.Rev
	if !same && !st.unwritten.Covers(s.Holding(found.All, s.terms(nil))) { // another writer was first
		st.unwritten = nil
	}
	s.overtaken = !same && ch.Grown
	s.taken = found.At == len(s.IDs)-1 && ch.Common < len(s.IDs) && req.dry == nil
	s.recallThinking(found)
	holds := n > 0 && same && s.stillHold(known, ch)
	st.Known, st.wholeCount, st.question, st.window = found, s.WholeCount, s.LastUser, s.budget.Window
	st.rule = s.thinking.rule
	if holds && sameSlice(known, st.known()) {
		return nil
	}
	if n == 0 && len(st.All) == 0 && len(st.unwritten) == 0 {
		return nil
	}
	l, before := st.known(), known
	if !same { // what was sent before had these edits, perhaps by another process
		before = l
	}
	if st.list = s.Holding(l, s.terms(s.thinking.leftOut)); sameRecords(st.list, known) {
		st.list = known
	} else {
		st.result, st.shown, st.once = edit.Result{}, false, holdsOnce(st.list)
	}
	switch {
	case !st.list.Equal(before):
		s.reportOthers(ctx, req, before, same && ch.Grown && ch.Common > 0)
	case s.log.Shared && !same && ch.Common > 0 && st.last.surprises(known.Differs(st.list)):
		s.told = s.reportTaken(ctx, req, known, st.list, "since the call before; its edits are used")
	}
	return nil
}

// reportSkipped reports what a read of the journal has left out.
func (s *session) reportSkipped(ctx context.Context, req *Request, k *entries.Known) {
	if k.Skipped != nil {
		s.chain.report(ctx, req, Event{
			Kind: Failed, By: "middleware", Err: k.Skipped,
			Why: "edits in the journal cannot be read, so older ones are used, or new ones made",
		})
		k.Skipped = nil
	}
}

// stillHold reports whether edits that held in the call before hold now, without a look at each.
func (s *session) stillHold(l edit.List, ch history.Change) bool {
	st := &s.State
	switch {
	case !ch.Grown, ch.Copied: // the history is another one
	case s.WholeCount != st.wholeCount: // a message was pinned
	case s.budget.Window != st.window: // an edit may be for a smaller window
	case s.thinking.rule != st.rule: // thinking that was left out may have to stay
	case st.once: // an edit was for one request only
	case s.LastUser != st.question && s.LastUser <= edit.Last(l[len(l)-1].Record): // the newest question is another one, and may be edited
	case edit.LateResult(s.Body[ch.Common:]): // a fold may cover the call of a new result
	default:
		return true
	}
	return false
}

// sameRecords reports whether two lists have the same records. Equal ones are not enough: when an edit was made, and what it
// covers, is as the journal has it, so that each process decides alike.
func sameRecords(a, b edit.List) bool {
	return slices.EqualFunc(a, b, func(x, y edit.Item) bool { return x.Record == y.Record })
}

func holdsOnce(l edit.List) bool {
	return slices.ContainsFunc(l, func(it edit.Item) bool { return it.Once })
}

// reportOthers reports edits that held before and were made for other requests, or else those
// that did not hold before.
func (s *session) reportOthers(ctx context.Context, req *Request, before edit.List, grown bool) {
	now, ended := s.State.list, s.Ended(before, s.budget.Window)
	e := Event{Kind: Notice, By: "middleware", First: len(s.Lead) + before.Differs(now)}
	switch {
	case len(ended) > 0:
		u := &s.State.unclear
		for _, it := range ended {
			if u.Last = len(s.Body) - 1; u.First == 0 || it.HistoryLen < u.First {
				u.First = it.HistoryLen
			}
		}
		why := "for one request only"
		if w := ended[0].Window; 0 < w && w < s.budget.Window {
			why = fmt.Sprintf("for a window of %d tokens, and it has %d now", w, s.budget.Window)
		}
		e.Edits = ended.Records()
		e.Why = fmt.Sprintf("edits of %s were made %s, so what they had replaced is sent again", ended[0].Middleware, why)
	case grown && !before.Covers(now):
		e.Edits = slices.DeleteFunc(slices.Clone(now), before.Has).Records()
		e.Why = "remembered edits hold again that did not hold in the call before, where the window was larger or where they " +
			"would have changed the newest question, the newest round or a pinned message; what was sent before is not sent again"
	default:
		return
	}
	s.told = e.First - len(s.Lead)
	s.chain.report(ctx, req, e)
}

// reportTaken reports edits that another call or process has made, and returns the first position that they change.
func (s *session) reportTaken(ctx context.Context, req *Request, before, now edit.List, why string) int {
	first, edits := before.Differs(now), slices.DeleteFunc(slices.Clone(now), before.Has)
	if len(edits) == 0 {
		edits = slices.DeleteFunc(slices.Clone(before), now.Has)
	}
	s.chain.report(ctx, req, Event{
		Kind: Notice, By: "middleware", Edits: edits.Records(), First: len(s.Lead) + first,
		Why: "another call or process has changed the edits of this conversation " + why,
	})
	return first
}

// calibrate takes the usage that has been reported since the last call, by the model or in the messages.
func (s *session) calibrate(ctx context.Context, req *Request) {
	st := &s.State
	other := st.calibrated > 0 && st.model != req.Model
	source := calibrate.Source{History: &s.History, Good: s.chain.goodCounter}
	learn := func(p calibrate.Prompt) { s.judge(ctx, req, p, st.tokens.Learn(p, s.model.priors, source)) }
	var past *calibrate.Past
	from := max(st.calibrated-1, 0) // the answer to the newest message may have come since
	prompts := s.chain.prompts.Of(s.IDs[from:])
	for i := from; i < len(s.Body); i++ {
		m := s.Body[i]
		reports := m.Role == message.RoleAssistant && m.Usage != nil && m.Usage.Input > 0
		if reports && i > st.tokens.At && !st.unclear.Contains(i) {
			if past == nil {
				past = calibrate.PastOf(&s.History, st.list, s.chain.meter.Once()+s.ToolTokens+s.LeadSum)
			}
			p := reportOf(*m.Usage)
			p.At = i
			p.Counted, p.Edited = past.Prompt(i)
			learn(p)
		}
		if i >= st.calibrated {
			st.tokens.Fresh += s.Tokens[i]
			if s.Wide[i] {
				st.tokens.Wide += s.Tokens[i]
			}
		}
		if len(prompts) > 0 && prompts[i-from].Charged > 0 && i+1 >= st.tokens.At {
			learn(prompts[i-from])
		}
	}
	st.calibrated = len(s.Body)
	if st.model = req.Model; other { // whose reports say nothing about those so far
		st.tokens.Forget()
	}
}

// judge reports what is wrong with the usage of a prompt, once in a conversation.
func (s *session) judge(ctx context.Context, req *Request, p calibrate.Prompt, verdict calibrate.Verdict) {
	st := &s.State
	switch {
	case verdict == calibrate.Truncated && st.conversation.once(req, "truncated"):
		limit := st.tokens.Limit()
		sent, _, _ := st.tokens.Estimate(p.Counted, 0, s.model.priors)
		s.chain.report(ctx, req, Event{
			Kind: Truncated, By: "middleware", Before: sent, After: p.Charged,
			Why: fmt.Sprintf("the prompt grows, but the provider charges no more than %d tokens, the last time for %d by our count: "+
				"it seems to cut long prompts without an error, as Ollama does; the window counts as %d in this conversation "+
				"from now on; set the window of the server (num_ctx), or the Budget to the window that it serves", limit, sent, limit),
		})
	case verdict == calibrate.High && st.conversation.once(req, "high"):
		s.chain.report(ctx, req, Event{Kind: Notice, By: "middleware", Why: fmt.Sprintf(
			"the provider charges %.1f times our count, the last time %d tokens for a prompt of %d: if the client adds cached tokens to "+
				"an input that has them already, report the input alone, else set Env.Counter to a counter that fits",
			float64(p.Charged)/float64(p.Counted), p.Charged, p.Counted)})
	case verdict == calibrate.Impossible && st.conversation.once(req, "usage"):
		s.chain.report(ctx, req, Event{Kind: Notice, By: "middleware", Why: fmt.Sprintf(
			"the provider reported %d tokens for a prompt of %d by our count; if the server cuts long prompts, declare its window, "+
				"else set Env.Counter to a counter that fits", p.Charged, p.Counted)})
	}
}

// result returns the history with the edits that hold. It reuses that of the last call.
func (s *session) result() edit.Result {
	st := &s.State
	leftOut := s.leftOutWith(st.list)
	switch {
	case st.shown && st.result.LeftOut.Equal(leftOut):
		st.result.Append(&s.History)
	default:
		r := s.Apply(s.all, st.list, leftOut, nil, 0)
		st.show(r)
		return r
	}
	return st.result
}

// show keeps the history with the edits of the list, unless it is the memory of the caller.
func (st *state) show(r edit.Result) {
	if st.shown = r.Spans != nil; !st.shown {
		r = edit.Result{}
	}
	st.result = r
}

// learn takes what the result of a model call says about its prompt.
func learn(ctx context.Context, v *View, resp *Response, err error) {
	if err != nil {
		if n, ok := ParseOverflow(err, v.req); ok {
			overflowed(ctx, v, n)
		}
		return
	}
	s, sent := v.session, v.size.Tokens
	if resp.Usage.Input > 0 {
		p := reportOf(resp.Usage)
		sent = p.Charged
		learnPrompt(v, p)
	}
	if s.log.Shared && len(s.IDs) > 0 && resp.Message.Role == message.RoleAssistant { // not that of Apply, which asks no model
		s.chain.recent.Answer(s.IDs, resp.Message)
	}
	s.chain.windows.Accept(v.req.Model, sent)
	s.State.conversation.guess.Accept("", sent)
}

// reportOf returns what a usage says of a prompt. Some providers report cached tokens that are not part of the input.
func reportOf(u message.Usage) calibrate.Prompt {
	cached := u.CacheRead + u.CacheWrite
	p := calibrate.Prompt{Charged: u.Input, WithCache: u.Input + cached}
	if cached > u.Input {
		p.Charged = p.WithCache
	}
	return p
}

// learnPrompt remembers what the provider has charged for the prompt of this view.
func learnPrompt(v *View, p calibrate.Prompt) {
	s := v.session
	if len(s.IDs) == 0 {
		return
	}
	p.At, p.Counted = len(s.IDs), v.size.Counted
	for _, it := range v.list {
		p.Edited = max(p.Edited, it.HistoryLen)
	}
	s.chain.prompts.Put(s.IDs[len(s.IDs)-1], p)
}

// overflowed takes that the provider has refused the prompt as too long. A number that can be right is learned for
// the model; otherwise the window is guessed, for this conversation only.
func overflowed(ctx context.Context, v *View, n PromptLimits) {
	const tryNext = 0.8 // share of a refused prompt that is tried next if there is no number
	s := v.session
	declared := v.budget
	share := 1.0 // of the window that the prompt may fill
	if declared.Window > 0 {
		share = float64(declared.Room()) / float64(declared.Window)
	}
	sent := v.size.Tokens
	trusted := calibrate.Plausible(float64(n.Sent), float64(v.size.Counted))
	if trusted {
		learnPrompt(v, calibrate.Prompt{Charged: n.Sent, WithCache: n.Sent})
	}
	window, why := n.Limit, fmt.Sprintf("the provider says that its window is %d", n.Limit)
	if room := n.Limit - n.Answer; n.Answer > 0 && room > 0 {
		window = min(window, int(float64(room)/share))
		why += fmt.Sprintf(", %d of it for the answer", n.Answer)
	}
	if window <= 0 || !trusted && float64(sent) <= share*float64(window) {
		window = 0
		if room := sent - n.Over; n.Over > 0 && room > 0 {
			window, why = int(float64(room)/share), fmt.Sprintf("the provider says that %d are too many", n.Over)
		}
	}
	scope := "for this model"
	if !s.chain.windows.Learn(v.req.Model, window, declared.Window) {
		switch {
		case window > 0 && trusted: // right about this prompt, if not for every one
		case window > 0:
			why += ", which cannot be right"
			window = int(tryNext * float64(sent) / share)
		default:
			why = "the provider does not say how many it accepts"
			window = int(tryNext * float64(sent) / share)
		}
		window, scope = max(1, window), "for this conversation"
		s.State.conversation.guess.Guess("", window)
	}
	s.chain.report(ctx, v.req, Event{
		Kind: Notice, By: "middleware", Before: sent, After: sent,
		Why: fmt.Sprintf("a prompt of %d tokens by our count was refused as too long: %s; the window counts as %d %s from now on",
			sent, why, window, scope),
	})
}

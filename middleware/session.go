package middleware

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/steady"
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
	*edit.History // with what the journal has of pins

	track  *history.Track[state] // the same history without these pins, and its state
	opened *history.Track[state] // track before the edits of this call were remembered
	chain  *chain
	log    entries.Log
	all    []message.Message // the history as the caller passed it, with these pins
	before *sent             // what the call before has sent; nil: there was none

	reported int         // first position whose change an event of this call has reported
	model    *namedModel // of the request before a layer has changed it

	common    int  // number of messages that it has in common with the history of an earlier call
	overtaken bool // the journal has another request than in the earlier call

	journalFailed   bool // it could not be read
	editedElsewhere bool // by another process, this very history, and this one sees it for the first time

	recalled   message.Usage // of the journal
	recalledAt int           // position of the answer that it is of; 0: there is none

	thinking thinking
	budget   Budget   // that this request or the table of models declares; zero: none
	waiting  []string // editors whose edits were undone in this turn
}

// state is what a chain knows of a history in addition to its messages.
type state struct {
	entries.Known // of the journal for this history

	list    edit.List       // the edits that hold
	pending *entries.Stored // what the journal is to have, and could not be written, of edits, thinking and new steps; nil: nothing

	judged *atomic.Pointer[judged]

	wholeCount, question, window int    // as they were when list was found to hold
	rule                         string // the same

	tokens     calibrate.Tokens
	model      string // of the last call
	calibrated int    // number of messages that were searched for a reported usage
	intact     int    // number of first messages that no call of this process has changed

	result edit.Result // the history with list applied; zero: it has no edits, or must be made

	last         *lastSent
	conversation *conversation
}

func newState() state {
	return state{
		Known: entries.Known{Stored: entries.None}, intact: unchanged, judged: new(atomic.Pointer[judged]),
		last: new(lastSent), conversation: new(conversation),
	}
}

// known returns the edits that the chain uses: those of the journal, unless a write of others has failed.
func (st *state) known() edit.List {
	if st.pending != nil {
		return st.pending.All
	}
	return st.All
}

// follow adapts the state of an earlier call to the changes of its history.
func (st *state) follow(ch history.Change) {
	if ch.Copied {
		sent := st.last.Load()
		st.last = new(lastSent)
		st.last.Store(sent)
	}
	if !ch.Grown || ch.Noted { // reports are removed, or may be new; otherwise none is read twice
		st.tokens.KeepFirst(ch.Common)
		st.calibrated = st.tokens.At
	}
	if ch.Unlike {
		st.last, st.conversation = new(lastSent), new(conversation)
		st.tokens.Forget()
	}
	if ch.Copied || ch.NewLead {
		st.result = edit.Result{}
	}
	if !ch.Grown {
		st.intact = min(st.intact, ch.Common)
		st.Cut(ch.Common)
		if p := st.pending; p != nil { // of another branch of the history: its edits may hold here
			st.pending = nil
			if len(p.All) > 0 {
				st.pending = &entries.Stored{All: p.All, Steps: p.Steps}
			}
		}
	}
}

// unsaved reports whether edits were made since the view was opened, or the journal is to have those before, or in another place.
func (v *View) unsaved() bool {
	s := v.session
	st := &s.track.State
	edited := len(v.list)+len(st.list) > 0 && !v.list.Equal(st.list)
	return edited || st.pending != nil || s.log.Shared && s.log.Borrows(st.Known)
}

// open makes the first view of a request: the history with all edits that are remembered for it and hold.
func (c *chain) open(ctx context.Context, req *Request) (*View, error) {
	if req.dry != nil {
		c = req.dry.fork(c)
	}
	if req.Budget != nil {
		if err := req.Budget.Validate(); err != nil {
			return nil, &Error{Kind: Invalid, Op: "middleware", Err: err}
		}
	}
	s, ch, err := c.follow(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := s.loadEdits(ctx, req, ch); err != nil {
		return nil, err
	}
	const slidesToReport = 2
	if s.track.Slides == slidesToReport && len(s.IDs) > 0 && s.track.State.conversation.once(req, "sliding") {
		req.Report(ctx, Event{
			Kind: Notice, By: "middleware",
			Why: "the caller drops its oldest messages from call to call, so no edit can be kept; " +
				"pass the whole history and let the chain shorten it",
		})
	}
	s.calibrate(ctx, req)
	v := &View{
		session: s, req: req, list: s.track.State.list, result: s.result(), tools: s.track.ToolTokens,
		model: s.model, budget: s.budget, turn: turn{reported: s.reported},
	}
	if p := s.track.State.pending; p != nil {
		v.turn.steps = p.Steps
	}
	v.measure()
	if s.thinking.rule == edit.ThinkingBound {
		v = v.recalled(ctx)
	}
	c.histories.Publish(s.track)
	if req.dry == nil && c.uncounted.Load() != nil {
		c.reportCounter(ctx, req)
	}
	return v, nil
}

// follow returns a session for the history of a request. Only what is new since an
// earlier call is looked at and counted.
func (c *chain) follow(ctx context.Context, req *Request) (*session, history.Change, error) {
	lead := message.Leading(req.Messages)
	given := history.Given{
		Lead: req.Messages[:lead], Body: req.Messages[lead:], Steady: steady.Has(ctx, req.Messages), AsIs: req.Format != "",
	}
	t, ch, err := c.histories.Follow(given, c.meter, newState)
	if err != nil {
		return nil, ch, &Error{Kind: Invalid, Op: "middleware", Err: err}
	}
	if !slices.Equal(t.Tools, req.Tools) {
		t.Tools, t.ToolTokens = slices.Clone(req.Tools), c.meter.Tools(req.Tools)
	}
	m, budget := c.modelOf(req)
	name, conversation := message.ID{}, message.ID{}
	if len(t.IDs) > 0 {
		conversation = t.IDs[0]
	}
	if req.Conversation != "" {
		name = journal.NameOf(req.Conversation)
		conversation = name
	}
	all := req.Messages
	if ch.Moved {
		all = t.Ordered(all)
	}
	return &session{
		History: &t.History, track: t, opened: t, chain: c, all: all, reported: unchanged,
		model: m, budget: budget,
		log: entries.Log{
			History: &t.History, Journal: c.env.Journal, Scope: c.env.Scope, Shared: c.given.Journal != nil,
			Name: name, Conversation: conversation,
		},
	}, ch, nil
}

// loadEdits finds the edits that are remembered for the history and hold.
func (s *session) loadEdits(ctx context.Context, req *Request, ch history.Change) error {
	st, last := &s.track.State, s.track.State.list // of the call before
	s.common, s.before = ch.Common, st.last.Load()
	st.follow(ch)
	found, err := s.log.Refresh(ctx, st.Known)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.reportRead(ctx, req, &found, err)
	n, same := len(last), found.Entry.Rev == st.Entry.Rev
	if p := st.pending; !same && p != nil && (found.HasUndone(st.Stored, p.All) || !p.All.Covers(s.Holding(found.All, s.terms(nil)))) {
		st.pending = nil // another writer was first
	}
	s.overtaken = !same && ch.Grown && !found.Entry.Thinking.Equal(st.Entry.Thinking)
	s.journalFailed = err != nil
	s.editedElsewhere = found.At == len(s.IDs)-1 && ch.Common < len(s.IDs) && req.dry == nil && found.ByPerson() == nil
	repinned := !slices.Equal(found.Pins, st.Pins)
	if repinned {
		st.result = edit.Result{}
	}
	if len(found.Steps)+len(found.Pins) > 0 {
		s.heed(found.Stored)
	}
	s.recallThinking(found)
	holds := n > 0 && same && !repinned && s.stillHold(last, ch)
	st.Known = found
	st.wholeCount = s.WholeCount
	st.question = s.LastUser
	st.window = s.budget.Window
	st.rule = s.thinking.rule
	if holds && sameSlice(last, st.known()) {
		return nil
	}
	if n == 0 && len(st.known()) == 0 {
		return nil
	}
	l, before := st.known(), last
	if !same { // what was sent before had these edits, perhaps by another process
		before = l
	}
	st.list = s.Holding(l, s.terms(s.thinking.leftOut))
	if sameRecords(st.list, last) {
		st.list = last
	} else {
		st.result = edit.Result{}
	}
	switch {
	case repinned && n > 0 && ch.Common > 0 && s.unreported(last.Differs(st.list)):
		s.reportTaken(ctx, req, last, st.list, "a person has pinned messages, or taken pins back")
	case !st.list.Equal(before):
		s.reportOthers(ctx, req, before, same && ch.Grown && ch.Common > 0)
	case s.log.Shared && !same && ch.Common > 0 && s.unreported(last.Differs(st.list)):
		s.reportTaken(ctx, req, last, st.list, whyChanged(found.Stored))
	}
	return nil
}

// reportRead reports what went wrong when the journal was read.
func (s *session) reportRead(ctx context.Context, req *Request, found *entries.Known, err error) {
	if err != nil {
		req.Report(ctx, Event{
			Kind: Failed, By: "middleware", Reason: "journal", Err: err, Why: "the call continues with the edits that are known",
		})
	}
	if found.Skipped != nil {
		s.reportSkipped(ctx, req, found)
	}
	if found.Gone {
		s.reportLost(ctx, req)
	}
}

// heed takes what a person has done about the history: which edits were undone, and what was pinned.
func (s *session) heed(found entries.Stored) {
	s.waiting = found.Waiting(s.log.Turn())
	if len(found.Pins) > 0 { // the track remains as it is: others may have it
		s.History = s.Pinned(found.Pins)
		s.all = s.AppendMessages(slices.Clone(s.Lead), message.Run{Last: len(s.Body) - 1})
	}
}

// unreported returns whether no event has reported what changes from a position on, if there is a change.
func (s *session) unreported(position int) bool {
	return position != unchanged && (s.before == nil || position < s.before.reported)
}

// reportSkipped reports, once, what a read of the journal has left out.
func (s *session) reportSkipped(ctx context.Context, req *Request, k *entries.Known) {
	if s.track.State.conversation.once(req, "skipped "+k.Skipped.Error()) {
		req.Report(ctx, Event{
			Kind: Failed, By: "middleware", Reason: "journal", Err: k.Skipped,
			Why: "edits in the journal cannot be read, so older ones are used, or new ones made",
		})
	}
	k.Skipped = nil
}

// whyChanged returns why the edits are others than in the call before, by what the journal has.
func whyChanged(found entries.Stored) string {
	if p := found.ByPerson(); p != nil && p.By != "" {
		return p.Kind + " of edits of " + p.By + ": " + p.Why
	}
	return "another call or process has changed the edits of this conversation since the call before; its edits are used"
}

// stillHold reports whether edits that held in the call before hold now, without a look at each.
func (s *session) stillHold(l edit.List, ch history.Change) bool {
	st := &s.track.State
	switch {
	case !ch.Grown, ch.Copied: // the history is another one
	case s.WholeCount != st.wholeCount: // a message was pinned
	case s.budget.Window != st.window: // an edit may be for a smaller window
	case s.thinking.rule != st.rule: // thinking that was left out may have to stay
	case s.LastUser != st.question && s.LastUser <= edit.Last(l[len(l)-1].Record): // the newest question is another one, and may be edited
	case edit.LateResult(s.Body[ch.Common:]): // a fold may cover the call of a new result
	case slices.ContainsFunc(l, func(it edit.Item) bool { return it.Once }): // it was for one request only
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

// reportOthers reports edits that held before and were made for other requests, or else those
// that did not hold before.
func (s *session) reportOthers(ctx context.Context, req *Request, before edit.List, grown bool) {
	now, ended := s.track.State.list, s.Ended(before, s.budget.Window)
	switch {
	case len(ended) > 0:
		why := "for one request only"
		if w := ended[0].Window; 0 < w && w < s.budget.Window {
			why = fmt.Sprintf("for a window of %d tokens, and it has %d now", w, s.budget.Window)
		}
		s.reportChange(ctx, req, ended, before.Differs(now),
			fmt.Sprintf("edits of %s were made %s, so what they had replaced is sent again", ended[0].Middleware, why))
	case grown && !before.Covers(now):
		s.reportChange(ctx, req, now.Minus(before), before.Differs(now),
			"remembered edits hold again that did not hold in the call before, where the window was larger or where they "+
				"would have changed the newest question, the newest round or a pinned message; what was sent before is not sent again")
	}
}

// reportTaken reports edits that another call or process has made.
func (s *session) reportTaken(ctx context.Context, req *Request, before, now edit.List, why string) {
	edits := now.Minus(before)
	if len(edits) == 0 {
		edits = before.Minus(now)
	}
	s.reportChange(ctx, req, edits, before.Differs(now), why)
}

// reportChange reports edits that begin or end without an edit of this call, which change what is sent from a position on.
func (s *session) reportChange(ctx context.Context, req *Request, edits edit.List, first int, why string) {
	s.reported = first
	req.Report(ctx, Event{Kind: Notice, By: "middleware", Edits: edits.Records(), First: len(s.Lead) + first, Why: why})
}

// result returns the history with the edits that hold. It reuses that of the last call.
func (s *session) result() edit.Result {
	st, leftOut := &s.track.State, s.thinking.leftOut
	switch {
	case st.result.Spans != nil && st.result.LeftOut.Equal(leftOut):
		st.result.Append(s.History)
		return st.result
	case len(st.list)+len(leftOut) == 0:
		st.result = edit.Result{}
		return edit.Result{Messages: s.all, Sum: s.LeadSum + s.Sum, Upto: len(s.Body)}
	}
	r := s.Apply(s.all, st.list, leftOut, nil, 0)
	st.keep(r)
	return r
}

// newestAnswer returns the position of the newest answer of the model; -1: there is none.
func (s *session) newestAnswer() int {
	at := len(s.Body) - 1
	for at >= 0 && s.Body[at].Role != message.RoleAssistant {
		at--
	}
	return at
}

// keep remembers the history with the edits of the list, unless it is the memory of the caller.
func (st *state) keep(r edit.Result) {
	if r.Spans == nil {
		r = edit.Result{}
	}
	st.result = r
}

// namedModel is what the table of models says of a name.
type namedModel struct {
	models.Model

	name   string
	budget Budget // zero if the window is not known
	priors calibrate.Priors
}

// modelOf returns what is known of the model of a request, and the budget that the request or else the table declares.
func (c *chain) modelOf(req *Request) (*namedModel, Budget) {
	m := c.model.Load()
	if m == nil || m.name != req.Model {
		m = &namedModel{name: req.Model, Model: c.env.Models.Of(req.Model)}
		if m.Window > 0 {
			m.budget = Budget{Window: m.Window, Reserve: m.Reserve(min(m.Output, m.Window/10))}
		}
		m.priors = c.priors(m.Model)
		c.model.Store(m)
	}
	if req.Budget != nil {
		return m, *req.Budget
	}
	return m, m.budget
}

// priors are the rates for a model as long as no usage is reported. The ratios of the table
// are relative to o200k_base and hold for English. Others make more tokens of ideographs.
func (c *chain) priors(m models.Model) calibrate.Priors {
	encoding := c.encoding
	if c.defaultCounter {
		encoding = "o200k_base"
	}
	p := calibrate.Priors{Plain: 1}
	if m.Ratio > 0 && encoding == "o200k_base" {
		p.Plain = m.Ratio
	}
	switch {
	case encoding != "" && encoding == m.Encoding:
		p.Wide = p.Plain
	case encoding == "cl100k_base":
		p.Wide = 0.85 * p.Plain
	default:
		p.Wide = 1.15 * p.Plain
	}
	return p
}

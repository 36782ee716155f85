package middleware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/internal/entries"
	"github.com/laconic-go/laconic/middleware/internal/history"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Apply runs the middlewares without a model and returns what the model would have been sent, with the events except
// [Called]. The edits are remembered as in a call. A middleware that looks at answers sees an empty one.
func Apply(ctx context.Context, mw Middleware, req *Request) (*Request, []Event, error) {
	var c capture
	if _, err := Observe(c.observe)(mw(c.model))(ctx, req, nil); err != nil {
		return nil, c.events, err
	}
	if c.sent == nil {
		return nil, c.events, &Error{Op: "middleware", Err: errors.New("Apply: a middleware answered by itself, so nothing would be sent")}
	}
	sent := *c.sent
	sent.observers = req.observers
	return &sent, c.events, nil
}

// capture is a model that answers nothing, and an observer.
type capture struct {
	mu     sync.Mutex
	events []Event
	sent   *Request // the last one
}

func (c *capture) observe(_ context.Context, e Event) {
	if e.Kind == Called { // no model is called here
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

func (c *capture) model(_ context.Context, r *Request, _ Emit) (*Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = r
	return &Response{}, nil
}

// DraftResult is what a chain would do to a request. It is safe for concurrent use and must
// not be modified: [DraftResult.Refold], [DraftResult.Rewrite] and [DraftResult.Without] return changed ones. Only
// [DraftResult.Commit] has an effect on later calls.
type DraftResult struct {
	Before *View       // what the model would be sent with the edits remembered so far
	After  *View       // what it would be sent, as far as the last editing middleware
	Edits  []DraftEdit // what is new in After, in the order of the history
	Events []Event     // what observers would have received, refusals included

	stages []*View // of each history that editors have worked on; the last one is After
}

// DraftEdit is one edit of a [DraftResult]. An edit made of another one of the same draft,
// such as a fold over results just cleared, represents both.
type DraftEdit struct {
	By       string
	Kind     journal.Kind
	Runs     []message.Run     // history positions that it covers
	Parts    []message.Part    // of a rewrite: the new parts
	Messages []message.Message // of a fold: the new messages, at the position of the last run
	Freed    int               // tokens by which it makes After shorter than Before
	Why      string            // as in the event

	stage  int // index of the view whose edit it is
	record *journal.Record
}

// Draft returns what a chain would do to a request now. It runs the middlewares as a call does, including folds that
// are expensive to make. But no model is called, nothing is remembered, and observers receive nothing. If the draft
// is dropped, the next call does what it would have done without it.
//
// The request counts as a new one, even if it is that of a running call. Other middlewares
// see an empty response, as in [Apply]; what they add after the last editing middleware is
// not part of the draft. Events that a conversation has once occur in each draft.
//
// It is an error if a middleware answers by itself, or passes on a new Request. Other errors are those of a call.
func Draft(ctx context.Context, mw Middleware, req *Request) (*DraftResult, error) {
	var c capture
	r := *req
	r.Messages = history.Own(req.Messages)
	r.Tools = slices.Clone(req.Tools)
	r.Force = slices.Clone(req.Force)
	if req.Budget != nil {
		b := *req.Budget
		r.Budget = &b
	}
	r.call = call{dry: &dryRun{outer: req.dry}, observers: &observers{fn: c.observe}}
	if _, err := mw(c.model)(ctx, &r, nil); err != nil {
		return nil, err
	}
	switch {
	case c.sent == nil:
		return nil, &Error{Op: "middleware", Err: errors.New("Draft: a middleware answered by itself, so nothing would be sent")}
	case c.sent.dry == nil:
		return nil, &Error{
			Op: "middleware", Err: errors.New("Draft: a middleware made a new Request, want a copy of the one that it received"),
		}
	}
	runs := c.sent.dry.views
	if len(runs) == 0 { // no editor has seen the request
		own := *c.sent
		if own.chain == nil {
			own.chain = newChain(Env{})
		}
		v, err := own.chain.open(ctx, &own)
		if err != nil {
			return nil, err
		}
		runs = []*View{v}
	}
	return newDraft(runs, c.events), nil
}

func newDraft(runs []*View, events []Event) *DraftResult {
	d := &DraftResult{Events: events}
	for n, v := range runs {
		v = detached(v)
		d.stages = append(d.stages, v)
		for _, it := range v.list.Minus(v.session.opened.State.list) {
			d.Edits = append(d.Edits, draftEdit(v, n, it, events))
		}
	}
	d.Before, d.After = detached(asOpened(d.stages[0])), d.stages[len(runs)-1]
	return d
}

// draftEdit describes one edit of the view.
func draftEdit(v *View, run int, it edit.Item, events []Event) DraftEdit {
	s := v.session
	e := DraftEdit{
		By: it.Middleware, Kind: it.Kind, Parts: it.Parts, Messages: it.Messages, Freed: s.Freed(it), stage: run, record: it.Record,
	}
	for _, o := range s.opened.State.list {
		if covered, _ := edit.Cover(it.Runs, o.Runs); covered {
			e.Freed -= s.Freed(o)
		}
	}
	e.Freed = v.size.Charged(e.Freed)
	for _, r := range it.Runs {
		e.Runs = append(e.Runs, s.InHistory(r))
	}
	same := func(r *journal.Record) bool { return r.Kind == it.Kind && slices.Equal(r.Runs, it.Runs) }
	for _, ev := range slices.Backward(events) {
		if ev.By == it.Middleware && slices.ContainsFunc(ev.Edits, same) {
			e.Why = ev.Why
			break
		}
	}
	return e
}

// detached returns the view as carried by a request outside of any chain.
func detached(v *View) *View {
	r, w := *v.req, *v
	w.req = &r
	r.call, r.Messages = call{view: &w, protect: v.req.protect}, w.Messages()
	return &w
}

// asOpened returns the view as it was before an editor worked on it.
func asOpened(v *View) *View {
	return v.withEdits(v.session.opened.State.list, v.session.thinking.leftOut)
}

// Refold returns the draft with other messages, or none, for fold i of Edits. They are copied. The rules are those
// for a plan; an error of kind [Invalid] names the rule that the change would break. New lines count as corrections by a person:
// later summaries of package summarize keep them word for word.
func (d *DraftResult) Refold(i int, msgs ...message.Message) (*DraftResult, error) {
	return d.change(i, journal.Fold, func(r *journal.Record) { r.Messages = history.Own(msgs) })
}

// Rewrite returns the draft with other parts for rewrite i of Edits. They are copied. The rules are those of [RewriteOf], and
// errors are those of [DraftResult.Refold].
func (d *DraftResult) Rewrite(i int, parts ...message.Part) (*DraftResult, error) {
	return d.change(i, journal.Rewrite, func(r *journal.Record) { r.Parts = slices.Clone(parts) })
}

// change returns the draft with another record in place of that of edit i; with is nil: with none. The steps of the draft are made
// again: each one edits what the ones before it have left. Those of earlier calls, which are not written yet, are as they were.
func (d *DraftResult) change(i int, kind journal.Kind, with func(r *journal.Record)) (*DraftResult, error) {
	last := len(d.stages) - 1
	switch {
	case i < 0 || i >= len(d.Edits):
		return nil, draftError(i, fmt.Errorf("is not one of the %d of the draft", len(d.Edits)))
	case d.Edits[i].stage != last:
		return nil, draftError(i, errors.New("was made before a middleware that changed the messages; change those after it"))
	case with != nil && d.Edits[i].Kind != kind:
		return nil, draftError(i, fmt.Errorf("is a %s, want a %s", d.Edits[i].Kind, kind))
	}
	was, now := d.Edits[i].record, (*journal.Record)(nil)
	if with != nil {
		r := *was
		with(&r)
		r.Corrected = corrected(was, &r)
		now = &r
		if err := d.sparesTools(was, now); err != nil {
			return nil, draftError(i, err)
		}
	}
	before, first := asOpened(d.After), 0
	s := before.session
	if p := s.opened.State.pending; p != nil {
		first = len(p.Steps)
	}
	v, steps := *before, slices.Clone(d.After.turn.steps)
	for k := first; k < len(steps); k++ {
		step := &steps[k]
		replace(step, was, now)
		if len(step.Records) == 0 { // it is not written
			continue
		}
		l, err := v.list.Over(s.WeighAll(step.Records))
		if err != nil {
			return nil, draftError(i, err)
		}
		step.Before, step.Change.Removed = v.size.Tokens, replaced(v.list, step.Records)
		v = *v.withEdits(l, s.thinking.leftOut).withoutVoid(before)
		step.After = v.size.Tokens
	}
	v.turn.steps = steps
	if added := v.list.Minus(v.session.opened.State.list); len(added) > 0 {
		err := s.Verify(&before.result, &v.result, added.Records(), s.terms(before.result.LeftOut), false)
		if v.size.Counted >= before.size.Counted {
			err = notShorter(before, &v)
		}
		if err != nil {
			return nil, draftError(i, err)
		}
	}
	return newDraft(append(slices.Clone(d.stages[:last]), &v), d.Events), nil
}

// sparesTools returns an error if a rewrite changes what a protected tool has, unlike the one before it.
func (d *DraftResult) sparesTools(was, now *journal.Record) error {
	at := slices.IndexFunc(d.After.result.Spans, func(s edit.Span) bool { return s.Record == was })
	if was.Kind != journal.Rewrite || at < 0 {
		return nil
	}
	return sparesParts(d.After, &Edit{At: at, Parts: now.Parts})
}

// replace gives a step another record in place of one, or none: then it also loses an earlier rewrite of the same message.
func replace(step *journal.Step, was, now *journal.Record) {
	var records []*journal.Record
	same := true
	for _, r := range step.Records {
		again := now == nil && was.Kind == journal.Rewrite && r.Kind == journal.Rewrite && slices.Equal(r.Runs, was.Runs)
		switch {
		case !edit.Equal(r, was) && !again:
			records = append(records, r)
			continue
		case now != nil:
			records = append(records, now)
		}
		same = false
	}
	if !same {
		const changed = ", changed before it was committed"
		step.Records, step.Why = records, strings.TrimSuffix(step.Why, changed)+changed
	}
}

// corrected returns the lines of a record that a person wrote in place of those of another one, or into that one before. They
// are UTF-8, so that they have the same hash when they come from a journal.
func corrected(was, now *journal.Record) (lines []string) {
	linesOf := func(r *journal.Record) (all []string) {
		for _, m := range append(slices.Clone(r.Messages), message.Message{Parts: r.Parts}) {
			for _, p := range m.Parts {
				for line := range strings.Lines(strings.ToValidUTF8(shorten.Text(p), "\ufffd")) {
					all = append(all, strings.TrimPrefix(strings.TrimSpace(line), "- "))
				}
			}
		}
		return all
	}
	before := linesOf(was)
	for _, line := range linesOf(now) {
		if line != "" && (!slices.Contains(before, line) || slices.Contains(was.Corrected, line)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Without returns the draft without edit i of Edits. What the edit covers is restored as it
// was before, including edits of the same draft. Errors are those of [DraftResult.Refold].
// If the trigger is still met after a commit, the middleware will make the edit again.
func (d *DraftResult) Without(i int) (*DraftResult, error) { return d.change(i, "", nil) }

func draftError(i int, err error) error {
	return &Error{Kind: Invalid, Op: "middleware", Err: fmt.Errorf("draft: edit %d: %w", i, err)}
}

// Commit remembers the edits of the draft as a call would have done, so that the next call
// with the same history, or a grown one, starts with After. Attempts of editors without
// progress count. The chain may be in use meanwhile. Observers receive nothing.
//
// If the conversation has been edited since the draft was made, other than inside what the draft folds, the error is
// of kind [Outdated], and the edits made meanwhile remain; so it is for a draft changed with [DraftResult.Without]
// after it was committed. Edits after the end of the drafted history count if this chain has finished or found them.
//
// What the edits remove is put into the archive first; if that fails, nothing is
// remembered. After an error of the journal or of the context it is unknown what was
// stored, and Commit may be repeated. Once the edits are stored, it does nothing more.
func (d *DraftResult) Commit(ctx context.Context) error {
	for _, v := range d.stages {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := v.session.chain.origin
		if err := storeIn(ctx, v, c); err != nil {
			return err
		}
		if err := noteIn(ctx, v, c); err != nil {
			return err
		}
	}
	return nil
}

// storeIn writes the edits of a view, which the fork of a chain has made, to the journal of the chain itself.
func storeIn(ctx context.Context, v *View, c *chain) error {
	s, w, st := *v.session, *v, v.session.opened.State
	then := st.Stored
	s.chain = c
	s.log.Journal = c.env.Journal
	st.conversation = c.conversationOf(s.IDs, st.conversation)
	st.Stored, _, _ = s.log.Read(ctx, s.IDs, entries.None, 0) // an error here occurs again when the edits are written
	s.track = s.opened.With(st)
	w.session, w.turn.steps = &s, slices.Clone(v.turn.steps)
	if s.thinking.rule == edit.ThinkingBound {
		now, _ := s.thinking.memory.Check(s.History, v.toBind(), v.result.LeftOut, v.compacted(then.All))
		now.Again = true // of what was sent in place of the draft nothing is known
		w.turn.thinking = now
	}
	for i := range w.turn.steps { // who commits it has asked for it
		if w.turn.steps[i].Actor == entries.ByTrigger {
			w.turn.steps[i].Actor = entries.ByUser
		}
	}
	if outdated(v, &s, then, st.Stored) || editedAfter(c, s.IDs, v.list) {
		return errOutdated
	}
	if st.pending == nil && v.list.Equal(st.list) {
		return nil
	}
	if len(v.turn.removed) > 0 && !v.list.Equal(s.Holding(st.All, s.terms(v.result.LeftOut))) {
		if err := putAll(ctx, &w, v.turn.removed); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("middleware: commit draft: archive what is removed: %w", err)
		}
	}
	kept, err := write(ctx, &w)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("middleware: commit draft: %w", err)
	case !kept.list.Equal(v.list):
		return errOutdated
	}
	first := v.list.Differs(s.opened.State.list)
	for _, t := range c.histories.All() {
		if history.Shared(t.IDs, s.IDs) > first {
			t.State.last.report(first)
		}
	}
	return nil
}

// outdated reports whether the journal has other edits or pins than when a draft was made, besides those inside what it folds.
func outdated(v *View, s *session, then, now entries.Stored) bool {
	if !slices.Equal(then.Pins, now.Pins) {
		return true
	}
	if now.At == then.At && now.Entry.Rev == then.Entry.Rev {
		return false
	}
	return !v.list.Covers(s.Holding(now.All, s.terms(v.result.LeftOut))) || now.HasUndone(then, v.list)
}

// conversationOf returns what the chain knows of the conversation of a history, or else the other one.
func (c *chain) conversationOf(ids []message.ID, other *conversation) *conversation {
	for _, t := range c.histories.All() {
		if len(ids) > 0 && history.Shared(t.IDs, ids) == len(ids) {
			return t.State.conversation
		}
	}
	return other
}

var errOutdated = &Error{
	Kind: Outdated, Op: "middleware",
	Err: errors.New("commit draft: the conversation has been edited since the draft was made; make a new draft"),
}

// editedAfter reports whether a longer history with these first messages has edits of its own, and not all of these.
func editedAfter(c *chain, ids []message.ID, l edit.List) bool {
	for _, t := range c.histories.All() {
		n := len(ids)
		if t.State.At < n || n > 0 && t.IDs[n-1] != ids[n-1] {
			continue
		}
		if slices.ContainsFunc(l, func(it edit.Item) bool { return !t.State.list.Has(it) }) {
			return true
		}
	}
	return false
}

// noteIn makes a chain know how the editors succeeded in a draft of it.
func noteIn(ctx context.Context, v *View, c *chain) error {
	if len(v.turn.attempts) == 0 {
		return nil
	}
	req := *v.req
	req.Messages = v.session.all
	s, _, err := c.follow(ctx, &req)
	if err != nil {
		return err
	}
	c.histories.Publish(s.track)
	for i := range v.turn.attempts {
		v.turn.attempts[i].note(s.track.State.conversation)
	}
	return nil
}

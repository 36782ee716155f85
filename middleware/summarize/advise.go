package summarize

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// advice is what was noted of a conversation when its soft threshold was reached.
type advice struct {
	length int // of the history then
	folded int // messages of the history that were folded then
	task   *preparation
}

// adviceOf is the key of the note.
type adviceOf struct{ *editor }

// preparation is a summary that is made in advance.
type preparation struct {
	job    *job
	log    *eventLog
	done   chan struct{} // closed once the result is set
	result *product      // nil: it could not be made
}

// finished reports whether the task has ended.
func (p *preparation) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// report reports the requests of a background summary that has ended, once. That it
// is used is reported by the fold.
func (p *preparation) report(ctx context.Context, v *middleware.View) {
	if p.finished() && p.log != nil {
		for _, event := range p.log.take(false) {
			v.Report(ctx, event)
		}
	}
}

// reportPrepared reports the requests of a background summary of this conversation
// once it has ended, used or not. That it is used is reported by the fold.
func (e *editor) reportPrepared(ctx context.Context, v *middleware.View) {
	a, _ := v.Load(adviceOf{e}).(*advice)
	if a == nil || v.Dry() {
		return
	}
	a.task.report(ctx, v)
}

// advise tells that a fold comes near, and has its summary prepared. It plans
// nothing.
func (e *editor) advise(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	force := v.Request().Force
	if slices.Contains(force, Name) || slices.Contains(force, "*") {
		return nil, nil
	}
	e.reportPrepared(ctx, v)
	s, err := e.status(v)
	if err != nil || s.Urgency != Soft {
		return nil, nil //nolint:nilerr // the fold itself says what is wrong with its options
	}
	task := e.remind(ctx, v)
	if task == nil {
		return nil, nil
	}
	started := e.prepare(v, task)
	why := s.Why
	if s.Threshold > 0 {
		why = fmt.Sprintf("%d tokens, a fold is advised from %d on", s.Tokens, s.Threshold)
	}
	if started {
		why += "; its summary is prepared in the background"
	}
	v.Report(ctx, middleware.Event{Kind: Advised, By: Name, Why: why})
	return nil, nil
}

// remind stores new advice for the conversation, and returns its task, which is not
// started. It returns nil if the fold that is near now has been advised already, or if
// a background summary is not finished yet.
func (e *editor) remind(ctx context.Context, v *middleware.View) *preparation {
	e.advising.Lock()
	defer e.advising.Unlock()
	now := &advice{length: len(v.History()), folded: folded(v), task: &preparation{done: make(chan struct{})}}
	if before, _ := v.Load(adviceOf{e}).(*advice); before != nil {
		if before.folded == now.folded && before.length <= now.length || !before.task.finished() {
			return nil
		}
		before.task.report(ctx, v)
	}
	v.Store(adviceOf{e}, now)
	return now.task
}

// folded returns how many messages of the history are folded by this middleware.
func folded(v *middleware.View) int {
	if v.CallsSince(Name) < 0 {
		return 0
	}
	n := 0
	for i := range v.Len() {
		if r := ours(v, i); r != nil {
			for _, run := range r.Runs {
				n += run.Len()
			}
		}
	}
	return n
}

// prepare starts the task: the summary of what would be folded now. It returns false
// if nothing is prepared; the task has ended then.
func (e *editor) prepare(v *middleware.View, p *preparation) bool {
	var jobs []*job
	if e.Background != nil && !v.Dry() && e.Strategy.kind != custom && e.writer.asks() {
		jobs = e.jobs(newSource(v), e.Strategy.divide(e.pieces(v)))
	}
	if len(jobs) == 1 { // the next fold divides several at other messages
		j := *jobs[0]
		j.quiet = true
		p.job, p.log = &j, j.log
		if e.Background(func(ctx context.Context) {
			defer close(p.done)
			p.result, _ = contained(ctx, &j)
		}) {
			return true
		}
	}
	close(p.done)
	return false
}

// head is a summary that was made in advance, of some pieces of a view.
type head struct {
	*product

	pieces []piece
	handle store.Handle
}

// inAdvance returns the summary that was made in advance of some of the pieces, if
// it still holds, or nil. What stayed then, as the newest question, may be folded
// with them now.
func (e *editor) inAdvance(src *source, all []piece) *head {
	a, _ := src.view.Load(adviceOf{e}).(*advice)
	if a == nil {
		return nil
	}
	if !a.task.finished() || a.task.result == nil {
		return nil
	}
	p, then := a.task.result, a.task.job
	ids := src.ids()
	last := then.covers[len(then.covers)-1]
	if last >= len(ids) || ids[last] != then.ids[last] {
		return nil
	}
	h := &head{product: p, handle: then.handle}
	for _, p := range all {
		if covered(src.positions(p), then.covers) {
			h.pieces = append(h.pieces, p)
		}
	}
	if !slices.Equal(src.behind(h.pieces), then.covers) {
		return nil
	}
	return h
}

// covered reports whether all of some positions are among others, which are in
// order.
func covered(some, among []int) bool {
	return !slices.ContainsFunc(some, func(k int) bool {
		_, found := slices.BinarySearch(among, k)
		return !found
	})
}

// prepared returns the plan that puts a summary which was made in advance; nil: it
// is not enough for now.
func (e *editor) prepared(src *source, h *head) *middleware.Plan {
	j := e.job(src, block{pieces: h.pieces})
	if !j.fits(h.product) || j.handle != h.handle {
		return nil
	}
	edit := middleware.Edit{Kind: middleware.Fold, Runs: neighbours(j.block.pieces), Messages: h.messages}
	after, err := src.view.Preview(Name, &middleware.Plan{Edits: []middleware.Edit{edit}})
	if err != nil {
		return nil
	}
	if met, _, err := e.Trigger.Met(after, func() *middleware.Plan { return nil }); met || err != nil {
		return nil
	}
	edit.Messages, edit.Estimate, edit.Archive = nil, j.size(h.product), j.archive
	edit.Make = func(ctx context.Context) ([]message.Message, error) {
		j.flush(ctx)
		j.use(ctx, h.product)
		return h.messages, nil
	}
	return &middleware.Plan{
		Edits:  []middleware.Edit{edit},
		Detail: Report{Messages: len(j.fresh)},
		Why:    fmt.Sprintf("folded %s into a summary that was prepared", count(len(j.fresh), "message")),
	}
}

// update makes a job bring a summary up to date that was made in advance, if it is
// to stand for all that this one stands for.
func (j *job) update(h *head) {
	had := map[int]bool{} // first positions of what the summary is about
	for _, p := range h.pieces {
		had[p.First] = true
	}
	rest := slices.DeleteFunc(slices.Clone(j.block.pieces), func(p piece) bool { return had[p.First] })
	if j.block.dropped > 0 || len(rest)+len(h.pieces) != len(j.block.pieces) {
		return
	}
	own, f := *j, *j.fold
	own.fold, f.Earlier, f.Messages = &f, []string{h.words}, nil
	for _, p := range rest {
		if p.summary() && isComposed(p.earlier) {
			f.Earlier = append(f.Earlier, j.wordsOf(p.earlier))
			continue
		}
		for k := p.First; k <= p.Last; k++ {
			f.Messages = append(f.Messages, f.View.At(k))
		}
	}
	own.limit()
	if own.worth() {
		*j = own
	}
}

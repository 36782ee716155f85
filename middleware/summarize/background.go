package summarize

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/store"
)

// Background returns a function for [Options.Background] that runs at most the given
// number of tasks at the same time, each in a goroutine. It returns false, and does not
// run the task, if there are as many or if ctx is done. All tasks are cancelled when ctx
// is done. wait returns when all tasks have ended; no task may be started meanwhile.
// Both are safe for concurrent use. Background panics with "summarize: …" if most is
// less than 1.
//
//	start, wait := summarize.Background(ctx, 4)
//	defer wait()
//	summarize.New(summarize.By(small, summarize.Ask{}), summarize.Options{Soft: soft, Background: start})
func Background(ctx context.Context, most int) (start func(task func(ctx context.Context)) bool, wait func()) {
	if most < 1 {
		panic(fmt.Sprintf("summarize: Background is for %d tasks at a time, want 1 or more", most))
	}
	slots := make(chan struct{}, most)
	var tasks sync.WaitGroup
	start = func(task func(ctx context.Context)) bool {
		if ctx.Err() != nil {
			return false
		}
		select {
		case slots <- struct{}{}:
		default:
			return false
		}
		tasks.Go(func() {
			defer func() { <-slots }()
			task(ctx)
		})
		return true
	}
	return start, tasks.Wait
}

// advice is what is stored of a conversation when its soft threshold was reached.
type advice struct {
	length int // of the history
	folded int // messages of the history that were folded
	task   *preparation
}

// adviceKey is the key of an advice in [middleware.View.Load].
type adviceKey struct{ *editor }

// preparation is a summary that is made before it is needed. All but done is valid once
// done is closed.
type preparation struct {
	done   chan struct{}
	job    *job     // nil: nothing was prepared
	result *product // nil: it failed
}

func (p *preparation) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// report reports the requests of a preparation that has ended, once. The fold that uses
// it reports its event of kind [Summarized].
func (p *preparation) report(ctx context.Context, v *middleware.View) {
	if !p.finished() || p.job == nil || v.Dry() {
		return
	}
	for _, event := range p.job.log.take(false, false) {
		v.Report(ctx, event)
	}
}

// reportPrepared reports the requests of the conversation's preparation, if it has ended.
func (e *editor) reportPrepared(ctx context.Context, v *middleware.View) {
	if a, _ := v.Load(adviceKey{e}).(*advice); a != nil {
		a.task.report(ctx, v)
	}
}

// advise reports that a fold is near, and has its summary prepared. It plans nothing.
func (e *editor) advise(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	force := v.Request().Force
	if slices.Contains(force, Name) || slices.Contains(force, "*") || e.cache.isRecursive(ctx) {
		return nil, nil
	}
	e.reportPrepared(ctx, v)
	s, err := e.status(v)
	if err != nil || s.Urgency != "soft" {
		return nil, nil //nolint:nilerr // the fold itself reports invalid options
	}
	task := e.remind(ctx, v)
	if task == nil {
		return nil, nil
	}
	why := s.Why
	if s.Threshold > 0 {
		why = fmt.Sprintf("%d tokens, a fold is advised from %d on", s.Tokens, s.Threshold)
	}
	if e.prepare(v, task) {
		why += "; its summary is prepared in the background"
	}
	v.Report(ctx, middleware.Event{Kind: Advised, By: Name, Why: why})
	return nil, nil
}

// remind stores new advice for the conversation, and returns its preparation, which is
// not started. It returns nil if the next fold has been advised already, or if a
// preparation has not ended.
func (e *editor) remind(ctx context.Context, v *middleware.View) *preparation {
	e.advising.Lock()
	defer e.advising.Unlock()
	now := &advice{length: len(v.History()), folded: folded(v), task: &preparation{done: make(chan struct{})}}
	if before, _ := v.Load(adviceKey{e}).(*advice); before != nil {
		if before.folded == now.folded && before.length <= now.length || !before.task.finished() {
			return nil
		}
		before.task.report(ctx, v)
	}
	v.Store(adviceKey{e}, now)
	return now.task
}

// folded returns how many messages of the history this middleware has folded.
func folded(v *middleware.View) int {
	if v.CallsSince(Name) < 0 {
		return 0
	}
	n := 0
	for i := range v.Len() {
		if r := ownFold(v, i); r != nil {
			for _, run := range r.Runs {
				n += run.Len()
			}
		}
	}
	return n
}

// prepare starts the summary of what would be folded now. If it returns false, nothing
// is prepared and p has ended.
func (e *editor) prepare(v *middleware.View, p *preparation) bool {
	var jobs []*job
	if e.Background != nil && !v.Dry() && e.Strategy.kind != custom && e.writer.asks() {
		jobs = e.jobs(newOrigins(v), e.Strategy.divide(e.pieces(v)))
	}
	if len(jobs) == 1 { // the next fold divides several at other messages
		p.job = jobs[0]
		p.job.background = true
		if e.Background(func(ctx context.Context) {
			defer close(p.done)
			p.result, _ = modelwriter.Call(ctx, 0, p.job.make)
		}) {
			return true
		}
		p.job = nil
	}
	close(p.done)
	return false
}

// prepared is a prepared summary of some pieces of a view.
type prepared struct {
	*product

	pieces []piece
	handle store.Handle
}

// preparedOf returns the prepared summary of some of the pieces, if it is still valid,
// or nil. Messages that were kept then may be folded with them now.
func (e *editor) preparedOf(o *origins, all []piece) *prepared {
	a, _ := o.view.Load(adviceKey{e}).(*advice)
	if a == nil || !a.task.finished() || a.task.result == nil {
		return nil
	}
	then, ids := a.task.job, o.ids
	last := then.covers[len(then.covers)-1]
	if last >= len(ids) || ids[last] != then.ids[last] {
		return nil
	}
	p := &prepared{product: a.task.result, handle: then.handle}
	for _, piece := range all {
		outside := func(k int) bool {
			_, found := slices.BinarySearch(then.covers, k)
			return !found
		}
		if !slices.ContainsFunc(o.positions(piece), outside) {
			p.pieces = append(p.pieces, piece)
		}
	}
	if !slices.Equal(o.covered(p.pieces), then.covers) {
		return nil
	}
	return p
}

// planPrepared returns the plan that uses a prepared summary as it is, or nil if the
// trigger would still be met.
func (e *editor) planPrepared(o *origins, p *prepared) *middleware.Plan {
	j := e.job(o, block{pieces: p.pieces})
	if !j.fits(p.product) || j.handle != p.handle {
		return nil
	}
	edit := middleware.Edit{Kind: journal.Fold, Runs: neighbours(j.block.pieces), Messages: p.messages}
	after, err := o.view.Preview(Name, &middleware.Plan{Edits: []middleware.Edit{edit}})
	if err != nil {
		return nil
	}
	if met, _, err := e.Trigger.Met(after, func() *middleware.Plan { return nil }); met || err != nil {
		return nil
	}
	edit.Messages, edit.Estimate, edit.Archive = nil, j.size(p.product), j.archive
	edit.Make = func(ctx context.Context) ([]message.Message, error) {
		j.flush(ctx)
		j.reportUse(ctx, p.product)
		return p.messages, nil
	}
	n := len(j.fresh)
	return &middleware.Plan{
		Edits:  []middleware.Edit{edit},
		Detail: Report{Messages: n},
		Why:    fmt.Sprintf("folded %s into a summary that was prepared", count(n, "message")),
	}
}

// update makes the job update a prepared summary, if the job covers all that the
// prepared summary covers, so that those messages are not read again.
func (j *job) update(p *prepared) {
	had := map[int]bool{} // first positions
	for _, piece := range p.pieces {
		had[piece.First] = true
	}
	rest := slices.DeleteFunc(slices.Clone(j.block.pieces), func(p piece) bool { return had[p.First] })
	if j.block.dropped > 0 || len(rest)+len(p.pieces) != len(j.block.pieces) {
		return
	}
	own, f := *j, *j.fold
	own.fold, f.Earlier, f.Messages = &f, []string{p.words}, nil
	for _, piece := range rest {
		if piece.isSummary() && isComposed(piece.earlier) {
			f.Earlier = append(f.Earlier, j.wordsOf(piece.earlier))
			continue
		}
		for k := piece.First; k <= piece.Last; k++ {
			f.Messages = append(f.Messages, f.View.At(k))
		}
	}
	own.limit()
	if own.worthwhile() {
		*j = own
	}
}

package summarize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

// advice is what is stored of a conversation when its soft threshold was reached: how it
// was then, and the summary that is prepared.
type advice struct {
	length int        // of the history
	fold   message.ID // the newest one

	ended  atomic.Bool // the preparation has ended: job and result are valid
	job    job         // without a task: nothing was prepared
	result *product    // nil: it failed
}

type adviceKey struct{ *editor }

func (e *editor) adviceOf(v *middleware.View) *advice {
	a, _ := v.Load(adviceKey{e}).(*advice)
	return a
}

// report reports the requests of a preparation that has ended, once. The fold that uses it reports its event of kind [Summarized].
func (a *advice) report(ctx context.Context, v *middleware.View) {
	if a != nil && a.ended.Load() && a.job.task != nil && !v.Request().Dry() {
		a.job.log.tell(ctx, v, false)
	}
}

// advise reports that a fold is near, and has its summary prepared. It plans nothing.
func (e *editor) advise(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Request().Forces(layerName) || e.cache.isRecursive(ctx) {
		return nil, nil
	}
	e.adviceOf(v).report(ctx, v)
	s, err := e.status(v)
	if err != nil || s.Urgency != "soft" {
		return nil, nil //nolint:nilerr // the fold itself reports invalid options
	}
	a := e.remind(ctx, v)
	if a == nil {
		return nil, nil
	}
	why := s.Why
	if s.Threshold > 0 {
		why = fmt.Sprintf("%d tokens, a fold is advised from %d on", s.Tokens, s.Threshold)
	}
	if e.prepare(ctx, v, a) {
		why += "; its summary is prepared in the background"
	}
	v.Report(ctx, middleware.Event{Kind: Advised, By: layerName, Why: why})
	return nil, nil
}

// remind stores new advice for the conversation. It returns nil if the next fold has been
// advised already, or if a preparation has not ended.
func (e *editor) remind(ctx context.Context, v *middleware.View) *advice {
	e.advising.Lock()
	defer e.advising.Unlock()
	now := &advice{length: len(v.History()), fold: newestFold(v)}
	if before := e.adviceOf(v); before != nil {
		if before.fold == now.fold && before.length <= now.length || !before.ended.Load() {
			return nil
		}
		before.report(ctx, v)
	}
	v.Store(adviceKey{e}, now)
	return now
}

// newestFold returns the ID of the newest fold of this middleware, or the zero one.
func newestFold(v *middleware.View) (id message.ID) {
	for i := range v.Len() {
		if r := ownFold(v, i); r != nil {
			id = r.ID
		}
	}
	return id
}

// prepare starts the summary of what would be folded now. If it returns false, nothing is prepared.
func (e *editor) prepare(ctx context.Context, v *middleware.View, a *advice) bool {
	var tasks []*task
	if e.Background != nil && !v.Request().Dry() && e.Strategy.Custom == nil && e.writer.asks() {
		tasks = e.tasks(ctx, newOrigins(v), e.Strategy.divide(e.pieces(v)))
	}
	if len(tasks) == 1 { // the next fold divides several at other messages
		j := job{task: tasks[0], log: &eventLog{later: true}, background: true}
		if e.Background(func(later context.Context) {
			defer a.ended.Store(true)
			a.job = j
			a.result, _ = modelwriter.Call(context.WithValue(later, inside.Origin{}, ctx), 0, j.make)
		}) {
			return true
		}
	}
	a.ended.Store(true)
	return false
}

// preparedOf returns the task of a prepared summary of some of the pieces, if it is still valid,
// or nil. Messages that were kept then may be folded with them now.
func (e *editor) preparedOf(o *origins, all []piece) *task {
	a := e.adviceOf(o.view)
	if a == nil || !a.ended.Load() || a.result == nil {
		return nil
	}
	outside := func(k int) bool {
		_, found := slices.BinarySearchFunc(a.job.covers, k, func(c covered, k int) int { return cmp.Compare(c.at, k) })
		return !found
	}
	var pieces []piece
	for _, p := range all {
		if !slices.ContainsFunc(o.of(p.Run), outside) {
			pieces = append(pieces, p)
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	m := e.gather(o, block{pieces: pieces})
	if m.key != a.job.key || !m.fits(a.result) { // its last line has the handle of what was folded then
		return nil
	}
	return &task{material: *m, estimate: m.size(a.result), ready: a.result}
}

// planPrepared returns the plan that uses a prepared summary as it is, or nil if the trigger would still be met.
func (e *editor) planPrepared(ctx context.Context, v *middleware.View, p *task) (*middleware.Plan, error) {
	edit := middleware.Edit{Kind: journal.Fold, Runs: neighbours(p.block.pieces), Messages: p.ready.messages}
	after, err := v.Preview(layerName, &middleware.Plan{Edits: []middleware.Edit{edit}})
	if err != nil {
		return nil, nil //nolint:nilerr // the summary is made anew, which reports it
	}
	if met, _, err := e.Trigger.Met(after, func() *middleware.Plan { return nil }); met || err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	passed, vetoes, err := e.decided(ctx, []*task{p})
	switch {
	case err != nil:
		return nil, err
	case vetoes != "":
		return &middleware.Plan{Why: "nothing is folded: " + vetoes}, nil
	case passed[0].key.asked != (Decision{}):
		return nil, nil
	}
	plan := e.planOf([]*task{p})
	plan.Why = fmt.Sprintf("folded %s into a summary that was prepared", count(len(p.newlyCovered()), "message"))
	return plan, nil
}

package summarize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Name is what the middleware is called in events, in the journal and in
// [middleware.Request.Force].
const Name = "summarize"

// New returns the middleware, whose summaries are written by w. It is safe for
// concurrent use. It panics with "summarize: …" if the writer makes no sense or the
// options are not valid; [Writer.Validate] and [Options.Validate] tell beforehand.
func New(w Writer, opts Options) middleware.Middleware {
	if err := errors.Join(w.Validate(), opts.Validate()); err != nil {
		panic("summarize: " + err.Error())
	}
	e := &editor{Options: opts.complete(), writer: w, memory: newMemory(), claims: newClaims()}
	var layers []middleware.Middleware
	if e.Flush != nil {
		layers = append(layers, middleware.Editing(Name, e.settle, middleware.Options{PauseAfter: -1}))
	}
	if e.Soft != nil {
		layers = append(layers, middleware.Editing(Name, e.advise, middleware.Options{Trigger: e.Soft, PauseAfter: -1, Strict: e.Strict}))
	}
	return middleware.Chain(append(layers, middleware.Editing(Name, e.plan, middleware.Options{
		Trigger:  e.Trigger,
		MinCalls: e.MinCalls,
		Strict:   e.Strict,
	}))...)
}

// editor is the middleware. Its options are complete.
type editor struct {
	Options

	writer Writer
	memory *memory
	claims *claims

	advising sync.Mutex // makes reading and storing the advice of a conversation one step
}

// plan returns the folds of all that may be folded.
func (e *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	again := e.Strategy.kind == chunks && v.EditedNow(Name) // a retry would cut elsewhere, and pay for it
	if again || e.memory.isBehind(ctx) {
		return nil, nil
	}
	e.reportPrepared(ctx, v)
	all := e.pieces(v)
	if len(all) == 0 {
		return nil, nil
	}
	src := newSource(v)
	h := e.inAdvance(src, all)
	if h != nil {
		if p := e.prepared(src, h); p != nil {
			return p, nil
		}
	}
	jobs := e.jobs(src, e.Strategy.divide(all))
	if h != nil && len(jobs) == 1 {
		jobs[0].update(h)
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	return e.planOf(jobs), nil
}

// planOf returns the plan that makes some summaries.
func (e *editor) planOf(jobs []*job) *middleware.Plan {
	plan, fresh := &middleware.Plan{}, 0
	b := &batch{jobs: jobs, parallel: e.Parallel}
	for i, j := range jobs {
		fresh += len(j.fresh)
		plan.Edits = append(plan.Edits, middleware.Edit{
			Kind:     middleware.Fold,
			Runs:     neighbours(j.block.pieces),
			Estimate: j.estimate,
			Archive:  j.archive,
			Make:     func(ctx context.Context) ([]message.Message, error) { return b.product(ctx, i) },
		})
	}
	plan.Why = fmt.Sprintf("folded %s into %s", count(fresh, "message"), summaries(jobs))
	plan.Detail = Report{Messages: fresh}
	return plan
}

// jobs returns the folds of blocks that are worth it.
func (e *editor) jobs(src *source, blocks []block) []*job {
	var out []*job
	for _, b := range blocks {
		if len(b.pieces) == 1 && b.pieces[0].summary() {
			continue
		}
		if j := e.job(src, b); j.worth() {
			out = append(out, j)
		}
	}
	return out
}

func summaries(jobs []*job) string {
	earlier := 0
	for _, j := range jobs {
		earlier += len(j.fold.Earlier)
	}
	text := "a summary"
	if len(jobs) > 1 {
		text = count(len(jobs), "summary")
	}
	if earlier > 0 {
		text += ", with the earlier one brought up to date"
	}
	return text
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"): // summary, memory
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
)

// layerName is the name of the middleware; see [New].
const layerName = "summarize"

// New returns the middleware, whose summaries w writes. It is safe for concurrent use. Its name in events, in the journal and in
// [middleware.Request.Force] is "summarize". It panics with "summarize: …" if the writer or the options are invalid;
// [Writer.Validate] and [Options.Validate] return the error.
func New(w Writer, opts Options) middleware.Middleware {
	if err := errors.Join(w.err, opts.Validate()); err != nil {
		panic("summarize: " + err.Error())
	}
	e := &editor{Options: opts.complete(), writer: w, cache: &cache{flights: map[key]*flight{}}, flushes: &flushes{}}
	var layers []middleware.Middleware
	if e.Flush != nil {
		layers = append(layers, middleware.Editing(layerName, e.flushCommitted, middleware.Options{PauseAfter: -1}))
	}
	if e.Soft != nil {
		advice := middleware.Options{Trigger: e.Soft, PauseAfter: -1, Strict: e.Strict}
		layers = append(layers, middleware.Editing(layerName, e.advise, advice))
	}
	return middleware.Chain(append(layers, middleware.Editing(layerName, e.plan, middleware.Options{
		Trigger:  e.Trigger,
		MinCalls: e.MinCalls,
		Strict:   e.Strict,
	}))...)
}

// editor is the middleware. Its options are complete.
//
// A fold is made in five steps. Each of them is given what the steps before it returned, and returns a value that does not change.
//
//   - Choose: [editor.pieces] returns what may be folded of a view, in whole units, and [Strategy.divide] divides it into
//     blocks, of which each becomes one summary.
//   - Gather: [editor.gather] returns the [task] of a block: which messages of the history it covers, what becomes of each
//     of them, and the words of earlier summaries.
//   - Limit: [task.limit] adds the user's words and the facts, which code writes, and how long the other words may be.
//   - Propose: [editor.tasks] keeps the tasks that make the view shorter, and [editor.planOf] returns a plan with an edit for
//     each. The core asks for its messages if it accepts the plan.
//   - Write: [job.make] makes them, once for equal calls, by [job.write]. The caller's strategy makes a summary alone.
//     Otherwise the words are those that [job.ask] gets from the [Writer],
//     or those of rules, or none: the first that is accepted and makes the summary shorter than what it replaces.
//     [task.compose] puts the header, the user's words, the words, the facts and the last line into one message.
//
// A summary that [editor.prepare] made before it was needed becomes a task by [editor.preparedOf].
type editor struct {
	Options

	writer  Writer
	cache   *cache
	flushes *flushes

	advising sync.Mutex // makes reading and storing an advice one step
}

// plan returns the folds of all that may be folded.
func (e *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	_, now := v.LastEdit(layerName)
	retried := e.Strategy.Chunks > 0 && now // other chunks would be paid for again
	if retried || v.Repeated(layerName) || e.cache.isRecursive(ctx) {
		return nil, nil
	}
	e.adviceOf(v).report(ctx, v)
	all := e.pieces(v)
	if len(all) == 0 {
		why := "nothing is folded: all messages are protected, or kept by Keep, KeepRounds, KeepTurns or KeepTokens"
		return &middleware.Plan{Why: why}, nil
	}
	o := newOrigins(v)
	tasks := []*task{e.preparedOf(ctx, o, all)}
	if tasks[0] == nil {
		tasks = e.tasks(ctx, o, e.Strategy.divide(all))
	}
	tasks, vetoes, err := e.decided(ctx, tasks)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case len(tasks) == 0:
		why := cmp.Or(vetoes, "a summary of what may be folded, "+count(len(all), "unit")+", would hardly be shorter")
		return &middleware.Plan{Why: "nothing is folded: " + why}, nil
	}
	plan := e.planOf(tasks)
	if vetoes != "" {
		plan.Why += "; not all, since " + vetoes
	}
	return plan, nil
}

// tasks returns the summaries of the blocks for which a fold is worthwhile: there is room for words, if some are to be written,
// and the summary is shorter than what it replaces.
func (e *editor) tasks(ctx context.Context, o *origins, blocks []block) []*task {
	const eighth, least = 8, 8
	var out []*task
	for _, b := range blocks {
		if len(b.pieces) == 1 && b.pieces[0].isSummary() {
			continue
		}
		t := e.gather(o, b)
		t.limit(ctx)
		if ctx.Err() != nil {
			return nil
		}
		hasRoom := len(t.fold.Messages) == 0 || t.fold.Tokens >= min(least, t.SummaryTokens)
		if len(t.newlyCovered()) > 0 && hasRoom && t.before-t.estimate >= max(1, t.fold.Tokens/eighth) {
			out = append(out, t)
		}
	}
	return out
}

// decided returns the tasks that Options.Before lets pass, with what it adds, and why it has stopped others.
func (e *editor) decided(ctx context.Context, tasks []*task) (passed []*task, vetoes string, err error) {
	if e.Before == nil {
		return tasks, "", nil
	}
	for _, t := range tasks {
		f := t.fold
		d, err := modelwriter.Call(ctx, e.Timeout, func(ctx context.Context) (Decision, error) { return e.Before(ctx, &f), nil })
		if err != nil {
			return nil, "", fmt.Errorf("Options.Before: %w", err)
		}
		if d.Veto != "" {
			vetoes = strings.TrimPrefix(vetoes+"; "+d.Veto, "; ")
			continue
		}
		t.key.asked, t.fold.Instruction = d, d.Instruction
		if d != (Decision{}) {
			t.ready = nil
		}
		passed = append(passed, t)
	}
	return passed, vetoes, nil
}

// planOf returns the plan of some summaries. The first of its edits that is asked for its messages makes all of them.
func (e *editor) planOf(tasks []*task) *middleware.Plan {
	plan := &middleware.Plan{}
	var once sync.Once
	var made []*product
	var err error
	fresh, earlier := 0, 0
	for i, t := range tasks {
		fresh += len(t.newlyCovered())
		earlier += len(t.fold.Earlier)
		plan.Edits = append(plan.Edits, middleware.Edit{
			Kind:     journal.Fold,
			Runs:     neighbours(t.block.pieces),
			Estimate: t.estimate,
			Archive:  t.archive,
			Make: func(ctx context.Context) ([]message.Message, error) {
				once.Do(func() { made, err = e.makeAll(ctx, tasks) })
				if err != nil {
					return nil, err
				}
				return made[i].messages, nil
			},
			Paid: func() journal.Cost {
				_, _, paid := made[i].log.sum()
				return paid
			},
		})
	}
	into := "a summary"
	switch {
	case len(tasks) > 1:
		into = count(len(tasks), "summary")
	case tasks[0].ready != nil:
		into += " that was prepared"
	}
	if earlier > 0 {
		into += ", with the earlier one updated"
	}
	plan.Why = fmt.Sprintf("folded %s into %s", count(fresh, "message"), into)
	plan.Detail = Report{Messages: fresh}
	return plan
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

// makeAll makes the summaries of one plan. Of several, the events are reported in their order, after all have ended.
func (e *editor) makeAll(ctx context.Context, tasks []*task) (made []*product, err error) {
	made = make([]*product, len(tasks))
	logs := make([]*eventLog, len(tasks))
	for i, t := range tasks {
		t.flush(ctx)
		logs[i] = &eventLog{later: len(tasks) > 1}
	}
	run := func(ctx context.Context, i int) (err error) {
		made[i], err = job{task: tasks[i], log: logs[i]}.make(ctx)
		return err
	}
	if len(tasks) == 1 {
		return made, run(ctx, 0)
	}
	err = modelwriter.Parallel(ctx, len(tasks), e.Parallel, run)
	for i, t := range tasks {
		if p := made[i]; p != nil { // which another call may have made
			logs[i] = p.log
		}
		logs[i].tell(ctx, t.fold.View, true)
	}
	return made, err
}

package react

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// act gets a result for each job and puts the results into the history, in the
// order of the calls.
func (r *run) act(ctx context.Context, jobs []*job) {
	var runnable []*job
	for _, j := range jobs {
		if err := r.refuse(ctx, j); err != nil {
			j.finish(nil, err, 0)
			r.reader.tell(j.result)
		} else {
			runnable = append(runnable, j)
		}
		if r.reader.gone {
			return
		}
	}
	if len(runnable) > 0 {
		r.reader.follow(ctx, func(ctx context.Context, send send) { r.work(ctx, runnable, send) })
	}
	for _, j := range jobs {
		r.history = append(r.history, j.result.Message)
		r.toolCalls++
	}
}

// refuse says why a call is not run, if it is not.
func (r *run) refuse(ctx context.Context, j *job) error {
	if ctx.Err() != nil {
		return notRun(ctx)
	}
	_, calls := spent(r.history)
	if most := limit(r.agent.MaxToolCalls, DefaultMaxToolCalls); calls-j.of+j.nth >= most {
		return fmt.Errorf("not run: the limit of %d tool calls is reached; answer with what is known", most)
	}
	if r.tools[j.call.Name] == nil {
		return r.unknown(j.call.Name)
	}
	if err := r.malformed[j.call.ID]; err != nil {
		return err
	}
	if r.agent.Approve == nil {
		return nil
	}
	err := r.agent.Approve(ctx, j.call)
	switch {
	case ctx.Err() != nil:
		return notRun(ctx)
	case err != nil:
		return fmt.Errorf("denied: %w", err)
	}
	return nil
}

func (r *run) unknown(name string) error {
	if len(r.defs) == 0 {
		return fmt.Errorf("unknown tool %q: there are no tools", name)
	}
	names := make([]string, len(r.defs))
	for i, def := range r.defs {
		names[i] = def.Name
	}
	return fmt.Errorf("unknown tool %q; the tools are: %s", name, strings.Join(names, ", "))
}

// work runs the jobs, so many at a time, and returns when all have a result.
func (r *run) work(ctx context.Context, jobs []*job, send send) {
	parallel := r.agent.Parallel
	if parallel == 0 {
		parallel = DefaultParallel
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	places := make(chan struct{}, parallel)
	for _, j := range jobs {
		places <- struct{}{} // tools return soon when the context is done
		if ctx.Err() == nil {
			_ = send(Call{j.call})
		}
		if ctx.Err() != nil { // the reader may have cancelled just now
			j.finish(nil, notRun(ctx), 0)
			_ = send(j.result)
			<-places
			continue
		}
		wg.Go(func() {
			defer func() { // the tool may have ended its goroutine
				_ = send(j.result)
				<-places
			}()
			j.run(ctx, r.tools[j.call.Name], r.agent.ToolTimeout)
		})
	}
}

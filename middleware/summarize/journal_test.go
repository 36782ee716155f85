package summarize_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/store"
)

// process is one of the processes that share a journal, with a model and a store
// of memories of its own.
type process struct {
	small   *middlewaretest.Scripted
	flushed int
	mw      middleware.Middleware
}

func newProcess(env middleware.Env, opts summarize.Options) *process {
	p := &process{small: writer(good)}
	opts.Flush = func(_ context.Context, msgs []message.Message) (int, error) {
		p.flushed += len(msgs)
		return len(msgs), nil
	}
	p.mw = middleware.With(env, summarize.New(summarize.By(p.small.Model, summarize.Ask{}), opts))
	return p
}

// Nothing is paid or flushed twice, if the process ends right after it has paid and
// another one goes on with the same journal: after a call that failed, and after a
// dry run that was kept.
func TestPaidOnceAcrossProcesses(t *testing.T) {
	t.Parallel()
	h := history(8)
	req := &middleware.Request{Messages: h, Force: []string{"summarize"}}
	for name, pay := range map[string]func(p *process){
		"a call that failed": func(p *process) {
			down := errors.New("502")
			_, err := p.mw(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
				return nil, down
			})(t.Context(), req, nil)
			require.ErrorIs(t, err, down)
			require.Positive(t, p.flushed)
		},
		"a dry run that was kept": func(p *process) {
			d, err := middleware.Draft(t.Context(), p.mw, req)
			require.NoError(t, err)
			require.NoError(t, d.Commit(t.Context()))
		},
	} {
		env := middleware.Env{Journal: journal.NewMemory(0)}
		first, second := newProcess(env, summarize.Options{}), newProcess(env, summarize.Options{})
		pay(first)
		require.Len(t, first.small.Requests(), 1, name)
		for range 3 {
			sent, _, err := middleware.Apply(t.Context(), second.mw, req)
			require.NoError(t, err)
			require.Contains(t, summaryIn(t, sent.Messages, h).Text(), good, name)
		}
		require.Empty(t, second.small.Requests(), name)
		require.Zero(t, second.flushed, name)
	}
}

// What is folded can be had again by the handle of the summary: of one that was
// prepared, of one of several, and of one that the caller has made.
func TestArchived(t *testing.T) {
	t.Parallel()
	inline := func(task func(context.Context)) bool {
		task(context.Background())
		return true
	}
	prepared := advised()
	prepared.Background = inline
	chunks, custom := advised(), advised()
	chunks.Strategy = summarize.Strategy{Chunks: 8}
	custom.Strategy = summarize.Strategy{Custom: func(context.Context, *summarize.Fold) ([]message.Message, error) {
		return []message.Message{message.User("There was more.")}, nil
	}}
	for name, opts := range map[string]summarize.Options{"prepared": prepared, "in chunks": chunks, "custom": custom} {
		archive := store.NewMemory(0)
		p := newProcess(middleware.Env{Archive: archive}, opts)
		h := history(40)
		for n := 10; n <= 72; n += 2 {
			view, _ := apply(t, p.mw, h[:n])
			kept := ""
			for _, m := range view {
				for _, handle := range archived.In(m.Text()) {
					for _, c := range opened(t, archive, handle) {
						kept += c
					}
				}
			}
			for i, m := range h[:n] {
				if !contains(view, m) && m.Role == message.RoleTool {
					require.Contains(t, kept, m.Parts[0].(message.ToolResult).Text, "%s: result %d of %d can be had again", name, i, n)
				}
			}
		}
		require.Equal(t, name != "custom", len(p.small.Requests()) > 0, name)
	}
}

// opened returns what at most two recalls return: of a handle, and of those in its content.
func opened(t *testing.T, archive store.Store, h store.Handle) []string {
	t.Helper()
	c, err := archive.Get(t.Context(), h)
	require.NoError(t, err)
	out := []string{c.Data}
	for _, further := range archived.In(c.Data) {
		c, err := archive.Get(t.Context(), further)
		require.NoError(t, err)
		out = append(out, c.Data)
	}
	return out
}

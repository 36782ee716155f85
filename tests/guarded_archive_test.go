package tests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/store"
)

// failingArchive is an archive with a fault, while it has one.
type failingArchive struct {
	*store.Memory

	calls atomic.Int32
	fault func() error
}

func (a *failingArchive) step() error {
	a.calls.Add(1)
	if a.fault == nil {
		return nil
	}
	return a.fault()
}

func (a *failingArchive) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if err := a.step(); err != nil {
		return err
	}
	return a.Memory.Put(ctx, conversation, contents)
}

func (a *failingArchive) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	if err := a.step(); err != nil {
		return store.Content{}, err
	}
	return a.Memory.Get(ctx, h)
}

// archiveFaults are the faults of an engine, and what is said of them.
var archiveFaults = map[string]struct {
	fault func() error
	want  string
}{
	"slow":   {func() error { <-time.After(time.Hour); return nil }, "no answer within 1s"},
	"down":   {func() error { return errors.New("connection refused") }, "connection refused"},
	"panics": {func() error { panic("no connection") }, "panicked: no connection"},
}

// An archive that fails holds no call up for longer than its guard allows, what it would have to
// keep stays in the view, and it is used again when it works again.
func TestGuardedArchive(t *testing.T) {
	t.Parallel()
	for name, fault := range archiveFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				engine := &failingArchive{Memory: store.NewMemory(0), fault: fault.fault}
				mw := middleware.With(middleware.Env{Archive: store.Guard(engine, store.Limits{})},
					contextedit.New(contextedit.Options{Keep: 1, Trigger: trigger.Tokens(100)}))
				h := middlewaretest.ReAct{Rounds: 12}.Messages()
				start := time.Now()
				for call := range 6 {
					sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
					require.NoError(t, err, "call %d", call)
					require.NoError(t, testkit.Same(h, sent.Messages), "what cannot be kept stays")
					require.NotEmpty(t, events)
					require.Equal(t, middleware.Failed, events[0].Kind)
					require.Contains(t, events[0].Why, fault.want)
					require.NotContains(t, events[0].Why, "goroutine ", "an event has no stack in its text")
					h = append(h, message.Assistant(message.Text{Text: "I do not know."}), message.User("And now?"))
				}
				require.LessOrEqual(t, time.Since(start), 3*time.Second)
				require.Equal(t, int32(3), engine.calls.Load(), "after three failures the archive is left alone")

				<-time.After(2 * time.Hour)
				engine.fault = nil
				sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
				require.NoError(t, err)
				require.Len(t, events, 1)
				require.Equal(t, middleware.Edited, events[0].Kind)
				cleared := 0
				for i, m := range sent.Messages {
					for r := range m.Results() {
						for _, handle := range archived.In(r.Text) {
							c, err := engine.Get(t.Context(), handle)
							require.NoError(t, err)
							require.Equal(t, h[i].Parts[0].(message.ToolResult).Text, c.Data)
							cleared++
						}
					}
				}
				require.Equal(t, 11, cleared)
			})
		})
	}
}

// A request is made to fit within the time of the guard if the archive fails.
func TestFitsBehindAGuard(t *testing.T) {
	t.Parallel()
	for name, fault := range archiveFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				engine := &failingArchive{Memory: store.NewMemory(0), fault: fault.fault}
				mw := middleware.With(middleware.Env{Archive: store.Guard(engine, store.Limits{})}, fit.New(fit.Options{}))
				req := &middleware.Request{
					Messages: middlewaretest.ReAct{Rounds: 40, Result: 900}.Messages(), Budget: &middleware.Budget{Window: 2000},
				}
				start := time.Now()
				sent, events, err := middleware.Apply(t.Context(), mw, req)
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(start), 3*time.Second)
				require.LessOrEqual(t, sent.View().Size().Tokens, 2000)
				require.Contains(t, events[0].Why, "what is removed now is not kept: ")
				bare, _, err := middleware.Apply(t.Context(), fit.New(fit.Options{}), req)
				require.NoError(t, err)
				require.NoError(t, testkit.Same(bare.Messages, sent.Messages), "as without an archive")
				<-time.After(2 * time.Hour) // until the calls that hang have returned
			})
		})
	}
}

// A model that recalls something while the archive fails gets an error that says what to do,
// and the run goes on.
func TestRecallBehindAGuard(t *testing.T) {
	t.Parallel()
	for name, fault := range archiveFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				engine := &failingArchive{Memory: store.NewMemory(0)}
				h, err := store.Keep(t.Context(), engine, store.Content{Data: "the linker"})
				require.NoError(t, err)
				engine.fault = fault.fault
				calls, start := 0, time.Now()
				model := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					calls++
					last := req.Messages[len(req.Messages)-1]
					for r := range last.Results() {
						if !r.Error {
							return &middleware.Response{Message: message.Assistant(message.Text{Text: r.Text}), Stop: middleware.StopEnd}, nil
						}
						require.True(t, strings.HasPrefix(r.Text, "the archive cannot be read now, so call the tool that gave "+h.String()+" again: "), r.Text)
						require.Contains(t, r.Text, fault.want)
						require.NotContains(t, r.Text, "goroutine ")
					}
					if calls == 6 {
						<-time.After(2 * time.Hour)
						engine.fault = nil
					}
					call := message.ToolCall{ID: fmt.Sprintf("c%d", calls), Name: store.RecallTool, Arguments: fmt.Sprintf(`{"handle":%q}`, h)}
					return &middleware.Response{Message: message.Assistant(call), Stop: middleware.StopTools}, nil
				}
				a := react.Agent{Model: model, Tools: []agent.Tool{agent.Recall(store.Guard(engine, store.Limits{}), agent.RecallOptions{})}, MaxSteps: 20}
				for _, err := range a.Run(t.Context(), message.User("What failed?")) {
					require.NoError(t, err)
				}
				require.Equal(t, 7, calls, "the run ends with the content")
				require.LessOrEqual(t, time.Since(start), 2*time.Hour+3*time.Second)
			})
		})
	}
}

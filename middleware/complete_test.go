package middleware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// TestReportOfACall has each field of a report, also of a chain without an editor.
func TestReportOfACall(t *testing.T) {
	t.Parallel()
	for name, mws := range map[string][]middleware.Middleware{"no editor": nil, "an editor": {sayer("a")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var rec middlewaretest.Recorder
				slow := func(next middleware.Model) middleware.Model {
					return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
						<-time.After(time.Second)
						return next(ctx, req, emit)
					}
				}
				var began, ended []report.Call
				around := middleware.Around(func(ctx context.Context, c report.Call) (context.Context, func(report.Call, error)) {
					began = append(began, c)
					return ctx, func(c report.Call, _ error) { ended = append(ended, c) }
				})
				all := append([]middleware.Middleware{rec.Middleware(), around, slow}, mws...)
				model := middleware.With(middleware.Env{Scope: "acme"}, all...)(
					func(_ context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
						<-time.After(2 * time.Second)
						_ = emit(middleware.Delta{Text: "o"})
						<-time.After(3 * time.Second)
						return &middleware.Response{
							Message: message.Assistant(message.Text{Text: "ok"}), Stop: middleware.StopEnd, ID: "msg_1", Model: "claude-sonnet-4-5-20250929",
							Usage: message.Usage{Input: 1000, CacheWrite: 900, Output: 10},
						}, nil
					})
				req := &middleware.Request{Messages: lookups(4), Model: "claude-sonnet-4-5", Conversation: "c1"}
				_, err := model(t.Context(), req, func(middleware.Delta) error { return nil })
				require.NoError(t, err)
				_, calls := called(t, &rec)
				require.Len(t, calls, 1)
				require.Equal(t, calls, ended)
				c := calls[0]
				require.Positive(t, c.View)
				require.Equal(t, c.View, c.History)
				require.Equal(t, 1000, c.Cache.Prompt)
				c.View, c.History, c.Cache = 0, 0, report.Cache{}
				want := report.Call{
					Purpose: "main", Attempt: 1, Model: "claude-sonnet-4-5", Provider: "anthropic", Conversation: "c1", Scope: "acme", Stream: true,
					Answered: "claude-sonnet-4-5-20250929", ID: "msg_1", Stop: middleware.StopEnd,
					Duration: 5 * time.Second, First: 2 * time.Second, Chain: time.Second,
					Usage: message.Usage{Input: 1000, CacheWrite: 900, Output: 10},
					Bill:  report.Bill{Spent: (100*300 + 900*375 + 10*1500) * models.USD / 100, Known: true, Estimated: true},
				}
				require.Equal(t, want, c)
				want.Answered, want.ID, want.Stop, want.Duration, want.First = "", "", "", 0, 0
				want.Usage, want.Bill = message.Usage{}, report.Bill{}
				require.Equal(t, []report.Call{want}, began)
			})
		})
	}
}

// TestReasons has the short reasons of refusals and failures.
func TestReasons(t *testing.T) {
	t.Parallel()
	for reason, plan := range map[string]middleware.Plan{
		"positions": {Edits: []middleware.Edit{middleware.FoldOf(2, 99)}},
		"pairs":     {Edits: []middleware.Edit{middleware.FoldOf(3, 3)}},
		"protected": {Edits: []middleware.Edit{middleware.FoldOf(1, 3)}},
		"shorter":   {Edits: []middleware.Edit{middleware.FoldOf(2, 3, message.User(words(3000)))}},
		"structure": {Edits: []middleware.Edit{middleware.RewriteOf(3, message.Text{})}},
	} {
		call, _ := heard(t, middleware.Editing("any", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &plan, nil
		}, middleware.Options{}))
		require.Len(t, call, 1)
		require.Equal(t, middleware.Refused, call[0].Kind, reason)
		require.Equal(t, reason, call[0].Reason, "%v", call[0])
	}
	call, _ := heard(t, middleware.Editing("any", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		panic("x")
	}, middleware.Options{}))
	require.Equal(t, "editor", call[0].Reason)
}

// TestBill has what is not known, what would not have fitted, and edits that cost more than they save.
func TestBill(t *testing.T) {
	t.Parallel()
	var c report.Call
	observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
		if e.Call != nil {
			c = *e.Call
		}
	})
	usage := message.Usage{}
	run := func(window int, model string, mws ...middleware.Middleware) {
		req := &middleware.Request{Messages: lookups(12), Model: model}
		if window > 0 {
			req.Budget = &middleware.Budget{Window: window}
		}
		_, err := middleware.Chain(append([]middleware.Middleware{observe}, mws...)...)(
			func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
				return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"}), Usage: usage}, nil
			})(t.Context(), req, nil)
		require.NoError(t, err)
	}
	run(0, "claude-sonnet-4-5")
	require.Equal(t, report.Bill{}, c.Bill, "no usage")
	usage = message.Usage{Input: 500, Output: 1}
	run(0, "a model of nobody")
	require.Equal(t, report.Bill{}, c.Bill, "no price")
	run(0, "claude-sonnet-4-5", halver("a"))
	require.True(t, c.Bill.Known && c.Bill.Estimated)
	require.Equal(t, models.Cost(c.Saved)*3*models.USD, c.Bill.NotSpentEstimate, "no cache in use: all that was left out is input")
	whole := c.History - c.View + usage.Input
	run(whole-1, "claude-sonnet-4-5", halver("a"))
	require.True(t, c.Bill.NotFitting && c.Bill.Known && !c.Bill.Estimated)
	run(whole, "claude-sonnet-4-5", halver("a"))
	require.False(t, c.Bill.NotFitting)
	usage = message.Usage{Input: 2000, CacheWrite: 2000} // the edit breaks the cache
	run(0, "claude-sonnet-4-5", halver("a"))
	require.Negative(t, c.Bill.NotSpentEstimate)
}

package middleware_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// heard returns the events of one call, and those of a draft of it.
func heard(t *testing.T, mw middleware.Middleware) (call, draft []middleware.Event) {
	t.Helper()
	req := &middleware.Request{Messages: lookups(4)}
	d, err := middleware.Draft(t.Context(), mw, req)
	require.NoError(t, err)
	_, call, err = middleware.Apply(t.Context(), mw, req)
	require.NoError(t, err)
	return call, d.Events
}

func TestTellAndNow(t *testing.T) {
	t.Parallel()
	mw := middleware.With(middleware.Env{Clock: at(2031)}, middleware.Editing("watch",
		func(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
			require.Equal(t, at(2031)(), v.Env().Clock(), "Now goes by the clock of the chain")
			v.Report(ctx, middleware.Event{Kind: "full", By: "watch", Why: "it is full", Detail: 7})
			return nil, nil
		}, middleware.Options{}))
	call, draft := heard(t, mw)
	want := []middleware.Event{{Kind: "full", By: "watch", Why: "it is full", Detail: 7, Time: at(2031)()}}
	require.Equal(t, want, call)
	require.Equal(t, want, draft, "a draft has what a call would tell")
}

// What an editor tells of its plan goes with the event that reports the plan.
func TestDetail(t *testing.T) {
	t.Parallel()
	for kind, plan := range map[middleware.EventKind]middleware.Plan{
		middleware.Edited:  {Edits: []middleware.Edit{middleware.FoldOf(2, 3)}, Detail: "two messages"},
		middleware.Skipped: {Why: "there is nothing to do", Detail: "two messages"},
	} {
		call, _ := heard(t, middleware.Editing("any", func(context.Context, *middleware.View) (*middleware.Plan, error) {
			return &plan, nil
		}, middleware.Options{}))
		require.Len(t, call, 1)
		require.Equal(t, kind, call[0].Kind, "%v", call)
		require.Equal(t, "two messages", call[0].Detail)
	}
}

// called returns the events of a recorder that report model calls, with their numbers.
func called(t *testing.T, rec *middlewaretest.Recorder) ([]middleware.Event, []report.Call) {
	t.Helper()
	events := rec.Events(middleware.Called)
	reports := make([]report.Call, len(events))
	for i, e := range events {
		reports[i] = *e.Call
		require.False(t, e.Warning())
	}
	return events, reports
}

// Why an editor with a trigger that is met edits nothing is no warning, and is reported once per conversation.
func TestSkippedIsReportedOnce(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	model := middleware.Chain(rec.Middleware(), sayer("a"), sayer("b"))(middlewaretest.Say("ok"))
	for n := 2; n < 6; n++ {
		_, err := model(t.Context(), &middleware.Request{Messages: lookups(n)}, nil)
		require.NoError(t, err)
	}
	events := rec.Events()
	require.Equal(t, []middleware.EventKind{middleware.Skipped, middleware.Skipped}, kinds(events), "one of each editor")
	require.False(t, events[0].Warning())
}

// A model reports to the observers of its chain, by the clock of the chain.
func TestModelReports(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var rec middlewaretest.Recorder
	heard := []bool{}
	model := func(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		heard = append(heard, req.Report(ctx, middleware.Event{Kind: middleware.Notice, By: "model", Why: "x"}))
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
	}
	req := &middleware.Request{Messages: lookups(2)}
	env := middleware.Env{Clock: func() time.Time { return at }}
	for _, m := range []middleware.Model{
		model, rec.Middleware()(model), middleware.Chain(rec.Middleware(), middleware.With(env, sayer("a")))(model),
	} {
		_, err := m(t.Context(), req, nil)
		require.NoError(t, err)
	}
	require.Equal(t, []bool{false, true, true}, heard)
	var times []time.Time
	for _, e := range rec.Events() {
		if e.By == "model" {
			times = append(times, e.Time)
		}
	}
	require.Len(t, times, 2)
	require.WithinDuration(t, time.Now(), times[0], time.Hour)
	require.Equal(t, at, times[1])
}

// An agent that sends one text per call begins a conversation with each.
func TestMisconfiguredIsReportedOnce(t *testing.T) {
	t.Parallel()
	var rec middlewaretest.Recorder
	model := middleware.Chain(rec.Middleware(), middleware.Editing("a",
		func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil },
		middleware.Options{Trigger: trigger.Fraction(0.5)}))(middlewaretest.Say("ok"))
	for _, name := range []string{"x", "x", "y"} {
		for _, prompt := range []string{"Question: one", "Question: one\nThought: a", "Question: two"} {
			_, err := model(t.Context(), &middleware.Request{Messages: []message.Message{message.User(prompt)}, Model: name}, nil)
			require.NoError(t, err)
		}
	}
	require.Len(t, rec.Events(), 2, "one for each model: %v", rec.Events())
}

// TestExplain asks for the reason why nothing is edited: each editor names its trigger with its numbers.
func TestExplain(t *testing.T) {
	t.Parallel()
	never := middleware.Options{Trigger: trigger.Tokens(1_000_000)}
	nothing := func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }
	for explain, want := range map[bool]string{false: "[]", true: "[a: not met: 8 of 1000000 tokens b: not met: there is nothing to edit]"} {
		mw := middleware.With(middleware.Env{Explain: explain}, middleware.Editing("a", nothing, never), middleware.Editing("b", nothing, middleware.Options{}))
		for range 2 {
			_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: []message.Message{message.User("hi")}})
			require.NoError(t, err)
			require.Equal(t, want, fmt.Sprint(events))
		}
	}
}

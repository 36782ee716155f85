package middlewaretest

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
)

// chainRules are about repetition and composition.
func chainRules() []rule {
	return []rule{
		{
			name: "deterministic",
			text: "the same calls give the same views, byte for byte, with a new middleware as well: " +
				"no time, no random value, no order of a map gets into a view, " +
				"since each difference voids a prompt cache and makes failures unrepeatable",
			check: func(s *subject) error { return s.deterministic() },
		},
		{
			name: "repeated",
			text: "the same history once more, as after a failed call, gives the same view, or a reported edit, and soon none any more: " +
				"a retry must not pay twice nor move the prefix",
			check: checkRepeated,
		},
		{
			name:  "settles",
			views: true,
			text: "a view that is passed on as a history is edited further a few times at most, and in the end not at all: " +
				"an edit of an edit that never ends eats the conversation up",
			check: checkSettles,
		},
		{
			name: "composes",
			text: "a middleware alone, in a Chain, and in a Chain inside a Chain gives the same views and the same events, " +
				"since Chain(a, Chain(b)) must do what Chain(a, b) does",
			check: checkComposes,
		},
	}
}

// sameReplays compares what was sent and what was reported.
func sameReplays(want, got []*replay) error {
	for k, w := range want {
		if err := sameViews(w, got[k]); err != nil {
			return err
		}
	}
	for k, w := range want {
		g := got[k]
		for i := range w.steps {
			if err := sameEvents(w.steps[i].events, g.steps[i].events); err != nil {
				return fmt.Errorf("%s: %w", w.at(w.steps[i]), err)
			}
		}
	}
	return nil
}

// sameViews compares what was sent alone.
func sameViews(want, got *replay) error {
	if len(want.steps) != len(got.steps) {
		return fmt.Errorf("%s: %d calls were answered, and then %d", want.name, len(want.steps), len(got.steps))
	}
	for i := range want.steps {
		if err := Same(want.steps[i].view(), got.steps[i].view()); err != nil {
			return fmt.Errorf("%s: %w", want.at(want.steps[i]), err)
		}
	}
	return nil
}

func sameEvents(want, got []middleware.Event) error {
	for i := range min(len(want), len(got)) {
		if want[i].String() != got[i].String() {
			return fmt.Errorf("event %q, want %q", got[i], want[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d events, want %d", len(got), len(want))
	}
	return nil
}

// differs returns what is not the same if all replays are made once more.
func (s *subject) differs() error {
	first, err := s.replays()
	if err != nil {
		return err
	}
	again, err := s.replayAll(func(mw middleware.Middleware) middleware.Middleware { return mw })
	if err != nil {
		return err
	}
	return sameReplays(first, again)
}

// settle makes calls until one brings no edit any more, and at most as many as
// there are messages. Each call gets the request that next makes of the outcome
// before.
func settle(before *outcome, req *middleware.Request, next func(*outcome) (*outcome, error)) error {
	for range len(req.Messages) + 2 {
		out, err := next(before)
		if err != nil {
			return err
		}
		if !out.edited() {
			return Same(before.view(), out.view())
		}
		before = out
	}
	return errors.New("edits go on without an end")
}

func checkRepeated(s *subject) error {
	replays, err := s.replayAll(func(mw middleware.Middleware) middleware.Middleware { return mw })
	if err != nil {
		return err
	}
	for _, r := range replays {
		last := r.last()
		err := settle(last.outcome, last.req, func(*outcome) (*outcome, error) {
			return r.in.answered(context.Background(), last.req, nil)
		})
		if err != nil {
			return fmt.Errorf("%s once more: %w", r.at(last), err)
		}
	}
	return nil
}

func checkSettles(s *subject) error {
	replays, err := s.replays()
	if err != nil {
		return err
	}
	for _, r := range replays {
		last := r.last()
		err := settle(last.outcome, last.req, func(before *outcome) (*outcome, error) {
			req := *last.req
			req.Messages = before.view()
			return s.instance(done()).answered(context.Background(), &req, nil)
		})
		if err != nil {
			return fmt.Errorf("%s, its view passed on: %w", r.at(last), err)
		}
	}
	return nil
}

func checkComposes(s *subject) error {
	alone, err := s.replays()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name   string
		around func(middleware.Middleware) middleware.Middleware
	}{
		{"Chain(mw)", func(mw middleware.Middleware) middleware.Middleware { return middleware.Chain(mw) }},
		{"Chain(Chain(), Chain(Chain(mw)))", func(mw middleware.Middleware) middleware.Middleware {
			return middleware.Chain(middleware.Chain(), middleware.Chain(middleware.Chain(mw)))
		}},
	} {
		got, err := s.replayAll(c.around)
		if err == nil {
			err = sameReplays(alone, got)
		}
		if err != nil {
			return fmt.Errorf("%s, compared with mw alone: %w", c.name, err)
		}
	}
	return nil
}

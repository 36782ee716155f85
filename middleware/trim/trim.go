package trim

import (
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// Name is what the middleware is called in events, in the journal and in
// [middleware.Request.Force].
const Name = "trim"

// New returns the middleware. It is safe for concurrent use, and several of
// them may stand in one chain. It panics with "trim: …" if the options are not
// valid; [Options.Validate] tells beforehand.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("trim: " + err.Error())
	}
	t := &trimmer{Options: opts.complete(), own: opts.Trigger != nil}
	if !t.own {
		t.Trigger = trigger.Default(t.Threshold)
	}
	return middleware.Chain(
		middleware.Editing(Name, t.watch, middleware.Options{}),
		middleware.Editing(Name, t.plan, middleware.Options{
			Trigger:  spaced{by: t},
			MinCalls: t.MinCalls,
			Strict:   t.Strict,
		}),
	)
}

// trimmer plans by options that are complete.
type trimmer struct {
	Options

	own bool // the caller gave the trigger
}

func (t *trimmer) plan(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.EditedNow(Name) && !forced(v) { // the call is made again, and must give the same view
		return nil, nil
	}
	target := t.target(v)
	if v.Size().Tokens <= target {
		return idle(v, "nothing is removed, since the target of %d tokens is reached: there are %d", target), nil
	}
	s := t.survey(v, target)
	out, decision, edits := t.remove(s)
	if s.freed(out) <= 0 {
		return idle(v, "nothing may be removed, so the target of %d tokens is not reached: there are %d", target), nil
	}
	r := Report{
		Strategy: decision.Strategy, Confidence: decision.Confidence, Level: t.level(v),
		Target: target, Reached: v.Without(s.freed(out)).Size().Tokens <= target,
		Messages: out.Gone, Units: len(out.Removed), Kept: out.Kept,
	}
	return &middleware.Plan{Why: t.why(r), Items: r.Messages, Detail: r, Edits: edits}, nil
}

// idle returns the plan that says why nothing is removed, once in a conversation.
func idle(v *middleware.View, why string, target int) *middleware.Plan {
	if !v.Once(Name + ": " + why) {
		return nil
	}
	return &middleware.Plan{Why: fmt.Sprintf(why, target, v.Size().Tokens)}
}

// remove returns what the strategy chooses, and the edits that remove it. How long
// a note is depends on the handle in it, and that on what is chosen.
func (t *trimmer) remove(s *survey) (out Outcome, d Decision, edits []middleware.Edit) {
	for {
		if out, d = t.choose(s.Case); s.freed(out) <= 0 {
			return out, d, nil
		}
		edits = s.edits(out)
		target := s.Target - s.longer(edits)
		if target >= s.Target || !out.Meets(s.Target) || out.Meets(target) {
			return out, d, edits
		}
		s.Target = target
	}
}

// choose lets the strategy choose.
func (t *trimmer) choose(c Case) (Outcome, Decision) {
	switch t.Strategy {
	case Middle:
		return c.Middle(), Decision{Strategy: Middle}
	case Oldest:
		return c.Oldest(), Decision{Strategy: Oldest}
	default:
		return c.Hybrid()
	}
}

// forced reports whether the request wants the edit.
func forced(v *middleware.View) bool {
	f := v.Request().Force
	return slices.Contains(f, Name) || slices.Contains(f, "*")
}

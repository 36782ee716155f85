package trim

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/when"
)

// layerName is the name of the middleware; see [New].
const layerName = "trim"

// New returns the middleware. It is safe for concurrent use, and a chain may have
// several. Its name in events, in the journal and in [middleware.Request.Force] is "trim". It
// panics with "trim: …" if [Options.Validate] returns an error.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("trim: " + err.Error())
	}
	t := &trimmer{Options: opts.complete(), ownTrigger: opts.Trigger != nil}
	if !t.ownTrigger {
		t.Trigger = when.Default(t.Threshold)
	}
	return middleware.Chain(
		middleware.Editing(layerName, t.watch, middleware.Options{}),
		middleware.Editing(layerName, t.plan, middleware.Options{
			Trigger:  spaced{t},
			MinCalls: t.MinCalls,
			Strict:   t.Strict,
		}),
	)
}

// trimmer is the middleware. Its options are complete.
type trimmer struct {
	Options

	ownTrigger bool // the trigger is an option
}

// plan returns the edits that bring a view down to the target.
func (t *trimmer) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	_, now := v.LastEdit(layerName)
	if now && !v.Request().Forces(layerName) || v.Repeated(layerName) { // a repeated call must give the same view
		return nil, nil
	}
	target := t.target(v)
	if v.Size().Tokens <= target {
		return idle(v, "nothing is removed, since the target of %d tokens is reached: there are %d", target), nil
	}
	s := t.survey(ctx, v, target)
	out, d, edits := s.remove()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.freed(out) <= 0 {
		return idle(v, "nothing may be removed, so the target of %d tokens is not reached: there are %d", target), nil
	}
	r := Report{
		Strategy: d.strategy, Confidence: d.confidence, Level: t.level(v),
		Target: target, Reached: v.Without(s.freed(out)).Size().Tokens <= target,
		Messages: out.messages, Units: len(out.units), Kept: out.kept,
	}
	return &middleware.Plan{Why: t.why(r), Detail: r, Edits: edits}, nil
}

// idle returns a plan without edits that reports why nothing is removed.
func idle(v *middleware.View, why string, target int) *middleware.Plan {
	return &middleware.Plan{Why: fmt.Sprintf(why, target, v.Size().Tokens)}
}

// target returns the tokens to come down to.
func (t *trimmer) target(v *middleware.View) int {
	if t.TargetTokens > 0 {
		return t.TargetTokens
	}
	b, known := v.Budget()
	room := b.Room()
	if !known {
		room = shorten.AtLeast(1/t.Threshold, when.DefaultTokens)
	}
	target := shorten.AtMost(t.Target, room)
	if t.ownTrigger {
		if own := shorten.AtMost(t.Target/t.Threshold, t.edge(v)); !known || own < target {
			return own
		}
	}
	return target
}

// edge returns the number of tokens from which on the trigger is met, or those of the
// view if the trigger does not depend on tokens, or is met by something else.
func (t *trimmer) edge(v *middleware.View) int {
	tokens := v.Size().Tokens
	n, _, _ := when.Threshold(t.Trigger, v)
	plan := func() *middleware.Plan { return &middleware.Plan{Saved: tokens} } // frees enough for any trigger
	if met, _, err := t.Trigger.Met(v, plan); n == 0 || n > tokens && met && err == nil {
		return tokens
	}
	return n
}

// state is the memory of a conversation.
type state struct {
	level  string
	looked time.Time // when the trigger was last evaluated
	due    bool      // it may be evaluated in this call
}

func (t *trimmer) state(v *middleware.View) state {
	s, _ := v.Load(t).(state)
	s.level = cmp.Or(s.level, none)
	return s
}

// LevelChanged is the kind of the event that reports that the view fills another share of
// the window. Its Detail is a [Change].
const LevelChanged middleware.EventKind = "level changed"

// watch is an editor that makes no edits: it reports changes of level, and decides
// whether the trigger is evaluated in this call.
func (t *trimmer) watch(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	before := t.state(v)
	s := before
	s.level = t.level(v)
	if s.level != before.level {
		b, _ := v.Budget()
		c := Change{From: before.level, To: s.level, Tokens: v.Size().Tokens, Room: max(0, b.Room())}
		if c.Room > 0 {
			c.Utilisation = float64(c.Tokens) / float64(c.Room)
		}
		v.Report(ctx, middleware.Event{
			Kind: LevelChanged, By: layerName, Why: c.text(), Before: c.Tokens, After: c.Tokens, Detail: c,
		})
	}
	if t.Interval > 0 {
		now := v.Env().Clock()
		s.due = s.level == hard || s.level == emergency || s.looked.IsZero() || now.Sub(s.looked) >= t.Interval
		if s.due {
			s.looked = now
		}
	}
	if s != before {
		v.Store(t, s)
	}
	return nil, nil
}

// level returns how full the room is.
func (t *trimmer) level(v *middleware.View) string {
	b, known := v.Budget()
	if !known {
		return none
	}
	return levelOf(v.Size().Tokens, b.Room(), t.Warning, t.Threshold)
}

// spaced is the trigger of a trimmer, evaluated no more often than its interval allows.
type spaced struct{ by *trimmer }

// Threshold is that of the trigger without an interval.
func (s spaced) Threshold(v *middleware.View) (tokens int, of string, sure bool) {
	return when.Threshold(s.by.Trigger, v)
}

// Met implements [middleware.Trigger].
func (s spaced) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if s.by.Interval > 0 && !s.by.state(v).due {
		return false, "", nil
	}
	return s.by.Trigger.Met(v, plan)
}

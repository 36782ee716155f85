package contextedit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// Name is what the middleware is called in events, in the journal and in
// [middleware.Request.Force].
const Name = "contextedit"

// defaultShare of the room must be filled before anything is cleared, if no
// trigger is given.
const defaultShare = 0.75

// New returns the middleware. It is safe for concurrent use, and several of
// them may stand in one chain. It panics with "contextedit: …" if the options
// are not valid; [Options.Validate] tells beforehand.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("contextedit: " + err.Error())
	}
	opts.Only = slices.Clone(opts.Only)
	opts.ExcludeTools = slices.Clone(opts.ExcludeTools)
	opts.ClearInputsOf = slices.Clone(opts.ClearInputsOf)
	opts.Placeholder = cmp.Or(opts.Placeholder, DefaultPlaceholder)
	opts.Trigger = cmp.Or(opts.Trigger, trigger.Default(defaultShare))
	if opts.KeepRounds == 0 && opts.KeepTokens == 0 {
		opts.Keep = cmp.Or(opts.Keep, DefaultKeep)
	}
	return middleware.Editing(Name, (&editor{opts}).plan, middleware.Options{
		Trigger:  fitting{Trigger: opts.Trigger, floor: opts.ClearAtLeast},
		MinCalls: opts.MinCalls,
		Strict:   opts.Strict,
	})
}

// fitting is a trigger that cannot work where the floor does not fit.
type fitting struct {
	middleware.Trigger

	floor int
}

// Met implements [middleware.Trigger].
func (f fitting) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	if b, ok := v.Budget(); ok && f.floor >= b.Window {
		return false, "", fmt.Errorf("ClearAtLeast is %d tokens and the window of model %q %d, so nothing could ever be cleared: "+
			"lower ClearAtLeast, or correct Request.Budget", f.floor, v.Request().Model, b.Window)
	}
	return f.Trigger.Met(v, plan)
}

// editor plans by options that are complete.
type editor struct{ Options }

func (o *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if o.stopped(v) {
		return nil, nil
	}
	c, edits := o.decide(ctx, v)
	freed := v.Size().Charged(c.freed())
	switch {
	case freed == 0: // what is sealed is not counted, and goes when something else does
		return nil, nil
	case freed < o.ClearAtLeast:
		return &middleware.Plan{
			Why: fmt.Sprintf("clearing %s would free %d tokens, less than ClearAtLeast of %d", &c, freed, o.ClearAtLeast),
		}, nil
	}
	return &middleware.Plan{
		Why:   "cleared " + c.String(),
		Items: len(c.results),
		Edits: edits,
	}, nil
}

// stopped reports whether StopAfter has ended clearing for this very history:
// a call that is made again must give the same view again.
func (o *editor) stopped(v *middleware.View) bool {
	if force := v.Request().Force; o.StopAfter == 0 || slices.Contains(force, Name) || slices.Contains(force, "*") {
		return false
	}
	return v.EditedNow(Name)
}

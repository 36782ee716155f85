package fit

import (
	"context"
	"errors"
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// What makes a reported prompt too short to be true.
const (
	leastOfEstimate = 0.5  // of our count
	leastOfExact    = 0.8  // of a count by the model's own tokenizer
	leastOfGrowth   = 0.25 // of what has been added since an earlier prompt
	leastGrowth     = 500  // tokens by the meter that have to be added until that says something
)

// watch compares what the provider has charged with what it was sent: some
// servers cut what is too long, and say nothing.
func (f *fitter) watch(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		resp, err := next(ctx, req, emit)
		if v := req.View(); err == nil && resp != nil && resp.Usage.Input > 0 && v != nil {
			f.compare(ctx, v, resp.Usage.Input)
		}
		return resp, err
	}
}

// charge is what a prompt was charged.
type charge struct {
	view             *middleware.View
	charged, counted int
}

// grownTo returns by how much more the prompt of a later view was counted; it is
// not ok if that is another prompt.
func (c charge) grownTo(o charge) (added int, ok bool) {
	if c.view == nil || o.view.Shared(c.view) < c.view.Len() {
		return 0, false
	}
	return o.counted - c.counted, true
}

// compare tells, once per conversation, that a prompt was charged too little.
func (f *fitter) compare(ctx context.Context, v *middleware.View, charged int) {
	type charges struct{ *fitter }
	j := f.judge(v)
	sent, now := j.charged(), charge{v, charged, v.Size().Counted + j.added}
	before, _ := v.Load(charges{f}).(charge)
	added, grown := before.grownTo(now)
	if !grown || added >= leastGrowth {
		v.Store(charges{f}, now)
	}
	least := leastOfEstimate
	if v.Size().Exact {
		least = leastOfExact
	}
	tooFew := func(charged int) bool {
		stalls := grown && added >= leastGrowth && float64(charged-before.charged) < leastOfGrowth*float64(added)
		return stalls || float64(charged) < least*float64(sent)
	}
	if !tooFew(charged) || !tooFew(charged+v.Size().Charged(oldThinking(v))) || !f.once(v, "truncated") {
		return
	}
	v.Report(ctx, middleware.Event{
		Kind: middleware.Truncated, By: Name, Before: sent, After: charged,
		Why: fmt.Sprintf("the provider charged %d tokens for a prompt of %d by our count: if it cuts what is too long without a word, "+
			"as Ollama does, set its window (num_ctx), or say in Request.Budget which one it serves", charged, sent),
	})
}

// oldThinking returns the tokens of what the model thought before the newest
// turn, which some providers drop, and do not charge.
func oldThinking(v *middleware.View) int {
	n, dropped := 0, 0
	for _, m := range v.Messages() {
		if m.Role == message.RoleUser {
			dropped = n
		}
		for _, p := range m.Parts {
			if isThinking(p) {
				n += v.Meter().Part(p)
			}
		}
	}
	return dropped
}

// once reports whether something is told for the first time in the conversation.
func (f *fitter) once(v *middleware.View, what string) bool {
	type told struct {
		*fitter
		what string
	}
	if v.Load(told{f, what}) != nil {
		return false
	}
	v.Store(told{f, what}, true)
	return true
}

// sayWindow tells, once per conversation, that tokens are not bounded.
func (f *fitter) sayWindow(ctx context.Context, j *judgement) {
	if j.room != unbounded || !f.once(j.view, "window") {
		return
	}
	what, cure := "the window is not known", "set Request.Budget, or Request.Model"
	if name := j.view.Request().Model; name != "" {
		what, cure = fmt.Sprintf("the window of model %q is not known", name), "set Request.Budget, or add the model to Env.Models"
	}
	why := what + ", so no request has too many tokens until the provider refuses one: " + cure
	j.view.Report(ctx, middleware.Event{
		Kind: middleware.Misconfigured, By: Name, Why: why,
		Err: &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: errors.New(why)},
	})
}

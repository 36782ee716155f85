package contextedit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/when"
)

// layerName is the name of the middleware; see [New].
const layerName = "contextedit"

// defaultDigest is the default of [Options.Digest] in a chain with an archive.
const defaultDigest = 40

// New returns the middleware. It is safe for concurrent use, and a chain may
// contain several of them. Its name in events, in the journal and in
// [middleware.Request.Force] is "contextedit". It panics with "contextedit: …" if
// [Options.Validate] returns an error.
func New(opts Options) middleware.Middleware {
	if err := opts.Validate(); err != nil {
		panic("contextedit: " + err.Error())
	}
	opts.Only = slices.Clone(opts.Only)
	opts.ClearInputsOf = slices.Clone(opts.ClearInputsOf)
	opts.Placeholder = cmp.Or(opts.Placeholder, defaultPlaceholder)
	e := &editor{byDefault: opts.Trigger == nil && opts.ClearAtLeast == 0}
	opts.Trigger = cmp.Or[middleware.Trigger](opts.Trigger, when.EconomyOr(when.Window()))
	if opts.KeepRounds == 0 && opts.KeepTokens == 0 {
		opts.Keep = cmp.Or(opts.Keep, 5)
	}
	e.Options = opts
	e.Digest = max(opts.Digest, 0)
	if opts.Digest == 0 {
		archived := *e
		archived.Digest = defaultDigest
		e.archived = &archived
	}
	return middleware.Editing(layerName, e.plan, middleware.Options{
		Tools:    opts.tools(),
		Trigger:  opts.Trigger,
		MinCalls: opts.MinCalls,
		Strict:   opts.Strict,
		Protect:  opts.ExcludeTools,
	})
}

// editor makes plans. The defaults of its options are filled in.
type editor struct {
	Options

	archived  *editor // with the default of Digest, for a chain with an archive; nil: Digest is set
	byDefault bool    // Trigger and ClearAtLeast are those by default
}

// least returns the minimum that is cleared, in tokens.
func (o *editor) least(v *middleware.View) int {
	least := o.ClearAtLeast
	if o.byDefault {
		least = when.Least(v)
	}
	if o.StopAfter > 0 {
		least = min(least, o.StopAfter)
	}
	return least
}

func (o *editor) plan(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if o.archived != nil && v.Env().Archive != nil {
		return o.archived.plan(ctx, v)
	}
	if o.stopped(v) || v.Repeated(layerName) {
		return nil, nil
	}
	c, edits := o.decide(ctx, v)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	freed := v.Size().Charged(c.freed())
	switch {
	case freed == 0 && o.ClearThinking && v.Request().Native.Thinking != "":
		return &middleware.Plan{Why: "the provider clears thinking by itself in this call: " + v.Request().Native.Thinking}, nil
	case freed == 0: // thinking that is free or empty counts 0 tokens, and is removed only together with something else
		return &middleware.Plan{Why: "there is nothing to clear besides what is kept"}, nil
	case freed < o.least(v):
		return &middleware.Plan{
			Why: fmt.Sprintf("clearing %s would free %d tokens, less than ClearAtLeast of %d", &c, freed, o.least(v)),
		}, nil
	case len(edits) == 0: // the trigger cannot be met
		return nil, nil
	}
	return &middleware.Plan{Why: "cleared " + c.String(), Detail: Report{Results: len(c.results)}, Edits: edits}, nil
}

// stopped reports whether StopAfter has ended clearing for this history. A call
// that is repeated must get the same view again.
func (o *editor) stopped(v *middleware.View) bool {
	_, now := v.LastEdit(layerName)
	return o.StopAfter > 0 && !v.Request().Forces(layerName) && now
}

// decide returns what is cleared now, and the edits for it. The size of the digest lines
// is known only when they are made, since they omit what the rest of the view shows. If
// they take so many tokens that StopAfter is not reached, more is chosen, with the
// average size of these lines.
func (o *editor) decide(ctx context.Context, v *middleware.View) (choice, []middleware.Edit) {
	c := o.choose(ctx, v, 0)
	edits := o.edits(ctx, v, &c)
	if o.Digest > 0 && c.more && v.Size().Charged(c.freed()) < o.StopAfter {
		n := max(len(c.results), 1)
		c = o.choose(ctx, v, (c.lines+n-1)/n)
		edits = o.edits(ctx, v, &c)
	}
	return c, edits
}

// choice is what is cleared now.
type choice struct {
	thinking []candidate // in the order of the view
	results  []candidate // in the order of the view
	more     bool        // StopAfter keeps further results
	lines    int         // tokens of all digest lines
}

// choose selects what is cleared now, if each digest line has that many tokens.
func (o *editor) choose(ctx context.Context, v *middleware.View, line int) choice {
	s := o.survey(ctx, v)
	c := choice{thinking: s.thinking, results: o.beyondKeep(s)}
	if s.recalled {
		c.keepRecalled(v, o.least(v))
	}
	if o.StopAfter > 0 && v.Size().Charged(c.freed()) > o.StopAfter {
		c.limit(ctx, v, o.StopAfter, line)
	}
	return c
}

// beyondKeep returns the results that none of Keep, KeepRounds and KeepTokens keeps.
func (o *editor) beyondKeep(s *survey) []candidate {
	kept, keptTokens := 0, 0
	for i := range slices.Backward(s.results) {
		c := &s.results[i]
		keptTokens += c.tokens
		c.kept = c.kept || c.fresh || !c.seen || kept < o.Keep || c.round > s.rounds-o.KeepRounds ||
			o.KeepTokens > 0 && s.view.Size().Charged(keptTokens) <= o.KeepTokens
		if c.kept {
			kept++
		}
	}
	return slices.DeleteFunc(s.results, func(c candidate) bool { return c.kept })
}

// keepRecalled keeps what was read from the archive, as long as the rest frees as much, and
// enough: a model that loses it would read it again. A call that is repeated gets the same
// view again.
func (c *choice) keepRecalled(v *middleware.View, least int) {
	all, recalled := c.freed(), 0
	for i := range c.results {
		if c.results[i].recalled {
			recalled += c.results[i].freed
		}
	}
	rest := all - recalled
	_, now := v.LastEdit(layerName)
	if recalled > 0 && (now || rest >= recalled && v.Size().Charged(rest) >= least) {
		c.results = slices.DeleteFunc(c.results, func(r candidate) bool { return r.recalled })
	}
}

// limit reduces the choice to what frees that many tokens, least valuable first.
func (c *choice) limit(ctx context.Context, v *middleware.View, tokens, line int) {
	all := len(c.results)
	c.thinking, tokens = until(v, c.thinking, tokens, 0)
	markSuperseded(ctx, v, c.results)
	slices.SortStableFunc(c.results, func(a, b candidate) int { return cmp.Compare(a.value(), b.value()) })
	c.results, _ = until(v, c.results, tokens, line)
	c.more = len(c.results) < all
	slices.SortStableFunc(c.results, func(a, b candidate) int { return cmp.Compare(a.at, b.at) })
}

// until returns the first of the candidates, up to the one at which that many tokens
// are freed if each gets a digest line, and the number of tokens that remain.
func until(v *middleware.View, cs []candidate, tokens, line int) (first []candidate, remaining int) {
	for i, c := range cs {
		if tokens <= 0 {
			return cs[:i], tokens
		}
		tokens -= v.Size().Charged(c.freed - min(line, c.freed-1))
	}
	return cs, tokens
}

// freed returns the tokens that the choice frees, by the meter.
func (c *choice) freed() int {
	n := 0
	for _, cs := range [][]candidate{c.thinking, c.results} {
		for i := range cs {
			n += cs[i].freed
		}
	}
	return n
}

// String returns the number of results and of messages with thinking.
func (c *choice) String() string {
	return shorten.List(
		shorten.Amount{N: len(c.results), One: "1 result", Many: "%d results"},
		shorten.Amount{N: len(c.thinking), One: "the thinking of 1 message", Many: "the thinking of %d messages"},
	)
}

package trim

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/laconic-go/laconic/middleware"
)

// Options say what is removed and when. The zero value removes by [Hybrid], once
// 0.9 of the room are filled, until 0.8 are. The room is the window less the
// reserve; where the window is not known, it is taken to be as large as makes the
// threshold 100,000 tokens. [For] has the options for a model.
type Options struct {
	// Strategy is Hybrid, Middle or Oldest. "": Hybrid.
	Strategy Strategy

	// Trigger says when to remove. nil: when Threshold of the room is reached, or
	// 100,000 tokens where the window is not known.
	Trigger middleware.Trigger

	// Warning is the share of the room at which the level Warning begins. 0: 0.8,
	// or Threshold if that is less.
	Warning float64

	// Threshold is the share of the room at which the level Soft begins, and, if
	// Trigger is nil, at which units go. 0: 0.9.
	Threshold float64

	// Target is the share of the room to come down to. It is below Threshold, or
	// units would go on each call; a Trigger of your own may be met with fewer
	// tokens, and then at least as large a share of them goes as there is between
	// Threshold and Target. 0: 0.8, or eight ninths of Threshold if that is less.
	Target float64

	// TargetTokens is the target in tokens, of all that is sent. 0: as Target
	// says.
	TargetTokens int

	// PreserveStart is how many messages at the beginning Middle leaves. Units are
	// not split, and critical ones do not count. 0: 4, negative: none.
	PreserveStart int

	// PreserveEnd is how many messages at the end stay, counted likewise; Middle
	// takes low ones of them last of all. 0: 5, negative: none.
	PreserveEnd int

	// MinMessages is how many messages stay in any case, all of them counted. 0:
	// 4, negative: none.
	MinMessages int

	// Score says how important units are, beside their priority. nil: ByUse.
	Score Importance

	// EfficiencyOnly lets Hybrid, where it tries both strategies, take the more
	// efficient one even if it misses the target and the other does not.
	EfficiencyOnly bool

	// Note is a text that stands, as a message of the user, where the newest of the
	// removed messages stood. It should say that it is no wish of the user. With
	// [middleware.Env.Archive] it names the handle of what was removed. "": nothing
	// stands there, or, with an archive, DefaultNote.
	Note string

	// Interval is the time from one look at the trigger to the next, at least, in
	// one conversation and as long as the chain knows it. It does not hold at the
	// levels Hard and Emergency. 0: each call looks.
	Interval time.Duration

	// MinCalls is how many model calls lie between one removal and the next, at
	// least. 0: no minimum.
	MinCalls int

	// Strict makes a refused plan and an option that does not fit the request
	// an error of the call.
	Strict bool
}

// DefaultNote is the note that names a handle, unless the options have one.
const DefaultNote = "[A remark of the program, not of the user: earlier messages were left out here.]"

// The defaults, which are those for most models.
const (
	defaultThreshold     = 0.9
	defaultShare         = 0.8 // of Warning and Target
	defaultPreserveStart = 4
	defaultPreserveEnd   = 5
	defaultMinMessages   = 4

	// headroom is how much of Threshold the Target is at most, if it is not given:
	// the defaults in relation to each other.
	headroom = defaultShare / defaultThreshold
)

// Validate reports options that make no sense.
func (o Options) Validate() error {
	errs := []error{o.validateShares()}
	switch o.Strategy {
	case "", Hybrid, Middle, Oldest:
	default:
		errs = append(errs, wrong("Strategy", "is %q, want %q, %q or %q", o.Strategy, Hybrid, Middle, Oldest))
	}
	switch {
	case o.TargetTokens < 0:
		errs = append(errs, wrong("TargetTokens", "is %d tokens, want 0 or more", o.TargetTokens))
	case o.TargetTokens > 0 && o.Target != 0:
		errs = append(errs, wrong("Target", "and TargetTokens are given, want one of them"))
	}
	if o.Note != "" && strings.TrimSpace(o.Note) == "" {
		errs = append(errs, wrong("Note", "is %q, want some text, or \"\" for no note", o.Note))
	}
	if o.Interval < 0 {
		errs = append(errs, wrong("Interval", "is %v, want 0 or more", o.Interval))
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

// validateShares reports shares of the room that make no sense, by themselves or
// together.
func (o Options) validateShares() error {
	var errs []error
	for _, s := range []struct {
		name  string
		value float64
	}{
		{"Warning", o.Warning},
		{"Threshold", o.Threshold},
		{"Target", o.Target},
	} {
		if s.value != 0 && !(s.value > 0 && s.value <= 1) {
			errs = append(errs, wrong(s.name, "is %g of the room, want more than 0 and at most 1", s.value))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	c := o.complete()
	if c.Warning > c.Threshold {
		errs = append(errs, wrong("Warning", "is %g of the room and Threshold %g, want a warning no later than the threshold",
			c.Warning, c.Threshold))
	}
	if c.Target >= c.Threshold {
		errs = append(errs, wrong("Target", "is %g of the room and Threshold %g, want a target below the threshold, "+
			"or messages would go on each call", c.Target, c.Threshold))
	}
	return errors.Join(errs...)
}

// wrong says what is wrong with an option.
func wrong(option, format string, args ...any) error {
	return fmt.Errorf(option+" "+format, args...)
}

// complete puts the defaults in the place of what is not given, and 0 in the place
// of none.
func (o Options) complete() Options {
	o.Strategy = cmp.Or(o.Strategy, Hybrid)
	o.Threshold = cmp.Or(o.Threshold, defaultThreshold)
	o.Warning = cmp.Or(o.Warning, min(defaultShare, o.Threshold))
	o.Target = cmp.Or(o.Target, min(defaultShare, headroom*o.Threshold))
	o.PreserveStart = max(0, cmp.Or(o.PreserveStart, defaultPreserveStart))
	o.PreserveEnd = max(0, cmp.Or(o.PreserveEnd, defaultPreserveEnd))
	o.MinMessages = max(0, cmp.Or(o.MinMessages, defaultMinMessages))
	if o.Score == nil {
		o.Score = ByUse
	}
	return o
}

package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/amount"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// Options define what is folded, when, and into what. A [Writer] writes the summary. The
// zero value folds all but the newest six messages into one summary of at most 2,000
// tokens, when 0.85 of the window less the reserve is used.
type Options struct {
	// When to fold.

	// Trigger is when to fold. nil: at 0.85 of the window less the reserve, or at
	// 100,000 tokens if the window is not known.
	Trigger middleware.Trigger

	// Reserve is the tokens of the window that are kept free for the answer: if the
	// window is known, a view that leaves fewer is folded, even if Trigger is not met.
	// The reserve of the request's budget counts if it is greater. 0: Trigger only.
	Reserve int

	// MinCalls is the least number of model calls between two folds. 0: no minimum.
	MinCalls int

	// Soft is when a fold is near: an event of kind [Advised] reports it once for each
	// fold, and Background may prepare the summary. nil: no advice.
	Soft middleware.Trigger

	// Background, if not nil, starts a task that prepares a summary once Soft is met,
	// and returns whether it will be run. See the function [Background]. There is one
	// task at a time for each conversation. nil: nothing is prepared.
	Background func(task func(ctx context.Context)) bool

	// What is kept.

	// Keep is the number of newest messages that are kept, in whole units. 0: 6, or
	// none if another keep is given; negative: none.
	Keep int

	// KeepRounds is the number of newest rounds that are kept, with all after them. 0:
	// as the other keeps.
	KeepRounds int

	// KeepTurns is the number of newest turns that are kept: user messages with all
	// that follows them. 0: as the other keeps.
	KeepTurns int

	// KeepTokens is the tokens of newest units that are kept, whole units only. 0: as
	// the other keeps.
	KeepTokens int

	// PreserveMemory keeps messages that are marked as memories by [message.Hints].
	PreserveMemory bool

	// What the rest becomes.

	// Strategy divides what is folded into summaries. Zero: [Whole].
	Strategy Strategy

	// SummaryTokens is the most tokens that the words of one summary may have. A longer
	// text is not accepted. 0: 2,000.
	SummaryTokens int

	// LedgerTokens is the most tokens of the facts next to the words: rules collect
	// them from all that was ever folded. 0: 600; negative: no facts.
	LedgerTokens int

	// Role is the role of a summary: message.RoleUser, message.RoleSystem or
	// message.RoleAssistant. "": message.RoleUser.
	Role message.Role

	// Language is the language of headings and words: "en" or "zh". "": that of the
	// conversation.
	Language string

	// Header is the first line of a summary. "": one in the language of the summary that
	// it is a record made by the program and not a request of the user.
	Header string

	// How it is made.

	// Parallel is the number of summaries that are written at the same time, if the
	// strategy makes several, and of parts of a record that are read at the same time.
	// 0: 4.
	Parallel int

	// Timeout limits one request to a model, and one call of the function of [ByFunc] or
	// of Flush. 0: 2 minutes; negative: only the context of the call limits it.
	Timeout time.Duration

	// Flush is called before messages are folded, once for each of them as the caller
	// has them, to keep memories of them outside of this conversation. It returns the
	// number of memories. An error is reported by an event, and the fold continues. If a
	// dry run is committed, the next call in this process flushes for it. Flush must be
	// safe for concurrent use. nil: nothing is kept.
	Flush func(ctx context.Context, folded []message.Message) (memories int, err error)

	// NoFallback makes a fold fail if the [Writer] gives no acceptable summary: the view
	// is unchanged, an event has the reason, and under Strict the call fails, both with
	// [ErrNoSummary]. false: rules write the summary, or, if that does not help either,
	// a note has the number of messages that were left out.
	NoFallback bool

	// Strict makes a failed fold, a refused plan and an option that does not fit the
	// request an error of the call.
	Strict bool
}

// Validate returns an error for options that are invalid by themselves.
func (o Options) Validate() error {
	errs := amount.NonNegative(
		amount.Amount{Name: "Reserve", Unit: "tokens", Value: o.Reserve},
		amount.Amount{Name: "KeepRounds", Unit: "rounds", Value: o.KeepRounds},
		amount.Amount{Name: "KeepTurns", Unit: "turns", Value: o.KeepTurns},
		amount.Amount{Name: "KeepTokens", Unit: "tokens", Value: o.KeepTokens},
		amount.Amount{Name: "SummaryTokens", Unit: "tokens", Value: o.SummaryTokens},
		amount.Amount{Name: "Parallel", Unit: "summaries at a time", Value: o.Parallel},
	)
	if !slices.Contains([]message.Role{"", message.RoleUser, message.RoleSystem, message.RoleAssistant}, o.Role) {
		errs = append(errs, fmt.Errorf("the Role is %q, want %q, %q or %q",
			o.Role, message.RoleUser, message.RoleSystem, message.RoleAssistant))
	}
	if !slices.Contains([]text.Language{"", text.English, text.Chinese}, text.Language(o.Language)) {
		errs = append(errs, fmt.Errorf("the Language is %q, want %q, %q, or \"\" for that of the conversation",
			o.Language, text.English, text.Chinese))
	}
	if o.Header != "" && strings.TrimSpace(o.Header) == "" {
		errs = append(errs, errors.New("the Header is blank, want a visible text"))
	}
	if o.Background != nil && o.Soft == nil {
		errs = append(errs, errors.New("the Background would never run: Soft is nil, want a trigger that is met before Trigger"))
	}
	errs = append(errs, o.Strategy.validate())
	if err := (middleware.Options{Trigger: o.Soft}).Validate(); err != nil {
		errs = append(errs, fmt.Errorf("the trigger Soft: %w", err))
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

// complete returns the options with their defaults.
func (o Options) complete() Options {
	o.Trigger = withReserve{Trigger: cmp.Or(o.Trigger, trigger.Default(0.85)), reserve: o.Reserve}
	if o.KeepRounds == 0 && o.KeepTurns == 0 && o.KeepTokens == 0 {
		o.Keep = cmp.Or(o.Keep, 6)
	}
	o.SummaryTokens = cmp.Or(o.SummaryTokens, 2000)
	o.LedgerTokens = max(0, cmp.Or(o.LedgerTokens, 600))
	o.Role = cmp.Or(o.Role, message.RoleUser)
	o.Parallel = cmp.Or(o.Parallel, 4)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	return o
}

// withReserve is a trigger that is also met if less than the reserve is left of the
// window.
type withReserve struct {
	middleware.Trigger

	reserve int
}

// Met implements [middleware.Trigger].
func (w withReserve) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	room, known, err := w.room(v)
	switch n := v.Size().Tokens; {
	case err != nil:
		return false, "", err
	case known && n >= room:
		return true, fmt.Sprintf("%d of %d tokens, the window less the Reserve", n, room), nil
	}
	return w.Trigger.Met(v, plan)
}

// room returns the tokens of the window without the reserve. They are not known if
// there is no reserve or no window.
func (w withReserve) room(v *middleware.View) (tokens int, known bool, err error) {
	b, ok := v.Budget()
	if w.reserve == 0 || !ok {
		return 0, false, nil
	}
	if w.reserve >= b.Window {
		return 0, false, fmt.Errorf("the Reserve is %d tokens and the window of model %q %d, so that no view would fit: "+
			"lower Reserve, or correct Request.Budget", w.reserve, v.Request().Model, b.Window)
	}
	return b.Window - max(w.reserve, b.Reserve), true, nil
}

// threshold returns the tokens at which the trigger is met, or 0 if it does not count
// tokens.
func (w withReserve) threshold(v *middleware.View) int {
	n, ok := trigger.Threshold(w.Trigger, v)
	if room, known, err := w.room(v); err == nil && known && (!ok || room < n) {
		return room
	}
	return n
}

// Status is how near a conversation is to a fold.
type Status struct {
	Due       bool   // at least the soft threshold is reached
	Tokens    int    // of all that would be sent
	Threshold int    // tokens: the threshold that is reached, otherwise the soft one if there is one; 0: it does not count tokens
	Urgency   string // "none"; "soft": Options.Soft is met; "hard": the next call folds
	Why       string // for people, with numbers
}

// Check returns how near a request is to a fold by these options, and folds nothing.
// The middlewares before summarize in the chain, and its Env by [middleware.With], are
// passed as before: Tokens are those that they leave. The error has kind
// [middleware.Invalid] if the options are invalid or do not fit the request.
func Check(ctx context.Context, req *middleware.Request, opts Options, before ...middleware.Middleware) (Status, error) {
	if err := opts.Validate(); err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: err}
	}
	d, err := middleware.Draft(ctx, middleware.Chain(before...), req)
	if err != nil {
		return Status{}, err
	}
	s, err := opts.complete().status(d.After)
	if err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: err}
	}
	return s, nil
}

func (o Options) status(v *middleware.View) (Status, error) {
	noPlan := func() *middleware.Plan { return nil }
	hard, _ := o.Trigger.(withReserve)
	s := Status{Tokens: v.Size().Tokens, Threshold: hard.threshold(v), Urgency: "none"}
	met, why, err := hard.Met(v, noPlan)
	if s.Why = why; err != nil {
		return Status{}, err
	}
	if met {
		s.Due, s.Urgency = true, "hard"
		return s, nil
	}
	if o.Soft == nil {
		return s, nil
	}
	if met, s.Why, err = o.Soft.Met(v, noPlan); err != nil {
		return Status{}, err
	}
	s.Threshold, _ = trigger.Threshold(o.Soft, v)
	if met {
		s.Due, s.Urgency = true, "soft"
	}
	return s, nil
}

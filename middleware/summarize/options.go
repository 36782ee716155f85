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
	"github.com/laconic-go/laconic/middleware/trigger"
)

// What holds where the options do not say otherwise.
const (
	DefaultKeep          = 6    // messages
	DefaultSummaryTokens = 2000 // of the words of one summary
	DefaultLedgerTokens  = 600  // of the facts beside them
	DefaultParallel      = 4    // summaries that are written at a time
	DefaultTimeout       = 2 * time.Minute
)

// defaultShare of the room must be filled before anything is folded, if no
// trigger is given.
const defaultShare = 0.85

// Options say what is folded, when, and into what; a [Writer] says who writes. The
// zero value folds all but the newest six messages into one summary of at most 2,000
// tokens, when 0.85 of the room are filled.
type Options struct {
	// When it is folded.

	// Trigger says when to fold. nil: at 0.85 of the window less the reserve, or
	// at 100,000 tokens where the window is not known.
	Trigger middleware.Trigger

	// Reserve is how many tokens of the window are kept free for the answer: where
	// the window is known, a view that leaves less is folded, whatever Trigger
	// says. It is no less than that of the budget of the request. 0: Trigger alone.
	Reserve int

	// MinCalls is how many model calls lie between one fold and the next, at
	// least. 0: no minimum.
	MinCalls int

	// Soft says when a fold comes near: an event of kind [middleware.Advised]
	// tells so, once for each fold, and Background may prepare the summary. nil:
	// nobody is told.
	Soft middleware.Trigger

	// Background, if not nil, runs a task that prepares a summary once Soft is
	// met, and reports whether it will be run. [Background.Go] is one. There is
	// one task at a time for each conversation. nil: nothing is prepared.
	Background func(task func(ctx context.Context)) bool

	// What stays.

	// Keep is how many of the newest messages stay as they are, in whole units. 0:
	// DefaultKeep, or none where another keep is given; negative: none.
	Keep int

	// KeepRounds is how many of the newest rounds stay, with all behind them. 0: as
	// the other keeps say.
	KeepRounds int

	// KeepTurns is how many of the newest turns stay: user messages with all that
	// follows them. 0: as the other keeps say.
	KeepTurns int

	// KeepTokens is how many tokens of the newest units may stay: as many whole
	// ones as have room in it. 0: as the other keeps say.
	KeepTokens int

	// PreserveMemory leaves messages as they are that are marked as memories by
	// [message.Hints].
	PreserveMemory bool

	// What the rest becomes.

	// Strategy says how what is folded becomes summaries. Zero: [Whole].
	Strategy Strategy

	// SummaryTokens is how many tokens the words of one summary may have. A text
	// that is longer is not taken. 0: DefaultSummaryTokens.
	SummaryTokens int

	// LedgerTokens is how many tokens of facts stand beside the words: those that
	// are collected by rules from all that was folded, ever. 0:
	// DefaultLedgerTokens; negative: none.
	LedgerTokens int

	// Role is whose message a summary is: message.RoleUser, message.RoleSystem or
	// message.RoleAssistant. "": message.RoleUser.
	Role message.Role

	// Language is that of the headings and of the words. "": that of the
	// conversation, English or Chinese.
	Language Language

	// Header is the first line of a summary. "": one that says, in the language of
	// the summary, that it is a record of the program and no wish of the user.
	Header string

	// What is around it.

	// Parallel is how many summaries are written at a time, where the strategy
	// makes several, and how many parts of a record are read at a time. 0:
	// DefaultParallel.
	Parallel int

	// Timeout is how long one request to a model may take, or one call of the
	// function of [ByFunc] or of Flush. 0: DefaultTimeout; negative: as long as the
	// context of the call allows.
	Timeout time.Duration

	// Flush is called before messages are folded, once for each of them, to keep
	// what must be found again beyond this conversation. See [FlushTo]. If a dry
	// run is committed, the next call in this process flushes for it. nil: nothing
	// is kept.
	Flush Flusher

	// NoFallback makes a fold fail where the [Writer] gives no summary that can be
	// taken: the view stays as it was, an event says why, and under Strict the call
	// fails, both with [ErrNoSummary]. false: a summary by rules is taken, or, if
	// that does not help either, a note of what was left out.
	NoFallback bool

	// Strict makes a fold that fails, a refused plan and an option that does not
	// fit the request an error of the call.
	Strict bool
}

// Validate reports options that make no sense.
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
	if !o.Language.known() {
		errs = append(errs, fmt.Errorf("the Language is %q, want %q, %q, or none for that of the conversation",
			o.Language, English, Chinese))
	}
	if o.Header != "" && strings.TrimSpace(o.Header) == "" {
		errs = append(errs, errors.New("the Header is blank, want a text that can be seen"))
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
	o.Trigger = hard{Trigger: cmp.Or(o.Trigger, trigger.Default(defaultShare)), reserve: o.Reserve}
	if o.KeepRounds == 0 && o.KeepTurns == 0 && o.KeepTokens == 0 {
		o.Keep = cmp.Or(o.Keep, DefaultKeep)
	}
	o.SummaryTokens = cmp.Or(o.SummaryTokens, DefaultSummaryTokens)
	o.LedgerTokens = max(0, cmp.Or(o.LedgerTokens, DefaultLedgerTokens))
	o.Role = cmp.Or(o.Role, message.RoleUser)
	o.Parallel = cmp.Or(o.Parallel, DefaultParallel)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	return o
}

// hard is a trigger that is also met where less than the reserve is left of the
// window.
type hard struct {
	middleware.Trigger

	reserve int
}

// Met implements [middleware.Trigger].
func (h hard) Met(v *middleware.View, plan func() *middleware.Plan) (met bool, why string, err error) {
	room, known, err := h.room(v)
	switch n := v.Size().Tokens; {
	case err != nil:
		return false, "", err
	case known && n >= room:
		return true, fmt.Sprintf("%d of %d tokens, the window less the Reserve", n, room), nil
	}
	return h.Trigger.Met(v, plan)
}

// room returns the tokens that the reserve leaves. It is not known if there is no
// reserve, or no window.
func (h hard) room(v *middleware.View) (tokens int, known bool, err error) {
	b, ok := v.Budget()
	if h.reserve == 0 || !ok {
		return 0, false, nil
	}
	if h.reserve >= b.Window {
		return 0, false, fmt.Errorf("the Reserve is %d tokens and the window of model %q %d, so that no view would fit: "+
			"lower Reserve, or correct Request.Budget", h.reserve, v.Request().Model, b.Window)
	}
	return b.Window - max(h.reserve, b.Reserve), true, nil
}

// threshold returns the tokens at which the trigger is met, if it goes by tokens.
func (h hard) threshold(v *middleware.View) int {
	n, ok := trigger.Threshold(h.Trigger, v)
	if room, known, err := h.room(v); err == nil && known && (!ok || room < n) {
		return room
	}
	return n
}

package summarize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/internal/when"
)

// inTopics is the value of Options.Layout for summaries by rules in topics and conclusions.
const inTopics = "seed"

// Options define what is folded, when, and into what. The zero value folds all but the newest six messages into one summary of at
// most 2,000 tokens, when 0.85 of the window less the reserve is used.
type Options struct {
	// When to fold.

	Trigger  middleware.Trigger // nil: at 0.85 of the window less the reserve, or at 100,000 tokens without a window
	MinCalls int                // model calls between two folds, at least; 0: no minimum

	// Reserve is the tokens of the window that are kept free for the answer: a view that leaves fewer is folded, even if Trigger is
	// not met. The reserve of the request's budget counts if it is greater. 0: Trigger only.
	Reserve int

	// Soft is when a fold is near: an event of kind [Advised] reports it once for each
	// fold, and Background may prepare the summary. nil: no advice.
	Soft middleware.Trigger

	// Background, if not nil, starts a task that prepares a summary once Soft is met,
	// with a context of the caller's choice, and returns whether it will be run, as
	//
	//	func(task func(context.Context)) bool {
	//		return group.TryGo(func() error { task(ctx); return nil }) // an errgroup.Group
	//	}
	//
	// There is one task at a time for each conversation. nil: nothing is prepared.
	Background func(task func(ctx context.Context)) bool

	// What is kept: the newest messages, in whole units.

	Keep       int // messages; 0: 6, or none if another keep is given; negative: none
	KeepRounds int // rounds, with all after them; 0: as the other keeps
	KeepTurns  int // user messages with all that follows them; 0: as the other keeps
	KeepTokens int // tokens, at most; 0: as the other keeps

	PreserveMemory bool // keeps messages that are marked as memories by [message.Hints]

	// KeepScored is the number of older units, those with the highest Score above 0, that are kept as they are. 0: none.
	KeepScored int

	// Score returns the importance of the units of a view, as in package trim. It must be
	// deterministic and safe for concurrent use. nil: only without KeepScored.
	Score func(v *middleware.View) func(u message.Unit) float64

	// What the rest becomes.

	Strategy      Strategy // divides what is folded into summaries; zero: one of all
	SummaryTokens int      // the words of one summary, at most: a longer text is not accepted; 0: 2,000
	FactTokens    int      // the facts next to the words, at most; 0: 600; negative: no facts
	Language      string   // of headings and words: "en" or "zh"; "": that of the conversation

	// QuoteTokens is the most tokens of what the user said, word for word, next to the words: each message of at most 150 tokens as
	// it is, and of a longer one the first and the last 75 tokens, and at most 300 of sentences between them that are unlike the
	// rest of it. If that does not fit, rules come first, then requests and values, of each the newest. 0: 3,000, or 3 % of the
	// window if that is more, but at most a tenth of a window that is known; negative: nothing.
	QuoteTokens int

	// Layout is the order and the form of a summary. "": what the user said; the words; the facts. By rules, the words are the
	// state of the work. "seed": the words first, which by rules are topics, conclusions and technical context.
	Layout string

	// Inventions is what happens to the sentences of a [Writer] with something that is not in what it summarises: a name, a number, a date,
	// a path, a quotation, or an outcome that is not the recorded one. "remove": they are removed, at no cost, and a text that mostly
	// consists of them is not accepted; "reject": the text is not accepted, and the model is asked again with a list, as often as the
	// Writer allows, then they are removed; "report": they stay. In each case the event of kind [Attempted] has the items. "": "remove".
	Inventions string

	// Role is that of a summary: user, system or assistant. A summary may repeat what a tool result contains, also an instruction
	// by which somebody attacks the agent, and models do what a system message contains. So a system message begins with a note
	// that it is a record and not an instruction, and has a line where the record ends. That warns a model, but does not prevent it
	// from obeying: prefer the default, or the role assistant. "": message.RoleUser.
	Role message.Role

	// Header is the first line of a summary, in a system message after the note. "": one in the language of the summary that it is
	// a record made by the program and not a request of the user, which another header should state, too.
	Header string

	// How it is made.

	// Parallel is the number of summaries, if the strategy makes several, and of parts of a record that are made at the same time. 0: 4.
	Parallel int

	// Timeout limits one request to a model, and one call of the function of [ByFunc] or
	// of Flush. 0: 2 minutes; negative: only the context of the call limits it.
	Timeout time.Duration

	// Before is asked before each fold, also in a dry run, what becomes of it; see [Decision]. It must not modify the Fold, and
	// must be safe for concurrent use. If it panics or does not answer within Timeout, nothing is folded, and an event has the
	// reason. nil: each fold is made.
	Before func(ctx context.Context, f *Fold) Decision

	// Flush is called before messages are folded, once for each of them as the caller has them, to keep memories of them elsewhere,
	// and returns the number of memories. An error is reported by an event, and the fold continues. If a dry run is committed, the
	// next call in this process flushes for it. Flush must be safe for concurrent use. nil: nothing is kept.
	Flush func(ctx context.Context, folded []message.Message) (memories int, err error)

	// NoFallback makes a fold fail if the [Writer] gives no acceptable summary: the view is unchanged, an event has the reason, and
	// under Strict the call fails. false: rules write, or a note has the number of messages that were left out.
	NoFallback bool

	// Strict makes a failed fold, a refused plan and an option that does not fit the request an error of the call.
	Strict bool
}

// Decision is what becomes of a fold. The zero value lets it pass.
type Decision struct {
	Veto        string // why these messages are not folded now; the next call asks again. "": they are folded
	Words       string // the words of the summary, in place of those of the writer, not of Strategy.Custom; "": the writer writes
	Instruction string // is added to the task of a model, and is in the Fold of a function. "": nothing
}

// Validate returns an error for options that are invalid by themselves.
func (o Options) Validate() error {
	errs := shorten.NonNegative(
		shorten.Option{Name: "Reserve", Unit: "tokens", Value: o.Reserve},
		shorten.Option{Name: "KeepRounds", Unit: "rounds", Value: o.KeepRounds},
		shorten.Option{Name: "KeepTurns", Unit: "turns", Value: o.KeepTurns},
		shorten.Option{Name: "KeepTokens", Unit: "tokens", Value: o.KeepTokens},
		shorten.Option{Name: "KeepScored", Unit: "units", Value: o.KeepScored},
		shorten.Option{Name: "SummaryTokens", Unit: "tokens", Value: o.SummaryTokens},
		shorten.Option{Name: "Parallel", Unit: "summaries at a time", Value: o.Parallel},
	)
	for _, c := range [...]struct{ option, value, want string }{ // want has all values in quotes
		{"Role is", string(o.Role), `"user", "system" or "assistant"`},
		{"Language is", o.Language, `"en", "zh", or "" for that of the conversation`},
		{"Layout is", o.Layout, `"seed" or ""`},
		{"Inventions are", o.Inventions, `"remove", "reject" or "report"`},
	} {
		if c.value != "" && !strings.Contains(c.want, strconv.Quote(c.value)) {
			errs = append(errs, fmt.Errorf("the %s %q, want %s", c.option, c.value, c.want))
		}
	}
	if o.Header != "" && strings.TrimSpace(o.Header) == "" {
		errs = append(errs, errors.New("the Header is blank, want a visible text"))
	}
	if o.KeepScored > 0 && o.Score == nil {
		errs = append(errs, fmt.Errorf("KeepScored is %d units, and Score is nil, want a function", o.KeepScored))
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

func (o Options) complete() Options {
	o.Strategy.Facts = slices.Clone(o.Strategy.Facts)
	o.Trigger = cmp.Or[middleware.Trigger](o.Trigger, when.Default(0.85))
	if o.Reserve > 0 {
		o.Trigger = when.WithReserve(o.Reserve, o.Trigger)
	}
	if o.KeepRounds == 0 && o.KeepTurns == 0 && o.KeepTokens == 0 {
		o.Keep = cmp.Or(o.Keep, 6)
	}
	o.SummaryTokens = cmp.Or(o.SummaryTokens, 2000)
	o.FactTokens = max(0, cmp.Or(o.FactTokens, 600))
	o.Role = cmp.Or(o.Role, message.RoleUser)
	o.Parallel = cmp.Or(o.Parallel, 4)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	return o
}

// Status is how near a conversation is to a fold.
type Status struct {
	Due       bool   // at least the soft threshold is reached
	Tokens    int    // of all that would be sent
	Threshold int    // tokens: the threshold that is reached, otherwise the soft one if there is one; 0: it does not count tokens
	Urgency   string // "none"; "soft": Options.Soft is met; "hard": the next call folds
	Why       string // for people, with numbers
}

// Check returns how near a request is to a fold by these options, and folds nothing. The middlewares before summarize in the chain,
// and its Env by [middleware.With], are passed as before: Tokens are those that they leave. The error has kind [middleware.Invalid]
// if the options are invalid or do not fit the request.
func Check(ctx context.Context, req *middleware.Request, opts Options, before ...middleware.Middleware) (Status, error) {
	if err := opts.Validate(); err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: layerName, Err: err}
	}
	d, err := middleware.Draft(ctx, middleware.Chain(before...), req)
	if err != nil {
		return Status{}, err
	}
	s, err := opts.complete().status(d.After)
	if err != nil {
		return Status{}, &middleware.Error{Kind: middleware.Invalid, Op: layerName, Err: err}
	}
	return s, nil
}

func (o Options) status(v *middleware.View) (s Status, err error) {
	s = Status{Tokens: v.Size().Tokens, Urgency: "none"}
	for _, level := range []struct {
		urgency string
		trigger middleware.Trigger
	}{{"hard", o.Trigger}, {"soft", o.Soft}} {
		if level.trigger == nil {
			break
		}
		s.Due, s.Why, err = level.trigger.Met(v, func() *middleware.Plan { return nil })
		if err != nil {
			return Status{}, err
		}
		s.Threshold, _, _ = when.Threshold(level.trigger, v)
		if s.Due {
			s.Urgency = level.urgency
			break
		}
	}
	return s, nil
}

// Strategy divides what is folded into summaries. The zero value makes one summary of all that is folded, and each
// further fold updates it; otherwise one of the fields is set. Strategies are safe for concurrent use.
type Strategy struct {
	// BySystem makes one summary for each part of the conversation that begins with a system message.
	BySystem bool

	// Chunks makes a summary of each run of this many messages, or more, in whole units. Several are written at the
	// same time. On later folds an earlier summary counts as one message, so their number is bounded. 0: no chunks.
	Chunks int

	// OnlyLast makes one summary of the newest messages that are folded, this many, in whole units, and drops those
	// before. The content of an earlier summary is kept. 0: all messages.
	OnlyLast int

	// Since makes one summary of the messages at this time or later, and drops those before, but keeps the content of an earlier
	// summary. A message without a time has that of the one before it; without any time before it, it is new. Zero: all messages.
	Since time.Time

	// Facts makes one summary of what is known about each concept, for which a model is asked in JSON. Without any
	// fact, or without a model as writer, it is one of all. nil: no concepts.
	Facts []Concept

	// Structured makes one summary with the fields topics, entities, decisions and actions, for which a model is asked
	// in JSON. Without a model as writer, it is one of all.
	Structured bool

	// Custom replaces what is folded by the messages that it returns; the [Writer] is not asked. They must have fewer
	// tokens, and must not separate calls and results. After an error the view is unchanged. A system message gets the
	// note and the end of a record, as [Options.Role] describes; of the others, the function states what is a record.
	// It must be safe for concurrent use, and its messages belong to the middleware. nil: the [Writer] is asked.
	Custom func(ctx context.Context, f *Fold) ([]message.Message, error)
}

// Concept is a subject of [Strategy.Facts].
type Concept struct {
	Keyword     string // a word or two: "deadline"
	Description string // what is meant: "by when the user wants what"
	Many        bool   // there may be several facts; otherwise the newest counts
}

func (s Strategy) validate() error {
	set := 0
	for _, is := range []bool{
		s.BySystem, s.Chunks != 0, s.OnlyLast != 0, !s.Since.IsZero(), s.Facts != nil, s.Structured, s.Custom != nil,
	} {
		if is {
			set++
		}
	}
	switch {
	case set > 1:
		return fmt.Errorf("Strategy has %d fields, want one or none", set)
	case s.OnlyLast < 0:
		return fmt.Errorf("Strategy.OnlyLast is %d, want 1 message or more", s.OnlyLast)
	case s.Chunks < 0:
		return fmt.Errorf("Strategy.Chunks is %d, want 1 message or more", s.Chunks)
	case s.Facts != nil && len(s.Facts) == 0:
		return errors.New("Strategy.Facts is empty, want one concept at least")
	}
	for i, c := range s.Facts {
		switch {
		case strings.TrimSpace(c.Keyword) == "" || strings.ContainsAny(c.Keyword+c.Description, "\r\n"):
			return fmt.Errorf("Strategy.Facts: concept %d has Keyword %q and Description %q, "+
				"want a line each, the first not blank", i, c.Keyword, c.Description)
		case slices.ContainsFunc(s.Facts[:i], func(o Concept) bool { return o.Keyword == c.Keyword }):
			return fmt.Errorf("Strategy.Facts: concept %d has the Keyword %q of another one", i, c.Keyword)
		}
	}
	return nil
}

// block is what becomes one summary.
type block struct {
	pieces  []piece
	dropped int // of them: the first, which the summary leaves out
}

// divide returns the blocks of what may be folded, in order. All but BySystem and Chunks make one.
func (s Strategy) divide(all []piece) (blocks []block) {
	n := 0 // messages of the newest block
	for i, p := range all {
		begins := s.BySystem && i > 0 && p.section != all[i-1].section || s.Chunks > 0 && n >= s.Chunks
		if i == 0 || begins {
			blocks, n = append(blocks, block{}), 0
		}
		newest := &blocks[len(blocks)-1]
		newest.pieces = append(newest.pieces, p)
		if p.isSummary() {
			n++
		} else {
			n += p.Len()
		}
	}
	if len(blocks) == 1 {
		blocks[0].dropped = s.drops(all)
	}
	return blocks
}

// drops returns how many first pieces the summary leaves out.
func (s Strategy) drops(all []piece) int {
	switch {
	case !s.Since.IsZero():
		for i, p := range all {
			if p.time.IsZero() || !p.time.Before(s.Since) {
				return i
			}
		}
		return len(all)
	case s.OnlyLast == 0:
		return 0
	}
	n := 0 // messages
	for i, p := range slices.Backward(all) {
		if n >= s.OnlyLast {
			return i + 1
		}
		if !p.isSummary() {
			n += p.Len()
		}
	}
	return 0
}

package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
)

// Strategy says how what is folded becomes summaries, whoever the [Writer] is. The
// zero value is that of [Whole]. Strategies are values, and safe for concurrent use.
type Strategy struct {
	kind     kind
	n        int       // OnlyLast, Chunks: messages; facts: 1 if each concept is asked for apart
	at       time.Time // Since
	concepts []Concept // facts
	make     func(ctx context.Context, f *Fold) ([]message.Message, error)
}

// kind is one of the strategies.
type kind int

const (
	whole kind = iota
	wholeBySystem
	onlyLast
	since
	chunks
	byConcept
	structured
	custom
)

// Whole makes one summary of all that is folded. With each further fold the
// summary is brought up to date: there is never more than one, and none is inside
// another.
func Whole() Strategy { return Strategy{} }

// WholeBySystem makes one summary for each part of the conversation that begins
// with a system message.
func WholeBySystem() Strategy { return Strategy{kind: wholeBySystem} }

// OnlyLast makes one summary of the newest n of the messages that are folded, in
// whole units, and drops those before. What an earlier summary has is taken over.
func OnlyLast(n int) Strategy { return Strategy{kind: onlyLast, n: n} }

// Since makes one summary of the messages that were said at t or later, and drops
// those before. A message without a time is as old as the one before it; one that
// has none with a time before it counts as new. What an earlier summary has is
// taken over.
func Since(t time.Time) Strategy { return Strategy{kind: since, at: t} }

// Chunks makes a summary of each run of n messages, in whole units, so perhaps of
// more. They are written several at a time. On later folds an earlier summary
// counts as one message: there are never many of them.
func Chunks(n int) Strategy { return Strategy{kind: chunks, n: n} }

// Facts makes one summary of what is known of each concept, for which a model is
// asked in JSON. If nothing is known of any, or no model writes, it does as [Whole].
func Facts(concepts ...Concept) Strategy {
	return Strategy{kind: byConcept, concepts: slices.Clone(concepts)}
}

// FactsApart does as [Facts], with a request of its own for each concept.
func FactsApart(concepts ...Concept) Strategy {
	s := Facts(concepts...)
	s.n = 1
	return s
}

// Structured makes one summary by the fields topics, entities, decisions and
// actions, for which a model is asked in JSON. If no model writes, it does as [Whole].
func Structured() Strategy { return Strategy{kind: structured} }

// Custom puts the messages that fn returns in place of those that are folded; no
// [Writer] is asked.
// Whatever they are, together they must have fewer tokens, and calls and results
// must not be torn apart. An error leaves the view as it was. fn must be safe for
// concurrent use, and its messages belong to the middleware.
func Custom(fn func(ctx context.Context, f *Fold) ([]message.Message, error)) Strategy {
	return Strategy{kind: custom, make: fn}
}

// Concept is something of which the facts are wanted.
type Concept struct {
	Keyword     string // in a word or two: "deadline"
	Description string // what is meant: "by when the user wants what"
	Many        bool   // there are several facts; else the newest counts
}

// String returns the name under which [Strategy] is known, with its number.
func (s Strategy) String() string {
	switch s.kind {
	case onlyLast, chunks:
		return fmt.Sprintf("%s(%d)", s.kind, s.n)
	case since:
		return fmt.Sprintf("since(%s)", s.at.Format(time.RFC3339))
	case byConcept:
		return "facts of " + count(len(s.concepts), "concept")
	case whole, wholeBySystem, structured, custom:
	}
	return s.kind.String()
}

func (k kind) String() string {
	return [...]string{"whole", "whole by system", "only last", "since", "chunks", "facts", "structured", "custom"}[k]
}

// validate reports a strategy that makes no sense.
func (s Strategy) validate() error {
	switch s.kind {
	case onlyLast, chunks:
		if s.n <= 0 {
			return fmt.Errorf("Strategy is %s, want 1 message or more", s)
		}
	case since:
		if s.at.IsZero() {
			return errors.New("Strategy is Since the zero time, want a time")
		}
	case byConcept:
		if len(s.concepts) == 0 {
			return errors.New("Strategy is Facts without a concept, want one at least")
		}
		return s.validateConcepts()
	case custom:
		if s.make == nil {
			return errors.New("Strategy is Custom without a function, want one")
		}
	case whole, wholeBySystem, structured:
	}
	return nil
}

func (s Strategy) validateConcepts() error {
	for i, c := range s.concepts {
		switch {
		case strings.TrimSpace(c.Keyword) == "" || strings.ContainsAny(c.Keyword+c.Description, "\r\n"):
			return fmt.Errorf("Strategy is facts, and concept %d has Keyword %q and Description %q, want a line each, the first not blank",
				i, c.Keyword, c.Description)
		case slices.ContainsFunc(s.concepts[:i], func(o Concept) bool { return o.Keyword == c.Keyword }):
			return fmt.Errorf("Strategy is facts, and concept %d has the Keyword %q of another one", i, c.Keyword)
		}
	}
	return nil
}

// one reports whether a fold brings the summary before it up to date wherever
// that stands: it may be among the newest messages, if a question that had to stay
// stands before it.
func (s Strategy) one() bool { return s.kind != chunks && s.kind != custom }

// block is what becomes one summary.
type block struct {
	pieces  []piece // what is folded
	dropped int     // of them: the first, which the summary leaves out
}

// divide cuts what may be folded into blocks, by order.
func (s Strategy) divide(all []piece) []block {
	if len(all) == 0 {
		return nil
	}
	switch s.kind {
	case wholeBySystem:
		var out []block
		for _, p := range all {
			if n := len(out); n == 0 || out[n-1].pieces[0].section != p.section {
				out = append(out, block{})
			}
			last := &out[len(out)-1]
			last.pieces = append(last.pieces, p)
		}
		return out
	case chunks:
		var out []block
		for rest := all; len(rest) > 0; {
			n := oldest(rest, s.n)
			out, rest = append(out, block{pieces: rest[:n]}), rest[n:]
		}
		return out
	case onlyLast:
		return []block{{pieces: all, dropped: len(all) - newest(all, s.n)}}
	case since:
		young := func(p piece) bool { return p.time.IsZero() || !p.time.Before(s.at) }
		first := slices.IndexFunc(all, young)
		if first < 0 {
			first = len(all)
		}
		return []block{{pieces: all, dropped: first}}
	case whole, byConcept, structured, custom:
	}
	return []block{{pieces: all}}
}

// oldest returns how many first pieces have n messages, or more if the last of
// them has several.
func oldest(all []piece, n int) int {
	k := 0
	for ; k < len(all) && n > 0; k++ {
		n -= all[k].messages()
	}
	return k
}

// newest returns how many last pieces have n messages, or more if the first of
// them has several. Earlier summaries do not count.
func newest(all []piece, n int) int {
	k := 0
	for ; k < len(all) && n > 0; k++ {
		if p := all[len(all)-1-k]; !p.summary() {
			n -= p.messages()
		}
	}
	return k
}

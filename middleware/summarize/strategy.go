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

// Strategy divides what is folded into summaries. The zero value is [Whole].
// Strategies are values and safe for concurrent use.
type Strategy struct {
	kind     kind
	n        int       // OnlyLast, Chunks: messages
	at       time.Time // Since
	concepts []Concept // Facts
	make     func(ctx context.Context, f *Fold) ([]message.Message, error)
}

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

// Whole makes one summary of all that is folded. Each further fold updates it.
func Whole() Strategy { return Strategy{} }

// WholeBySystem makes one summary for each part of the conversation that begins with a
// system message.
func WholeBySystem() Strategy { return Strategy{kind: wholeBySystem} }

// OnlyLast makes one summary of the newest n of the messages that are folded, in whole
// units, and drops those before. The content of an earlier summary is kept.
func OnlyLast(n int) Strategy { return Strategy{kind: onlyLast, n: n} }

// Since makes one summary of the messages at t or later, and drops those before, but
// keeps the content of an earlier summary. A message without a time has that of the one
// before it; without any time before it, it is new.
func Since(t time.Time) Strategy { return Strategy{kind: since, at: t} }

// Chunks makes a summary of each run of n messages, or more, in whole units. Several are
// written at the same time. On later folds an earlier summary counts as one message, so
// their number is bounded.
func Chunks(n int) Strategy { return Strategy{kind: chunks, n: n} }

// Facts makes one summary of what is known about each concept, for which a model is
// asked in JSON. Without any fact, or without a model as writer, it is [Whole].
func Facts(concepts ...Concept) Strategy {
	return Strategy{kind: byConcept, concepts: slices.Clone(concepts)}
}

// Structured makes one summary with the fields topics, entities, decisions and actions,
// for which a model is asked in JSON. Without a model as writer, it is [Whole].
func Structured() Strategy { return Strategy{kind: structured} }

// Custom replaces what is folded by the messages that fn returns; the [Writer] is not
// asked. They must have fewer tokens, and must not separate calls and results. After an
// error the view is unchanged. A system message gets the note and the end of a record, as
// [Options.Role] describes; of the others, fn states what is a record. fn must be safe for concurrent use, and its
// messages belong to the middleware.
func Custom(fn func(ctx context.Context, f *Fold) ([]message.Message, error)) Strategy {
	return Strategy{kind: custom, make: fn}
}

// Concept is a subject of [Facts].
type Concept struct {
	Keyword     string // a word or two: "deadline"
	Description string // what is meant: "by when the user wants what"
	Many        bool   // there may be several facts; otherwise the newest counts
}

func (s Strategy) validate() error {
	switch {
	case s.kind == onlyLast && s.n <= 0:
		return fmt.Errorf("Strategy is only last(%d), want 1 message or more", s.n)
	case s.kind == chunks && s.n <= 0:
		return fmt.Errorf("Strategy is chunks(%d), want 1 message or more", s.n)
	case s.kind == since && s.at.IsZero():
		return errors.New("Strategy is Since the zero time, want a time")
	case s.kind == byConcept && len(s.concepts) == 0:
		return errors.New("Strategy is Facts without a concept, want one at least")
	case s.kind == custom && s.make == nil:
		return errors.New("Strategy is Custom without a function, want one")
	}
	for i, c := range s.concepts {
		switch {
		case strings.TrimSpace(c.Keyword) == "" || strings.ContainsAny(c.Keyword+c.Description, "\r\n"):
			return fmt.Errorf("Strategy is facts, and concept %d has Keyword %q and Description %q, "+
				"want a line each, the first not blank", i, c.Keyword, c.Description)
		case slices.ContainsFunc(s.concepts[:i], func(o Concept) bool { return o.Keyword == c.Keyword }):
			return fmt.Errorf("Strategy is facts, and concept %d has the Keyword %q of another one", i, c.Keyword)
		}
	}
	return nil
}

// updates reports whether a fold updates the summary before it in any place: it may be
// among the newest messages, after a question that is kept.
func (s Strategy) updates() bool { return s.kind != chunks && s.kind != custom }

// block is what becomes one summary.
type block struct {
	pieces  []piece
	dropped int // of them: the first, which the summary leaves out
}

// divide returns the blocks of what may be folded, in order. All but [WholeBySystem] and [Chunks] make one.
func (s Strategy) divide(all []piece) (blocks []block) {
	n := 0 // messages of the newest block
	for i, p := range all {
		begins := s.kind == wholeBySystem && i > 0 && p.section != all[i-1].section || s.kind == chunks && n >= s.n
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
	case s.kind == since:
		for i, p := range all {
			if p.time.IsZero() || !p.time.Before(s.at) {
				return i
			}
		}
		return len(all)
	case s.kind != onlyLast:
		return 0
	}
	n := 0 // messages
	for i, p := range slices.Backward(all) {
		if n >= s.n {
			return i + 1
		}
		if !p.isSummary() {
			n += p.Len()
		}
	}
	return 0
}

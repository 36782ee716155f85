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

// updates reports whether a fold updates the summary before it in any place: it may be
// among the newest messages, after a question that is kept.
func (s Strategy) updates() bool { return s.Chunks == 0 && s.Custom == nil }

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

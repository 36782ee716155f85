// Package scribe asks a model for a summary of messages, and takes only one that
// can be trusted.
//
//	summary, err := modelwriter.Write(ctx, modelwriter.Brief{
//		Folded: view[3:40],
//		Writer: modelwriter.Author{Model: small, Name: "gpt-5-mini", Known: row},
//		Focus:  "Why does the nightly build fail?",
//	})
//
// # How it is asked
//
// In suffix mode the model is asked in the live conversation, by one more
// message of the user: the provider's prompt cache holds all but that. In fresh
// mode a model, which may be another and cheaper one, is given a record: the
// messages as text, in a form in which nothing that was said can end the record
// or begin an entry of it. Where both are possible, the brief says which it is: by
// who is named in it, and where there are two, by cost.
//
// A record that does not fit the window of its reader is cut at borders of units
// into pieces; notes are taken of each, and the summary is written from the
// notes. A unit that is too long by itself is cut as a text. Nothing is left out.
//
// # What is taken
//
// An answer is rejected, with a [Reason], if it is empty or reasoning alone, cut
// off, a tool call, a refusal, an error text, an echo of the record, a text that
// repeats itself, a summary within a summary, without a required section, not
// shorter than what it replaces, or longer than it may be. Then the model is
// asked again, more strictly and with less to read at once, a bounded number of
// times. In the end there is a text that meets all of this, or a [*FailedError] that
// tells of each attempt.
//
// The models are called with no [middleware.Emit], so that nothing of it gets
// into anybody's stream, and with requests made anew, so that they share nothing
// with the chain around the live call. Nothing is remembered from one call to the
// next, and all functions are safe for concurrent use.
package modelwriter

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Summary is a text that was taken.
type Summary struct {
	Bill

	Text string // without a heading or frame of its own; that is up to the caller
}

// Write asks for a summary. The error is of kind Invalid for a brief that is
// wrong, and else a [*FailedError]: then nothing was found that can be trusted, and
// the attempts tell why. When the context is done it stops at once, with an error
// for which errors.Is(err, ctx.Err()) holds.
func Write(ctx context.Context, b Brief) (*Summary, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	s := newSession(b, nil)
	text, err := s.write(ctx)
	return s.close(text, err)
}

// session is one call of Write or Facts.
type session struct {
	Brief

	concepts []Concept
	own      bool // the writer has a model of its own
	desk     desk // of the writer
	cutter   cutter
	replaced int // tokens of what the summary stands for

	mu       sync.Mutex
	attempts []Attempt
	sent     int // requests
	room     int // tokens of a record that fit; it shrinks when a request is refused as too long
}

func newSession(b Brief, concepts []Concept) *session {
	s := &session{Brief: b.withDefaults(), concepts: concepts, own: b.Writer.Model != nil, cutter: cutter{b.Meter}}
	s.desk = s.deskOf(s.Writer)
	s.room = s.desk.room
	for _, m := range b.Folded {
		s.replaced += b.Meter.Message(m)
	}
	if b.Earlier != "" {
		s.replaced += s.cutter.count(b.Earlier) + b.Meter.Message(emptyUser)
	}
	return s
}

func (s *session) close(text string, err error) (*Summary, error) {
	bill := billOf(s.attempts)
	if err != nil {
		return nil, &FailedError{Bill: bill, Err: err}
	}
	return &Summary{Bill: bill, Text: text}, nil
}

func (s *session) write(ctx context.Context) (string, error) {
	o := order{kind: whole}
	if req, ok := s.suffix(); ok {
		text, err := s.try(ctx, req)
		if err == nil {
			return text, nil
		}
		o = o.again(err)
		if o.failures > s.Writer.Retries || !s.own && !s.goesOnFresh(err, o) { // another model may do what this one cannot
			return "", err
		}
	}
	if s.room < leastRoom {
		return "", s.tooSmall()
	}
	units, earlier := record(s.Folded), unit(nil)
	if s.Earlier != "" {
		earlier = unit{{s.Language.words().head, s.Earlier}}
	}
	return s.digest(ctx, o, units, earlier)
}

// digest has the summary written from a record, in one request if that fits,
// else from notes, which are a record again.
func (s *session) digest(ctx context.Context, o order, units []unit, earlier unit) (string, error) {
	for {
		reserved := s.cutter.size(earlier)
		if reserved > s.roomNow()/3 || len(units) == 0 { // too long to stand beside the notes, or all there is
			units, earlier, reserved = append([]unit{earlier}, units...), nil, 0
		}
		pieces := s.cutter.pieces(units, s.roomNow()-reserved)
		if len(pieces) == 1 {
			text, err := s.try(ctx, s.fresh(o, pieces[0], earlier))
			if err == nil {
				return text, nil
			}
			if o = o.again(err); !s.goesOn(err, o) {
				return "", err
			}
			if pieces = s.smaller(pieces[0], reserved); len(pieces) == 1 {
				continue
			}
		}
		texts, err := s.read(ctx, order{kind: notes, failures: o.failures, after: o.after}, pieces)
		if err != nil {
			return "", err
		}
		units = units[:0:0]
		for i, text := range texts {
			units = append(units, unit{{fmt.Sprintf(s.Language.words().noteHead, i+1), text}})
		}
	}
}

// smaller cuts a piece that came to nothing, so that less is read at once.
func (s *session) smaller(p piece, reserved int) []piece {
	if pieces := s.fitting(p, reserved); len(pieces) > 1 {
		return pieces
	}
	return s.cutter.halves(p, s.desk.limit)
}

// fitting cuts a piece for which the room has become too small.
func (s *session) fitting(p piece, reserved int) []piece {
	if room := s.roomNow() - reserved; p.tokens > room {
		return s.cutter.pieces(p.units, room)
	}
	return []piece{p}
}

// read has every piece read, and returns what was written about them in order.
// The first one goes ahead: from it is learned whether pieces are too long.
func (s *session) read(ctx context.Context, o order, pieces []piece) ([]string, error) {
	if left := s.Requests - s.sentNow(); len(pieces) > left {
		return nil, fmt.Errorf("scribe: the record has %d parts, and %d of %d requests are left", len(pieces), left, s.Requests)
	}
	texts, errs := make([][]string, len(pieces)), make([]error, len(pieces))
	if texts[0], errs[0] = s.readOne(ctx, o, pieces, 0); errs[0] != nil {
		return nil, errs[0]
	}
	s.inParallel(ctx, len(pieces)-1, func(ctx context.Context, i int) bool {
		texts[i+1], errs[i+1] = s.readOne(ctx, o, pieces, i+1)
		return errs[i+1] == nil
	})
	var out []string
	for i := range pieces {
		out = append(out, texts[i]...)
	}
	return out, firstCause(ctx, errs)
}

// inParallel runs n tasks, some at a time. Once one reports that it failed, the
// others are cancelled. It returns when all have ended, and panics if one did:
// where the caller can recover from it.
func (s *session) inParallel(ctx context.Context, n int, task func(ctx context.Context, i int) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, panics := make(chan int, n), make(chan any, n)
	for i := range n {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range min(n, s.Parallel) {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics <- p
					cancel()
				}
			}()
			for i := range next {
				if !task(ctx, i) {
					cancel()
				}
			}
		})
	}
	all.Wait()
	select {
	case p := <-panics:
		panic(p)
	default:
	}
}

// firstCause returns the error that stopped the others, not that of one that was
// stopped.
func firstCause(ctx context.Context, errs []error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("scribe: %w", ctx.Err())
	}
	var stopped error
	for _, err := range errs {
		switch {
		case errors.Is(err, context.Canceled):
			stopped = err
		case err != nil:
			return err
		}
	}
	return stopped
}

// readOne has one piece read, in smaller ones if it must be.
func (s *session) readOne(ctx context.Context, o order, pieces []piece, i int) ([]string, error) {
	p := pieces[i]
	o.part, o.parts = i+1, len(pieces)
	for {
		smaller := s.fitting(p, 0)
		if len(smaller) == 1 {
			text, err := s.try(ctx, s.fresh(o, p, nil))
			if err == nil {
				return []string{text}, nil
			}
			if o = o.again(err); !s.goesOn(err, o) {
				return nil, err
			}
			if smaller = s.smaller(p, 0); len(smaller) == 1 {
				continue
			}
		}
		var out []string
		for n := range smaller {
			texts, err := s.readOne(ctx, o, smaller, n)
			if err != nil {
				return nil, err
			}
			out = append(out, texts...)
		}
		return out, nil
	}
}

func (s *session) roomNow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room
}

func (s *session) sentNow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

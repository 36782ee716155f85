// Package modelwriter has a model write a summary and accepts only text that can be trusted.
//
//	words, err := modelwriter.Write(ctx, modelwriter.Request{
//		Folded: folded,
//		Writer: modelwriter.Author{Model: small, Name: "gpt-5-mini"},
//		MaxTokens: 800, Parallel: 4, Ask: ask, Report: report,
//	})
//
// A model is asked in one of two ways. Fresh: any model is given the messages as a record, that is as data in one message, with
// tool calls and results as text. Suffix: the model of the live conversation is asked by one more message at its end, so that the
// provider's prompt cache holds the rest.
//
// After an answer that is not accepted, see [Reason], or an error that may pass, the model is asked again, with the reason. A record
// that does not fit the window is summarised in parts. Nothing is removed from
// a record. No answer gets into an error in full, and no error into a summary.
package modelwriter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// Request describes the summary that is wanted. All that it refers to is read-only. It needs Folded or Earlier, and a model of Writer.
type Request struct {
	Folded  []message.Message   // what the summary replaces: whole units, oldest first, without the earlier summary
	Earlier string              // an earlier summary that is updated, and replaced too; or ""
	Live    *middleware.Request // what Writer is sent in the live conversation, with Folded and Earlier in it; nil: it is given a record

	// The first and the newest message of the user, which stay in the conversation, or "". They are added to a
	// record, long ones without their middle.
	First, Focus string

	Writer Author

	// Concepts, if there are any, asks with a record for what it contains about them. The text has a section for each concept with
	// facts, and a line for each fact. Without any fact, the error is a [*RejectedError] for [Nothing].
	Concepts []Concept

	Corrections []string // what a person wrote into earlier summaries, which holds whatever the record says
	Instruction string   // is added to the task; "": nothing

	Constraints, Files bool // there are built-in sections for these: no code adds the words of the user, or the facts, to the text
	Seed               bool // the built-in sections are objectives, tools, findings, status and next steps

	Structured bool // the answer is JSON: topics, entities, decisions and actions
	Language   text.Language
	Markers    []string              // headings that only the program writes: a summary must not contain them
	Source     func() *claims.Source // what the text is written from, and has to agree with; nil: it is not checked
	Inventions string                // what is done if it does not: Reject, Remove or Report; "": Remove

	MaxTokens int           // of the summary, by Meter, and at most a fifth of the window
	Requests  int           // at most; 0: 64
	Parallel  int           // requests at the same time
	Timeout   time.Duration // of one request; 0 or negative: none

	Meter  tokens.Meter  // counts what is sent and what comes back
	Report func(Attempt) // is called after each attempt, not concurrently

	// Ask calls the model of an author, with the number of the request, from 1, and returns the numbers of the call, too.
	Ask func(ctx context.Context, n int, a Author, req *middleware.Request) (*middleware.Response, *report.Call, error)
}

// Author is a model that writes, and how it is asked. Task and Sections are not used for Concepts.
type Author struct {
	Model  middleware.Model // nil: no author
	Name   string           // [middleware.Request].Model of its requests
	Window int              // context size in tokens; 0: that of Known
	Known  models.Model     // window, prices, cache; zero: unknown, and requests shrink only after one was refused as too long

	Task     string   // what to write; "": the built-in wording
	Sections []string // required headings; nil: the built-in ones if Task is ""; empty: none
	Retries  int      // failed attempts before the last one, for each part of the record; 0: 2, negative: none

	Params func(limit int) any // the call options for an answer of at most limit tokens; nil: none
}

// Mode is how a model is asked.
type Mode string

// The modes.
const (
	Fresh  Mode = "fresh"  // with a record of the messages as data
	Suffix Mode = "suffix" // in the live conversation, by one more message; as Fresh if that is not possible or fails
)

// Write asks for a summary and returns its text, without a header. The error is that of
// the last attempt, which may be a [*RejectedError], or that of the context.
func Write(ctx context.Context, r Request) (string, error) {
	return newSession(r).write(ctx)
}

// session is one call of Write.
type session struct {
	Request

	accepted int // tokens of an answer
	answer   int // tokens that the author may write, with its reasoning
	replaced int // tokens of what the summary replaces

	mu   sync.Mutex
	sent atomic.Int64 // requests
	room atomic.Int64 // tokens of a record that fit; a request that is refused as too long reduces it
}

func newSession(r Request) *session {
	r.Requests = cmp.Or(r.Requests, 64)
	a := &r.Writer
	switch {
	case len(r.Concepts) > 0:
		r.Live = nil
		r.Structured = false
		a.Task = ""
		a.Sections = []string{}
	case a.Sections == nil && a.Task == "" && !r.Structured:
		a.Sections = wordingOf(r.Language).sections(r.Seed, r.Constraints, r.Files)
	}
	a.Window = cmp.Or(a.Window, a.Known.Window)
	a.Retries = max(0, cmp.Or(a.Retries, 2))
	s := &session{Request: r}
	s.measure()
	for _, m := range r.Folded {
		s.replaced += r.Meter.Message(m)
	}
	if r.Earlier != "" {
		s.replaced += s.count(r.Earlier) + r.Meter.Message(message.Message{Role: message.RoleUser})
	}
	return s
}

// write asks in suffix mode if that is wanted, and then with a record.
func (s *session) write(ctx context.Context) (string, error) {
	t := task{}
	if p := s.suffix(); p != nil {
		answer, err := s.try(ctx, p)
		if err == nil {
			return answer, nil
		}
		t = t.again(err)
		invalid := middleware.KindOf(err) == middleware.Invalid // a record may be valid
		if t.failures > s.Writer.Retries || !passing(err) && !invalid {
			return "", err
		}
	}
	if s.roomNow() < leastRoom {
		return "", &middleware.Error{Kind: middleware.Invalid, Op: "summarize", Err: fmt.Errorf(
			"a window of %d tokens leaves room for %d tokens of the record, want %d at least: choose another model, or lower SummaryTokens",
			s.Writer.Window, max(0, s.roomNow()), leastRoom)}
	}
	units, earlier := record(s.Folded), unit(nil)
	if s.Earlier != "" {
		earlier = unit{{"earlier summary", s.Earlier}}
	}
	return s.summarise(ctx, t, units, earlier)
}

// summarise asks for the summary of a record: by one request if the record fits, otherwise of notes on its parts, which are a record again.
func (s *session) summarise(ctx context.Context, t task, units []unit, earlier unit) (string, error) {
	for {
		if s.size(earlier) > s.roomNow()/3 || len(units) == 0 { // too long to repeat for each part, or there is nothing else
			units, earlier = append([]unit{earlier}, units...), nil
		}
		answer, pieces, err := s.attempt(ctx, &t, units, earlier)
		if err != nil || len(pieces) == 0 {
			return answer, err
		}
		notes, err := s.readAll(ctx, task{notes: true, failures: t.failures, after: t.after}, pieces, s.Parallel)
		if err != nil {
			return "", err
		}
		units = units[:0:0]
		for i, n := range notes {
			units = append(units, unit{{fmt.Sprintf("notes of part %d", i+1), n}})
		}
	}
}

// attempt asks about a part of the record until an answer is accepted. It returns smaller pieces instead if the part is too
// long for one request.
func (s *session) attempt(ctx context.Context, t *task, units []unit, earlier unit) (answer string, smaller []piece, err error) {
	reserved := s.size(earlier)
	for {
		pieces := s.pieces(units, s.roomNow()-reserved)
		if len(pieces) > 1 {
			return "", pieces, nil
		}
		answer, err = s.try(ctx, s.fresh(*t, pieces[0], earlier))
		if err == nil {
			return answer, nil, nil
		}
		*t = t.again(err)
		if t.failures > s.Writer.Retries || !passing(err) {
			return "", nil, err
		}
	}
}

// readAll asks about every piece, or about parts of it, at most so many at a time, and returns the answers in order. The first
// piece is shown alone: its answer may reveal that pieces are too long.
func (s *session) readAll(ctx context.Context, t task, pieces []piece, most int) ([]string, error) {
	if left := s.Requests - int(s.sent.Load()); len(pieces) > left {
		return nil, fmt.Errorf("summarize: the record has %d parts, and %d of %d requests are left", len(pieces), left, s.Requests)
	}
	answers := make([][]string, len(pieces))
	read := func(ctx context.Context, i int) error {
		t := t
		t.part, t.parts = i+1, len(pieces)
		answer, smaller, err := s.attempt(ctx, &t, pieces[i].units, nil)
		answers[i] = []string{answer}
		if len(smaller) > 0 {
			answers[i], err = s.readAll(ctx, t, smaller, 1)
		}
		return err
	}
	if err := read(ctx, 0); err != nil {
		return nil, err
	}
	err := Parallel(ctx, len(pieces)-1, most, func(ctx context.Context, i int) error { return read(ctx, i+1) })
	return slices.Concat(answers...), err
}

// Parallel runs n tasks, at most the given number at a time. The first error, or panic,
// cancels the others and is returned, after all have ended.
func Parallel(ctx context.Context, n, most int, run func(ctx context.Context, i int) error) error {
	cancelable, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, most)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if _, err := Call(cancelable, 0, func(ctx context.Context) (any, error) { return nil, run(ctx, i) }); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("summarize: %w", ctx.Err())
	}
	return context.Cause(cancelable)
}

func (s *session) roomNow() int { return int(s.room.Load()) }

// Attempt is one request to a model, and its result.
type Attempt struct {
	Mode        Mode
	Model       string // name of the author
	Part, Parts int    // the part of the record that it showed, from 1; 0: all of it

	Reason Reason // why it failed; "": its answer was accepted
	Err    error  // a [*RejectedError], or what the model returned; nil: its answer was accepted

	Items []string // that the record does not have: sentences with them are not in an accepted text

	Usage message.Usage // as reported, or else as counted
	Cost  models.Cost   // by the price of the author; 0 if that is unknown
	Call  *report.Call  // the numbers of the model call; nil: none
}

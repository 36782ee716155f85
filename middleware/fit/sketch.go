package fit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// sketch is a view as it would be with what has been planned so far. It is what
// the ladder works on: the core judges only the plan that comes out of it.
type sketch struct {
	*words
	*keeper // nil: what goes is not kept

	view    *middleware.View
	sure    bool // it is judged by a budget that is no guess
	limits  message.Limits
	besides message.Load // of what else is sent
	weighs  bool         // bytes, too

	now    []message.Message // as they would be
	loads  []load            // of each
	state  []state
	before load // of all messages in the view
	total  load // of all that would be left
	noted  bool // a note stands in place of what is folded
	known  []block
}

// state says what has become of a message.
type state uint8

const (
	kept state = iota
	rewritten
	folded
)

// sketch returns a sketch of the view that was judged. Bytes are weighed only if
// they are close to a limit.
func (f *fitter) sketch(ctx context.Context, j *judgement) *sketch {
	v, n := j.view, j.view.Len()
	s := &sketch{
		words: f.words, view: v, sure: j.sure, limits: j.limits, besides: j.besides, weighs: j.measured,
		now: slices.Clone(v.Messages()), loads: make([]load, n), state: make([]state, n),
	}
	for i := range s.now {
		s.loads[i] = load{tokens: v.TokensOf(i), bytes: s.bytesOf(&s.now[i])}
		s.before = s.before.plus(s.loads[i])
	}
	s.total = s.before
	if v.Env().Archive != nil {
		s.keeper = newKeeper(ctx, v)
	}
	return s
}

func (s *sketch) bytesOf(m *message.Message) int {
	if !s.weighs {
		return 0
	}
	return m.Load().Bytes
}

// clone returns a copy to try something on.
func (s *sketch) clone() *sketch {
	c := *s
	c.now, c.loads, c.state = slices.Clone(s.now), slices.Clone(s.loads), slices.Clone(s.state)
	return &c
}

// weigh returns the load of a message.
func (s *sketch) weigh(m message.Message) load {
	return load{tokens: s.view.Meter().Message(m), bytes: s.bytesOf(&m)}
}

// rewrite puts other parts in place of those of a message, if that makes it
// smaller, and reports whether it did.
func (s *sketch) rewrite(at int, parts []message.Part) bool {
	m, l, ok := s.lighter(at, parts)
	if !ok {
		return false
	}
	was := s.loads[at]
	s.now[at], s.loads[at], s.state[at] = m, l, rewritten
	s.total = s.total.minus(was).plus(l)
	return true
}

// lighter returns a message with other parts, and whether that is smaller.
func (s *sketch) lighter(at int, parts []message.Part) (message.Message, load, bool) {
	m := s.now[at]
	m.Parts = parts
	l, was := s.weigh(m), s.loads[at]
	return m, l, l.tokens < was.tokens || l.tokens == was.tokens && l.bytes < was.bytes
}

// fold leaves messages out.
func (s *sketch) fold(r message.Run) {
	for i := r.First; i <= r.Last; i++ {
		if s.state[i] != folded {
			s.state[i] = folded
			s.total = s.total.minus(s.loads[i])
		}
	}
}

// edits returns what makes the sketch of the view.
func (s *sketch) edits() []middleware.Edit {
	var edits []middleware.Edit
	var runs []message.Run
	for i, st := range s.state {
		switch n := len(runs); {
		case st == rewritten:
			e := middleware.RewriteOf(i, s.now[i].Parts...)
			e.Archive = s.archived(s.now[i].Parts)
			edits = append(edits, e)
		case st == folded && n > 0 && runs[n-1].Last == i-1:
			runs[n-1].Last = i
		case st == folded:
			runs = append(runs, message.Run{First: i, Last: i})
		}
	}
	if len(runs) > 0 {
		fold := middleware.Edit{Kind: middleware.Fold, Runs: runs}
		if s.noted {
			var h store.Handle
			if s.keeper != nil {
				h, fold.Archive = s.view.ArchiveRuns(runs)
			}
			fold.Messages = []message.Message{s.noteUnder(h)}
		}
		edits = append(edits, fold)
	}
	return edits
}

// why says what is done, and what for.
func (s *sketch) why(excess message.Excess) string {
	shortened, out := 0, 0
	for _, st := range s.state {
		switch st {
		case rewritten:
			shortened++
		case folded:
			out++
		case kept:
		}
	}
	var done []string
	if shortened > 0 {
		done = append(done, "shortened "+counted(shortened))
	}
	if out > 0 {
		done = append(done, "left out "+counted(out))
	}
	return strings.Join(done, " and ") + ": " + excess.String()
}

func counted(messages int) string {
	if messages == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", messages)
}

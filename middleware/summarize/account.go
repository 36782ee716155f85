package summarize

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// How long what was made in advance waits for its conversation to come again.
const (
	maxAccounts = 1024 // beyond half of them nobody is waited for
	patience    = time.Hour
)

// account is what there is to tell of a summary that is made in advance: to the
// conversation that it is made for, since the call that has begun it is over.
type account struct {
	scope  string
	halves [2]stretch // of its history: where one of them stands still, it is the same conversation

	// These belong to accounts, which has those alone that have events.
	events []middleware.Event
	missed time.Time // when another conversation came by; zero: none has since there are events
}

// newAccount returns that of the conversation of a view.
func newAccount(v *middleware.View) *account {
	body := bodyOf(v)
	n := len(body)
	return &account{scope: v.Env().Scope, halves: [2]stretch{body.stretch(0, n-n/2), body.stretch(n/2, n)}}
}

// isOf reports whether the account is that of a history. Known are the IDs of its
// stretches, as far as they have been asked for.
func (a *account) isOf(b body, known map[[2]int]message.ID) bool {
	for _, h := range a.halves {
		if h.to > len(b) || h.size != b[h.to-1].Size() {
			continue
		}
		at := [2]int{h.from, h.to}
		if known[at].IsZero() {
			known[at] = b.id(h.from, h.to)
		}
		if h.id == known[at] {
			return true
		}
	}
	return false
}

// body is a history without the system messages that lead it.
type body []message.Message

func bodyOf(v *middleware.View) body {
	h := v.History()
	return h[message.Leading(h):]
}

// stretch is some messages in a row, at their place.
type stretch struct {
	from, to int
	size     int // of the last one, in bytes: mostly it tells at once that they are others
	id       message.ID
}

func (b body) stretch(from, to int) stretch {
	return stretch{from: from, to: to, size: b[to-1].Size(), id: b.id(from, to)}
}

// id returns an ID that stands for all messages of a stretch.
func (b body) id(from, to int) message.ID { return message.IDs(b[from:to])[to-from-1] }

// accounts are those of which something has not been told yet. They are safe for
// concurrent use.
type accounts struct {
	mu   sync.Mutex
	open []*account // oldest first
}

// add adds what has happened.
func (s *accounts) add(a *account, e middleware.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(a.events) == 0 {
		if len(s.open) == maxAccounts {
			s.open[0].events = nil
			s.open = slices.Delete(s.open, 0, 1)
		}
		s.open = append(s.open, a)
		a.missed = time.Time{}
	}
	a.events = append(a.events, e)
}

// take takes out what has not been told of one.
func (s *accounts) take(a *account) []middleware.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := a.events
	if len(out) > 0 {
		a.events = nil
		s.open = slices.DeleteFunc(s.open, func(o *account) bool { return o == a })
	}
	return out
}

// due returns the accounts that are those of a conversation, and those of its
// scope whose own has not come for long.
func (s *accounts) due(v *middleware.View) (own, strays []*account) {
	s.mu.Lock()
	open, scope := slices.Clone(s.open), v.Env().Scope
	s.mu.Unlock()
	if len(open) == 0 {
		return nil, nil
	}
	body, known, now := bodyOf(v), map[[2]int]message.ID{}, v.Env().Clock()
	var others []*account
	for _, a := range open {
		switch {
		case a.scope != scope: // not even the cost is told beyond a scope
		case a.isOf(body, known):
			own = append(own, a)
		default:
			others = append(others, a)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range others {
		if a.missed.IsZero() {
			a.missed = now
		}
		if len(open) > maxAccounts/2 || now.Sub(a.missed) >= patience {
			strays = append(strays, a)
		}
	}
	return own, strays
}

// account tells what has come of summaries that were made in advance. It plans
// nothing.
func (e *editor) account(ctx context.Context, v *middleware.View) (*middleware.Plan, error) {
	if v.Dry() || e.memory.isBehind(ctx) {
		return nil, nil // it plans nothing
	}
	own, strays := e.memory.accounts.due(v)
	for _, a := range own {
		for _, event := range e.memory.accounts.take(a) {
			v.Report(ctx, event)
		}
	}
	for _, a := range strays {
		for _, event := range e.memory.accounts.take(a) {
			if event.Kind == middleware.Attempted { // the rest may hold words of the other conversation
				event.Stray = true
				event.Why += ", in advance, for another conversation that has not come again"
				v.Report(ctx, event)
			}
		}
	}
	return nil, nil // it plans nothing
}

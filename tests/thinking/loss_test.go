package thinking

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// leaky is a journal that loses entries: after a write an entry on which none builds, or everything.
type leaky struct {
	one, all float64 // chance after each write

	mu      sync.Mutex
	random  *rand.Rand
	entries map[place]journal.Entry // by revision
	at      map[place]place         // the revision that is kept under an ID
	of      map[place]message.ID    // the conversation of an entry
}

// place is an ID or a revision in a scope.
type place struct {
	scope string
	id    message.ID
}

// losing returns journals that lose one entry, or everything, with these chances after each write.
func losing(one, all float64) func(seed uint64) journal.Journal {
	return func(seed uint64) journal.Journal {
		l := &leaky{one: one, all: all, random: rand.New(rand.NewPCG(seed, 1))}
		l.clear()
		return l
	}
}

func (l *leaky) clear() {
	l.entries, l.at, l.of = map[place]journal.Entry{}, map[place]place{}, map[place]message.ID{}
}

// Find implements [journal.Journal].
func (l *leaky) Find(_ context.Context, scope string, _ message.ID, ids []message.ID) (journal.Found, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, id := range slices.Backward(ids) {
		rev, ok := l.at[place{scope, id}]
		if !ok {
			continue
		}
		found := journal.Found{At: i}
		for e, ok := l.entries[rev]; ok; e, ok = l.entries[place{scope, e.Base}] {
			found.Entries = append(found.Entries, e)
		}
		return found, nil
	}
	return journal.Found{At: -1}, nil
}

// Put implements [journal.Journal].
func (l *leaky) Put(_ context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := place{scope, writes[0].ID}
	for i, w := range writes {
		if !l.put(scope, w) && i == 0 {
			break
		}
	}
	winner := l.entries[l.at[first]]
	l.lose()
	return winner, nil
}

// put stores a write, and reports whether its entry is there.
func (l *leaky) put(scope string, w journal.Write) bool {
	at, rev, base := place{scope, w.ID}, place{scope, w.Entry.Rev}, place{scope, w.Entry.Base}
	old, taken := l.at[at]
	_, based := l.entries[base]
	switch {
	case taken && old == rev:
		return true
	case w.Head != (journal.Head{}) && l.at[place{scope, w.Head.ID}].id != w.Head.Rev:
		return false
	case taken && old.id != w.Over, !w.Entry.Base.IsZero() && !based:
		return false
	}
	l.at[at], l.entries[rev], l.of[rev] = rev, w.Entry, w.Conversation
	return true
}

// lose loses what chance wants.
func (l *leaky) lose() {
	if l.random.Float64() < l.all {
		l.clear()
	}
	if l.random.Float64() >= l.one {
		return
	}
	var ends []place
	for rev := range l.entries {
		if !l.builds(rev) {
			ends = append(ends, rev)
		}
	}
	if len(ends) == 0 {
		return
	}
	slices.SortFunc(ends, func(a, b place) int { return cmp.Compare(string(a.id[:]), string(b.id[:])) })
	l.drop(ends[l.random.IntN(len(ends))])
}

// builds reports whether an entry builds on a revision.
func (l *leaky) builds(rev place) bool {
	for p, e := range l.entries {
		if p.scope == rev.scope && e.Base == rev.id {
			return true
		}
	}
	return false
}

func (l *leaky) drop(rev place) {
	delete(l.entries, rev)
	delete(l.of, rev)
	for at, r := range l.at {
		if r == rev {
			delete(l.at, at)
		}
	}
}

// Delete implements [journal.Journal].
func (l *leaky) Delete(_ context.Context, scope string, conversations ...message.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rev, of := range l.of {
		if rev.scope == scope && (len(conversations) == 0 || slices.Contains(conversations, of)) {
			l.drop(rev)
		}
	}
	return nil
}

func TestLeakyKeepsTheContract(t *testing.T) {
	t.Parallel()
	middlewaretest.Journal(t, func(*testing.T) journal.Journal { return losing(0, 0)(1) })
}

// others are models whose providers demand something else of the thinking.
var others = []struct {
	model  string
	demand string
	plain  bool // see withThinking
}{
	{"deepseek-v4", "deepseek", true},
	{"deepseek-v4-pro", "deepseek", true},
	{"kimi-k2.5", "kimi", true},
	{"kimi-k2-thinking", "kimi", true},
	{"claude-sonnet-4-5", "manual", false},
	{"gemini-3-pro-preview", "gemini", false},
}

// TestCallsKeepTheirReasoning leads three turns with nine calls through a window of 1,500 tokens, and through
// ClearThinking. DeepSeek and Kimi accept no call without its reasoning.
func TestCallsKeepTheirReasoning(t *testing.T) {
	t.Parallel()
	c := &conversation{id: "three turns", messages: middlewaretest.ReAct{Rounds: 9, PerTurn: 3, Result: 700, Answered: true}.Messages()}
	c.declare()
	for _, ch := range []chain{
		{"fit", 1_500, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 0, 0, 0},
		{"ClearThinking", 0, func() []middleware.Middleware {
			return []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1, ClearThinking: true})}
		}, 0, 0, 0},
	} {
		for _, o := range others {
			t.Run(ch.name+"/"+o.model, func(t *testing.T) {
				t.Parallel()
				bare := 0
				v := variant{model: o.model, demand: o.demand, plain: o.plain}
				if o.demand == "deepseek" || o.demand == "kimi" {
					v.look = func(sent *middleware.Request) { bare = max(bare, callsWithoutThinking(sent.Messages)) }
				}
				r := lead(t, ch, c, v)
				require.Zero(t, bare, "of 9 calls, all have their reasoning")
				require.Zero(t, r.refused, "no request is refused: %s", first(r.why))
				require.Zero(t, r.failed, "all requests fit")
				require.Equal(t, 12, r.requests, "9 calls and 3 answers")
			})
		}
	}
}

// callsWithoutThinking counts the messages with calls that have no thinking.
func callsWithoutThinking(msgs []message.Message) (n int) {
	for _, m := range msgs {
		if m.HasCalls() && thoughts([]message.Message{m}) == 0 {
			n++
		}
	}
	return n
}

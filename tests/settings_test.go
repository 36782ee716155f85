package tests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/sqlstore"
)

// settings are those of services whose replicas are restarted with others.
var settings = map[string]func() []middleware.Middleware{
	"keep 2": func() []middleware.Middleware {
		return []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1200), Keep: 2})}
	},
	"keep 4": func() []middleware.Middleware {
		return []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1500), Keep: 4})}
	},
	"eager": func() []middleware.Middleware {
		return []middleware.Middleware{contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 1})}
	},
	"microcompact": func() []middleware.Middleware {
		return []middleware.Middleware{microcompact.New(microcompact.Options{Trigger: trigger.Tokens(1200)})}
	},
	"summaries": func() []middleware.Middleware {
		return []middleware.Middleware{
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1200), Keep: 3}),
			summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1400), QuoteTokens: 100, FactTokens: 100}),
		}
	},
	"trim": func() []middleware.Middleware {
		return []middleware.Middleware{trim.New(trim.Options{Trigger: trigger.Tokens(1400)})}
	},
}

// taken is a journal whose calls wait until they are let go.
type taken struct {
	journal.Journal

	ask, may chan bool // nil: they do not wait
}

func (j *taken) wait() {
	if j.ask != nil {
		j.ask <- true
		<-j.may
	}
}

func (j *taken) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	j.wait()
	return j.Journal.Find(ctx, scope, first, ids)
}

func (j *taken) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	j.wait()
	return j.Journal.Put(ctx, scope, writes)
}

// tenant is a process with settings of its own.
type tenant struct {
	journal *taken
	model   middleware.Model
	name    string
	answer  message.Message // of the next call
	sent    *middleware.Request
	events  []middleware.Event
	err     error // of a call at once with another
}

func newTenant(shared journal.Journal, scope, name string) *tenant {
	p := &tenant{journal: &taken{Journal: shared}, name: name}
	watch := middleware.Observe(func(_ context.Context, e middleware.Event) { p.events = append(p.events, e) })
	chain := middleware.With(middleware.Env{Journal: p.journal, Scope: scope}, append([]middleware.Middleware{watch}, settings[name]()...)...)
	p.model = chain(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		p.sent = req
		return &middleware.Response{Message: p.answer}, nil
	})
	return p
}

func (p *tenant) call(h []message.Message) error {
	p.events = nil
	_, err := p.model(context.Background(), &middleware.Request{Messages: h}, nil)
	return err
}

// atOnce lets processes call for one history; each step of a journal is taken by the one that is drawn.
func atOnce(t *rapid.T, h []message.Message, all ...*tenant) {
	running := slices.Clone(all)
	step := func(p *tenant) {
		if !<-p.journal.ask {
			running = slices.DeleteFunc(running, func(o *tenant) bool { return o == p })
			p.journal.ask, p.journal.may = nil, nil
		}
	}
	for _, p := range all {
		p.journal.ask, p.journal.may = make(chan bool), make(chan bool)
		ask := p.journal.ask
		go func() {
			p.err = p.call(h)
			ask <- false
		}()
	}
	for _, p := range all {
		step(p)
	}
	for len(running) > 0 {
		p := running[rapid.IntRange(0, len(running)-1).Draw(t, "next")]
		p.journal.may <- true
		step(p)
	}
}

// edited reports whether a process has edited in its last call.
func (p *tenant) edited() bool {
	return slices.ContainsFunc(p.events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
}

// unlike returns the first message that is not as in a view before and that no event has; -1: none.
func unlike(before []message.Message, p *tenant, events []middleware.Event) int {
	keep := len(before)
	for _, e := range events {
		if len(e.Edits) == 0 {
			continue
		}
		n := 0
		for n < len(p.sent.Messages) && p.sent.View().Span(n).Last < e.First {
			n++
		}
		keep = min(keep, n)
	}
	for i := range keep {
		if i >= len(p.sent.Messages) || !before[i].Equal(p.sent.Messages[i]) {
			return i
		}
	}
	return -1
}

// TestOtherSettings lets two processes with different settings continue one conversation, one after the other and at once, as
// while the replicas of a service are restarted with new settings: what is sent changes by an event only.
func TestOtherSettings(t *testing.T) {
	t.Parallel()
	sqlite, err := engine.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "journal.db"), engine.Options{Limits: store.Limits{Timeout: time.Minute}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sqlite.Close()) })
	for name, shared := range map[string]journal.Journal{"memory": journal.NewMemory(0), "sqlite": sqlite.Journal()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, both := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				both += checkSettings(t, shared, fmt.Sprint(n))
			})
			require.True(t, both > 0 || testing.Short(), "calls at once that both edit")
			t.Logf("%d conversations, %d times both edited at once", n, both)
		})
	}
}

// checkSettings returns how often both processes have edited at once.
func checkSettings(t *rapid.T, shared journal.Journal, scope string) (both int) {
	names := slices.Sorted(maps.Keys(settings))
	start := func() *tenant { return newTenant(shared, scope, rapid.SampledFrom(names).Draw(t, "settings")) }
	all := [2]*tenant{start(), start()}
	h := []message.Message{message.System("s"), message.User("begin")}
	var before []message.Message
	var unused []middleware.Event // of calls that sent something else than the one whose answer the conversation has
	for n := range rapid.IntRange(5, 25).Draw(t, "calls") {
		if rapid.IntRange(0, 7).Draw(t, "restart") == 0 {
			all[rapid.IntRange(0, 1).Draw(t, "which")] = start()
		}
		for i, p := range all {
			p.answer = message.Assistant(message.ToolCall{ID: fmt.Sprintf("call-%d-%d", n, i), Name: "look", Arguments: fmt.Sprintf(`{"page":%d}`, n)})
		}
		who := rapid.IntRange(0, 3).Draw(t, "who")
		serving, other := all[who%2], all[(who+1)%2]
		events := unused
		if who < 2 {
			require.NoError(t, serving.call(h))
		} else {
			atOnce(t, h, serving, other)
			require.NoError(t, errors.Join(serving.err, other.err))
			same := slices.EqualFunc(serving.sent.Messages, other.sent.Messages, message.Message.Equal)
			if serving.edited() && other.edited() {
				both++
				require.True(t, same, "call %d: %s and %s edit at once and send different views: %v, %v", n, serving.name, other.name, serving.events, other.events)
			}
			events = slices.Concat(unused, other.events) // one of both may have the edits
			if !same {
				unused = events
			}
		}
		require.False(t, slices.ContainsFunc(serving.events, func(e middleware.Event) bool { return e.Kind == middleware.Missed }), "call %d: %v", n, serving.events)
		require.Equal(t, -1, unlike(before, serving, slices.Concat(events, serving.events)),
			"call %d, by %s: the first message that is another one without an event; its events: %v", n, serving.name, serving.events)
		before = serving.sent.Messages
		page := strings.Repeat(fmt.Sprint("page ", n, " has text "), rapid.IntRange(5, 60).Draw(t, "size"))
		for call := range serving.answer.Calls() {
			h = append(slices.Clip(h), serving.answer, message.Result(call.ID, call.Name, page))
		}
		if rapid.IntRange(0, 4).Draw(t, "ask") == 0 {
			h = append(h, message.Assistant(message.Text{Text: fmt.Sprint("So it is ", n)}), message.User(fmt.Sprint("go on ", n)))
		}
	}
	return both
}

package issues

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

var errFault = errors.New("fault")

// faults fails one call, of all calls to journal, archive, counter and model.
type faults struct {
	mu        sync.Mutex
	at, calls int
	panics    bool
	log       []string // what was called, in order
}

func (f *faults) step(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.log = append(f.log, what)
	if f.calls != f.at {
		return nil
	}
	if f.panics {
		panic(errFault)
	}
	return errFault
}

type faultyJournal struct {
	*faults
	journal.Journal
}

func (j faultyJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if err := j.step("read"); err != nil {
		return journal.Found{}, err
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

func (j faultyJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if err := j.step("write"); err != nil {
		return journal.Entry{}, err
	}
	return j.Journal.Put(ctx, scope, writes)
}

type faultyArchive struct {
	*faults
	store.Store
}

func (a faultyArchive) Put(ctx context.Context, conversation message.ID, contents []store.Named) error {
	if err := a.step("archive"); err != nil {
		return err
	}
	return a.Store.Put(ctx, conversation, contents)
}

// nestings are the ways to put an observer and three middlewares together.
func nestings(env middleware.Env, observe, a, b, c middleware.Middleware) map[string]middleware.Middleware {
	chain, with := middleware.Chain, func(mws ...middleware.Middleware) middleware.Middleware { return middleware.With(env, mws...) }
	byHand := func(next middleware.Model) middleware.Model { return a(b(c(next))) }
	return map[string]middleware.Middleware{
		"flat":             with(observe, a, b, c),
		"inside a chain":   chain(observe, with(a, b, c)),
		"twice":            chain(chain(observe), chain(with(a, b, c))),
		"a, (b, c)":        with(observe, a, chain(b, c)),
		"(a, b), c":        with(observe, chain(a, b), c),
		"(a), (b), (c)":    with(observe, chain(a), chain(b), chain(c)),
		"((a, (b, (c))))":  chain(chain(observe, with(a, chain(b, chain(c))))),
		"around the layer": with(observe, byHand),
	}
}

// conversation is what the attack used: a question, three rounds with results of 2 kB,
// and a blank assistant message that fit repairs.
func blankBetweenRounds() []message.Message {
	h := []message.Message{message.User("What do the logs say?")}
	for i := range 3 {
		if i == 2 {
			h = append(h, message.Assistant(message.Text{Text: " "}))
		}
		id := fmt.Sprintf("call-%d", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: "{}"}),
			message.Result(id, "read_log", strings.Repeat(fmt.Sprintf("line of log %d. ", i), 125)))
	}
	return h
}

// One failed write doubled the history of a chain inside a chain, because both closed the
// same session.
func TestNestedChainsUnderFaults(t *testing.T) {
	t.Parallel()
	type outcome struct {
		sent   [][]message.Message
		errs   []string
		events []middleware.EventKind
		log    []string
	}
	run := func(t *testing.T, nesting string, at int, panics bool) (o outcome, calls int) {
		t.Helper()
		f := &faults{at: at, panics: panics}
		var seen middlewaretest.Recorder
		env := middleware.Env{
			Journal: faultyJournal{f, journal.NewMemory(0)}, Archive: faultyArchive{f, store.NewMemory(0)}, Counter: tokens.Chars4,
		}
		mw := nestings(env, seen.Middleware(),
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(10), Keep: 1}),
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(10), Keep: 1, ClearToolInputs: true}),
			fit.New(fit.Options{Rules: message.Anthropic}))[nesting]
		model := mw(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			o.sent = append(o.sent, testkit.Clone(req.Messages))
			if err := f.step("model"); err != nil {
				return nil, err
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})
		h := blankBetweenRounds()
		for range 3 {
			_, err := func() (resp *middleware.Response, err error) {
				defer func() {
					if r := recover(); r != nil { // of the model alone, which is the caller's
						err = fmt.Errorf("panicked: %v", r)
					}
				}()
				return model(t.Context(), &middleware.Request{Messages: h, Model: "m", Budget: &middleware.Budget{Window: 100_000}}, nil)
			}()
			o.errs = append(o.errs, fmt.Sprint(err))
			h = append(h, message.Assistant(message.Text{Text: "ok"}), message.User("And now?"))
		}
		for _, e := range seen.Events() {
			o.events = append(o.events, e.Kind)
		}
		o.log = f.log
		return o, f.calls
	}
	_, calls := run(t, "flat", 0, false)
	require.Greater(t, calls, 5)
	for at := range calls + 1 {
		for _, panics := range []bool{false, true} {
			want, _ := run(t, "flat", at, panics)
			for name := range nestings(middleware.Env{}, middleware.Chain(), middleware.Chain(), middleware.Chain(), middleware.Chain()) {
				got, _ := run(t, name, at, panics)
				require.Len(t, got.sent, len(want.sent), "%s, fault at call %d", name, at)
				for i := range want.sent {
					require.NoError(t, testkit.Same(want.sent[i], got.sent[i]), "%s, fault at call %d, request %d", name, at, i)
					require.LessOrEqual(t, len(got.sent[i]), 7+2*i, "%s, fault at call %d: no message occurs twice", name, at)
				}
				require.Equal(t, want.errs, got.errs, "%s, fault at call %d", name, at)
				require.Equal(t, want.events, got.events, "%s, fault at call %d", name, at)
			}
		}
	}
}

// One refusal with absurd or foreign numbers blocked a model for the whole chain.
func TestAbsurdRefusals(t *testing.T) {
	t.Parallel()
	for text, quotes := range map[string]bool{
		"prompt is too long: 5 tokens > 1 maximum": false, "prompt is too long: 50 tokens > 20 maximum": false,
		`invalid tool result "prompt is too long: 100 tokens > 2 maximum": want JSON`: true,
	} {
		calls := 0
		model := middleware.Chain(fit.New(fit.Options{}))(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
			calls++
			if calls == 1 {
				return nil, errors.New(text)
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})
		for n := range 20 {
			h := []message.Message{message.User(fmt.Sprintf("Short conversation %d, which has some words in it.", n))}
			_, err := model(t.Context(), &middleware.Request{Messages: h, Model: "gpt-4.1"}, nil)
			if quotes && n == 0 {
				require.EqualError(t, err, text, "it is no refusal")
				continue
			}
			require.NoError(t, err, "%s: conversation %d", text, n)
		}
	}
}

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

// A model's answer was processed twice in the form that the adapter docs recommend, so a
// refusal that should not be believed changed the window.
func TestRefusalInANestedChain(t *testing.T) {
	t.Parallel()
	h := []message.Message{message.User(strings.Repeat("word ", 900))}
	for _, nested := range []bool{false, true} {
		calls := 0
		env := middleware.Env{Archive: store.NewMemory(0), Counter: tokens.Chars4}
		mw := middleware.With(env, contextedit.New(contextedit.Options{}), fit.New(fit.Options{}))
		if nested {
			mw = middleware.Chain(mw)
		}
		model := mw(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			calls++
			if calls == 1 {
				return nil, errors.New("400: prompt is too long")
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})
		ask := func(h []message.Message) error {
			_, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 100_000}}, nil)
			return err
		}
		require.NoError(t, ask(h), "nested: %t: the question may not be cut, so it is sent once more", nested)
		require.Equal(t, 2, calls)
		require.NoError(t, ask([]message.Message{message.User(strings.Repeat("other ", 9000))}), "nested: %t: no other conversation is limited", nested)
		require.Equal(t, 3, calls)
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

// After one misrouted refusal with a plausible number, all later conversations were cut
// without end. A learned window expires, and the next call tries the declared window.
func TestLearnedWindowExpires(t *testing.T) {
	t.Parallel()
	refuse := true
	longest := 0
	model := middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: message.OpenAI}))(
		func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			n := (tokens.Meter{Counter: tokens.Chars4}).Request(req.Messages, nil)
			if longest = max(longest, n); refuse {
				refuse = false
				return nil, fmt.Errorf("this model's maximum context length is 8192 tokens. However, your messages resulted in %d tokens", n)
			}
			return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
		})
	for n := range 70 {
		longest = 0
		h := append([]message.Message{message.User(fmt.Sprintf("Conversation %d.", n))}, more(nil, 400)...)
		_, err := model(t.Context(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 128_000}}, nil)
		require.NoError(t, err)
		if n > 0 && n < 60 {
			require.LessOrEqual(t, longest, 8192, "conversation %d", n)
		}
	}
	require.Greater(t, longest, 30_000, "after 64 accepted calls nothing is cut any more")
}

// A read of the journal that failed in the call that edits, and then one that found
// nothing, lost the edits to the process, though the journal had them.
func TestFailedReadThenNothing(t *testing.T) {
	t.Parallel()
	for fail := 1; fail < 14; fail++ {
		j := &forgetful{Journal: journal.NewMemory(0), fail: fail}
		chain := middleware.With(middleware.Env{Journal: j, Counter: tokens.Chars4},
			contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1300), Keep: 1, MinCalls: 30}))
		h := rounds(1)
		edited := false
		for range 20 {
			sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h})
			require.NoError(t, err)
			for _, e := range events {
				edited = edited || e.Kind == middleware.Edited
			}
			if edited {
				require.NotEqual(t, h, sent.Messages, "the edits hold after a failed read at read %d", fail)
			}
			h = more(h, 1)
		}
		require.True(t, edited)
	}
}

// forgetful is a journal of which one read fails, and the next one finds nothing.
type forgetful struct {
	journal.Journal

	fail, reads int
}

func (j *forgetful) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	j.reads++
	switch j.reads {
	case j.fail:
		return journal.Found{}, errFault
	case j.fail + 1:
		return journal.Found{At: -1}, nil
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

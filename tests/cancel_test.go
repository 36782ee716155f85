package tests

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// tripwire is stepped on whenever a chain calls something that is not its own.
// At the step that it is set to it goes off.
type tripwire struct {
	at, n int
	where string       // the step at which it went off; "": it has not
	wrote bool         // the journal had been written to by then
	off   func() error // what happens then; the error is for the chain
}

// set makes the wire go off at the given step from now on; 0: never.
func (w *tripwire) set(at int, off func() error) { *w = tripwire{at: at, off: off} }

func (w *tripwire) step(where string) error {
	w.n++
	if w.n != w.at {
		w.wrote = w.wrote || w.where == "" && where == "put"
		return nil
	}
	w.where = where
	return w.off()
}

// wired is a journal, a counter and a trigger with a tripwire before them.
type (
	wiredJournal struct {
		*texts
		wire *tripwire
	}
	wiredCounter struct{ wire *tripwire }
	wiredTrigger struct {
		wire *tripwire
		name string
		when func(look) bool
	}
)

func (j wiredJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if err := j.wire.step("find"); err != nil {
		return journal.Found{}, err
	}
	return j.texts.Find(ctx, scope, first, ids)
}

func (j wiredJournal) Put(ctx context.Context, scope string, writes []journal.Write) (winner journal.Entry, err error) {
	if err := j.wire.step("put"); err != nil {
		return winner, err
	}
	return j.texts.Put(ctx, scope, writes)
}

func (c wiredCounter) Count(text string) int {
	_ = c.wire.step("counter")
	return tokens.Estimate{}.Count(text)
}

func (t wiredTrigger) Met(v *middleware.View, _ func() *middleware.Plan) (met bool, why string, err error) {
	if err := t.wire.step("trigger"); err != nil {
		return false, "", err
	}
	return t.when(lookAt(v)), "it is time", nil
}

// wiredEditor makes an editor a middleware. One that has edited a history
// already leaves it at that.
func wiredEditor(w *tripwire, e editor, strict bool) middleware.Middleware {
	opts := middleware.Options{Strict: strict, MinCalls: e.minCalls, PauseAfter: 2}
	if e.when != nil {
		opts.Trigger = wiredTrigger{w, e.name, e.when}
	}
	return middleware.Editing(e.name, func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if err := w.step("editor"); err != nil {
			return nil, err
		}
		if _, now := v.LastEdit(e.name); now {
			return nil, nil
		}
		if e.plan == nil {
			return nil, errMood
		}
		edits := e.plan(lookAt(v))
		for i := range edits {
			if made := edits[i].Make; made != nil {
				edits[i].Make = func(ctx context.Context) ([]message.Message, error) {
					if err := w.step("make"); err != nil {
						return nil, err
					}
					return made(ctx)
				}
			}
		}
		return &middleware.Plan{Edits: edits}, nil
	}, opts)
}

// stage is a chain with a tripwire before all that it calls, and what came of the
// last call.
type stage struct {
	wire    tripwire
	journal *texts
	model   middleware.Model
	sent    []message.Message
	told    []middleware.Event
}

func newStage(strict bool) *stage {
	s := &stage{journal: newTexts()}
	w := &s.wire
	long := func(n int) func(look) bool { return func(l look) bool { return l.total > n } }
	many := func(n int) func(look) bool { return func(l look) bool { return len(l.msgs) > n } }
	editors := []editor{
		{name: "clear", plan: clears(1), when: many(6), minCalls: 3},
		{name: "fold", plan: ifLong(60, foldsLater(4, 20)), when: long(1000)},
		{name: "fold in vain", plan: ifLong(100, later(foldsNewest, 20)), when: many(5)},
	}
	if !strict {
		all := func(l look) []middleware.Edit {
			return []middleware.Edit{middleware.FoldOf(message.Leading(l.msgs), len(l.msgs)-1)}
		}
		editors = append(editors,
			editor{name: "fail", when: many(3)},
			editor{name: "offend", plan: all, when: many(1)},
			editor{name: "overburdened", plan: clears(1), when: long(60)})
	}
	mws := []middleware.Middleware{middleware.Observe(func(_ context.Context, e middleware.Event) {
		if e.Kind != middleware.Called && e.Kind != middleware.Missed { // they compare with the calls before, which differ here
			s.told = append(s.told, e)
		}
		_ = w.step("observer")
	})}
	for _, e := range editors {
		mws = append(mws, wiredEditor(w, e, strict))
	}
	mws = append(mws, middleware.Repairing("mend", func(_ context.Context, v *middleware.View) (*message.Repaired, error) {
		if err := w.step("mender"); err != nil {
			return nil, err
		}
		return message.OpenAI.Repair(slices.Collect(messagesOf(v))), nil
	}))
	clock := func() time.Time {
		_ = w.step("clock")
		return time.Unix(0, 0)
	}
	s.model = middleware.With(middleware.Env{
		Journal: wiredJournal{s.journal, w}, Counter: wiredCounter{w}, Clock: clock,
	}, mws...)(func(ctx context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		s.sent = req.Messages
		if err := w.step("model"); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &middleware.Response{}, nil
	})
	return s
}

func messagesOf(v *middleware.View) iter.Seq[message.Message] {
	return func(yield func(message.Message) bool) {
		for _, m := range v.Messages() {
			if !yield(m) {
				return
			}
		}
	}
}

// ifLong leaves a fold alone that covers less than so many tokens.
func ifLong(least int, plan func(look) []middleware.Edit) func(look) []middleware.Edit {
	return func(l look) []middleware.Edit {
		n := 0
		edits := plan(l)
		for _, e := range edits {
			for _, r := range e.Runs {
				for i := r.First; i <= r.Last; i++ {
					n += l.tokens[i]
				}
			}
		}
		if n < least {
			return nil
		}
		return edits
	}
}

// scene is what came of one call.
type scene struct {
	sent []message.Message
	told map[string][]string // by editor, without what a conversation has once
	once []string            // that
	err  error
}

func (s *stage) call(ctx context.Context, h []message.Message) scene {
	s.sent, s.told = nil, nil
	r := scene{told: map[string][]string{}}
	tools := []message.ToolDef{{Name: "read", Description: strings.Repeat("pages ", 80)}}
	_, r.err = s.model(ctx, &middleware.Request{Messages: h, Tools: tools}, nil)
	r.sent = s.sent
	for _, e := range s.told {
		switch e.Kind {
		case middleware.Notice, middleware.Misconfigured:
			r.once = append(r.once, e.By+": "+string(e.Kind))
		default:
			r.told[e.By] = append(r.told[e.By], e.String())
		}
	}
	return r
}

// play calls with one history after the other.
func (s *stage) play(histories [][]message.Message) []scene {
	var out []scene
	for _, h := range histories {
		out = append(out, s.call(context.Background(), h))
	}
	return out
}

// attack lets the wire go off at one step of one call after the other, and sees
// how it goes on.
type attack struct {
	strict    bool
	histories [][]message.Message
	off       func(w *tripwire, cancel func()) error
	never     []scene        // all calls, if nothing ever goes off
	hits      map[string]int // calls that have failed, by the step
}

// twice returns what comes of call k and those behind it if call k has been made
// before.
func (a *attack) twice(k int) []scene {
	s := newStage(a.strict)
	s.play(a.histories[:k+1])
	return s.play(a.behind(k))
}

// behind returns call k once more and those behind it, as far as they are looked
// at.
func (a *attack) behind(k int) [][]message.Message {
	return a.histories[k:min(k+4, len(a.histories))]
}

// at attacks call k at step n, and reports whether there is such a step.
func (a *attack) at(t *testing.T, k, n int) bool {
	t.Helper()
	s := newStage(a.strict)
	s.play(a.histories[:k])
	before := maps.Clone(s.journal.entries)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.wire.set(n, func() error { return a.off(&s.wire, cancel) })
	hit := s.call(ctx, a.histories[k])
	where, wrote := s.wire.where, s.wire.wrote
	s.wire.set(0, nil)
	if where == "" || hit.err == nil { // a journal may fail, and nobody minds
		require.NoError(t, hit.err)
		return where != ""
	}
	a.hits[where]++
	why := fmt.Sprintf("call %d, which fails at step %d, %s", k, n, where)
	after := maps.Clone(s.journal.entries)
	got, never := s.play(a.behind(k)), a.never[k:]
	for i := range got {
		require.NoError(t, got[i].err)
		requireSame(t, never[i].sent, got[i].sent, "%s: the views behind it are what they would have been", why)
	}
	switch {
	case hit.sent != nil || rested(hit): // the model was asked
		requireEvents(t, a.twice(k), got, why+", has been made")
	case wrote || where == "put":
		requireEither(t, never, a.twice(k), got, why)
	default:
		require.True(t, maps.Equal(before, after), "%s, leaves the journal as it was", why)
		requireEvents(t, never, got, why+", has never been made")
	}
	told, want := slices.Clone(hit.once), []string{}
	for i := range got {
		told = append(told, got[i].once...)
		want = append(want, never[i].once...)
	}
	require.ElementsMatch(t, want, told, "%s: what a conversation is told once it is told once", why)
	return true
}

// rested reports whether an event has said that an editor rests: the call's edits
// had been kept by then.
func rested(r scene) bool {
	for _, events := range r.told {
		if slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, ": paused: ") }) {
			return true
		}
	}
	return false
}

// requireEvents fails unless the same is told, call by call.
func requireEvents(t *testing.T, want, got []scene, why string) {
	t.Helper()
	for i := range got {
		require.Equal(t, want[i].told, got[i].told, "%s; what is told in call %d behind it", why, i)
	}
}

// requireEither fails unless all goes on as if the call had never been made, or as
// if it had been.
func requireEither(t *testing.T, never, made, got []scene, why string) {
	t.Helper()
	tells := func(scenes []scene) (events []string) {
		for _, s := range scenes[:len(got)] {
			events = append(events, fmt.Sprint(s.told))
		}
		return events
	}
	require.Contains(t, [][]string{tells(never), tells(made)}, tells(got), "%s; what is told behind it", why)
}

// all attacks each step of each call: a third of them in a plain go test.
func (a *attack) all(t *testing.T) {
	t.Helper()
	history, calls := turns(3, 6)
	for _, n := range calls {
		a.histories = append(a.histories, history[:n])
	}
	a.hits = map[string]int{}
	a.never = newStage(a.strict).play(a.histories)
	for k := range a.histories {
		step := soak.Nth(3, 1)
		n := 1 + k%step
		for a.at(t, k, n) {
			n += step
		}
	}
	t.Logf("calls that failed: %v", a.hits)
}

// TestCancelAnywhere cancels each call of a conversation at each step at which
// something is called that is not the chain's own.
func TestCancelAnywhere(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for name, honest := range map[string]bool{"what is called goes on": false, "what is called gives up": true} {
		for _, strict := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, strict %t", name, strict), func(t *testing.T) {
				t.Parallel()
				a := &attack{strict: strict, off: func(_ *tripwire, cancel func()) error {
					cancel()
					if honest {
						return context.Canceled
					}
					return nil
				}}
				a.all(t)
				for _, where := range []string{"find", "put", "counter", "clock", "trigger", "editor", "make", "mender", "observer", "model"} {
					require.Positive(t, a.hits[where], "%s has been a step: %v", where, a.hits)
				}
			})
		}
	}
}

// TestFailAnywhere lets editors, triggers and folds fail under Strict at each
// step, with an error or a panic.
func TestFailAnywhere(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprintf("panics %t", panics), func(t *testing.T) {
			t.Parallel()
			a := &attack{strict: true, off: func(w *tripwire, _ func()) error {
				switch {
				case !slices.Contains([]string{"trigger", "editor", "make", "mender"}, w.where):
					return nil
				case panics:
					panic(errMood)
				}
				return errMood
			}}
			a.all(t)
			require.Len(t, a.hits, 4, "what can fail the call: %v", a.hits)
		})
	}
}

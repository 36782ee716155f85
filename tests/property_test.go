package tests

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
)

// world is a conversation, the chain that edits it, and the reference that says
// what should come out.
type world struct {
	dice    dice
	chat    chat
	journal journal.Journal
	env     middleware.Env
	editors []editor
	chain   middleware.Middleware
	ref     *reference

	system  []message.Message
	history []message.Message // without the system messages
	inject  bool              // a context stands in the newest question of each call
	shown   []message.Message // what the model was sent last
	log     []string          // what was done, for failures
}

func newWorld(d dice, journal journal.Journal) *world {
	w := &world{dice: d, chat: chat{dice: d, broken: d.roll("broken world", 4) == 3}, journal: journal, editors: randomEditors(d)}
	w.ref = &reference{editors: w.editors, adopts: d.roll("adopts", 3) == 0, journal: map[message.ID][]*refEdit{}}
	w.env = middleware.Env{Journal: journal, HistoryIsView: w.ref.adopts}
	w.system = []message.Message{message.System("You are a test.")}
	w.restart()
	for _, e := range w.editors {
		w.notef("editor %q, MinCalls %d, trigger %t", e.name, e.minCalls, e.when != nil)
	}
	return w
}

func (w *world) notef(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// restart makes a new chain on the same journal, nested in some way.
func (w *world) restart() {
	w.ref.seen = new([][]message.ID)
	mws := layers(w.editors...)
	first := w.dice.roll("nested from", len(mws)+1)
	last := first + w.dice.roll("nested to", len(mws)-first+1)
	inner := middleware.Chain(mws[first:last]...)
	w.chain = middleware.With(w.env, slices.Concat(mws[:first], []middleware.Middleware{inner}, mws[last:])...)
}

// step does one thing and calls.
func (w *world) step(t require.TestingT) {
	n := len(w.history)
	switch a := w.dice.roll("action", 20); a {
	default:
		w.extend(1 + w.dice.roll("messages", 3))
	case 9:
		w.restart()
		w.notef("restart")
	case 10:
		at := w.dice.roll("fork at", n+1)
		w.history = slices.Clone(w.history[:at])
		w.notef("fork at %d", at)
		w.extend(1)
	case 11:
		at := w.dice.roll("prefix", n+1)
		w.notef("replay the first %d", at)
		w.call(t, w.history[:at], nil)
		return
	case 12:
		w.change(w.dice.roll("changed", n+1))
	case 13:
		for i, m := range slices.Backward(w.history) {
			if m.Role == message.RoleUser {
				w.change(i)
				break
			}
		}
	case 14:
		w.inject = !w.inject
		w.notef("inject %t", w.inject)
		w.extend(1)
	case 15:
		w.system[0] = message.System(fmt.Sprintf("It is %d o'clock.", w.chat.serial))
		w.notef("clock")
	case 16:
		w.system = []message.Message{message.System("You are a test."), message.System("Be brief."), message.System("Be kind.")}[:w.dice.roll("system", 4)]
		if len(w.system) == 0 {
			w.system = nil
		}
		w.system = append([]message.Message{message.System("first")}, w.system...)
		w.notef("%d system messages", len(w.system))
	case 17:
		if n > 0 {
			at := w.dice.roll("pinned", n)
			w.history = slices.Clone(w.history)
			w.history[at].Hints.Pinned = !w.history[at].Hints.Pinned
			w.notef("pin %d: %t", at, w.history[at].Hints.Pinned)
		}
	case 18:
		if len(w.shown) > 0 {
			w.history = testkit.Clone(w.shown[message.Leading(w.shown):])
			w.notef("adopt the view of %d", len(w.history))
			w.extend(1)
		}
	case 19:
		force := []string{"*"}
		if w.dice.roll("force", 2) == 0 {
			force[0] = w.editors[0].name
		}
		w.notef("force %q", force)
		w.call(t, w.history, force)
		return
	}
	w.call(t, w.history, nil)
}

func (w *world) extend(steps int) {
	for range steps {
		w.history = w.chat.grow(w.history)
	}
	w.notef("extend to %d", len(w.history))
}

// change changes a message in place, as its owner may between two calls.
func (w *world) change(at int) {
	if at >= len(w.history) || len(w.history[at].Parts) == 0 {
		return
	}
	m := &w.history[at]
	switch p := m.Parts[0].(type) {
	case message.Text:
		m.Parts[0] = message.Text{Text: p.Text + " changed"}
	case message.ToolResult:
		p.Text += " changed"
		m.Parts[0] = p
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
		m.Name += "x"
	}
	w.notef("change %d", at)
}

// call compares what chain and reference make of a history.
func (w *world) call(t require.TestingT, body []message.Message, force []string) {
	history := append(slices.Clone(w.system), body...)
	if w.inject {
		history = testkit.Clone(history)
		for i, m := range slices.Backward(history) {
			if m.Role == message.RoleUser {
				history[i].Parts = append(slices.Clip(m.Parts), message.Text{Text: fmt.Sprintf("context %d", len(history))})
				break
			}
		}
	}
	before := testkit.Clone(history)
	w.notef("call with %d + %d, ends with %s", len(w.system), len(body), lastRole(history))
	req, events, err := w.apply(history, force)
	require.NoError(t, err, w.story())
	require.Equal(t, before, history, "the caller's history stays as it was\n%s", w.story())
	want, wantEvents := w.ref.view(testkit.Clone(history), force)
	requireSame(t, want, req.Messages, "the view is that of the reference\n%s", w.story())
	require.Equal(t, wantEvents, told(events), "the events are those of the reference\n%s", w.story())
	w.sound(t, history, req.Messages)
	w.shown = req.Messages
}

func (w *world) apply(history []message.Message, force []string) (*middleware.Request, []middleware.Event, error) {
	return middleware.Apply(testContext, w.chain, &middleware.Request{Messages: history, Force: force})
}

// sound fails if the view breaks a rule that the history does not break.
func (w *world) sound(t require.TestingT, history, shown []message.Message) {
	requireNoWorse(t, history, shown, w.story())
	n := message.Leading(history)
	requireSame(t, history[:n], shown[:n], "leading system messages stay\n%s", w.story())
}

func (w *world) story() string { return strings.Join(w.log, "\n") }

func lastRole(h []message.Message) message.Role {
	if len(h) == 0 {
		return "nothing"
	}
	return h[len(h)-1].Role
}

// told writes the events of editors as the reference does, without those that a
// conversation has once, since it does not know conversations. A fork may look
// like a sliding window.
func told(events []middleware.Event) []string {
	var out []string
	for _, e := range events {
		switch e.Kind {
		case middleware.Notice, middleware.Missed: // a reference of views has no prefix
		default:
			out = append(out, e.By+": "+string(e.Kind))
		}
	}
	return out
}

// TestTwoProcesses lets two chains on one journal take turns in a conversation
// that only grows.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkTwoProcesses)
}

func checkTwoProcesses(t *rapid.T) {
	w := newWorld(rapidDice{t}, newTexts())
	chains := []middleware.Middleware{w.chain, middleware.With(w.env, layers(w.editors...)...)}
	seen := []*[][]message.ID{w.ref.seen, new([][]message.ID)}
	for range rapid.IntRange(1, 30).Draw(t, "steps") {
		k := w.dice.roll("process", 2)
		w.chain, w.ref.seen = chains[k], seen[k]
		w.notef("process %d", k)
		w.extend(w.dice.roll("messages", 4))
		w.call(t, w.history, nil)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkReference)
}

func checkReference(t *rapid.T) {
	journal := journal.NewMemory(0)
	if rapid.Bool().Draw(t, "store") {
		journal = newTexts()
	}
	w := newWorld(rapidDice{t}, journal)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		w.step(t)
	}
}

// TestLateFoldsThatFreeLittle has a trigger that the system prompt meets by itself, so that a further fold has to free
// a tenth of it. A fold whose text is not made yet counts as estimated: its text is not made just to find out more.
func TestLateFoldsThatFreeLittle(t *testing.T) {
	t.Parallel()
	for _, estimate := range []int{0, 40, 80} {
		e := editor{name: "fold later", plan: foldsLater(3, estimate), when: func(l look) bool { return l.total >= 300 }}
		w := newWorld(&fixedDice{state: 1}, journal.NewMemory(0))
		w.editors, w.ref.editors = []editor{e}, []editor{e}
		w.system = []message.Message{message.System(strings.Repeat("You are a test. ", 100))}
		w.restart()
		for range 100 {
			w.extend(1)
			w.call(t, w.history, nil)
		}
	}
}

// TestSoak runs the properties for as many minutes as LACONIC_SOAK says.
func TestSoak(t *testing.T) {
	t.Parallel()
	end := soakUntil(t)
	for round := 0; time.Now().Before(end); round++ {
		for name, check := range map[string]func(*rapid.T){
			"reference": checkReference, "two processes": checkTwoProcesses,
		} {
			t.Run(fmt.Sprintf("%s %d", name, round), func(t *testing.T) { rapid.Check(t, check) })
		}
	}
}

// soakUntil skips the test unless it is asked for, and returns when it has to end.
func soakUntil(t *testing.T) time.Time {
	minutes, err := time.ParseDuration(os.Getenv("LACONIC_SOAK") + "m")
	if err != nil || minutes <= 0 {
		t.Skip("a long test: set LACONIC_SOAK to the minutes that it may take")
	}
	return time.Now().Add(minutes)
}

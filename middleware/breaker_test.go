package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// move is what an actor does when it is asked.
type move string

const (
	fails     move = "fails"
	panics    move = "panics"
	refused   move = "is refused"
	unmade    move = "cannot make its fold"
	panicMade move = "panics in its fold"
	larger    move = "makes a fold that is larger than estimated"
	badMade   move = "makes a fold whose error is of kind invalid"
	dearVain  move = "makes a fold that leaves the trigger met"
	dear      move = "makes a fold that leaves the trigger unmet"
	cheapVain move = "clears, and leaves the trigger met"
	cheap     move = "clears, and leaves the trigger unmet"
	nothing   move = "has no plan"
	whyOnly   move = "has a plan without edits"
	misfits   move = "has options that do not fit"
	unmet     move = "has a trigger that is not met"
)

// inVain are attempts without progress, getsOn those with, and idles are none.
var (
	inVain = []move{fails, panics, refused, unmade, panicMade, larger, badMade, dearVain}
	getsOn = []move{dear, cheapVain, cheap}
	idles  = []move{nothing, whyOnly, misfits, unmet}
)

// actor is an editor that does what it is told, with a trigger that plays along.
type actor struct {
	mu      sync.Mutex
	next    move
	asked   int // how often it was asked for a plan
	looked  int // how often its trigger was
	planned bool
}

// does says what comes next.
func (a *actor) does(m move) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next, a.planned = m, false
}

// Met implements [middleware.Trigger]. Behind a plan it says what the move is
// to leave.
func (a *actor) Met(*middleware.View, func() *middleware.Plan) (met bool, why string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked++
	if a.planned {
		return a.next == dearVain || a.next == cheapVain, "behind it", nil
	}
	return a.next != unmet, "before it", nil
}

func (a *actor) plan(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	a.planned = true
	edit := func(e middleware.Edit) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{e}}, nil
	}
	switch a.next {
	case fails:
		return nil, errors.New("no idea")
	case panics:
		panic("no idea at all")
	case misfits:
		return nil, &middleware.Error{Kind: middleware.Invalid, Err: errors.New("no window")}
	case nothing, unmet:
		return nil, nil
	case whyOnly:
		return &middleware.Plan{Why: "it is not worth it"}, nil
	case refused:
		return edit(middleware.FoldOf(0, 0))
	case cheap, cheapVain:
		i := oldestResult(v)
		r, _ := v.At(i).Parts[0].(message.ToolResult)
		r.Text = "-"
		return edit(middleware.RewriteOf(i, r))
	case unmade, panicMade, larger, badMade, dear, dearVain:
	}
	i := oldestResult(v)
	fold := middleware.FoldOf(i-1, i)
	fold.Estimate, fold.Make = 5, a.next.makes
	return edit(fold)
}

// makes is the Make of a move that folds.
func (m move) makes(context.Context) ([]message.Message, error) {
	switch m {
	case panicMade:
		panic("no summary at all")
	case unmade:
		return nil, errors.New("no summary")
	case badMade:
		return nil, &middleware.Error{Kind: middleware.Invalid, Op: "provider", Err: errors.New("bad request")}
	case larger:
		return []message.Message{message.User(strings.Repeat("a long summary ", 500))}, nil
	default:
		return []message.Message{message.User("[a round]")}, nil
	}
}

// oldestResult returns the position of the oldest result that is as it was.
func oldestResult(v *middleware.View) int {
	for i, m := range v.Messages() {
		if m.Role == message.RoleTool && v.Span(i).Edit == nil {
			return i
		}
	}
	return -1
}

func (a *actor) middleware(opts middleware.Options) middleware.Middleware {
	opts.Trigger = a
	return middleware.Editing("actor", a.plan, opts)
}

// chat is a conversation that an actor works on: it grows before each call.
type chat struct {
	history []message.Message
	cancel  func() // of the call that is to be canceled
}

func newChat() *chat { return begunWith("Begin.") }

func begunWith(text string) *chat {
	c := &chat{history: []message.Message{message.User(text)}}
	c.ask("Go on for long.")
	c.history = withRounds(c.history, 20)
	return c
}

func withRounds(h []message.Message, n int) []message.Message {
	for range n {
		id := fmt.Sprint("c", len(h))
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", strings.Repeat(id+" is a long page ", 30)))
	}
	return slices.Clip(h)
}

// call lets the conversation grow and calls. It returns the events.
func (c *chat) call(t require.TestingT, mw middleware.Middleware, force ...string) []middleware.Event {
	c.history = withRounds(c.history, 1)
	return c.again(t, mw, force...)
}

// again calls with the same history.
func (c *chat) again(t require.TestingT, mw middleware.Middleware, force ...string) []middleware.Event {
	_, events, err := middleware.Apply(context.Background(), mw, &middleware.Request{Messages: c.history, Force: force})
	require.NoError(t, err)
	return events
}

// ask lets the user speak.
func (c *chat) ask(text string) {
	c.history = append(c.history, message.Assistant(message.Text{Text: "So it is."}), message.User(text))
}

// only returns the events of one kind.
func only(events []middleware.Event, k middleware.EventKind) []middleware.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e middleware.Event) bool { return e.Kind != k })
}

// notices returns the notices that contain a text.
func notices(events []middleware.Event, about string) []middleware.Event {
	return slices.DeleteFunc(only(events, middleware.Notice), func(e middleware.Event) bool { return !strings.Contains(e.Why, about) })
}

// TestWhatWakes lets an editor rest, and then something happens.
func TestWhatWakes(t *testing.T) {
	t.Parallel()
	inject := func(c *chat) {
		m := &c.history[2]
		m.Parts = append(slices.Clip(m.Parts), message.Text{Text: fmt.Sprint("Message ", len(c.history))})
	}
	tests := map[string]struct {
		happens func(c *chat)
		force   []string
		wakes   bool
	}{
		"nothing":              {happens: func(*chat) {}},
		"another question":     {happens: func(c *chat) { c.ask("And now?") }, wakes: true},
		"the same question":    {happens: func(c *chat) { c.ask("Go on for long.") }, wakes: true},
		"a context in it":      {happens: inject},
		"a system prompt":      {happens: func(c *chat) { c.history = append([]message.Message{message.System("Be brief.")}, c.history...) }},
		"force":                {happens: func(*chat) {}, force: []string{"actor"}, wakes: true},
		"force of another":     {happens: func(*chat) {}, force: []string{"author"}},
		"another conversation": {happens: func(c *chat) { *c = *begunWith("What now?") }, wakes: true},
		"one that begins alike": {happens: func(c *chat) {
			c.history = withRounds(append(c.history[:1:1], message.Assistant(message.Text{Text: "No."}), message.User("Please.")), 20)
		}, wakes: true},
		"another beginning": {happens: func(c *chat) {
			c.history = slices.Clone(c.history)
			c.history[1] = message.Assistant(message.Text{Text: "Another way."})
		}, wakes: true},
		"a fork in the turn": {happens: func(c *chat) { c.history = slices.Clone(c.history[:len(c.history)-4]) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, c := &actor{}, newChat()
			mw := a.middleware(middleware.Options{})
			for range 4 {
				a.does(fails)
				c.call(t, mw)
			}
			require.Equal(t, 3, a.asked, "it rests")
			tt.happens(c)
			a.does(fails)
			events := c.call(t, mw, tt.force...)
			require.Equal(t, tt.wakes, a.asked == 4, "whether it is asked: %v", events)
			require.Empty(t, only(events, middleware.Paused), "what is known is not told again")
		})
	}
}

// TestRestIsModelled compares random sequences with a model of four lines.
func TestRestIsModelled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(-1, 4).Draw(t, "PauseAfter")
		a, c := &actor{}, newChat()
		env := middleware.Env{HistoryIsView: rapid.Bool().Draw(t, "adopts")}
		mw := middleware.With(env, a.middleware(middleware.Options{PauseAfter: limit}), c.cancels())
		if limit == 0 {
			limit = 3
		}
		tries := 0
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			if rapid.IntRange(0, 5).Draw(t, "user") == 0 {
				c.ask("And now?")
				tries = 0
			}
			m := rapid.SampledFrom(slices.Concat(inVain, inVain, getsOn[:1], idles)).Draw(t, "move")
			force := rapid.SampledFrom([]string{"", "", "", "actor", "another"}).Draw(t, "force")
			how := rapid.SampledFrom([]string{"call", "call", "call", "call", "canceled", "draft", "commit"}).Draw(t, "how")

			tried := limit < 0 || tries < limit || force == "actor"
			next, rests := tries, false
			switch {
			case !tried:
			case slices.Contains(inVain, m):
				next++
				rests = limit > 0 && next >= limit && tries < limit
			case slices.Contains(getsOn, m):
				next = 0
			}
			asked := tried && (m != unmet || force == "actor")

			a.does(m)
			before := a.asked
			events, kept := c.happen(t, mw, how, force)
			require.Equal(t, asked, a.asked == before+1, "the editor is asked, at %d of %d: %v", tries, limit, events)
			if how != "canceled" {
				require.Equal(t, rests, len(only(events, middleware.Paused)) == 1, "it begins to rest, at %d of %d: %v", tries, limit, events)
			} else {
				require.Empty(t, only(events, middleware.Paused), "a call that fails opens nothing")
			}
			if kept {
				tries = next
			}
		}
	})
}

// happen makes a call in some way, and says whether what it tried counts.
func (c *chat) happen(t require.TestingT, mw middleware.Middleware, how, force string) (events []middleware.Event, counts bool) {
	c.history = withRounds(c.history, 1)
	req := &middleware.Request{Messages: c.history, Force: []string{force}}
	switch how {
	case "draft", "commit":
		d, err := middleware.Draft(context.Background(), mw, req)
		require.NoError(t, err)
		if how == "commit" {
			require.NoError(t, d.Commit(context.Background()))
		}
		return d.Events, how == "commit"
	case "canceled":
		var ctx context.Context
		ctx, c.cancel = context.WithCancel(context.Background())
		_, events, err := middleware.Apply(ctx, mw, req)
		c.cancel = nil
		require.ErrorIs(t, err, context.Canceled)
		return events, false
	}
	return c.again(t, mw, force), true
}

// cancels is a layer that cancels a call that shall be.
func (c *chat) cancels() middleware.Middleware {
	return middleware.Editing("cancel", func(context.Context, *middleware.View) (*middleware.Plan, error) {
		if c.cancel != nil {
			c.cancel()
		}
		return nil, nil
	}, middleware.Options{})
}

package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// shapes are histories that once took quadratic time.
var shapes = []struct {
	name  string
	build func(n int) []message.Message
}{
	{"late results", func(n int) []message.Message {
		h := []message.Message{message.User("question")}
		for i := range n {
			h = append(h, message.Assistant(call(i)))
		}
		for i := range n {
			h = append(h, answer(i))
		}
		return h
	}},
	{"user messages in a row", func(n int) []message.Message {
		h := make([]message.Message, n)
		for i := range h {
			h[i] = message.User(fmt.Sprintf("message %d", i))
		}
		return h
	}},
	{"texts and images in the question", func(n int) []message.Message {
		m := message.Message{Role: message.RoleUser}
		for i := range n {
			m.Parts = append(m.Parts, message.Text{Text: fmt.Sprintf("text %d", i)}, message.Media{Type: "image/png", Data: "not an image"})
		}
		return []message.Message{m}
	}},
	{"parallel calls", func(n int) []message.Message {
		m := message.Message{Role: message.RoleAssistant}
		h := []message.Message{message.User("question"), {}}
		for i := range n {
			m.Parts = append(m.Parts, call(i))
			h = append(h, answer(i))
		}
		h[1] = m
		return append(h, message.Assistant(call(n)), answer(n))
	}},
	{"parallel calls without results", func(n int) []message.Message {
		m := message.Message{Role: message.RoleAssistant}
		for i := range n {
			m.Parts = append(m.Parts, call(i))
		}
		return []message.Message{message.User("question"), m, message.User("another question")}
	}},
	{"one call ID", func(n int) []message.Message {
		m := message.Message{Role: message.RoleAssistant}
		h := []message.Message{message.User("question"), {}}
		for range n {
			m.Parts = append(m.Parts, call(0))
			h = append(h, answer(0))
		}
		h[1] = m
		return h
	}},
}

func call(i int) message.ToolCall {
	return message.ToolCall{ID: fmt.Sprintf("call-%d", i), Name: "read", Arguments: "{}"}
}

func answer(i int) message.Message {
	return message.Result(fmt.Sprintf("call-%d", i), "read", strings.Repeat(fmt.Sprintf("line %d ", i), 5))
}

// each is every middleware alone.
var each = []struct {
	name string
	new  func() middleware.Middleware
}{
	{"contextedit", func() middleware.Middleware { return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1)}) }},
	{"microcompact", func() middleware.Middleware {
		return microcompact.New(microcompact.Options{Limit: microcompact.Limits{Results: 10}})
	}},
	{"trim", func() middleware.Middleware { return trim.New(trim.Options{Trigger: trigger.Tokens(1)}) }},
	{"summarize", func() middleware.Middleware {
		return summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(1)})
	}},
	{"fit", func() middleware.Middleware { return fit.New(fit.Options{Rules: message.Portable}) }},
}

// Sizes of the histories, and the window of the large one. Smaller ones have smaller windows, so that as large a share
// of them has to be removed.
const (
	small  = 500
	large  = 4000
	window = 20_000
)

// one makes a call; an error of size is fine.
func one(ctx context.Context, mw middleware.Middleware, h []message.Message, window int) {
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: store.NewMemory(0)}, mw)
	_, _, _ = middleware.Apply(ctx, chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
}

// TestGrowth checks that allocated bytes grow like the history: what copies a list again and again does not.
func TestGrowth(t *testing.T) { //nolint:paralleltest // it counts for the whole process
	long(t)
	for s, shape := range shapes {
		for k, mw := range each {
			if (s+k)%soak.Nth(4, 1) > 0 {
				continue
			}
			a, b := allocated(mw.new, shape.build(small), window*small/large), allocated(mw.new, shape.build(large), window)
			if b > 14*a {
				t.Errorf("%s, %s: %d bytes for %d and %d for %d, %.1f times as many", shape.name, mw.name, a, small, b, large, float64(b)/float64(a))
			}
		}
	}
}

// allocated returns the bytes that one call allocates. No other test may run meanwhile.
func allocated(mw func() middleware.Middleware, h []message.Message, window int) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	one(context.Background(), mw(), h, window)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// countdown is a context that is done once it has been asked more than left times, and a counter of tokens that counts
// its calls: the work that is done between two questions and after the last one.
type countdown struct {
	context.Context //nolint:containedctx // it is one

	left        int
	asked, late int // questions, and those after it was done
	work, most  int // calls of Count since the last question, or since it was done; the most between two
}

func (c *countdown) Err() error {
	if c.late > 0 {
		c.late++
		return context.Canceled
	}
	c.asked++
	c.most, c.work = max(c.most, c.work), 0
	if c.asked > c.left {
		c.late++
		return context.Canceled
	}
	return nil
}

func (c *countdown) Count(text string) int {
	c.work++
	return tokens.Chars4.Count(text)
}

// run makes a call with this context and counter.
func (c *countdown) run(mw middleware.Middleware, h []message.Message) error {
	c.Context = context.Background()
	chain := middleware.With(middleware.Env{Counter: c, Archive: store.NewMemory(0)}, mw)
	_, _, err := middleware.Apply(c, chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
	return err
}

// TestContext makes calls whose context is done sooner or later: each returns the error of the context after a few
// more questions and little more work. Only what reads the whole history once, to follow or to repair it, counts many
// texts between two questions.
func TestContext(t *testing.T) {
	t.Parallel()
	long(t)
	const few, little = 20, 2000
	step := soak.Every(16) + 3
	for s, shape := range shapes {
		h := shape.build(large)
		idle := &countdown{left: math.MaxInt}
		_ = idle.run(middleware.Editing("idle", nothing, middleware.Options{}), h)
		for k, mw := range each {
			if (s+k)%soak.Nth(12, 3) > 0 {
				continue
			}
			whole := &countdown{left: math.MaxInt}
			_ = whole.run(mw.new(), h)
			if most := max(idle.most, large) + little; whole.most > most {
				t.Errorf("%s, %s: %d texts counted between two questions, want at most %d", shape.name, mw.name, whole.most, most)
			}
			for left := 0; left < whole.asked; left = step*left + step - 1 {
				c := &countdown{left: left}
				err := c.run(mw.new(), h)
				if !errors.Is(err, context.Canceled) || c.late > few || c.work > little {
					t.Errorf("%s, %s: after %d of %d questions the context is done, then it is asked %d times and %d texts are counted: %v",
						shape.name, mw.name, left, whole.asked, c.late, c.work, err)
				}
			}
		}
	}
}

func nothing(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }

// TestContextOfLateResults has a history for which fit once took minutes after its context was done.
func TestContextOfLateResults(t *testing.T) {
	t.Parallel()
	long(t)
	h := shapes[0].build(12_000)
	for _, left := range []int{0, 10, 1000} {
		c := &countdown{left: left}
		if err := c.run(fit.New(fit.Options{Rules: message.Portable}), h); !errors.Is(err, context.Canceled) || c.late > 20 || c.work > 2000 {
			t.Errorf("done after %d questions, then asked %d times, %d texts counted: %v", left, c.late, c.work, err)
		}
	}
}

// long skips a test with long histories, which runs once, without the race detector.
func long(t *testing.T) {
	t.Helper()
	if race.Enabled || testing.Short() {
		t.Skip("runs without the race detector and without -short")
	}
}

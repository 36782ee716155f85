package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// cutting is a server that reads only a part of a long prompt, and reports what it has read.
type cutting struct {
	meter  tokens.Meter
	window int
	cut    func(c *cutting, msgs []message.Message) (read int)

	row, longest int // prompts in a row that were cut, and at most
}

// leavesOut leaves out the oldest messages but those of the system, as Ollama does.
func leavesOut(c *cutting, msgs []message.Message) int {
	lead := message.Leading(msgs)
	for from := lead; from < len(msgs); from++ {
		if n := c.meter.Request(slices.Concat(msgs[:lead], msgs[from:]), nil); n <= c.window {
			return n
		}
	}
	return c.window
}

// fills leaves out no more than it must.
func fills(c *cutting, _ []message.Message) int { return c.window }

func (c *cutting) answer(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	n := c.meter.Request(req.Messages, req.Tools)
	if n <= c.window {
		c.row = 0
	} else {
		c.row++
		n = c.cut(c, req.Messages)
	}
	c.longest = max(c.longest, c.row)
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "on"}), Usage: message.Usage{Input: n, Output: 1}}, nil
}

// roundOf appends a call and a result of about as many tokens.
func roundOf(r *rand.Rand, h []message.Message, size int, usage *message.Usage) []message.Message {
	words := strings.Fields("error: the file was not found in module beta 1234 config.yaml gamma := func(x int) { return x*2 }")
	var b strings.Builder
	for range size * 3 / 5 {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	id := fmt.Sprint("call_", len(h))
	call := message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"})
	call.Usage = usage
	return append(h, call, message.Result(id, "read", b.String()))
}

// served is the table of models with one that has a window; 0: it is not known.
func served(t *testing.T, window int) *models.Table {
	t.Helper()
	table, err := models.Default().With(models.Model{Name: "served", Window: window})
	require.NoError(t, err)
	return table
}

// TestCutPrompts has servers that cut at 2,048 tokens without an error. After three prompts in a row that were cut, it is
// reported, and the conversation stays below what was accepted; after at most eight if rounds differ in size, or prompts are edited in
// most calls.
func TestCutPrompts(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("one goroutine, and much slower with the race detector")
	}
	type setup struct {
		counted, charged  tokens.Counter
		cut               func(*cutting, []message.Message) int
		window            int // by the table; 0: unknown
		size              int // tokens of a round; 0: 20 to 900
		edited, inHistory bool
	}
	o200k, cl100k := bpe.Encoding("o200k_base"), bpe.Encoding("cl100k_base")
	run := func(t *testing.T, s setup, seed uint64) {
		t.Helper()
		r := rand.New(rand.NewPCG(seed, 1))
		server := &cutting{meter: tokens.Meter{Counter: s.charged}, window: 2048, cut: s.cut}
		var heard middlewaretest.Recorder
		mws := []middleware.Middleware{fit.New(fit.Options{Rules: message.OpenAI})}
		if s.edited {
			mws = slices.Insert(mws, 0, contextedit.New(contextedit.Options{}))
		}
		env := middleware.Env{Counter: s.counted, Models: served(t, s.window)}
		chain := middleware.Chain(heard.Middleware(), middleware.With(env, mws...))
		req := &middleware.Request{Model: "served", Messages: []message.Message{message.System("You fix builds."), message.User("Why does it fail?")}}
		for range 30 {
			model := chain(server.answer)
			if s.inHistory { // the program calls the model, and only the answers in its history have their usage
				sent, _, err := middleware.Apply(t.Context(), chain, req)
				require.NoError(t, err)
				model = func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					return server.answer(ctx, sent, emit)
				}
			}
			resp, err := model(t.Context(), req, nil)
			require.NoError(t, err)
			size := s.size
			if size == 0 {
				size = 20 + r.IntN(880)
			}
			usage := &resp.Usage
			if !s.inHistory {
				usage = nil
			}
			req.Messages = roundOf(r, req.Messages, size, usage)
		}
		most := 3
		if s.edited || s.size == 0 {
			most = 8
		}
		require.LessOrEqual(t, server.longest, most, "prompts in a row that were cut: window %d, size %d, edited %t, in history %t", s.window, s.size, s.edited, s.inHistory)
		events := heard.Events(middleware.Truncated)
		if server.longest < 3 {
			return
		}
		require.NotEmpty(t, events)
		require.Contains(t, events[0].Why, "num_ctx", "with the cure")
		require.Less(t, events[0].After, events[0].Before, "and both numbers")
		require.True(t, events[0].Warning())
		require.Len(t, events, 1, "it is reported once")
	}
	for name, counters := range map[string][2]tokens.Counter{"exact": {o200k, o200k}, "estimate": {nil, cl100k}, "chars4": {tokens.Chars4, o200k}} {
		for how, cut := range map[string]func(*cutting, []message.Message) int{"leaves out": leavesOut, "fills": fills} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				n := 0
				for _, window := range []int{0, 8192} {
					for _, size := range []int{300, 600, 900, 0} {
						for i := range 4 {
							s := setup{counters[0], counters[1], cut, window, size, i&1 != 0, i&2 != 0}
							n++
							if n%soak.Nth(3, 1) == 0 {
								run(t, s, uint64(size+i))
							}
						}
					}
				}
			})
		}
	}
}

// TestNothingIsCut has what looks like a prompt that was cut, and is none.
func TestNothingIsCut(t *testing.T) {
	t.Parallel()
	chars4 := tokens.Meter{Counter: tokens.Chars4}
	r := rand.New(rand.NewPCG(1, 1))
	long := []message.Message{message.User("Why does it fail?")}
	for range 20 {
		long = roundOf(r, long, 400, nil)
	}
	thoughts := []message.Message{message.User("Why?")}
	for range 8 {
		thoughts = append(thoughts, message.Assistant(
			message.Thinking{Text: strings.Repeat("Let me think. ", 286), Signature: "s"}, message.Text{Text: "So."},
		), message.User("And why that?"))
	}
	other := slices.Clone(long)
	other[1] = message.Assistant(message.ToolCall{ID: "call_1", Name: "read", Arguments: `{"of":"another agent"}`})
	plain := func(req *middleware.Request, n int) message.Usage { return message.Usage{Input: n} }
	for name, c := range map[string]struct {
		histories [][]message.Message // whose calls are made in turns
		models    []string            // of calls in turns
		framing   tokens.Framing      // of the provider
		usage     func(req *middleware.Request, n int) message.Usage
	}{
		"all is read":         {histories: [][]message.Message{long}},
		"two agents in turns": {histories: [][]message.Message{long, other}},
		"an expensive model first": {histories: [][]message.Message{long}, models: []string{"served", "served", "served", "served", "b", "b", "b", "b", "b"}, usage: func(req *middleware.Request, n int) message.Usage {
			if req.Model == "served" {
				n = n * 8 / 5
			}
			return message.Usage{Input: n}
		}},
		"old thinking is dropped": {histories: [][]message.Message{thoughts}, framing: tokens.Framing{PerMessage: 4, OldThinkingFree: true}},
		"what is cached is reported apart": {histories: [][]message.Message{long}, usage: func(_ *middleware.Request, n int) message.Usage {
			return message.Usage{Input: n - n/3*2, CacheRead: n / 3 * 2}
		}},
		"a third, as if it were money": {histories: [][]message.Message{long}, usage: func(_ *middleware.Request, n int) message.Usage {
			return message.Usage{Input: n / 3}
		}},
		"nothing is reported": {histories: [][]message.Message{long}, usage: func(*middleware.Request, int) message.Usage { return message.Usage{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.usage == nil {
				c.usage = plain
			}
			if len(c.models) == 0 {
				c.models = []string{"served"}
			}
			meter := tokens.Meter{Counter: chars4.Counter, Framing: c.framing}
			var heard middlewaretest.Recorder
			var window middleware.Budget
			model := middleware.Chain(heard.Middleware(), middleware.With(middleware.Env{Counter: tokens.Chars4, Models: served(t, 128_000)}, fit.New(fit.Options{Rules: message.OpenAI})))(
				func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					window, _ = req.View().Budget()
					return &middleware.Response{
						Message: message.Assistant(message.Text{Text: "on"}), Usage: c.usage(req, meter.Request(req.Messages, req.Tools)),
					}, nil
				})
			for n := 1; n <= len(c.histories[0]); n += 2 {
				for _, h := range c.histories {
					for range 2 { // each call is made again
						_, err := model(t.Context(), &middleware.Request{
							Messages: h[:n], Model: c.models[min(n/2, len(c.models)-1)],
						}, nil)
						require.NoError(t, err)
					}
				}
			}
			require.Empty(t, heard.Events(middleware.Truncated))
			if c.models[len(c.models)-1] == "served" {
				require.Equal(t, 128_000, window.Window)
			}
		})
	}
}

package replay

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// byBytes counts one token for each byte.
type byBytes struct{}

func (byBytes) Count(text string) int { return len(text) }

func text(role message.Role, s string) message.Message {
	return message.Message{Role: role, Parts: []message.Part{message.Text{Text: s}}}
}

// prompt returns a message of the user for each text.
func prompt(all ...string) *middleware.Request {
	r := &middleware.Request{}
	for _, s := range all {
		r.Messages = append(r.Messages, text(message.RoleUser, s))
	}
	return r
}

func TestCostOfPrompts(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat("x", 10)
	tool := func(r *middleware.Request) *middleware.Request {
		r.Tools = []message.ToolDef{{Name: "list"}}
		return r
	}
	for name, c := range map[string]struct {
		o       Options
		after   time.Duration // between the prompts
		prompts []*middleware.Request
		want    []spent
	}{
		"what is new is written, the rest is read": {
			prompts: []*middleware.Request{prompt(ten), prompt(ten, "abc"), prompt(ten, "abc", ten)},
			want:    []spent{{wrote: 10}, {read: 10, wrote: 3}, {read: 13, wrote: 10}},
		},
		"what follows an edit is written again": { // 10 and "ab"; "XY" and twice 10
			prompts: []*middleware.Request{prompt(ten, "abcdef", ten), prompt(ten, "abXY", ten, ten)},
			want:    []spent{{wrote: 26}, {read: 12, wrote: 22}},
		},
		"a repeated prompt is read": {
			prompts: []*middleware.Request{prompt(ten), prompt(ten)},
			want:    []spent{{wrote: 10}, {read: 10}},
		},
		"the cache has whole blocks": {
			o:       Options{Block: 4},
			prompts: []*middleware.Request{prompt(ten), prompt(ten, "abc"), prompt(ten, "abc", ten)},
			want:    []spent{{wrote: 10}, {read: 8, wrote: 5}, {read: 12, wrote: 11}},
		},
		"short prompts are not cached": {
			o:       Options{MinPrefix: 12},
			prompts: []*middleware.Request{prompt(ten), prompt(ten, "abc"), prompt(ten, "abc", ten)},
			want:    []spent{{plain: 10}, {wrote: 13}, {read: 13, wrote: 10}},
		},
		"in time":  {Options{TTL: time.Minute}, time.Minute, []*middleware.Request{prompt(ten), prompt(ten, "abc")}, []spent{{wrote: 10}, {read: 10, wrote: 3}}},
		"too late": {Options{TTL: time.Minute}, time.Minute + 1, []*middleware.Request{prompt(ten), prompt(ten, "abc")}, []spent{{wrote: 10}, {wrote: 13}}},
		"tools come first": {
			prompts: []*middleware.Request{prompt(ten), tool(prompt(ten)), tool(prompt(ten, "abc"))},
			want:    []spent{{wrote: 10}, {wrote: 14}, {read: 14, wrote: 3}},
		},
	} {
		c.o.Counter = byBytes{}
		cache, at := newCache(c.o.complete()), epoch
		for i, p := range c.prompts {
			require.Equal(t, c.want[i], cache.send(p, at), "%s: prompt %d", name, i)
			at = at.Add(c.after)
		}
	}
}

// TestCostOfChain computes by hand what a chain costs that clears a result.
func TestCostOfChain(t *testing.T) {
	t.Parallel()
	call := func(id string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "f", Arguments: "{}"})
	}
	talk := &Conversation{ID: "a", Messages: []message.Message{
		message.User("0123456789"), // 10 tokens
		call("1"),                  // a call: its name, ID and arguments, 4
		message.Result("1", "f", strings.Repeat("r", 99)), // and the ID, 100
		call("2"),
		message.Result("2", "f", strings.Repeat("s", 49)), // 50
		message.Assistant(message.Text{Text: "done"}),
	}}
	// The first result is "cleared", from the third call on.
	edit := seeing(Chain{Name: "edit", New: none}, func(_ middleware.Env, r *middleware.Request) {
		if len(r.Messages) > 4 {
			r.Messages = slices.Clone(r.Messages)
			r.Messages[2] = message.Result("1", "f", "cleared")
		}
	})
	results, err := Run(t.Context(), []*Conversation{talk}, []Chain{{Name: "none", New: none}, edit}, Options{Counter: byBytes{}})
	require.NoError(t, err)
	require.Equal(t, Tokens{Mean: float64(10+114+168) / 3, P95: 168, Peak: 168, Sum: 10 + 114 + 168}, results[0].Tokens)
	require.Equal(t, 10+114+168-92, results[1].Tokens.Sum, "the result has 100 tokens, cleared 8")
	// Prompts: 10; 114 of which 10 are read; 168 of which 114 are read. After the edit: 76 of which 10, 4 and the ID of
	// the result, 1, are read.
	for i, c := range Classes() {
		whole := c.Write*10 + c.Read*10 + c.Write*104 + c.Read*114 + c.Write*54
		edited := c.Write*10 + c.Read*10 + c.Write*104 + c.Read*15 + c.Write*61
		require.InDelta(t, 1, results[0].Cost[c.Name], 1e-12)
		require.InDelta(t, edited/whole, results[1].Cost[c.Name], 1e-12, "class %d", i)
		require.InDelta(t, edited/whole, results[1].Worst[c.Name], 1e-12)
		require.Equal(t, edited > 1.02*whole, results[1].Above[c.Name] == 1)
	}
	require.InDelta(t, 124.0/292, results[0].CacheHit, 1e-12)
}

// TestPricesOfChain checks that a chain that reads prices is replayed with those of each class.
func TestPricesOfChain(t *testing.T) {
	t.Parallel()
	talk := &Conversation{ID: "a", Messages: []message.Message{message.User("hello"), message.Assistant(message.Text{Text: "hi"})}}
	seen := map[models.Rates]int{}
	chain := Chain{Name: "reads prices", Priced: true, Model: "gpt-4o", New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
		m, ok := env.Models.Lookup(modelName)
		require.True(t, ok)
		require.Equal(t, 128_000, m.Window, "the window of gpt-4o")
		if m.Price.CacheRead < m.Price.Input {
			require.Equal(t, models.Cache{Min: 1024, Step: 128, TTL: time.Hour}, m.Cache)
		} else {
			require.Zero(t, m.Cache)
		}
		seen[m.Price.Rates]++
		return middleware.Chain()
	}}
	_, err := Run(t.Context(), []*Conversation{talk}, []Chain{chain}, Options{MinPrefix: 1024, Block: 128, TTL: time.Hour, Output: 4})
	require.NoError(t, err)
	require.Len(t, seen, len(Classes()))
	for _, c := range Classes() {
		require.Equal(t, 1, seen[models.Rates{
			Input: models.USD, CacheRead: models.Cost(math.Round(c.Read * models.USD)),
			CacheWrite: models.Cost(math.Round(c.Write * models.USD)), Output: 4 * models.USD,
		}], c.Name)
	}
}

func none(middleware.Env, middleware.Model) middleware.Middleware { return middleware.Chain() }

// seeing is a chain whose prompts are seen, and may be changed, before they are sent.
func seeing(chain Chain, see func(env middleware.Env, r *middleware.Request)) Chain {
	inner := chain.New
	chain.New = func(env middleware.Env, side middleware.Model) middleware.Middleware {
		return middleware.Chain(inner(env, side), func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				r := *req
				see(env, &r)
				return next(ctx, &r, emit)
			}
		})
	}
	return chain
}

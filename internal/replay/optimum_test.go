package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// hindsight is what clearing all but the newest results would cost, at each choice of calls to clear at. The choice is
// made by someone who knows the whole conversation.
type hindsight struct {
	*tape

	cleared [][]message.Message // by call: the prompt if results are cleared at this call
	sets    [][]int             // by call: the positions of the cleared results
	sums    [][]int             // by call: the tokens of the cleared prompt before each position
	whole   []int               // the tokens of the history before each position
	base    int                 // tokens of the tools
	shared  []map[int]int       // by call: for a position, the tokens that its result and its placeholder have in common
}

// clearingAt returns a chain that clears all but the newest results at the calls that a function chooses.
func clearingAt(keep int, choose func(call int) bool) Chain {
	return Chain{Name: "chosen", New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
		when := trigger.Func(func(v *middleware.View, _ func() *middleware.Plan) (bool, string, error) {
			call := 0
			for _, m := range v.History() {
				if m.Role == message.RoleAssistant {
					call++
				}
			}
			return choose(call), "", nil
		})
		return middleware.With(env, contextedit.New(contextedit.Options{Trigger: when, Keep: keep, Digest: -1}))
	}}
}

func newHindsight(t *testing.T, talk *Conversation, keep int, o Options) *hindsight {
	t.Helper()
	tape, err := newTape(t.Context(), talk, o)
	require.NoError(t, err)
	h := &hindsight{tape: tape}
	record := seeing(clearingAt(keep, func(int) bool { return true }), func(_ middleware.Env, r *middleware.Request) { h.cleared = append(h.cleared, r.Messages) })
	_, err = tape.play(t.Context(), record, Classes()[0], o, false)
	require.NoError(t, err)
	cache := newCache(o)
	h.base = cache.meter.Request(nil, nil) + cache.meter.Tools(talk.Tools)
	sums := func(msgs []message.Message) []int {
		all := make([]int, 1, len(msgs)+1)
		for _, m := range msgs {
			all = append(all, all[len(all)-1]+cache.meter.Message(m))
		}
		return all
	}
	h.whole = sums(h.messages)
	for _, view := range h.cleared {
		var set []int
		shared := map[int]int{}
		for p, m := range view {
			if !m.Equal(h.messages[p]) {
				set = append(set, p)
				if n, length := common(&h.messages[p], &m); length > 0 {
					shared[p] = cache.meter.Message(m) * n / length
				}
			}
		}
		h.sets, h.sums, h.shared = append(h.sets, set), append(h.sums, sums(view)), append(h.shared, shared)
	}
	return h
}

// size returns the tokens of the prompt of call i if results were last cleared at call j; -1: never.
func (h *hindsight) size(i, j int) int {
	at := h.calls[i]
	if j < 0 {
		return h.base + h.whole[at]
	}
	was := h.calls[j]
	return h.base + h.sums[j][was] + h.whole[at] - h.whole[was]
}

// price returns the cost of call i if results were last cleared at call j before it, and are cleared now or not.
func (h *hindsight) price(c Class, i, j int, now bool) float64 {
	if i == 0 {
		return c.Write * float64(h.size(0, -1))
	}
	read, size := h.size(i-1, j), h.size(i, j)
	if now {
		size = h.size(i, i)
		for _, p := range h.sets[i] {
			if j >= 0 && slices.Contains(h.sets[j], p) {
				continue
			}
			if before := h.base + h.sums[i][p] + h.shared[i][p]; p < h.calls[i-1] {
				read = before
			}
			break
		}
	}
	return c.Read*float64(read) + c.Write*float64(size-read)
}

// best returns the lowest cost, and the calls to clear at.
func (h *hindsight) best(c Class) (cost float64, when []bool) {
	n := len(h.calls)
	costs := make([]float64, n+1) // by the last call to clear at; 0: never
	for j := range costs {
		costs[j] = math.Inf(1)
	}
	costs[0] = 0
	origin := make([]int, n)
	for i := range n {
		best, cleared := 0, math.Inf(1)
		for j := range i + 1 {
			if c := costs[j] + h.price(c, i, j-1, true); c < cleared {
				best, cleared = j, c
			}
		}
		for j := range i + 1 {
			costs[j] += h.price(c, i, j-1, false)
		}
		costs[i+1], origin[i] = cleared, best
	}
	last := 0
	for j := range costs {
		if costs[j] < costs[last] {
			last = j
		}
	}
	when = make([]bool, n)
	for j := last; j > 0; j = origin[j-1] {
		when[j-1] = true
	}
	return costs[last], when
}

// rent is the rule of docs/economics.md.
func rent(keep int, factor float64) Chain {
	return Chain{Name: "rent", Priced: true, New: func(env middleware.Env, _ middleware.Model) middleware.Middleware {
		return middleware.With(env, contextedit.New(contextedit.Options{Trigger: trigger.Worth(trigger.EconomyOptions{Factor: factor}), Keep: keep, Digest: -1}))
	}}
}

// requireReplayed replays the best choice, and compares the costs.
func (h *hindsight) requireReplayed(t *testing.T, c Class, keep int, o Options) {
	t.Helper()
	best, when := h.best(c)
	p, err := h.play(t.Context(), clearingAt(keep, func(call int) bool { return when[call] }), c, o, false)
	require.NoError(t, err)
	all, side := p.cost(c, o.Output)
	require.InDelta(t, best, all-side, 1e-6, "%s: the cost of the best choice, and that of its replay", h.ID)
	require.LessOrEqual(t, best, h.none.cost(c)+1e-6)
}

// TestOptimumOfRecorded compares the rent rule with the optimum of recorded conversations: some of those with 30 calls or
// more. It prints the figures of the table of docs/economics.md:
//
//	LACONIC_SOAK=1 go test ./internal/replay -run TestOptimumOfRecorded -v
func TestOptimumOfRecorded(t *testing.T) {
	t.Parallel()
	const keep, least = 5, 30
	conversations := 20
	if !soak.Enabled() {
		conversations = soak.Of(4, 2)
	}
	var talks []*Conversation
	recorded.Files(t) // skips the test without recordings
	n := 0
	for line := range recorded.Lines(t, "conversations.jsonl.gz") {
		n++
		if n%soak.Nth(10, 1) > 0 {
			continue
		}
		c, err := conversation(line)
		require.NoError(t, err)
		if n := len(c.Messages); n > 0 && answers(c) >= least {
			talks = append(talks, c)
		}
	}
	slices.SortStableFunc(talks, func(a, b *Conversation) int { return cmp.Compare(answers(a), answers(b)) })
	o := Options{}.complete()
	classes := Classes()
	none, best := make([]float64, len(classes)), make([]float64, len(classes))
	clears := make([]int, len(classes))
	factors := []float64{1, 0.5, 2}
	online := make([][]float64, len(factors))
	for f := range factors {
		online[f] = make([]float64, len(classes))
	}
	for i := range min(conversations, len(talks)) {
		h := newHindsight(t, talks[i*len(talks)/min(conversations, len(talks))], keep, o)
		for f, factor := range factors {
			out, err := h.replay(t.Context(), rent(keep, factor), o)
			require.NoError(t, err)
			for k := range classes {
				online[f][k] += out.Costs[k]
			}
		}
		for k, c := range classes {
			if i%8 == 0 {
				h.requireReplayed(t, c, keep, o)
			}
			cost, when := h.best(c)
			best[k], none[k] = best[k]+cost, none[k]+h.none.cost(c)
			for _, now := range when {
				if now {
					clears[k]++
				}
			}
		}
	}
	for k, c := range classes {
		line := fmt.Sprintf("%s: optimum, relative to never editing: %.3f, with %d edits", c.Name, best[k]/none[k], clears[k])
		for f, factor := range factors {
			line += fmt.Sprintf("; rent rule, factor %g: %.3f, relative to the optimum: %.3f", factor, online[f][k]/none[k], online[f][k]/best[k])
		}
		t.Log(line)
		require.Less(t, online[0][k], 1.5*best[k], c.Name)
	}
}

func answers(c *Conversation) (n int) {
	for i := range c.Messages {
		if c.Messages[i].Role == message.RoleAssistant {
			n++
		}
	}
	return n
}

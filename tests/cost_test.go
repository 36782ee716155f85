package tests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// TestCostOfBatches computes what the prompts of recorded conversations cost with a prompt
// cache, with edits one by one and with edits together. With LACONIC_SOAK it prints the
// table of docs/microcompact.md; otherwise it computes the rows that it compares:
//
//	LACONIC_SOAK=1 go test ./tests -run TestCostOfBatches -v
func TestCostOfBatches(t *testing.T) {
	t.Parallel()
	histories := tenth(t)
	none, each, byDefault := "no editing", "microcompact, `Batch{Results: 1}`", "microcompact, default"
	always := func(least int) middleware.Middleware {
		return contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), ClearAtLeast: least})
	}
	var rows []string
	cost := map[string]models.Cost{}
	type row struct {
		name  string
		chain middleware.Middleware
	}
	table := []row{
		{none, middleware.Chain()},
		{each, microcompact.New(microcompact.Options{Batch: microcompact.Batch{Results: 1}})},
		{byDefault, microcompact.New(microcompact.Options{})},
	}
	if soak.Enabled() { // make soak
		table = append(table, []row{
			{"microcompact, `Batch{Tokens: 2000}`", microcompact.New(microcompact.Options{Batch: microcompact.Batch{Tokens: 2000}})},
			{"microcompact, `Batch{Results: 10, Tokens: 20000}`", microcompact.New(microcompact.Options{Batch: microcompact.Batch{Results: 10, Tokens: 20_000}})},
			{"contextedit at each call", always(0)},
			{"contextedit, `ClearAtLeast: 2000`", always(2000)},
			{"contextedit, `ClearAtLeast: 5000`", always(5000)},
			{"contextedit, `ClearAtLeast: 20000`", always(20_000)},
		}...)
	}
	for _, row := range table {
		line := "| " + row.name
		for _, model := range []string{"claude-sonnet-4-5", "deepseek-flash"} {
			sum, breaks := models.Cost(0), 0
			for _, h := range histories {
				c, n := charged(t, row.chain, model, h)
				sum, breaks = sum+c, breaks+n
			}
			cost[row.name+model] = sum
			line += fmt.Sprintf(" | %d | $%.2f", breaks, float64(sum)/(models.USD*models.USD))
		}
		rows = append(rows, line+" |")
	}
	t.Logf("%d conversations\n%s", len(histories), strings.Join(rows, "\n"))
	require.Less(t, cost[byDefault+"claude-sonnet-4-5"], cost[none+"claude-sonnet-4-5"], "by default, it saves money")
	require.Less(t, cost[byDefault+"claude-sonnet-4-5"], cost[each+"claude-sonnet-4-5"])
	require.Less(t, cost[byDefault+"deepseek-flash"], cost[each+"deepseek-flash"])
}

// tenth returns every tenth recorded conversation, of those sorted by length. A plain go test takes every fortieth of the
// files, so that it need not read all of them.
func tenth(t *testing.T) (out [][]message.Message) {
	t.Helper()
	var all [][]message.Message
	for _, c := range nth(t, soak.Nth(40, 1)) {
		if !strings.Contains(c.file, "synthetic") {
			all = append(all, c.messages)
		}
	}
	slices.SortStableFunc(all, func(a, b []message.Message) int { return cmp.Compare(len(b), len(a)) })
	for i := 0; i < len(all); i += soak.Of(10, 10) {
		out = append(out, all[i])
	}
	return out
}

// charged returns what all prompts of a conversation cost if the provider reads from its
// cache what is equal to the beginning of the prompt before, and how often it was not the
// whole prompt before.
func charged(t *testing.T, chain middleware.Middleware, name string, h []message.Message) (cost models.Cost, breaks int) {
	t.Helper()
	of, ok := models.Default().Lookup(name)
	require.True(t, ok)
	meter := tokens.Meter{Counter: tokens.Memo(tokens.Estimate{})}
	var before []message.Message
	model := chain(func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		var u message.Usage
		same := 0
		for i, m := range req.Messages {
			n := meter.Message(m)
			if u.Input += n; same == i && i < len(before) && before[i].Equal(m) {
				same++
				u.CacheRead += n
			}
		}
		if same < len(before) {
			breaks++
		}
		if u.CacheRead < of.Cache.Min {
			u.CacheRead = 0
		}
		u.CacheWrite = u.Input - u.CacheRead
		c, ok := of.Price.Cost(u)
		require.True(t, ok)
		cost += c
		before = slices.Clone(req.Messages)
		return &middleware.Response{}, nil
	})
	for i := range h {
		if h[i].Role == message.RoleAssistant && i > 0 {
			_, err := model(t.Context(), &middleware.Request{Messages: h[:i:i], Model: name}, nil)
			require.NoError(t, err)
		}
	}
	return cost, breaks
}

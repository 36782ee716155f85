package trigger_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// of returns a history with a result of each of these sizes, in tokens, and text of the model before it.
func of(text int, sizes ...int) []message.Message {
	h := []message.Message{message.System("You fix builds."), message.User("Why does the nightly build fail?")}
	for i, n := range sizes {
		id := fmt.Sprintf("c%03d", i)
		h = append(h,
			message.Assistant(message.Text{Text: strings.Repeat("text", text)}, message.ToolCall{ID: id, Name: "read", Arguments: `{}`}),
			message.Result(id, "read", strings.Repeat("log ", n)))
	}
	return h
}

func model(t *testing.T, rates models.Rates, cache models.Cache) *models.Table {
	t.Helper()
	table, err := models.Default().With(models.Model{Name: "priced", Window: 1 << 30, Price: models.Price{Rates: rates}, Cache: cache})
	require.NoError(t, err)
	return table
}

// replay makes the calls of a history, one per round, each by a new chain with the same journal if restart is set, and
// returns the events of edits by the number of results in the history.
func replay(t *testing.T, env middleware.Env, h []message.Message, restart bool, mws ...middleware.Middleware) map[int]middleware.Event {
	t.Helper()
	env.Journal, env.Counter = journal.NewMemory(0), tokens.Chars4
	edits := map[int]middleware.Event{}
	call := func() middleware.Middleware { return middleware.With(env, mws...) }
	chain := call()
	for n := 4; n <= len(h); n += 2 {
		if restart {
			chain = call()
		}
		for again := range 2 { // a call that is made again sends the same
			_, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h[:n], Model: "priced"})
			require.NoError(t, err)
			for _, e := range events {
				require.Equal(t, middleware.Edited, e.Kind, "%v", e)
				require.Zero(t, again, "%v", e)
				edits[n/2-1] = e
			}
		}
	}
	return edits
}

// worth is the rule of Worth: half of the calls since the edit before have read what an edit removes.
func worth(text int, sizes []int, keep int, read, write float64) (edits []int) {
	meter := tokens.Meter{Counter: tokens.Chars4, Framing: tokens.DefaultFraming()}
	h := of(text, sizes...)
	count := func(i int) int { return meter.Message(h[i]) }
	placeholder := meter.Message(message.Result("c000", "read", "[cleared]"))
	cleared, last := 0, 0 // results; calls at the edit before
	for n := 1; n <= len(sizes); n++ {
		saved, kept := 0, 0
		for i := 3 + 2*cleared; i < 2*n; i++ { // the newest round is not in the cache
			kept += count(i)
		}
		for k := cleared; k < n-keep; k++ {
			saved += count(3+2*k) - placeholder
		}
		kept -= saved
		if paid := read * float64(saved) * float64(n-last) / 2; saved > 0 && paid >= (write-read)*float64(kept) {
			edits = append(edits, n)
			cleared, last = n-keep, n
		}
	}
	return edits
}

func TestWorth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	several := 0
	for range 60 {
		text, keep := r.IntN(100), 2+r.IntN(3)
		sizes := make([]int, 30)
		for i := range sizes {
			sizes[i] = 10 + r.IntN(600)
		}
		read, write := []float64{1, 0.5, 0.1, 0.02}[r.IntN(4)], 1+0.25*float64(r.IntN(2))
		at := trigger.Worth(trigger.EconomyOptions{Read: read, Write: write})
		for _, restart := range []bool{false, true} {
			var got []int
			edits := replay(t, middleware.Env{}, of(text, sizes...), restart, contextedit.New(contextedit.Options{Trigger: at, Keep: keep}))
			for n := range sizes {
				if _, ok := edits[n+1]; ok {
					got = append(got, n+1)
				}
			}
			require.Equal(t, worth(text, sizes, keep, read, write), got, "text %d, keep %d, %g and %g: %v", text, keep, read, write, sizes)
			several += len(got)
		}
	}
	require.Greater(t, several, 200)
}

func TestWorthByPrices(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	sizes := []int{300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300}
	count := func(rates models.Rates, o trigger.EconomyOptions) int {
		return len(replay(t, middleware.Env{Models: model(t, rates, models.Cache{})}, of(20, sizes...), false,
			contextedit.New(contextedit.Options{Trigger: trigger.Worth(o), Keep: 2})))
	}
	require.Equal(t, 10, count(models.Rates{Input: usd, Output: usd}, trigger.EconomyOptions{}), "no cache: each result is cleared when it can be")
	dear := count(models.Rates{Input: usd, CacheRead: usd / 10, CacheWrite: usd * 5 / 4, Output: usd}, trigger.EconomyOptions{})
	require.Equal(t, dear, count(models.Rates{}, trigger.EconomyOptions{}), "unknown prices are those of the most careful class")
	require.Equal(t, dear, count(models.Rates{}, trigger.EconomyOptions{Read: 0.1, Write: 1.25}))
	require.Positive(t, dear)
	require.Less(t, dear, 5)
	require.Less(t, count(models.Rates{}, trigger.EconomyOptions{Factor: 4}), dear, "a factor makes edits rarer")
}

func TestCold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	marked := models.Cache{TTL: 5 * time.Minute, LongTTL: time.Hour}
	auto := models.Cache{Auto: true, TTL: 5 * time.Minute}
	for _, tt := range []struct {
		name        string
		answer, new time.Duration // since the answer and the new result; 0: no time
		cache       models.Cache
		ttl         time.Duration
		want        bool
	}{
		{"no times", 0, 0, marked, 0, false},
		{"warm", 4 * time.Minute, time.Minute, marked, 0, false},
		{"a slow tool", 6 * time.Minute, 0, marked, 0, true},
		{"only the result has a time", 0, 6 * time.Minute, marked, 0, true},
		{"the provider may keep it longer", 6 * time.Minute, 0, auto, 0, false},
		{"not known", 48 * time.Hour, 0, models.Cache{}, 0, false},
		{"given", 6 * time.Minute, 0, auto, 5 * time.Minute, true},
		{"a clock that is wrong", -time.Hour, 0, marked, 0, false},
	} {
		h := of(500, 100, 100, 100, 100)
		for i, ago := range map[int]time.Duration{len(h) - 2: tt.answer, len(h) - 1: tt.new} {
			if ago != 0 {
				h[i].Time = now.Add(-ago)
			}
		}
		for _, of := range []func(trigger.EconomyOptions) middleware.Trigger{trigger.Cold, trigger.Economy} {
			env := middleware.Env{
				Counter: tokens.Chars4, Clock: func() time.Time { return now },
				Models: model(t, models.Rates{Input: models.USD, CacheRead: models.USD / 10, Output: models.USD}, tt.cache),
			}
			mw := contextedit.New(contextedit.Options{Trigger: of(trigger.EconomyOptions{TTL: tt.ttl}), Keep: 2})
			_, events, err := middleware.Apply(t.Context(), middleware.With(env, mw), &middleware.Request{Messages: h, Model: "priced"})
			require.NoError(t, err, tt.name)
			require.Equal(t, tt.want, len(events) == 1, tt.name)
			if tt.want && tt.ttl == 0 {
				e := events[0].Economics
				require.Equal(t, report.Economics{Freed: events[0].Before - events[0].After, Saves: e.Saves}, *e, "nothing is written again")
			}
		}
	}
}

// TestColdByClient: where the client has changed an old message itself, as coding agents do with old results, what follows is written
// again anyway, so an edit there costs nothing.
func TestColdByClient(t *testing.T) {
	t.Parallel()
	env := middleware.Env{
		Counter: tokens.Chars4, Models: model(t, models.Rates{Input: models.USD, CacheRead: models.USD / 10, Output: models.USD}, models.Cache{}),
	}
	whole := of(500, 300, 300, 300, 300, 300)
	changed := testkit.Clone(whole)
	changed[3] = message.Result("c000", "read", "[masked]")
	for name, second := range map[string][]message.Message{"unchanged": whole, "changed": changed} {
		call, heard := recorded(env, contextedit.New(contextedit.Options{Trigger: trigger.Cold(trigger.EconomyOptions{}), Keep: 2}))
		for _, h := range [][]message.Message{whole[:len(whole)-2], second} {
			_, err := call(t.Context(), &middleware.Request{Messages: h, Model: "priced"}, nil)
			require.NoError(t, err)
		}
		edits := heard.Events(middleware.Edited)
		if name == "unchanged" {
			require.Empty(t, edits)
			continue
		}
		require.Len(t, edits, 1)
		require.Zero(t, edits[0].Economics.Rewritten)
		require.Positive(t, edits[0].Economics.Freed)
	}
}

// recorded is a model behind a middleware, and what is heard of its calls.
func recorded(env middleware.Env, mw middleware.Middleware) (middleware.Model, *middlewaretest.Recorder) {
	heard := new(middlewaretest.Recorder)
	return middleware.Chain(heard.Middleware(), middleware.With(env, mw))(testkit.Give(middleware.Response{})), heard
}

func TestEconomics(t *testing.T) {
	t.Parallel()
	rates := models.Rates{Input: 10 * models.USD, CacheRead: models.USD, CacheWrite: 12.5 * models.USD, Output: models.USD}
	env := middleware.Env{Models: model(t, rates, models.Cache{}), Counter: tokens.Chars4}
	h := of(25, 1000, 1000, 40, 40)
	call, heard := recorded(env, contextedit.New(contextedit.Options{Trigger: trigger.Tokens(2000), Keep: 2}))
	_, err := call(t.Context(), &middleware.Request{Messages: h, Model: "priced"}, nil)
	require.NoError(t, err)
	meter := tokens.Meter{Counter: tokens.Chars4, Framing: tokens.DefaultFraming()}
	left := meter.Message(message.Result("c000", "read", "[cleared]"))
	freed := meter.Message(h[3]) + meter.Message(h[5]) - 2*left
	again := 2*left + meter.Message(h[4]) + meter.Message(h[6]) + meter.Message(h[7]) // the newest round is not in the cache
	require.Equal(t, report.Economics{
		Freed: freed, Rewritten: again, BreakEven: 11.5 * float64(again) / float64(freed),
		Cost: models.Cost(again) * 11_500_000, Saves: models.Cost(freed) * models.USD,
	}, *heard.Events(middleware.Edited)[0].Economics)
	require.Equal(t, *heard.Events(middleware.Edited)[0].Economics, heard.Events(middleware.Called)[0].Call.Economics, "one edit is the sum of all")
}

func TestEconomyOptions(t *testing.T) {
	t.Parallel()
	for text, o := range map[string]trigger.EconomyOptions{
		"Read is -1":     {Read: -1, Write: 1},
		"both or none":   {Write: 1},
		"TTL is -1s":     {TTL: -time.Second},
		"Pressure is 2":  {Pressure: 2},
		"Factor is -0.5": {Factor: -0.5},
	} {
		require.ErrorContains(t, contextedit.Options{Trigger: trigger.Economy(o)}.Validate(), text)
	}
	require.NoError(t, contextedit.Options{Trigger: trigger.Economy(trigger.EconomyOptions{})}.Validate())
}

// TestDecisionsOfNewProcesses: a decision depends on the history, the journal and the prices, not on earlier calls of the
// same process.
func TestDecisionsOfNewProcesses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 8))
	edited, histories := 0, 20
	if race.Enabled {
		histories = 4
	}
	for range histories {
		sizes := make([]int, 40)
		for i := range sizes {
			sizes[i] = r.IntN(400 * (1 + r.IntN(3)))
		}
		h := of(1+r.IntN(60), sizes...)
		at := trigger.Economy(trigger.EconomyOptions{Read: []float64{0.5, 0.1, 0.02}[r.IntN(3)], Write: 1.25})
		for _, mw := range []middleware.Middleware{
			contextedit.New(contextedit.Options{Trigger: at, Keep: 1 + r.IntN(4), Digest: r.IntN(2) * 40}),
			contextedit.New(contextedit.Options{Trigger: at, KeepTokens: 500, KeepRounds: r.IntN(3)}),
			microcompact.New(microcompact.Options{Trigger: at, KeepRounds: 1 + r.IntN(4), Limit: microcompact.Limits{Text: 100}}),
		} {
			var edits [2]map[int][3]int
			for i, restart := range []bool{false, true} {
				edits[i] = map[int][3]int{}
				for n, e := range replay(t, middleware.Env{}, h, restart, mw) {
					edits[i][n] = [3]int{e.First, e.Before, e.After}
				}
			}
			require.Equal(t, edits[0], edits[1])
			edited += len(edits[0])
		}
	}
	require.Greater(t, edited, 100)
}

package models_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

func TestDefaultRows(t *testing.T) {
	t.Parallel()
	rows := slices.Collect(models.Default().All())
	require.Greater(t, len(rows), 150)
	require.Len(t, rows, models.Default().Len())
	for _, m := range rows {
		require.NoError(t, m.Validate())
		require.NotEmpty(t, m.Provider, "%s: a row says whose model it is", m.Name)
		require.NotEmpty(t, m.Source, "%s: a row says where it comes from", m.Name)
		require.NotEmpty(t, m.Date, "%s: a row says when its source was read", m.Name)
		require.NotEmpty(t, m.Family, "%s: a row names its family", m.Name)
		if m.Price.Known() {
			require.GreaterOrEqual(t, m.Price.Output, m.Price.Input, "%s: no provider sells answers cheaper than prompts: look at the columns", m.Name)
		}
		got, ok := models.Default().Lookup(m.Name)
		require.True(t, ok, "%s: a row is found by its name", m.Name)
		require.Equal(t, m, got, "%s: a row is found by its name and not another", m.Name)
		got, ok = models.Default().Lookup(strings.ToUpper(m.Name))
		require.True(t, ok, "%s: a row is found in any case", m.Name)
		require.Equal(t, m, got)
	}
}

// TestDefaultFacts spells some rows out, so that a slip of a column or of an @
// line is seen.
func TestDefaultFacts(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	for name, want := range map[string]models.Model{
		"gpt-5.6": {
			Window: 1_050_000, Input: 922_000, Output: 128_000, Encoding: "o200k_base", Family: "gpt",
			Price: models.Price{
				Rates: models.Rates{Input: 5 * usd, CacheRead: 0.5 * usd, CacheWrite: 6.25 * usd, Output: 30 * usd},
				Long:  [3]models.Rates{{Above: 272_000, Input: 10 * usd, CacheRead: 1 * usd, CacheWrite: 12.5 * usd, Output: 45 * usd}},
			},
		},
		"gpt-4": {
			Window: 8192, Output: 8192, Encoding: "cl100k_base", Family: "gpt",
			Price: models.Price{Rates: models.Rates{Input: 30 * usd, Output: 60 * usd}},
		},
		"claude-fable-5-1": {
			Window: 1_000_000, Output: 128_000, Family: "claude-4.7",
			Price: models.Price{Rates: models.Rates{Input: 10 * usd, CacheRead: 0.25 * usd, CacheWrite: 12.5 * usd, CacheWriteLong: 20 * usd, Output: 50 * usd}},
		},
		"deepseek-v4-flash": {
			Window: 1_000_000, Output: 384_000, Family: "deepseek",
			Price: models.Price{Rates: models.Rates{Input: 0.3 * usd, CacheRead: 0.006 * usd, Output: 1.2 * usd}},
		},
		"qwen3": {Window: 131_072, Family: "qwen"},
	} {
		m, ok := models.Default().Lookup(name)
		require.True(t, ok, name)
		got := models.Model{Window: m.Window, Input: m.Input, Output: m.Output, Encoding: m.Encoding, Family: m.Family, Price: m.Price}
		require.Equal(t, want, got, name)
	}
	m, _ := models.Default().Lookup("claude-haiku-4-5")
	require.Equal(t, 4096, m.Cache.Min)
	require.Equal(t, "5m0s 1h0m0s", m.Cache.TTL.String()+" "+m.Cache.LongTTL.String())
	require.Equal(t, 4, m.Cache.Breakpoints)
	require.False(t, m.Cache.Auto)
}

func TestWith(t *testing.T) {
	t.Parallel()
	base := models.Default()
	before := slices.Collect(base.All())

	own, ok := base.Lookup("gpt-4o")
	require.True(t, ok)
	own.Window = 64_000
	house := models.Model{Name: "house-model", Window: 32_768}
	route := models.Model{Name: "openrouter/deepseek/deepseek-r1", Window: 64_000}
	next, err := base.With(own, house, route)
	require.NoError(t, err)
	route.Provider, route.Thinking = "deepseek", "refused" // by its family

	require.Equal(t, base.Len()+2, next.Len(), "gpt-4o takes the place of the old row, two rows are new")
	for name, want := range map[string]models.Model{
		"gpt-4o":                               own,
		"GPT-4o-2024-08-06":                    own,
		"house-model":                          house,
		"azure/House-Model":                    house,
		"openrouter/deepseek/deepseek-r1":      route,
		"openrouter/deepseek/deepseek-r1:free": route,
	} {
		got, ok := next.Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
	require.Equal(t, before, slices.Collect(base.All()), "the old table stays as it was")
	_, ok = base.Lookup("house-model")
	require.False(t, ok, "the old table does not learn new names")

	same, err := next.With(models.Model{Name: "gpt-4.o", Window: 1})
	require.NoError(t, err)
	require.Equal(t, next.Len()+1, same.Len(), "gpt-4.o is a name of its own")
	same, err = next.With(models.Model{Name: "claude-sonnet-4.5", Window: 1})
	require.NoError(t, err)
	require.Equal(t, next.Len(), same.Len(), "claude-sonnet-4.5 is another spelling of claude-sonnet-4-5")
	got, _ := same.Lookup("claude-sonnet-4-5-20250929")
	require.Equal(t, 1, got.Window)
}

func TestCost(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	claude := models.Price{Rates: models.Rates{Input: 3 * usd, CacheRead: 0.30 * usd, CacheWrite: 3.75 * usd, CacheWriteLong: 6 * usd, Output: 15 * usd}}
	plain := models.Price{Rates: models.Rates{Input: 1 * usd, Output: 2 * usd}}
	tiered := plain
	tiered.Long = [3]models.Rates{
		{Above: 100, Input: 2 * usd, CacheRead: 1 * usd, Output: 3 * usd},
		{Above: 200, Input: 4 * usd, Output: 6 * usd},
	}
	for name, c := range map[string]struct {
		price models.Price
		usage message.Usage
		want  string // "" no cost
	}{
		"nothing":               {claude, message.Usage{}, "$0.00"},
		"input and output":      {claude, message.Usage{Input: 1_000_000, Output: 1000}, "$3.015"},
		"read":                  {claude, message.Usage{Input: 1000, CacheRead: 900}, "$0.00057"},
		"write":                 {claude, message.Usage{Input: 1000, CacheRead: 400, CacheWrite: 600}, "$0.00237"},
		"long write":            {claude, message.Usage{Input: 1000, CacheWrite: 600, CacheWriteLong: 500}, "$0.004575"},
		"long, no price":        {plain, message.Usage{Input: 1000, CacheWrite: 600, CacheWriteLong: 500}, "$0.001"},
		"more long than all":    {claude, message.Usage{Input: 1000, CacheWrite: 600, CacheWriteLong: 601}, ""},
		"thinking is output":    {claude, message.Usage{Output: 1000, Thinking: 400}, "$0.015"},
		"no discount":           {plain, message.Usage{Input: 1000, CacheRead: 500, CacheWrite: 500}, "$0.001"},
		"at the threshold":      {tiered, message.Usage{Input: 100, Output: 10}, "$0.00012"},
		"above it, all tokens":  {tiered, message.Usage{Input: 101, CacheRead: 1, Output: 10}, "$0.000231"},
		"above the second":      {tiered, message.Usage{Input: 201, CacheRead: 1, Output: 10}, "$0.000864"},
		"unknown price":         {models.Price{}, message.Usage{Input: 1}, ""},
		"more read than input":  {claude, message.Usage{Input: 1, CacheRead: 2}, ""},
		"more cached than sent": {claude, message.Usage{Input: 3, CacheRead: 2, CacheWrite: 2}, ""},
		"negative input":        {claude, message.Usage{Input: -1}, ""},
		"negative output":       {claude, message.Usage{Output: -1}, ""},
		"negative read":         {claude, message.Usage{Input: 5, CacheRead: -1}, ""},
		"no int64":              {claude, message.Usage{Input: math.MaxInt, Output: math.MaxInt}, ""},
		"negative price":        {models.Price{Rates: models.Rates{Input: 1, CacheRead: -1, Output: 1}}, message.Usage{Input: 1, CacheRead: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := c.price.Cost(c.usage)
			require.Equal(t, c.want != "", ok)
			if ok {
				require.Equal(t, c.want, got.String())
			} else {
				require.Zero(t, got)
			}
		})
	}
}

func TestCostString(t *testing.T) {
	t.Parallel()
	for c, want := range map[models.Cost]string{
		0:                  "$0.00",
		1:                  "$0.000000000001",
		-15e11:             "-$1.50",
		2e12:               "$2.00",
		math.MaxInt64:      "$9223372.036854775807",
		math.MinInt64:      "-$9223372.036854775808",
		123_456_700_000_00: "$12.34567",
	} {
		require.Equal(t, want, c.String())
		data, err := json.Marshal(c)
		require.NoError(t, err)
		var back models.Cost
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, c, back, "%s", data)
	}
	data, err := json.Marshal(map[string]models.Cost{"a": 123_456_700_000_00, "b": -2e12})
	require.NoError(t, err)
	require.Equal(t, `{"a":12.34567,"b":-2}`, string(data))
	for _, bad := range []string{`"$1"`, `1e-13`, `1e99999999`, `9223372.036854775808`, `1/3`, `true`, `0x1p-9`} {
		require.Error(t, new(models.Cost).UnmarshalJSON([]byte(bad)), bad)
	}
}

// TestCostLaws: a request costs no less when more of it is new, and no more
// when more of it is read from the cache.
func TestCostLaws(t *testing.T) {
	t.Parallel()
	var priced []models.Model
	for m := range models.Default().All() {
		if m.Price.Known() {
			priced = append(priced, m)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(priced).Draw(t, "model")
		u := message.Usage{
			Input:  rapid.IntRange(0, 3_000_000).Draw(t, "input"),
			Output: rapid.IntRange(0, 500_000).Draw(t, "output"),
		}
		cost, ok := m.Price.Cost(u)
		require.True(t, ok)
		require.GreaterOrEqual(t, cost, models.Cost(0))

		read := u
		read.CacheRead = rapid.IntRange(0, u.Input).Draw(t, "read")
		cheaper, ok := m.Price.Cost(read)
		require.True(t, ok)
		require.LessOrEqual(t, cheaper, cost, "%s: a read costs no more than new input", m.Name)

		more := u
		more.Input += rapid.IntRange(0, 1_000_000).Draw(t, "more")
		dearer, ok := m.Price.Cost(more)
		require.True(t, ok)
		require.GreaterOrEqual(t, dearer, cost, "%s: a longer prompt costs no less", m.Name)
	})
}

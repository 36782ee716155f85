package models_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

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

func TestAt(t *testing.T) {
	t.Parallel()
	p := models.Price{Rates: models.Rates{Input: 4, Output: 9}, Long: [3]models.Rates{{Above: 10, Input: 8, CacheRead: 1, Output: 18}}}
	require.Equal(t, models.Rates{Input: 4, CacheRead: 4, CacheWrite: 4, Output: 9}, p.At(10))
	require.Equal(t, models.Rates{Above: 10, Input: 8, CacheRead: 1, CacheWrite: 8, Output: 18}, p.At(11))
	require.Zero(t, models.Price{}.At(5))
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

package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
)

// made is a result of settings by a formula: a cost with one minimum on each axis, and facts that fall with it.
func made(s settings) measured {
	cost := 0.4 + 0.1*float64(s[0])
	for a, at := range []int{1, 3, 2, 1} {
		cost += 0.03 * math.Abs(float64(s[a]-at))
	}
	return measured{settings: s, cost: cost, hard: 0.95 + 0.01*float64(s[2]) + 0.005*float64(s[3])}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	best := 9.0
	for i := range 200 {
		if m := made(settings{i / 100, i / 20 % 5, i / 4 % 5, i % 4}); m.hard >= 0.97 {
			best = min(best, m.cost)
		}
	}
	for seed := range uint64(20) {
		tried := map[settings]bool{}
		all, err := search(200, 0.97, rand.New(rand.NewPCG(seed, 0)), func(s settings) (measured, error) {
			require.False(t, tried[s], "nothing is measured twice")
			tried[s] = true
			return made(s), nil
		})
		require.NoError(t, err)
		require.Len(t, all, len(tried))
		require.GreaterOrEqual(t, all[0].hard, 0.97)
		require.LessOrEqual(t, all[0].cost, 1.02*best, "seed %d", seed)
	}
	few, err := search(7, 0.97, rand.New(rand.NewPCG(1, 1)), func(s settings) (measured, error) { return made(s), nil })
	require.NoError(t, err)
	require.Len(t, few, 7)
	none, err := search(200, 1.5, rand.New(rand.NewPCG(1, 1)), func(s settings) (measured, error) { return made(s), nil })
	require.NoError(t, err)
	require.InDelta(t, slices.MaxFunc(none, func(a, b measured) int { return int(math.Copysign(1, a.hard-b.hard)) }).hard, none[0].hard, 0,
		"if nothing keeps the floor, what keeps most")
	_, err = search(200, 1, rand.New(rand.NewPCG(1, 1)), func(settings) (measured, error) { return measured{}, errors.New("broken") })
	require.EqualError(t, err, "broken")
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	talks := make([]replay.Talk, 40)
	for i := range talks {
		talks[i] = replay.Talk{Costs: []float64{float64(10 + i%2*20)}, None: []float64{40}}
	}
	cost, _, uses := bootstrap(talks, rand.New(rand.NewPCG(1, 1)))
	require.InDelta(t, 0.5-1.645*0.25/math.Sqrt(40), cost[0], 0.01, "the mean less 1.645 standard errors")
	require.InDelta(t, 0.5+1.645*0.25/math.Sqrt(40), cost[1], 0.01)
	require.Zero(t, uses)
}

func TestTune(t *testing.T) {
	t.Parallel()
	var talks, facts []string
	for i := range 8 {
		id := fmt.Sprint("t", i)
		talks = append(talks, reading(id, 30))
		facts = append(facts, fmt.Sprintf(`{"conversation": %q, "fact": "#W000", "kind": "id", "used_at_message": 41}`, id))
	}
	dir := folder(t, strings.Join(facts, "\n"), talks...)
	args := []string{"tune", "--model", "claude-sonnet-4-5", "--replays", "6", dir}
	status, stdout, stderr := exec(t, "", args...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "# 6 settings tried on 4 conversations")
	require.Contains(t, stdout, "# held back,    4: cost ")
	require.Contains(t, stdout, "too few to tell that the floor is kept: 4 conversations with 4 uses")
	_, err := chainfile.Parse("tuned", []byte(stdout))
	require.NoError(t, err, "the output is a chain file")
	_, again, _ := exec(t, "", args...)
	require.Equal(t, stdout, again, "the seed is fixed")

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no model":       {[]string{dir}, "no model: want --model NAME"},
		"unknown model":  {[]string{"--model", "none", dir}, `--model is "none"`},
		"floor":          {[]string{"--model", "gpt-5", "--floor", "98", dir}, "want a share from 0 to 1"},
		"no replays":     {[]string{"--model", "gpt-5", "--replays", "0", dir}, "want 1 or more"},
		"no recordings":  {[]string{"--model", "gpt-5"}, "no recordings"},
		"no facts":       {[]string{"--model", "gpt-5", folder(t, "", talks...)}, "0 conversations with hard facts"},
	} {
		status, stdout, stderr := exec(t, "", append([]string{"tune"}, c.args...)...)
		require.NotZero(t, status, name)
		require.Empty(t, stdout, name)
		require.Contains(t, stderr, c.want, name)
	}
}

// TestSettings checks that each of the settings is a chain file.
func TestSettings(t *testing.T) {
	t.Parallel()
	for i := range 200 {
		s := settings{i / 100, i / 20 % 5, i / 4 % 5, i % 4}
		_, err := chainfile.Parse("tune", []byte(s.file("gpt-5")))
		require.NoError(t, err, s.file("gpt-5"))
	}
}

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
)

// TestVerdict checks what is said about the results of both halves.
func TestVerdict(t *testing.T) {
	t.Parallel()
	half := func(n, shown, uses int, cost float64) measured {
		var talks []replay.Talk
		for i := range n {
			c := cost + 0.1*float64(i%2) - 0.05
			talks = append(talks, replay.Talk{Costs: []float64{c}, None: []float64{1}, Hard: replay.Ratio{N: max(0, shown-i%2), Of: uses}})
		}
		return newMeasured(settings{}, talks)
	}
	const none, broken, few, dear = "No settings keep the floor", "is not kept in the conversations held back", "too few to tell", "do not tell that this costs less"
	for name, c := range map[string]struct {
		best  float64 // hard facts in view in the half of the search
		held  measured
		floor float64
		want  []string
	}{
		"kept":             {1, half(30, 10, 10, 0.6), 0.9, nil},
		"not kept":         {1, half(30, 10, 10, 0.6), 0.98, []string{broken}},
		"perhaps not kept": {1, half(30, 10, 10, 0.6), 0.955, []string{broken, few}},
		"perhaps kept":     {1, half(30, 10, 10, 0.6), 0.945, []string{few}},
		"no settings":      {0.97, half(30, 10, 10, 0.6), 0.98, []string{none}},
		"few recordings":   {1, half(9, 20, 20, 0.6), 0.5, []string{few}},
		"few uses":         {1, half(20, 4, 4, 0.6), 0.5, []string{few}},
		"saves nothing":    {1, half(30, 10, 10, 1), 0.9, []string{dear}},
	} {
		tune := tuning{replayed: replayed{model: "gpt-5"}, floor: c.floor}
		var out strings.Builder
		tune.report(&out, measured{cost: 0.6, hard: c.best}, c.held, rand.New(rand.NewPCG(1, 1)))
		for _, text := range []string{none, broken, few, dear} {
			require.Equal(t, slices.Contains(c.want, text), strings.Contains(out.String(), text), "%s: %q in:\n%s", name, text, out.String())
		}
	}
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
	require.Contains(t, stdout, "(the defaults)")
	require.Regexp(t, `(?m)^# \*  \d`, stdout, "the best settings are marked")
	require.Contains(t, stdout, "too few to tell whether the floor is kept: 4 conversations with 4 uses")
	_, err := chainfile.Parse("tuned", []byte(stdout))
	require.NoError(t, err, "the output is a chain file")
	_, again, _ := exec(t, "", args...)
	require.Equal(t, stdout, again, "the seed is fixed")

	tuned := write(t, stdout)
	status, _, stderr = exec(t, "", "replay", "--chain", tuned, dir)
	require.Zero(t, status, stderr)

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no model":      {[]string{dir}, "no model: want --model NAME"},
		"unknown model": {[]string{"--model", "none", dir}, `--model is "none"`},
		"floor":         {[]string{"--model", "gpt-5", "--floor", "98", dir}, "want a share from 0 to 1"},
		"no replays":    {[]string{"--model", "gpt-5", "--replays", "0", dir}, "want 1 or more"},
		"no recordings": {[]string{"--model", "gpt-5"}, "no recordings"},
		"no facts":      {[]string{"--model", "gpt-5", folder(t, "", talks...)}, "0 conversations with hard facts"},
	} {
		status, stdout, stderr := exec(t, "", append([]string{"tune"}, c.args...)...)
		require.NotZero(t, status, name)
		require.Empty(t, stdout, name)
		require.Contains(t, stderr, c.want, name)
	}
}

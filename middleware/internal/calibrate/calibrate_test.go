package calibrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
)

func TestWindowsLearnNumbersThatCanBeRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accepted, limit, declared int
		believed                  bool
		want                      int // 0: the declared window holds
	}{
		"a smaller window":               {limit: 8192, declared: 128_000, believed: true, want: 8192},
		"nothing declared":               {limit: 8192, believed: true, want: 8192},
		"1/64 of the declared window":    {limit: 2000, declared: 128_000, believed: true, want: 2000},
		"below 1/64":                     {limit: 1999, declared: 128_000},
		"absurd":                         {limit: 1, declared: 1_047_576},
		"not a number":                   {limit: 0, declared: 128_000},
		"as declared":                    {limit: 128_000, declared: 128_000, believed: true},
		"below a prompt that was taken":  {accepted: 9000, limit: 8192, declared: 128_000},
		"above all prompts that were":    {accepted: 8000, limit: 8192, declared: 128_000, believed: true, want: 8192},
		"as long as one that was":        {accepted: 8192, limit: 8192, declared: 128_000},
		"larger than what is declared":   {limit: 200_000, declared: 128_000, believed: true},
		"negative, and nothing declared": {limit: -5},
	} {
		var w calibrate.Windows
		if c.accepted > 0 {
			w.Accept("m", c.accepted)
		}
		require.Equal(t, c.believed, w.Learn("m", c.limit, c.declared), name)
		require.Equal(t, c.want, w.Of("m"), name)
		require.Zero(t, w.Of("other"), name)
	}
}

func TestWindowsExpire(t *testing.T) {
	t.Parallel()
	var w calibrate.Windows
	require.True(t, w.Learn("m", 8192, 128_000))
	for range 63 {
		w.Accept("m", 5000)
		require.Equal(t, 8192, w.Of("m"))
	}
	w.Accept("m", 5000)
	require.Zero(t, w.Of("m"), "after 64 accepted calls the declared window is tried")

	w.Guess("m", 3000)
	w.Guess("m", 4000)
	require.Equal(t, 3000, w.Of("m"), "the smaller guess")
	w.Accept("m", 3001)
	require.Zero(t, w.Of("m"), "a longer prompt was accepted")
}

// The estimate is never below half or above four times the count, and equals a report for
// the same prompt.
func TestTokensEstimate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c calibrate.Tokens
		p := calibrate.Priors{Plain: 1, Wide: 1.15}
		counted, at := 0, 0
		for range rapid.IntRange(1, 20).Draw(t, "prompts") {
			counted += rapid.IntRange(1, 5000).Draw(t, "added")
			at++
			charged := int(rapid.Float64Range(0.1, 6).Draw(t, "rate") * float64(counted))
			c.Forget() // the rates and the count, not whether the server cuts
			verdict := c.Learn(calibrate.Prompt{At: at, Charged: charged, Counted: counted}, p, calibrate.Source{})
			believed := verdict == calibrate.Believed || verdict == calibrate.High
			require.Equal(t, calibrate.Plausible(float64(charged), float64(counted)), believed)
			n, _, rate := c.Estimate(counted, 0, p)
			require.Positive(t, rate)
			require.GreaterOrEqual(t, 2*n+1, counted)
			require.LessOrEqual(t, n, 4*counted+1)
			if believed {
				require.Equal(t, charged, n, "the reported prompt itself")
			}
		}
	})
}

// What is new is charged at the rate of what came before; ideographs have their own.
func TestTokensOfWhatIsNew(t *testing.T) {
	t.Parallel()
	p := calibrate.Priors{Plain: 1, Wide: 1.15}
	for name, c := range map[string]struct {
		edited        int // number of messages at an edit before the report of a prompt of 4
		counted, wide int // of the next prompt
		want          float64
	}{
		"the same":                       {counted: 1000, want: 1500},
		"more":                           {counted: 1400, want: 1500 + 400*1.45},
		"more, after an edit before":     {edited: 2, counted: 1400, want: 1500 + 400*1.45},
		"ideographs":                     {counted: 1400, wide: 400, want: 1500 + 400*1.15},
		"ideographs in place of letters": {counted: 900, wide: 200, want: 1500 - 300*1.5 + 200*1.15},
		"less":                           {counted: 900, want: 1500 - 100*1.5},
		"much less":                      {counted: 400, want: 400 * 1.5},
	} {
		var tokens calibrate.Tokens
		prompt := calibrate.Prompt{At: 4, Charged: 1500, Counted: 1000, Since: c.edited}
		require.Equal(t, calibrate.Believed, tokens.Learn(prompt, p, calibrate.Source{}))
		got, _, _ := tokens.Estimate(c.counted, c.wide, p)
		require.InEpsilon(t, c.want, got, 0.01, name)
	}
}

func TestPromptsKeepTheNewest(t *testing.T) {
	t.Parallel()
	var p calibrate.Prompts
	id := func(n int) message.ID { return message.ID{byte(n), byte(n >> 8), 1} }
	require.Nil(t, p.Of([]message.ID{id(1)}))
	for n := range 300 {
		p.Put(id(n), calibrate.Prompt{Charged: n + 1})
	}
	got := p.Of([]message.ID{id(0), id(299), {}})
	require.Equal(t, []calibrate.Prompt{{}, {Charged: 300}, {}}, got, "the oldest of more than 256 is gone")
}

// TestRemovedTextsAreOld has a prompt that is charged more than was counted, after one that was charged exactly: the
// error belongs to the newest texts, so what is removed frees no more than was counted.
func TestRemovedTextsAreOld(t *testing.T) {
	t.Parallel()
	p, s := calibrate.Priors{Plain: 1, Wide: 1}, calibrate.Source{}
	var c calibrate.Tokens
	require.Equal(t, calibrate.Believed, c.Learn(calibrate.Prompt{At: 5, Charged: 3000, Counted: 3000}, p, s))
	require.Equal(t, calibrate.Believed, c.Learn(calibrate.Prompt{At: 7, Charged: 4200, Counted: 3900}, p, s))
	charged, _, _ := c.Estimate(3500, 0, p)
	require.Equal(t, 3800, charged)
	var first calibrate.Tokens
	require.Equal(t, calibrate.Believed, first.Learn(calibrate.Prompt{At: 7, Charged: 4200, Counted: 4000}, p, s))
	charged, _, _ = first.Estimate(3000, 0, p)
	require.Equal(t, 3150, charged, "of the first prompt, all texts are alike")
}

// TestHighCharges has prompts that are charged three times what was counted: the third in a row is remarked, once.
func TestHighCharges(t *testing.T) {
	t.Parallel()
	learn := func(c *calibrate.Tokens, counted int, times float64) calibrate.Verdict {
		prompt := calibrate.Prompt{At: c.At + 2, Counted: counted, Charged: int(times * float64(counted))}
		return c.Learn(prompt, calibrate.Priors{Plain: 1, Wide: 1}, calibrate.Source{})
	}
	for name, c := range map[string]struct {
		least int
		times []float64
		want  int // number of prompts that are remarked
	}{
		"three times":           {1000, []float64{3, 3, 3, 3, 3}, 1},
		"twice, then right":     {1000, []float64{3, 3, 1, 3, 3}, 0},
		"less than high":        {1000, []float64{2.4, 2.4, 2.4, 2.4}, 0},
		"in short prompts only": {100, []float64{3, 3, 3, 3}, 0},
	} {
		var tokens calibrate.Tokens
		high := 0
		for i, times := range c.times {
			if learn(&tokens, c.least+10*i, times) == calibrate.High {
				high++
			}
		}
		require.Equal(t, c.want, high, name)
	}
}

package calibrate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/calibrate"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

func TestWindowsLearnNumbersThatCanBeRight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accepted, limit, declared int
		believed                  bool
		want                      int // 0: the declared window holds
	}{
		"a smaller window":               {limit: 8192, declared: 128_000, believed: true, want: 8192},
		"1/64 of the declared window":    {limit: 2000, declared: 128_000, believed: true, want: 2000},
		"below 1/64":                     {limit: 1999, declared: 128_000},
		"as declared":                    {limit: 128_000, declared: 128_000, believed: true},
		"below a prompt that was taken":  {accepted: 9000, limit: 8192, declared: 128_000},
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

// What is new is charged at the rate of what came before; ideographs have their own.
func TestTokensOfWhatIsNew(t *testing.T) {
	t.Parallel()
	require.False(t, calibrate.Plausible(0, 0), "nothing was counted")
	unknown, _, _ := new(calibrate.Tokens).Estimate(1000, 0, calibrate.Priors{Plain: 2, Wide: 1.15})
	require.Equal(t, 2000, unknown, "before a report")
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

// history has messages of 300 tokens each, of which every third thinks or shows a picture.
func history(part message.Part) calibrate.Source {
	h := &edit.History{}
	for i := range 20 {
		m := message.User(strings.Repeat("word ", 300))
		if i > 0 {
			m.Role = message.RoleAssistant
		}
		if i%3 == 2 && part != nil {
			m.Parts = []message.Part{part}
		}
		h.Body = append(h.Body, &m)
		h.Tokens = append(h.Tokens, h.Meter.Message(m))
	}
	return calibrate.Source{History: h}
}

// Each case has reports of prompts that grow by a message each.
func TestReportsOfCutPrompts(t *testing.T) {
	t.Parallel()
	const b, d, i, c = calibrate.Believed, calibrate.Doubtful, calibrate.Impossible, calibrate.Truncated
	for name, x := range map[string]struct {
		charged []int
		edited  []int // numbers of messages at edits
		freed   int   // by each
		part    message.Part
		want    []calibrate.Verdict
		limit   int
	}{
		"no more than 1000":            {charged: []int{300, 600, 900, 1000, 1000}, want: []calibrate.Verdict{b, b, b, d, c}, limit: 1000},
		"whole messages are left out":  {charged: []int{300, 600, 900, 950, 700, 940, 720}, want: []calibrate.Verdict{b, b, b, d, c, c, c}, limit: 950},
		"the same from the first on":   {charged: []int{320, 320, 320, 320}, want: []calibrate.Verdict{b, d, i, i}},
		"one report was wrong":         {charged: []int{300, 600, 600, 1200, 1500}, want: []calibrate.Verdict{b, b, d, b, b}},
		"thinking is not charged":      {charged: []int{300, 600, 600, 900, 1200, 1200, 1500}, part: message.Thinking{Text: strings.Repeat("hm ", 300)}, want: []calibrate.Verdict{b, b, b, b, b, b, b}},
		"pictures are cheap":           {charged: []int{300, 600, 685, 985, 1285, 1370}, part: message.Media{Type: "image/png", Data: "x"}, want: []calibrate.Verdict{b, b, i, i, i, i}},
		"edited each time":             {charged: []int{300, 600, 900, 950, 900, 940}, edited: []int{4, 5, 6}, freed: 50, want: []calibrate.Verdict{b, b, b, b, b, b}},
		"edited, and the same":         {charged: []int{300, 600, 900, 900, 900}, edited: []int{4, 5}, freed: 50, want: []calibrate.Verdict{b, b, b, d, d}},
		"much is cleared, and charged": {charged: []int{300, 600, 900, 400, 700}, edited: []int{4}, freed: 800, want: []calibrate.Verdict{b, b, b, b, b}},
	} {
		s := history(x.part)
		var learned calibrate.Tokens
		var got []calibrate.Verdict
		counted, edited := 0, 0
		for n, charged := range x.charged {
			counted += s.History.Tokens[n]
			for _, at := range x.edited {
				if at == n+1 {
					counted, edited = counted-x.freed, at
				}
			}
			got = append(got, learned.Learn(calibrate.Prompt{
				At: n + 1, Charged: charged, WithCache: charged, Counted: counted, Since: edited,
			}, calibrate.Priors{Plain: 1, Wide: 1}, s))
		}
		require.Equal(t, x.want, got, name)
		if x.limit > 0 {
			require.Equal(t, x.limit, learned.Limit(), name)
		}
	}
}

// Tokenizers make one token of up to 64 equal marks, and of several in the pattern of a table: that the charge of a drawing is low
// shows nothing.
func TestDrawingsAreNotCut(t *testing.T) {
	t.Parallel()
	exact := tokens.Meter{Counter: bpe.Encoding("o200k_base")}
	for _, pattern := range []string{"=", "-", "#", ".", "█", "─", "═", "=-", "-+", "…", "\n--------------------+", "┼─", "🎉", "\x00"} {
		h, counted, charged := &edit.History{}, 0, 0
		var learned calibrate.Tokens
		for n := range 8 {
			m := message.User(fmt.Sprintf("job %d: %s", n, strings.Repeat(pattern, 6000/len(pattern))))
			h.Body, h.Tokens = append(h.Body, &m), append(h.Tokens, h.Meter.Message(m))
			counted, charged = counted+h.Tokens[n], charged+exact.Message(m)
			p := calibrate.Prompt{At: n + 1, Charged: charged, WithCache: charged, Counted: counted}
			learned.Learn(p, calibrate.Priors{Plain: 1, Wide: 1}, calibrate.Source{History: h})
		}
		require.Zero(t, learned.Limit(), pattern)
	}
}

// A server that has refused a prompt as too long does not cut others.
func TestServersThatRefuseDoNotCut(t *testing.T) {
	t.Parallel()
	s := history(nil)
	var learned calibrate.Tokens
	for n := range 7 {
		s.Refuses = n > 3
		charged := min(900, 600+300*n)
		p := calibrate.Prompt{At: 2 + n, Charged: charged, WithCache: charged, Counted: 600 + 300*n}
		verdict := learned.Learn(p, calibrate.Priors{Plain: 1, Wide: 1}, s)
		require.Equal(t, n == 3, verdict == calibrate.Truncated, n)
		require.Equal(t, n == 3, learned.Limit() > 0, n)
	}
}

// A limit follows longer prompts that are accepted, and ends with one that is much longer, with
// another model, and after 64 prompts.
func TestLimitEnds(t *testing.T) {
	t.Parallel()
	s := history(nil)
	learn := func(learned *calibrate.Tokens, at, charged, counted, edited int) calibrate.Verdict {
		return learned.Learn(calibrate.Prompt{At: at, Charged: charged, WithCache: charged, Counted: counted, Since: edited},
			calibrate.Priors{Plain: 1, Wide: 1}, s)
	}
	limited := func() *calibrate.Tokens {
		var l calibrate.Tokens
		learn(&l, 2, 600, 600, 0)
		learn(&l, 3, 900, 900, 0)
		learn(&l, 4, 900, 1200, 0)
		require.Equal(t, calibrate.Doubtful, learn(&l, 4, 900, 1200, 0), "the same prompt again says nothing")
		require.Equal(t, calibrate.Truncated, learn(&l, 5, 900, 1500, 0))
		require.Equal(t, 900, l.Limit())
		return &l
	}
	longer := limited()
	learn(longer, 6, 950, 950, 6)
	require.Equal(t, 950, longer.Limit())
	learn(longer, 7, 1250, 1250, 7)
	require.Zero(t, longer.Limit(), "much longer")

	other := limited()
	other.Forget()
	require.Zero(t, other.Limit())

	old := limited()
	for n := range 64 {
		require.Equal(t, 900, old.Limit(), n)
		learn(old, 6+n, 850, 850, 6+n)
	}
	require.Zero(t, old.Limit())
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	prompt := calibrate.Refusal{Tokens: 10_000, Counted: 9_000, Window: 8_000, Room: 6_000}
	with := func(change func(*calibrate.Refusal)) calibrate.Refusal {
		r := prompt
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		refusal calibrate.Refusal
		want    calibrate.Limit
	}{
		"no number":          {prompt, calibrate.Limit{Guess: 10_666}},
		"no declared window": {with(func(r *calibrate.Refusal) { r.Window, r.Room = 0, 0 }), calibrate.Limit{Guess: 8_000}},
		"a limit below the prompt": {
			with(func(r *calibrate.Refusal) { r.Limit = 7_000 }), calibrate.Limit{Window: 7_000, Guess: 10_666},
		},
		"a limit above the prompt": {with(func(r *calibrate.Refusal) { r.Limit = 20_000 }), calibrate.Limit{Guess: 10_666}},
		"a limit above the prompt, and its size": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent = 20_000, 21_000 }),
			calibrate.Limit{Window: 20_000, Guess: 20_000, Trusted: true},
		},
		"an answer that is added": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent, r.Answer = 8_000, 9_500, 5_000 }),
			calibrate.Limit{Window: 4_000, Guess: 4_000, Trusted: true},
		},
		"an answer that fills the window": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Sent, r.Answer = 8_000, 9_500, 8_000 }),
			calibrate.Limit{Window: 8_000, Guess: 8_000, Trusted: true},
		},
		"too many by more than all": {with(func(r *calibrate.Refusal) { r.Over = 40_000 }), calibrate.Limit{Guess: 10_666}},
		"a doubtful limit and a number": {
			with(func(r *calibrate.Refusal) { r.Limit, r.Over = 20_000, 4_000 }), calibrate.Limit{Window: 8_000, Guess: 10_666, ByOver: true},
		},
	} {
		require.Equal(t, c.want, c.refusal.Judge(), name)
	}
}

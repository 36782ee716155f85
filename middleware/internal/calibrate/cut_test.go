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
		"all is read":                  {charged: []int{300, 600, 900, 1200}, want: []calibrate.Verdict{b, b, b, b}},
		"another tokenizer":            {charged: []int{210, 420, 630, 840}, want: []calibrate.Verdict{b, b, b, b}},
		"no more than 1000":            {charged: []int{300, 600, 900, 1000, 1000}, want: []calibrate.Verdict{b, b, b, d, c}, limit: 1000},
		"whole messages are left out":  {charged: []int{300, 600, 900, 950, 700, 940, 720}, want: []calibrate.Verdict{b, b, b, d, c, c, c}, limit: 950},
		"the same from the first on":   {charged: []int{320, 320, 320, 320}, want: []calibrate.Verdict{b, d, i, i}},
		"one report was wrong":         {charged: []int{300, 600, 600, 1200, 1500}, want: []calibrate.Verdict{b, b, d, b, b}},
		"a cheaper model":              {charged: []int{480, 960, 1440, 1200, 1500, 1800, 2200}, want: []calibrate.Verdict{b, b, b, d, d, d, b}},
		"only what was not cached":     {charged: []int{900, 300, 300, 300}, want: []calibrate.Verdict{b, d, i, i}},
		"thinking is not charged":      {charged: []int{300, 600, 600, 900, 1200, 1200, 1500}, part: message.Thinking{Text: strings.Repeat("hm ", 300)}, want: []calibrate.Verdict{b, b, b, b, b, b, b}},
		"pictures are cheap":           {charged: []int{300, 600, 685, 985, 1285, 1370}, part: message.Media{Type: "image/png", Data: "x"}, want: []calibrate.Verdict{b, b, i, i, i, i}},
		"edited each time":             {charged: []int{300, 600, 900, 950, 900, 940}, edited: []int{4, 5, 6}, freed: 50, want: []calibrate.Verdict{b, b, b, b, b, b}},
		"edited, and the same":         {charged: []int{300, 600, 900, 900, 900}, edited: []int{4, 5}, freed: 50, want: []calibrate.Verdict{b, b, b, d, d}},
		"edited, and charged in full":  {charged: []int{300, 600, 900, 1000, 1100}, edited: []int{4, 5}, freed: 200, want: []calibrate.Verdict{b, b, b, b, b}},
		"much is cleared, and charged": {charged: []int{300, 600, 900, 400, 700}, edited: []int{4}, freed: 800, want: []calibrate.Verdict{b, b, b, b, b}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			require.Equal(t, x.want, got)
			if x.limit > 0 {
				require.Equal(t, x.limit, learned.Limit())
			}
		})
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

// Tokens of a cache that are reported apart from the input are part of the prompt.
func TestReportsApartFromTheCache(t *testing.T) {
	t.Parallel()
	var l calibrate.Tokens
	s := history(nil)
	for n, charged := range []int{600, 500, 450, 700} { // the rest is in the cache
		counted := 600 + 300*n
		p := calibrate.Prompt{At: n + 2, Charged: charged, WithCache: counted, Counted: counted}
		require.NotEqual(t, calibrate.Truncated, l.Learn(p, calibrate.Priors{Plain: 1, Wide: 1}, s))
	}
	require.Zero(t, l.Limit())
}

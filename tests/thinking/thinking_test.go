package thinking

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestSoakChains leads conversations through all chains. No request may be refused.
func TestSoakChains(t *testing.T) {
	t.Parallel()
	through := chains()
	if race.Enabled {
		through = some(1)
	}
	check(t, variant{}, conversations(t, 40), through)
}

// TestSoakOthers leads conversations through chains for the models whose providers demand something else.
func TestSoakOthers(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	for i, o := range others {
		t.Run(fmt.Sprintf("%s, %s", o.demand, o.model), func(t *testing.T) {
			t.Parallel()
			check(t, variant{model: o.model, demand: o.demand, plain: o.plain}, conversations(t, 150), some(i))
		})
	}
}

// skipRaced skips a long test of one goroutine under the race detector.
func skipRaced(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector has nothing to see in one goroutine")
	}
}

// some returns the chains for the test with that number: a few, or all of them with LACONIC_SOAK.
func some(number int) []chain {
	if soak.Enabled() {
		return chains()
	}
	var few []chain
	for k, ch := range chains() {
		if (k+number)%7 == 0 {
			few = append(few, ch)
		}
	}
	return few
}

// check leads conversations through chains, and fails if a request was refused, or if the model reads too little of its thinking.
func check(t *testing.T, v variant, all []*conversation, through []chain) {
	t.Helper()
	for _, ch := range through {
		t.Run(ch.name, func(t *testing.T) {
			t.Parallel()
			r := &result{}
			for _, c := range all {
				r.add(lead(t, ch, c, v))
			}
			t.Logf("%d conversations, %d requests, %d not sent; %.1f %% of the thinking is read, and prompts cost %.2f of no editing",
				len(all), r.requests, r.failed, 100*r.share(), float64(r.cost)/float64(max(r.plain, 1)))
			assert.Zero(t, r.stuck, "no conversation is stuck; the first that was: %s", first(r.why))
			assert.Zero(t, r.refused, "no request is refused, even if the next attempt is not")
			least := ch.read - 1
			if !soak.Enabled() {
				least = map[bool]float64{false: ch.few, true: ch.more}[soak.Nth(0, 1) == 1] - 0.1
			}
			if v.model == "" && *every < 2 && !race.Enabled && !testing.Short() {
				assert.GreaterOrEqual(t, 100*r.share(), least, "the model reads as much of its thinking as can be known to be valid")
			}
		})
	}
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// chain is one that the conversations are led through.
type chain struct {
	name   string
	window int // of the requests' budget; 0: that of the model by the table
	layers func() []middleware.Middleware

	// read is the share of the thinking, in percent, that the model reads in all recordings if all that is void is left out by
	// somebody who has seen all requests, behind a chain that knows nothing of bound thinking. A chain that knows has to reach it.
	read float64
	// few and more are the same for the few recordings of a plain run, and for those with LACONIC_ALL, with all that can be known.
	few, more float64
}

// chains returns all of them, no editing first.
func chains() []chain {
	clearing := func(o contextedit.Options) func() []middleware.Middleware {
		return func() []middleware.Middleware { return []middleware.Middleware{contextedit.New(o)} }
	}
	half := trigger.Fraction(0.5)
	return []chain{
		{"no editing", 0, func() []middleware.Middleware { return nil }, 100, 100, 100},
		{"contextedit", 0, clearing(contextedit.Options{}), 36.8, 100, 100},
		{"contextedit 2k, keep 2", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 2}), 2.5, 6.3, 7.7},
		{"contextedit 20k, keep 3", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(20_000), Keep: 3}), 6.2, 34.5, 35.7},
		{"contextedit 2k, keep 3, 10k", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(2_000), Keep: 3, ClearAtLeast: 10_000}), 18.4, 56.8, 56.8},
		{"ClearThinking alone", 0, clearing(contextedit.Options{Trigger: trigger.Tokens(1), Only: []string{}, ClearThinking: true}), 23.4, 86, 79.3},
		{"microcompact", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{})}
		}, 38.4, 100, 100},
		{"economy", 0, func() []middleware.Middleware {
			return []middleware.Middleware{microcompact.New(microcompact.Options{
				Trigger: trigger.Economy(trigger.EconomyOptions{}), KeepRounds: 6,
				Limit: microcompact.Limits{Results: 400, Arguments: 600}, Digest: 120,
			}), fit.New(fit.Options{})}
		}, 31.2, 100, 100},
		{"summarize .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{summarize.New(summarize.ByRules(), summarize.Options{Trigger: half}), fit.New(fit.Options{})}
		}, 7.9, 31, 30.6},
		{"trim .5 of 32k, fit", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{trim.New(trim.Options{Trigger: half}), fit.New(fit.Options{})}
		}, 5, 25, 25},
		{"fit 8k", 8_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 1.7, 8.4, 9.1},
		{"fit 32k", 32_000, func() []middleware.Middleware { return []middleware.Middleware{fit.New(fit.Options{})} }, 9.3, 51.9, 53.8},
		{"all five, 32k", 32_000, func() []middleware.Middleware {
			return []middleware.Middleware{
				contextedit.New(contextedit.Options{}), microcompact.New(microcompact.Options{}), trim.New(trim.Options{}),
				summarize.New(summarize.ByRules(), summarize.Options{}), fit.New(fit.Options{}),
			}
		}, 9.3, 42.7, 44.1},
	}
}

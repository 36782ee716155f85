package thinking

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
)

// TestSoakChains leads conversations through all chains. No request may be refused.
func TestSoakChains(t *testing.T) {
	t.Parallel()
	through := chains()
	if race.Enabled {
		through = some(1)
	}
	check(t, variant{name: plain}, conversations(t, 40), through)
}

// plain is the name of the variant for which the chains have figures.
const plain = "plain"

// TestSoakVariants does the same in all variants: with LACONIC_SOAK in all chains, otherwise in a few chains of each.
func TestSoakVariants(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	for i, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			check(t, v, conversations(t, 150), some(i))
		})
	}
}

// TestSoakOthers leads conversations through chains for the models whose providers demand something else.
func TestSoakOthers(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	for i, o := range others {
		t.Run(fmt.Sprintf("%s, %s", o.demand, o.model), func(t *testing.T) {
			t.Parallel()
			check(t, variant{name: o.model, model: o.model, demand: o.demand, form: o.form}, conversations(t, 150), some(i))
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
	if soak.Enabled {
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

// check leads conversations through chains, prints what was counted, and fails if a request was refused.
func check(t *testing.T, v variant, all []*conversation, through []chain) {
	t.Helper()
	var tab table
	t.Cleanup(func() { t.Logf("%s, %d conversations: %s", v.name, len(all), &tab) })
	for k, ch := range through {
		if v.caller && ch.name == noEditing {
			continue
		}
		t.Run(ch.name, func(t *testing.T) {
			t.Parallel()
			r := leadAll(t, ch, all, v)
			tab.add(k, ch.name, r)
			requireNone(t, r, v)
			least := ch.read - 1
			if !soak.Enabled {
				least = map[bool]float64{false: ch.few, true: ch.more}[soak.Nth(0, 1) == 1] - 0.1
			}
			if v.name == plain && *every < 2 && !race.Enabled && !testing.Short() {
				assert.GreaterOrEqual(t, 100*r.share(), least, "the model reads as much of its thinking as can be known to be valid")
			}
		})
	}
}

// leadAll leads conversations through a chain.
func leadAll(t *testing.T, ch chain, all []*conversation, v variant) *result {
	t.Helper()
	sum := &result{}
	for _, c := range all {
		sum.add(lead(t, ch, c, v))
	}
	return sum
}

// requireNone fails if a request was refused, or with a net, if a conversation is stuck.
func requireNone(t *testing.T, r *result, v variant) {
	t.Helper()
	assert.Zero(t, r.stuck, "no conversation is stuck; the first that was: %s", first(r.why))
	if !v.nets {
		assert.Zero(t, r.refused, "no request is refused, even if the next attempt is not")
	}
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

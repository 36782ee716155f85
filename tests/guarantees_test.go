package tests

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestGuarantees runs random conversations through random chains, call by call
// as an agent makes them, for random providers and windows, and judges each call.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	rounds := 10
	if raced {
		rounds = 2
	}
	checkCases(t, func(done int) bool { return done < 100*rounds })
}

// TestSoakGuarantees does the same with 200,000 conversations for each minute
// that LACONIC_SOAK asks for, however long that takes.
func TestSoakGuarantees(t *testing.T) {
	t.Parallel()
	minutes := int(time.Until(soak(t)).Round(time.Minute).Minutes())
	checkCases(t, func(done int) bool { return done < 200_000*minutes })
}

// checkCases checks cases of conversation, chain and provider as long as there
// are more to do, and says how many there were.
func checkCases(t *testing.T, more func(done int) bool) {
	t.Helper()
	start := time.Now()
	var sum tally
	for round := 0; more(sum.cases) && !t.Failed(); round++ {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := newScenario(rapidDice{t}, &sum)
				s.run(t)
			})
		})
	}
	t.Logf("%d cases with %d calls: %s; %.0f cases a second", sum.cases, sum.calls, sum.String(), float64(sum.cases)/time.Since(start).Seconds())
}

// tally counts what the cases had in them.
type tally struct {
	cases, calls                         int
	edited, mended, refused, irreducible int
}

func (n *tally) String() string {
	return fmt.Sprintf("%d edited, %d repaired, %d refused by the provider, %d irreducible", n.edited, n.mended, n.refused, n.irreducible)
}

package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

// TestGuarantees runs random conversations through random chains, call by call
// as an agent makes them, for random providers and windows, and judges each call.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	rounds := soak.Of(4, 4)
	if race.Enabled {
		rounds = 1
	}
	checkCases(t, func(done int) bool { return done < 100*rounds })
}

// TestSoakGuarantees does the same with 200,000 conversations for each minute
// that LACONIC_SOAK asks for, however long that takes.
func TestSoakGuarantees(t *testing.T) {
	t.Parallel()
	minutes := int(time.Until(soakUntil(t)).Round(time.Minute).Minutes())
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

// TestGuaranteesAtOnce lets many callers share a chain, half of them on the same
// conversation: each call keeps the guarantees, and equal calls are sent the same.
func TestGuaranteesAtOnce(t *testing.T) {
	t.Parallel()
	const callers = 8
	rounds := soak.Of(60, 4)
	if race.Enabled {
		rounds = 10
	}
	for seed := range rounds {
		var histories [callers][]message.Message
		for k := range histories {
			histories[k] = randomConversation(seed*callers + k%(callers/2+1)) // the last ones are one conversation
		}
		meter := tokens.Meter{Counter: tokens.Chars4}
		rules := providers[seed%len(providers)]
		window := 60 + meter.Request(histories[0], nil)*(1+seed%5)/5
		chains := lineup.Chains()
		chain := middleware.With(middleware.Env{Counter: meter.Counter}, chains[seed%len(chains)].New(rules)...)
		var sent [callers][]message.Message
		var broken [callers][]guarantee.Breach
		together(callers, func(k int) {
			for _, n := range callsOf(histories[k]) {
				c := guarantee.Call{Rules: rules, Limits: rules.Limits(window), Room: window, Meter: meter, History: histories[k][:n]}
				req, _, err := middleware.Apply(testContext, chain, &middleware.Request{Messages: c.History, Budget: &middleware.Budget{Window: window}})
				if err != nil {
					broken[k] = append(broken[k], c.Refused(err)...)
					continue
				}
				c.Sent, c.Tools, c.View = req.Messages, req.Tools, req.View()
				broken[k] = append(broken[k], c.Broken()...)
				sent[k] = req.Messages
			}
		})
		for k := range callers {
			require.Empty(t, broken[k], "caller %d of conversation %d, for %s, window %d\n%s", k, seed, rules, window, guarantee.Show(histories[k]))
		}
		requireSame(t, sent[0], sent[callers/2+1], "equal calls at once are sent the same")
	}
}

// randomConversation is the same for the same seed.
func randomConversation(seed int) []message.Message {
	w := &wild{chat: chat{dice: &fixedDice{state: uint64(seed)}}, careless: seed%2 == 0}
	h, _ := w.conversation()
	return h
}

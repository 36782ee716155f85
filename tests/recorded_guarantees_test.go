package tests

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
)

// TestRecordedGuarantees makes some prefixes of some recorded conversations fit
// into small windows.
func TestRecordedGuarantees(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		fitRecorded(t, 90, 14, true)
		return
	}
	fitRecorded(t, soak.Nth(80, 20), 10, false)
}

// TestSoakRecordedGuarantees makes every prefix of every recorded conversation fit.
func TestSoakRecordedGuarantees(t *testing.T) {
	t.Parallel()
	soakUntil(t)
	fitRecorded(t, 1, 1, false)
}

// providers are those that a request may go to.
var providers = []message.Rules{
	message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral, message.Portable,
}

// outcomes counts what came of the prefixes of one window.
type outcomes struct{ asIs, shrunk, irreducible int }

// fitRecorded takes every nth conversation and of it every kth prefix, through
// each chain that is judged one by one. If it is to be quick, each conversation
// goes to one provider only.
func fitRecorded(t *testing.T, nth, kth int, quick bool) {
	t.Helper()
	all := conversations(t)
	windows := []int{4000, 8000, 32_000}
	table := map[int]*outcomes{}
	for _, w := range windows {
		table[w] = &outcomes{}
	}
	chains := lineup.Chains()
	for i := 0; i < len(all); i += nth {
		for p, rules := range providers {
			if quick && p != i/nth%len(providers) {
				continue
			}
			for _, w := range windows {
				chain := chains[(i+p+w/4000)%len(chains)]
				prefixes(t, all[i].read(t), chain, rules, w, kth, table[w])
			}
		}
	}
	text := "window   as it is    shrunk   irreducible\n"
	for _, w := range windows {
		o := table[w]
		text += fmt.Sprintf("%6d %10d %9d %13d\n", w, o.asIs, o.shrunk, o.irreducible)
		require.Positive(t, o.shrunk, "some prefixes are longer than %d tokens, or this shows nothing", w)
	}
	t.Log("prefixes of recorded conversations:\n" + text)
}

// prefixes runs a conversation prefix by prefix and judges each call.
func prefixes(t *testing.T, c *conversation, chain lineup.Chain, rules message.Rules, window, kth int, o *outcomes) {
	t.Helper()
	var heard middlewaretest.Recorder
	seen := 0 // events
	mw := middleware.Chain(append([]middleware.Middleware{heard.Middleware()}, chain.New(rules)...)...)
	budget := &middleware.Budget{Window: window}
	var before *guarantee.Call
	for n := 1; n <= len(c.messages); n = cmp.Or(min(n+kth, len(c.messages)), n) {
		now := &guarantee.Call{Rules: rules, Limits: rules.Limits(window), Room: window, History: c.messages[:n], Tools: c.tools}
		story := func() string {
			return fmt.Sprintf("%s through %s for %s, window %d, the first %d messages", c.id, chain.Name, rules, window, n)
		}
		req, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: now.History, Tools: c.tools, Budget: budget})
		now.Events = heard.Events()[seen:]
		seen += len(now.Events)
		if err != nil {
			require.Empty(t, now.Refused(err), "%s: %v", story(), err)
			o.irreducible++
		} else {
			now.Sent, now.Tools, now.View = req.Messages, req.Tools, req.View()
			require.Empty(t, append(now.Broken(), now.BrokenSince(before)...), "%s", story())
			before = now
			if isShrunk(now) {
				o.shrunk++
			} else {
				o.asIs++
			}
		}
		if n == len(c.messages) {
			break
		}
	}
}

// isShrunk reports whether something of the history is missing in what was sent.
func isShrunk(c *guarantee.Call) bool {
	for i := range c.View.Len() {
		if e := c.View.Span(i).Edit; e != nil && e.Kind != journal.Repair {
			return true
		}
	}
	return len(c.Sent) < len(c.History)
}

package tests

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

// TestGuarantees runs random conversations through random chains, call by call
// as an agent makes them, for random providers and windows.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, checkGuarantees)
}

// guaranteesChecked counts the cases of conversation, chain and provider.
var guaranteesChecked atomic.Int64

func checkGuarantees(t *rapid.T) {
	s := newScenario(rapidDice{t})
	guaranteesChecked.Add(1)
	for _, n := range callsOf(s.history) {
		s.call(t, n)
	}
	s.end(t)
}

// scenario is a conversation, the chain that it goes through and the provider
// behind that.
type scenario struct {
	dice     dice
	rules    message.Rules
	budget   middleware.Budget
	history  []message.Message
	tools    []message.ToolDef
	chain    middleware.Middleware
	restless bool                  // there are editors in it that edit again if they are asked again
	usage    func(counted int) int // what the provider reports of a prompt
	told     bool                  // it reports something

	asked  *middleware.Request // what the model was sent last
	heard  middlewaretest.Recorder
	before *guarantee.Call   // the call before
	whole  []message.Message // the history as it was
	log    []string
}

func newScenario(d dice) *scenario {
	w := &wild{chat: chat{dice: d}, careless: d.roll("careless", 2) == 1}
	s := &scenario{dice: d, rules: randomRules(d)}
	s.history, s.tools = w.conversation()
	if !w.careless && d.roll("sound", 2) == 1 {
		s.history, _ = s.rules.Repair(s.history)
	}
	s.whole = middlewaretest.Clone(s.history)
	s.budget.Window = 40 << d.roll("window", 12)
	s.budget.Reserve = s.budget.Window / 10 * d.roll("reserve", 3)
	s.chooseChain(d)
	s.chooseUsage(d)
	s.notef("for %s, window %d, reserve %d, %d tools", s.rules, s.budget.Window, s.budget.Reserve, len(s.tools))
	return s
}

// randomRules are the demands of one provider, of all, or of any.
func randomRules(d dice) message.Rules {
	some := []message.Rules{
		message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Portable,
	}
	if k := d.roll("provider", len(some)+1); k < len(some) {
		return some[k]
	}
	return message.Rules(1 + d.roll("providers", int(message.Portable|message.Prefill)))
}

// chooseChain puts some of the library's middlewares and some of these tests' into
// any order, and fit behind them.
func (s *scenario) chooseChain(d dice) {
	var mws []middleware.Middleware
	for range d.roll("middlewares", 4) {
		if k := d.roll("middleware", len(lineup.Editors)+1); k < len(lineup.Editors) {
			s.notef("%s", lineup.Editors[k].Name)
			mws = append(mws, lineup.Editors[k].New(d.roll))
			continue
		}
		s.restless = true
		for _, e := range randomEditors(d)[:1] {
			s.notef("editor %q of these tests, MinCalls %d, trigger %t", e.name, e.minCalls, e.when != nil)
			mws = append(mws, e.middleware())
		}
	}
	mws = append(mws, lineup.Fit(d.roll, s.rules))
	env := middleware.Env{Counter: tokens.Chars4{}}
	if d.roll("store", 4) == 3 {
		env.Journal = newTexts()
	}
	s.chain = middleware.Chain(s.heard.Middleware(), middleware.With(env, mws...))
}

// chooseUsage says how the provider counts: rightly, by another tokenizer, or
// not at all.
func (s *scenario) chooseUsage(d dice) {
	factors := []float64{0, 1, 1.3, 0.8, 3, 10, 0.1, -1}
	f := factors[d.roll("usage", len(factors))]
	s.usage = func(counted int) int { return int(f * float64(counted)) }
	s.told = f > 0
	s.notef("usage is %v of what is counted", f)
}

func (s *scenario) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// model is the provider: it takes down what it is sent.
func (s *scenario) model(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	s.asked = req
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: "as in the history"}),
		Usage:   message.Usage{Input: s.usage(s.meter().Request(req.Messages, req.Tools))},
		Stop:    middleware.StopEnd,
	}, nil
}

func (s *scenario) meter() tokens.Meter { return tokens.Meter{Counter: tokens.Chars4{}} }

// call makes the call for the first n messages, and judges it.
func (s *scenario) call(t require.TestingT, n int) {
	s.notef("call with %d", n)
	req := &middleware.Request{Messages: s.history[:n], Tools: s.tools, Budget: &s.budget}
	if s.dice.roll("apply first", 4) == 3 {
		s.applied(t, req)
	}
	s.asked = nil
	resp, err := s.chain(s.model)(testContext, req, nil)
	now := &guarantee.Call{
		Rules: s.rules, Room: s.budget.Room(), Meter: s.meter(), Told: s.told || s.restless,
		History: req.Messages, Tools: s.tools, Events: s.heard.Take(),
	}
	require.True(t, (resp == nil) != (err == nil), "either a response or an error, not %v and %v\n%s", resp, err, s.story(now))
	if err != nil {
		require.Empty(t, now.Refused(err), "no guarantee is broken, with the error %v\n%s", err, s.story(now))
		require.Nil(t, s.asked, "a request that cannot fit is not sent\n%s", s.story(now))
		return
	}
	require.NotNil(t, s.asked, "who has an answer has asked\n%s", s.story(now))
	now.Sent, now.Tools, now.View = s.asked.Messages, s.asked.Tools, s.asked.View()
	broken := append(now.Broken(), now.BrokenSince(s.before)...)
	require.Empty(t, broken, "no guarantee is broken\n%s", s.story(now))
	s.before = now
}

// applied checks that what is applied without a call is the same the second time.
func (s *scenario) applied(t require.TestingT, req *middleware.Request) {
	first, _, err := middleware.Apply(testContext, s.chain, req)
	again, events, errAgain := middleware.Apply(testContext, s.chain, req)
	require.Equal(t, err == nil, errAgain == nil, "the same input has the same outcome: %v, then %v\n%s", err, errAgain, s.story(nil))
	if err == nil && (!s.restless || count(events, middleware.Edited) == 0) {
		requireSame(t, first.Messages, again.Messages, "the same input gives the same bytes\n%s", s.story(nil))
	}
}

// end checks what can be told when all is over.
func (s *scenario) end(t require.TestingT) {
	requireSame(t, s.whole, s.history, "the caller's history stays as it was\n%s", s.story(nil))
}

// story tells what was done, with the history and what was sent last.
func (s *scenario) story(c *guarantee.Call) string {
	text := strings.Join(s.log, "\n")
	if c == nil {
		return text
	}
	text += "\nhistory\n" + guarantee.Show(c.History) + "sent\n" + guarantee.Show(c.Sent)
	if s.before != nil {
		text += "sent before\n" + guarantee.Show(s.before.Sent)
	}
	for _, e := range c.Events {
		text += e.String() + "\n"
	}
	return text
}

package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tests/guarantee"
	"github.com/laconic-go/laconic/tests/lineup"
	"github.com/laconic-go/laconic/tokens"
)

// scenario is a conversation, the chain that it goes through, and the provider
// behind that.
type scenario struct {
	dice    dice
	sum     *tally
	history []message.Message
	whole   []message.Message // the history as it was
	tools   []message.ToolDef
	model   string        // its name
	rules   message.Rules // of its provider
	budget  middleware.Budget
	limits  message.Limits

	middlewares []middleware.Middleware
	env         middleware.Env
	chain       middleware.Middleware
	compacted   bool // the provider may compact
	restless    bool // there are editors in it that edit again if they are asked again
	heard       middlewaretest.Recorder

	usage    float64            // what the provider reports of a prompt, as a factor; 0: nothing
	refusals int                // how many times it refuses the next request
	refused  bool               // it has refused one, so that its window counts as smaller
	asked    []sent             // in the newest call
	before   *guarantee.Call    // the newest call that was answered
	seen     int                // events that were reported before
	since    []middleware.Event // those that were reported since
	log      []string
}

func newScenario(d dice, sum *tally) *scenario {
	w := &wild{chat: chat{dice: d}, careless: d.roll("careless", 2) == 1}
	s := &scenario{dice: d, sum: sum}
	sum.cases++
	s.history, s.tools = w.conversation()
	asked := s.chooseProvider()
	if !w.careless && d.roll("sound", 2) == 1 {
		s.history = s.rules.Repair(s.history).Messages
	}
	s.whole = testkit.Clone(s.history)
	s.chooseChain(asked, w.careless)
	s.notef("for %s as %q, window %d, reserve %d, %d tools", s.rules, s.model, s.budget.Window, s.budget.Reserve, len(s.tools))
	return s
}

// chooseProvider says who is asked, and returns the rules that fit is told of; 0
// if it has to know them by the name of the model.
func (s *scenario) chooseProvider() message.Rules {
	s.budget.Window = 40 << s.dice.roll("window", 12)
	if eighths := s.dice.roll("window in eighths of the conversation", 12); eighths > 1 {
		s.budget.Window = 40 + s.meter().Request(s.history, s.tools)*eighths/8
	}
	s.budget.Reserve = s.budget.Window / 10 * s.dice.roll("reserve", 3)
	s.usage = []float64{0, 1, 1.3, 0.8, 3, 10, 0.1, -1}[s.dice.roll("usage", 8)]
	s.notef("usage is %v of what is counted", s.usage)
	named := []struct {
		model string
		rules message.Rules
	}{
		{"", message.Chat},
		{"gpt-4o", message.OpenAI},
		{"claude-sonnet-4-5", message.Anthropic | message.Prefill | message.SystemFirst},
		{"gemini-2.5-pro", message.Gemini},
		{"amazon.nova-pro-v1:0", message.Bedrock},
		{"mistral-large-2411", message.Mistral},
	}
	if k := s.dice.roll("by name", 4*len(named)); k < len(named) {
		s.model, s.rules = named[k].model, named[k].rules
		return 0
	}
	s.rules = randomRules(s.dice)
	return s.rules
}

// randomRules are the demands of one provider, of all, or of any.
func randomRules(d dice) message.Rules {
	if k := d.roll("provider", len(providers)+1); k < len(providers) {
		return providers[k]
	}
	return message.Rules(1 + d.roll("providers", int(message.Portable|message.Prefill)))
}

// chooseChain puts some of the library's middlewares and some of these tests' into
// any order, and fit behind them.
func (s *scenario) chooseChain(rules message.Rules, careless bool) {
	for range s.dice.roll("middlewares", 4) {
		if k := s.dice.roll("middleware", len(lineup.Editors)+1); k < len(lineup.Editors) {
			s.notef("%s", lineup.Editors[k].Name)
			s.compacted = s.compacted || lineup.Editors[k].Name == "native"
			s.middlewares = append(s.middlewares, lineup.Editors[k].New(s.dice.roll))
			continue
		}
		e := randomEditors(s.dice)[0]
		if careless && strings.HasPrefix(e.name, "offend") {
			continue // it may fold a result that is there twice, which no unit is
		}
		s.restless = true
		s.notef("editor %q of these tests, MinCalls %d, trigger %t", e.name, e.minCalls, e.when != nil)
		s.middlewares = append(s.middlewares, e.middleware())
	}
	s.middlewares = append(s.middlewares, lineup.Fit(s.dice.roll, rules, s.chooseLimits()))
	counters := []tokens.Counter{tokens.Chars4, tokens.CJK15, nil}
	s.env.Counter = counters[s.dice.roll("counter", len(counters))]
	s.env.Journal = journal.NewMemory(0)
	if s.dice.roll("store", 4) == 3 {
		s.env.Journal = newTexts()
	}
	s.env.Archive = lineup.Archive(s.dice.roll)
	s.notef("archive %T", s.env.Archive)
	s.restart()
}

// chooseLimits says what the provider takes besides tokens, and returns what fit is
// told of that.
func (s *scenario) chooseLimits() (told message.Limits) {
	s.limits = s.rules.Limits(s.budget.Window)
	switch s.dice.roll("limits", 8) {
	case 5:
		told.Images = 1 + s.dice.roll("images", 3)
		s.limits.Images = told.Images
	case 6:
		told.Bytes = 500 << s.dice.roll("bytes", 6)
		s.limits.Bytes = told.Bytes
	case 7:
		told.Documents, told.ImageSide, told.ManyImages, told.ManySide = 1, 1000, 2, 500
		s.limits.Documents, s.limits.ImageSide, s.limits.ManyImages, s.limits.ManySide = 1, 1000, 2, 500
	}
	s.notef("limits %+v", s.limits)
	return told
}

// restart makes the chain anew, as another process with the same store does.
func (s *scenario) restart() {
	s.chain = middleware.Chain(s.heard.Middleware(), middleware.With(s.env, s.middlewares...))
}

func (s *scenario) notef(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// run makes the calls of the conversation.
func (s *scenario) run(t require.TestingT) {
	for _, n := range callsOf(s.history) {
		switch s.dice.roll("before the call", 16) {
		case 12:
			s.notef("restart")
			s.restart()
		case 13, 14:
			s.apply(t, n)
		case 15:
			s.refusals = 1 + s.dice.roll("refusals", 2)
		}
		s.call(t, n)
	}
	requireSame(t, s.whole, s.history, "the caller's history stays as it was\n%s", s.story(nil))
}

func (s *scenario) request(n int) *middleware.Request {
	return &middleware.Request{Messages: s.history[:n], Tools: s.tools, Model: s.model, Budget: &s.budget}
}

// sent is a request that reached the provider, and the room that there was for it.
type sent struct {
	*middleware.Request

	room int
}

// answer is the provider: it takes down what it is sent, and answers or refuses.
func (s *scenario) answer(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
	b, _ := req.View().SureBudget() // a guessed window is no reason to send nothing
	s.asked = append(s.asked, sent{req, b.Room()})
	size := s.meter().Request(req.Messages, req.Tools)
	if s.refusals > 0 {
		s.refusals--
		s.refused = true
		return nil, &middleware.Error{Kind: middleware.Overflow, Op: "provider", Err: fmt.Errorf("prompt is too long: %d tokens > %d maximum", size, size*3/4)}
	}
	return &middleware.Response{
		Message: message.Assistant(message.Text{Text: "as in the history"}),
		Usage:   message.Usage{Input: int(s.usage * float64(size))},
		Stop:    middleware.StopEnd,
	}, nil
}

func (s *scenario) meter() tokens.Meter { return tokens.Meter{Counter: s.env.Counter} }

// call makes the call for the first n messages, and judges it.
func (s *scenario) call(t require.TestingT, n int) {
	s.notef("call with %d", n)
	s.sum.calls++
	s.asked = nil
	resp, err := s.chain(s.answer)(testContext, s.request(n), nil)
	s.since = s.heard.Events()[s.seen:]
	now := s.judged(n)
	room := now.Room
	require.NotEqual(t, resp == nil, err == nil, "either a response or an error, not %v and %v\n%s", resp, err, s.story(now))
	require.LessOrEqual(t, len(s.asked), 2, "a request is sent once, and once more if it is too long\n%s", s.story(now))
	for _, req := range s.asked {
		now.Sent, now.Tools, now.View, now.Room = req.Messages, req.Tools, req.View(), req.room
		require.LessOrEqual(t, req.room, s.budget.Room(), "a window that is learned is smaller\n%s", s.story(now))
		require.True(t, s.refused || req.room == s.budget.Room(), "it is learned from a refusal\n%s", s.story(now))
		require.Empty(t, now.Broken(), "no guarantee is broken\n%s", s.story(now))
	}
	switch {
	case err == nil:
		require.Empty(t, now.BrokenSince(s.before), "no guarantee is broken\n%s", s.story(now))
		s.before, s.seen = now, s.seen+len(s.since)
	case middleware.KindOf(err) == middleware.Overflow:
		require.True(t, s.refused, "only a provider knows that a request is too long\n%s", s.story(now))
		s.sum.refused++
	default:
		now.Room = room
		require.Empty(t, now.Refused(err), "no guarantee is broken, with the error %v\n%s", err, s.story(now))
		require.True(t, len(s.asked) == 0 || s.refused, "a request that cannot fit is not sent\n%s", s.story(now))
		s.sum.irreducible++
	}
	s.refusals = 0
	s.sum.edited += min(1, count(now.Events, middleware.Edited))
	s.sum.mended += min(1, count(now.Events, middleware.Repaired))
}

// judged is what the checker is told of a call before it is known what was sent.
func (s *scenario) judged(n int) *guarantee.Call {
	c := &guarantee.Call{
		Rules: s.rules, Limits: s.limits, Room: s.budget.Room(), Meter: s.meter(),
		Usage:   s.usage > 0 || s.model != "" || s.refused,
		Folded:  s.restless || s.compacted,
		History: s.history[:n], Tools: s.tools, Events: s.since,
	}
	if s.refused {
		c.Room = 0 // by now it is less than that
	}
	return c
}

// apply makes the call again and again, without a model: what is applied is the
// same the second time, unless an editor goes on with what a later one has left,
// and says so; then it is the same from then on.
func (s *scenario) apply(t require.TestingT, n int) {
	s.notef("apply with %d", n)
	first, _, err := middleware.Apply(testContext, s.chain, s.request(n))
	for range 3 {
		again, events, errAgain := middleware.Apply(testContext, s.chain, s.request(n))
		require.Equal(t, err == nil, errAgain == nil, "the same input has the same outcome: %v, then %v\n%s", err, errAgain, s.story(nil))
		if err != nil {
			return
		}
		if count(events, middleware.Edited) == 0 {
			requireSame(t, first.Messages, again.Messages, "the same input gives the same bytes\n%s", s.story(nil))
			return
		}
		first = again
	}
	require.True(t, s.restless, "the same input gives the same bytes at last\n%s", s.story(nil))
}

// story is what was done, told only if something goes wrong.
type story struct {
	*scenario
	call *guarantee.Call // with its history and what was sent; nil: none
}

func (s *scenario) story(c *guarantee.Call) story { return story{s, c} }

func (s story) String() string {
	var b strings.Builder
	for _, line := range s.log {
		b.WriteString(line + "\n")
	}
	if s.call == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "history\n%ssent\n%s", guarantee.Show(s.call.History), guarantee.Show(s.call.Sent))
	if s.before != nil {
		fmt.Fprintf(&b, "sent before\n%s", guarantee.Show(s.before.Sent))
	}
	for _, e := range s.call.Events {
		fmt.Fprintln(&b, e)
		for _, r := range e.Edits {
			fmt.Fprintf(&b, "    %s of %v\n%s", r.Kind, r.Runs, guarantee.Show(append(slices.Clone(r.Messages), message.Message{Parts: r.Parts})))
		}
	}
	return b.String()
}

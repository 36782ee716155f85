package thinking

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
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
			if !soak.Enabled() {
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

// chain is one that the conversations are led through.
type chain struct {
	name   string
	window int // of the requests' budget; 0: that of the model by the table
	layers func() []middleware.Middleware

	// read is the share of the thinking, in percent, that the model reads in all recordings with the remedy (see
	// remedy_test.go) outside of a chain that knows nothing of bound thinking. A chain that knows has to reach it.
	read float64
	// few and more are the same for the few recordings of a plain run, and for those with LACONIC_ALL, with all that can be known.
	few, more float64
}

const noEditing = "no editing"

// chains returns all of them, no editing first.
func chains() []chain {
	clearing := func(o contextedit.Options) func() []middleware.Middleware {
		return func() []middleware.Middleware { return []middleware.Middleware{contextedit.New(o)} }
	}
	half := trigger.Fraction(0.5)
	return []chain{
		{noEditing, 0, func() []middleware.Middleware { return nil }, 100, 100, 100},
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

// variants are what programs do, and how providers differ. No request may be refused. With nets, a chain cannot always know
// better, since nothing tells the demand or the journal has lost what was sent; then each refused request must be saved.
var variants = []variant{
	{name: "two blocks", form: form{blocks: 2}},
	{name: "omitted text", form: form{omitted: true}},
	{name: "omitted text, usage not reported", form: form{omitted: true}, silent: true},
	{name: "usage not reported", silent: true},
	{name: "restart", restart: true},
	{name: "restart, omitted", restart: true, form: form{blocks: 2, omitted: true}},
	{name: "forks", forks: true},
	{name: "forks, restart", forks: true, restart: true},
	{name: "window grows and shrinks", before: windows},
	{name: "window, restart", before: windows, restart: true},
	{name: "tools added", before: moreTools, caller: true},
	{name: "tools added, restart", before: moreTools, caller: true, restart: true, nets: true}, // without edits, no entry has the tools
	{name: "late pins", before: latePins},
	{name: "late pins, restart", before: latePins, restart: true},
	{name: "late system", before: lateSystem},
	{name: "late system, restart", before: lateSystem, restart: true},
	{name: "new system prompt", before: newSystem, caller: true},
	{name: "loss", journal: losing(0.3, 0), nets: true},
	{name: "loss, restart", journal: losing(0.3, 0), restart: true, nets: true},
	{name: "loss of everything", journal: losing(0, 0.1), restart: true, nets: true},
	{name: "window, loss, restart, forks", before: windows, journal: losing(0.2, 0.02), restart: true, forks: true, nets: true},
	{name: "unknown model", model: "house-model", nets: true},
	{name: "unknown model, restart", model: "house-model", nets: true, restart: true},
}

// windows gives the model 8k in the first third of the calls, then 1M, and 8k again.
func windows(_ *session, call, of int, req *middleware.Request) {
	window := 8_000
	if call*3 >= of && call*3 < 2*of {
		window = 1_000_000
	}
	req.Budget = &middleware.Budget{Window: window}
}

// moreTools declares a tool more from the middle on, and another one from three quarters on.
func moreTools(_ *session, call, of int, req *middleware.Request) {
	for k, from := range []int{of / 2, of * 3 / 4} {
		if call >= from {
			tool := message.ToolDef{Name: fmt.Sprintf("later_%d", k+1), Description: "A tool that was added.", Parameters: `{"type":"object"}`}
			req.Tools = append(slices.Clip(req.Tools), tool)
		}
	}
}

// latePins pins the message in the middle of the history, in each fifth call, from then on.
func latePins(_ *session, call, _ int, req *middleware.Request) {
	if call%5 != 4 {
		return
	}
	req.Messages = slices.Clone(req.Messages)
	req.Messages[len(req.Messages)/2].Hints.Pinned = true
}

// lateSystem appends a system message in each seventh call, which the history has from then on.
func lateSystem(_ *session, call, _ int, req *middleware.Request) {
	if call%7 == 6 {
		req.Messages = append(slices.Clip(req.Messages), message.System(fmt.Sprintf("Remark %d: be brief.", call)))
	}
}

// newSystem changes the first system message from the middle on, or adds one.
func newSystem(_ *session, call, of int, req *middleware.Request) {
	if call < of/2 {
		return
	}
	prompt := message.System("You work with tools. It is the afternoon.")
	if len(req.Messages) > 0 && req.Messages[0].Role == message.RoleSystem {
		req.Messages = slices.Clone(req.Messages)
		req.Messages[0] = prompt
		return
	}
	req.Messages = append([]message.Message{prompt}, req.Messages...)
}

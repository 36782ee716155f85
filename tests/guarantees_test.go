package tests

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
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

// TestGuaranteesAreHeld makes sure that each guarantee of docs/internals/guarantees.md, and each statement
// of docs/security.md on what an attacker cannot do, names tests, and that these are there.
func TestGuaranteesAreHeld(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	there := testsOfModule(t)
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	for name, page := range map[string]struct{ columns, rows int }{"internals/guarantees": {2, 30}, "security": {3, 10}} {
		text, err := os.ReadFile("../docs/" + name + ".md")
		require.NoError(t, err)
		rows, guarantees := 0, false
		for line := range strings.Lines(string(text)) {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				require.Contains(t, there, m[1], "a test that docs/%s.md names: %s", name, line)
			}
			switch cells := strings.Split(line, "|"); {
			case !strings.HasPrefix(line, "|"):
				guarantees = false
			case strings.Contains(line, "checked by"):
				guarantees = true
			case guarantees && !strings.Contains(line, "---"):
				rows++
				require.Len(t, cells, page.columns+2, "a row has a guarantee and its tests: %s", line)
				require.Regexp(t, named, cells[page.columns], "a guarantee names the tests that check it: %s", line)
			}
		}
		require.Greater(t, rows, page.rows, "the guarantees are rows of tables")
		for _, readme := range []string{"README.md", "README.zh-CN.md"} {
			text, err := os.ReadFile(filepath.Join("..", readme))
			require.NoError(t, err)
			require.Contains(t, string(text), "docs/"+name+".md", "%s leads to the page", readme)
		}
	}
}

// testsOfModule returns the names of all tests and fuzz targets.
func testsOfModule(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "..":
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	}))
	return names
}

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

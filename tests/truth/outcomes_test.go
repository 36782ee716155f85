package truth_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// heldOut selects a third of texts, the same ones in each run: no rule was changed for them.
func heldOut(text string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // it never fails
	return h.Sum32()%3 == 0
}

// split counts separately what rules were changed for, and what is held out.
type split struct{ seen, held share }

func (s *split) add(text string, kept bool) {
	if heldOut(text) {
		s.held.add(kept)
	} else {
		s.seen.add(kept)
	}
}

func (s *split) String() string { return s.seen.count() + " | " + s.held.count() }

// row compares or writes a row of the page.
func (s *split) row(tb testing.TB, name string) {
	tb.Helper()
	row(tb, name, s.seen.count(), s.held.count())
}

func (s *share) count() string { return fmt.Sprintf("%d of %d", s.kept, s.all) }

// missf logs a case that is not as it should be, unless it is held out.
func missf(tb testing.TB, text, format string, args ...any) {
	tb.Helper()
	if !heldOut(text) {
		tb.Logf(format, args...)
	}
}

// ending is a run of tests, and what its output shows.
type ending struct{ verdict, command, output string }

func endings(tb testing.TB) (all []ending) {
	tb.Helper()
	data, err := os.ReadFile("testdata/endings.txt")
	require.NoError(tb, err)
	for _, block := range strings.Split("\n"+string(data), "\n== ")[1:] {
		head, body, _ := strings.Cut(block, "\n")
		verdict, command, ok := strings.Cut(head, " | ")
		require.True(tb, ok, head)
		all = append(all, ending{verdict, command, strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "␛", "\x1b")})
	}
	return all
}

// history is a conversation with the run in it.
func (e ending) history() []message.Message {
	run := message.ToolCall{ID: "run", Name: "bash", Arguments: fmt.Sprintf(`{"command": %q}`, e.command)}
	h := []message.Message{
		message.User("Round the totals."), message.Assistant(run), message.Result("run", "bash", e.output),
		message.Assistant(message.Text{Text: strings.Repeat("I look at the code of the cart and of the ledger. ", 60)}),
	}
	return append(h, message.User("Go on."))
}

// recordedOutcomes returns what a summary says of commands, by command. What one printed last, in quotes, is no outcome.
func recordedOutcomes(summary string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(summary) {
		item, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if k := strings.LastIndex(item, " → "); ok && k >= 0 && !strings.HasSuffix(item, `"`) {
			all[item[:k]] = item[k+len(" → "):]
		}
	}
	return all
}

// TestEndings measures what is recorded of runs of tests, and which sentences about them are taken for inventions.
func TestEndings(t *testing.T) {
	t.Parallel()
	_, wordings := sections(t, "wordings.txt")
	var ok, failed, certain, falsely, found, removed, doubted split
	for i, e := range endings(t) {
		h := e.history()
		outcome := ""
		for _, how := range recordedOutcomes(joined(viewOf(t, h, summarize.Options{Keep: 1}))) {
			outcome = how
		}
		switch e.verdict {
		case "failed", "broken":
			ok.add(e.output, outcome == "ok")
			failed.add(e.output, outcome != "" && outcome != "ok")
			if outcome == "" || outcome == "ok" {
				missf(t, e.output, "%q failed, recorded is %q", e.command, outcome)
			}
		case "passed, exit 0":
			certain.add(e.output, outcome == "ok")
			if outcome != "ok" {
				missf(t, e.output, "%q passed, recorded is %q", e.command, outcome)
			}
		default:
			falsely.add(e.output, outcome != "")
			if outcome != "" {
				missf(t, e.output, "the end of %q shows nothing certain, recorded is %q", e.command, outcome)
			}
		}
		if e.verdict == "broken" {
			continue
		}
		for k, said := range append(wordings["passed"], wordings["failed"]...) {
			if (i+k)%every(4) > 0 { // others for each run
				continue
			}
			items, accepted := inventions(t, h, said)
			require.True(t, accepted, said)
			passed := strings.Contains(strings.Join(wordings["passed"], "\n"), said)
			wrong := false
			switch {
			case e.verdict == "failed" && passed:
				found.add(e.output+said, items != nil)
				wrong = items == nil
			case e.verdict == "failed":
				removed.add(e.output+said, items != nil)
				wrong = items != nil
			case passed:
				doubted.add(e.output+said, items != nil)
				wrong = items != nil
			}
			if wrong {
				missf(t, e.output+said, "%s, %q: %v in %q", e.verdict, e.command, items, said)
			}
		}
	}
	require.Zero(t, ok.seen.kept+ok.held.kept, "runs that failed, recorded as ok")
	require.Zero(t, falsely.seen.kept+falsely.held.kept, "uncertain runs, recorded with an outcome")
	require.Zero(t, removed.seen.kept+removed.held.kept, "true sentences about failures, removed")
	require.Zero(t, doubted.seen.kept+doubted.held.kept, "sentences about success that nothing contradicts, removed")
	failed.row(t, "test runs that failed: recorded as failed")
	ok.row(t, "test runs that failed: recorded as ok")
	certain.row(t, "test runs that passed with exit code 0: recorded as ok")
	found.row(t, "failed runs, \"the tests pass\" in eight wordings: found")
	removed.row(t, "failed runs, \"the tests failed\" in four wordings: removed")
	doubted.row(t, "runs that passed or show nothing, \"the tests pass\": removed")
	require.GreaterOrEqual(t, min(found.seen.percent(), found.held.percent()), 94.0, "false sentences about success that are found, in percent")
}

// The judge of recordings: words of a failure in the output of a test run, and of a write; they are not those of the rules.
var (
	testRun   = regexp.MustCompile(`\b(mise|task|just) run \S*test|\b(pytest|unittest|runtests|go test|jest|vitest|mocha|cargo test|mvn|gradlew?|rspec|phpunit|ctest|tox)\b|(npm|yarn|pnpm|make|manage\.py) (run )?test`)
	printing  = regexp.MustCompile(`^\s*(cd \S+ && )?(cat|grep|ls|find|sed|head|git|rg|which|edit|echo|open|search_\w+)\b`)
	runFailed = regexp.MustCompile(`(?m)\b[1-9]\d* (failed|failing|errors? in)\b|^FAIL|FAILED \(|(failures|errors)=[1-9]|^Traceback|No module named|command not found|^panic:|no tests ran|Ran 0 tests|^E   |BUILD FAIL|^<returncode>[1-9]|(?i:^exit code:? [1-9])`)
	notDone   = regexp.MustCompile(`(?i)^\W*(error|fail|traceback)|"success": ?false|"?is_?error\\*"?: ?true|<tool_use_error>|to replace not found|no replacement was|has not been read|permission denied|no such file|\{"error`)
)

// TestRecordedOutcomes counts test commands that are recorded as ok and files that are recorded as written, and those of
// them that had failed.
func TestRecordedOutcomes(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	var runs, writes, removed, kept split
	for _, name := range recorded.Files(t) {
		if strings.Contains(name, "synthetic") {
			continue
		}
		for line := range recorded.Some(t, name) {
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c))
			h := c.History()
			if len(h) < 4 || h[len(h)-1].Role != message.RoleUser {
				h = append(h, message.User("Go on."))
			}
			for _, m := range viewOf(t, h, summarize.Options{Keep: 1, FactTokens: 100_000}) {
				judgeOutcomes(t, &c, m.Text(), &runs, &writes)
			}
			if output, ran := newestRun(&c); ran && runFailed.MatchString(output) {
				for said, wrong := range map[string]*split{"The tests failed.": &removed, "The tests passed.": &kept} {
					items, accepted := inventions(t, h, said)
					require.True(t, accepted)
					bad := (items != nil) == (wrong == &removed)
					wrong.add(c.ID, bad)
					if bad {
						missf(t, c.ID, "%s: %v in %q: %q", c.ID, items, said, runFailed.FindString(output))
					}
				}
			}
		}
	}
	require.Zero(t, runs.seen.kept+runs.held.kept, "test commands recorded as ok that had failed")
	require.Zero(t, writes.seen.kept+writes.held.kept, "files recorded as written whose writes failed")
	require.Zero(t, removed.seen.kept+removed.held.kept, "true sentences about failures, removed")
	runs.row(t, "recorded agents, test commands recorded as ok: had failed")
	writes.row(t, "recorded agents, files recorded as written: the writes failed")
	removed.row(t, "recorded agents whose newest test run failed, \"The tests failed.\": removed")
	kept.row(t, "recorded agents whose newest test run failed, \"The tests passed.\": kept")
}

// newestRun returns the output of the newest test run.
func newestRun(c *recorded.Conversation) (output string, ran bool) {
	ids := map[string]bool{}
	for _, m := range c.Messages {
		for _, call := range m.Calls {
			var args struct {
				Command string `json:"command"`
			}
			ids[call.ID] = json.Unmarshal([]byte(call.Arguments), &args) == nil && testRun.MatchString(args.Command) && !printing.MatchString(args.Command)
		}
		if m.Role == message.RoleTool && ids[m.CallID] {
			output, ran = m.Content, true
		}
	}
	return output, ran
}

func judgeOutcomes(tb testing.TB, c *recorded.Conversation, summary string, runs, writes *split) {
	tb.Helper()
	results := map[string]string{} // by call
	for _, m := range c.Messages {
		results[m.CallID] = m.Content
	}
	outcomes := recordedOutcomes(summary)
	newest := map[string]string{}
	for _, m := range c.Messages {
		for _, call := range m.Calls {
			var args struct {
				Command string `json:"command"`
			}
			if json.Unmarshal([]byte(call.Arguments), &args) == nil && testRun.MatchString(args.Command) && !printing.MatchString(args.Command) {
				newest[strings.Join(strings.Fields(args.Command), " ")] = results[call.ID]
			}
		}
	}
	for command, outcome := range outcomes {
		if outcome != "ok" && outcome != "成功" {
			continue
		}
		for run, output := range newest {
			if begin, _, _ := strings.Cut(command, "…"); strings.HasPrefix(run, begin) && (begin == run || begin != command) {
				runs.add(c.ID, runFailed.MatchString(output))
				if runFailed.MatchString(output) {
					missf(tb, c.ID, "%s: %q is recorded as ok: %s", c.ID, command, runFailed.FindString(output))
				}
			}
		}
	}
	_, files, _ := strings.Cut(summary, "\nFiles written:\n")
	for line := range strings.Lines(files) {
		file, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			break
		}
		done, all := false, 0
		for _, m := range c.Messages {
			for _, call := range m.Calls {
				if strings.Contains(call.Arguments, file) && !strings.Contains(strings.ToLower(call.Name), "read") {
					all++
					done = done || !notDone.MatchString(results[call.ID])
				}
			}
		}
		if all > 0 {
			writes.add(c.ID, !done)
			if !done {
				missf(tb, c.ID, "%s: %q is recorded as written", c.ID, file)
			}
		}
	}
}

package claims_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// TestSupports compares a sentence with a source: without wanted items it is supported.
func TestSupports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source, said string
		want               []string
	}{
		{"digit grouping", "48213 rows, 1'204'331 bytes", "48,213 rows and 1,204,331 bytes", nil},
		{"thin spaces", "48213 rows", "48\u202f213 rows", nil},
		{"hex in another case", "at 0xDEADBEEF, commit 9F3C2AB41D77", "at 0xdeadbeef, commit 9f3c2ab41d77", nil},
		{"a short hash", "commit 9f3c2ab41d77e0", "commit 9f3c2ab", nil},
		{"another hash", "commit 9f3c2ab41d77e0", "commit 9f3c2ac", []string{"9f3c2ac"}},
		{"paths", "a/b.go ./c/d.go /root/e/f.go", "./a/b.go, c/d.go, e/f.go and f.go", nil},
		{"a path below the root", "a/b.go", "/root/a/b.go", nil},
		{"a file in a listed folder", "ls src\nmain.go util.go", "src/main.go", nil},
		{"another path", "config/app.yaml", "src/app.yaml", []string{"src/app.yaml"}},
		{"a path of Windows", `{"path": "C:\\data\\in.csv"}`, `C:\data\in.csv`, nil},
		{"no path", "the plan", "input/output and/or read/write", nil},
		{"a place in a file", "refund.go:7:24: undefined", "refund.go:7 and refund.go:7:24", nil},
		{"another place", "refund.go:7:24: undefined", "refund.go:19", []string{"refund.go:19"}},
		{"Chinese numerals", "预算三千五百元，十五分钟，百分之八十，二〇二六年", "3,500元, 15 minutes, 80%, 2026", nil},
		{"Chinese numerals in the summary", "3500 CNY within 15 min", "预算为三千五百元，十五分钟内", nil},
		{"wide forms", "编号ＡＢ－１２３４，共１，２９９元", "编号 AB-1234，共 1299 元", nil},
		{"no numerals", "a", "万一十分重要，一致同意，千万不要", nil},
		{"other units", "took 2312 ms, 1536 KB", "took 2.3 s, 1.5 MB", nil},
		{"another unit", "30 MB", "30 seconds", []string{"30 seconds"}},
		{"currencies are not compared", "54.04 EUR", "$54.04", nil},
		{"an amount", `"price": 54.04, "currency": "EUR"`, "€54.04", nil},
		{"sums of the source", "149 EUR and 162.5 EUR", "The total is 311.50 EUR, a difference of €13.50", nil},
		{"another sum", "149 EUR and 162.5 EUR", "The total is 312.50 EUR", []string{"312.50 EUR"}},
		{"a plan", "a", "## Next steps\n- Write src/cache_new.go at 14:30.", nil},
		{"no plan", "a", "## Next steps\n- Go on.\n## Done\nThe file src/cache_new.go.", []string{"src/cache_new.go"}},
		{"another amount", `"price": 54.04`, "€54.40", []string{"€54.40"}},
		{"dates", "2026-11-17T02:00:01Z", "Nov 17, 17 November 2026, 2026年11月17日, 11/17/2026, Tuesday, 02:00", nil},
		{"other dates", "2026-11-17", "18 November, 2027-11-17", []string{"18 November", "2027-11-17"}},
		{"times", "at 14:05 and 3 pm", "2:05 pm, 15:00, 下午2点05分", nil},
		{"another time", "at 14:05", "at 14:50", []string{"14:50"}},
		{"small counts", "a", "3 files, 12 tests, 2nd, v 1, 5 of 8, 2x, step 4", nil},
		{"a greater count", "a", "214 tests", []string{"214"}},
		{"a label", "port 80", "port 81", []string{"81"}},
		{"sums that the sentence shows", "149 and 162.5", "149 + 162.50 = 311.50, i.e. 13.5 more", nil},
		{"a percentage of two numbers", "9 of 12 passed", "9 of 12 (75 %) passed", nil},
		{"about right", "1187 rows", "about 1,200 rows, nearly 1.2k", nil},
		{"a quotation", `He said: "Never push,\nplease."`, `He said "never push please"`, nil},
		{"another quotation", "never push, please", `He said "always push, please"`, []string{"always push, please"}},
		{"a quotation with a gap", "never ever push to main, please", "“never ever … main, please”", nil},
		{"code of several words", `read {"path": "a.go"}`, "`read a.go`", nil},
		{"a plain word in backticks", "func RefundTotal()", "`refund` and `refunds`", nil},
		{"another word in backticks", "func RefundTotal()", "`payout`", []string{"payout"}},
		{"names", "getUser user_name #W12 v1.2.3 --force", "`getUser`, user_name, #W12, v1.2.3, --force", nil},
		{"other names", "getUser", "getUsers is not getUsr", []string{"getUsr"}},
		{"an error", "TypeError: x is not a function", "TypeError: x is not a function", nil},
		{"another error", "TypeError: x is not a function", "RangeError: y is null", []string{"RangeError"}},
		{"an address", "https://example.com/a/b?c=1", "see example.com/a/b and https://example.com/a", nil},
		{"another address", "https://example.com/a", "https://example.com/b", []string{"https://example.com/b"}},
		{"common names", "a", "a GitHub project in TypeScript, UTF-8, e.g. with APIs and in the U.S.", nil},
		{"emphasis and headings", "user_id 4711", "## **user_id**: *4711*", nil},
		{"nothing", "", "Nothing was done.", nil},
	} {
		var items []string
		for _, f := range claims.NewSource(c.source).Check(c.said) {
			items = append(items, f.Items...)
		}
		require.Equal(t, c.want, items, c.name)
	}
}

// TestAnsweredCalls: an answer to a question that a tool asks is one of the user.
func TestAnsweredCalls(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"Yes, delete it": 0, "No": 1} {
		s := claims.SourceOf([]message.Message{
			message.User("Clean up."),
			message.Assistant(message.ToolCall{ID: "1", Name: "AskUserQuestion", Arguments: `{"questions":[{"question":"May I delete the production bucket?"}]}`}),
			message.Result("1", "AskUserQuestion", `User has answered your questions: "May I delete the production bucket?"="`+answer+`". You can now continue.`),
		}, nil, nil)
		require.Len(t, s.Check("The user approved deleting the production bucket."), want, answer)
	}
	s := claims.SourceOf([]message.Message{
		message.Assistant(message.ToolCall{ID: "1", Name: "bash", Arguments: `{"command":"git commit -m 'fix: the tests failed on CI'"}`}), message.Result("1", "bash", "[main 1] fix\nexit code: 0"),
	}, nil, nil)
	require.Empty(t, s.Check("It ran `git commit -m 'fix: the tests failed on CI'`."), "in backticks is no outcome")
}

// bodies are texts that parsers are afraid of.
func bodies(size int) map[string]string {
	many := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"prose": many("The build of shop/refund fails since 17 November 2026, see a_b.go:12. "), "lines": many("12:a/b/c.go:4\n"),
		"one word": many("a"), "digits": many("1"), "groups": many("1,111"), "dots": many("1.1."), "numerals": many("二十"), "ideographs": many("一"),
		"quotes": many(`"`), "open quotes": many("“"), "backticks": many("`"), "escapes": many(`\\n`), "slashes": many("a/"), "spaces": many(" "),
		"invalid": many("\xff\xfe1"), "zeros": many("\x00"), "words": many("two hundred and "), "lines of nothing": many("\n"), "names": many("aB1_c "),
		"passes": many("the tests passed, but "), "clocks": many("1:11:"), "capitals": many("aA"),
	}
}

// TestBadInput checks long texts: they take linear time, or the test does not end.
func TestBadInput(t *testing.T) {
	t.Parallel()
	size := soak.Of(1<<16, 4)
	if soak.Enabled() { // make soak
		size = 1 << 18
	}
	small := claims.NewSource("a")
	for name, body := range bodies(size) {
		_ = claims.NewSource(body).Check("Port 80 and a.go in `a b`.")
		found := small.Check(body)
		require.NotNil(t, claims.Without(body, found), name)
	}
	require.Empty(t, claims.NewSource().Check(""))
	if !testing.Short() {
		large := claims.NewSource(bodies(soak.Of(2<<20, 8))["prose"])
		require.NotEmpty(t, large.Check("See b_c.go."))
	}
}

func FuzzCheck(f *testing.F) {
	for _, c := range []string{"a `b", "“c", "1,2.3", "2026-1-1", "C:\\a", "三千", "a/b.go:1", "\xff", "$5 USD", "1:1 pm", "E: x", "- 1. a", "$", "#", "~", "@"} {
		f.Add(c, c)
	}
	f.Fuzz(func(t *testing.T, source, body string) {
		s := claims.NewSource(source)
		end := 0
		for _, found := range s.Check(body) {
			require.LessOrEqual(t, end, found.From)
			require.Less(t, found.From, found.To)
			require.NotEmpty(t, found.Items)
			end = found.To
		}
		require.LessOrEqual(t, end, len(body))
	})
}

// TestRecorded checks summaries by rules of recorded conversations: what they say was said. At most one of fifty is changed.
func TestRecorded(t *testing.T) {
	t.Parallel()
	n, changed, sentences, removed := 0, 0, 0, 0
	for _, name := range recorded.Files(t) {
		for line := range recorded.Some(t, name) {
			var c recorded.Conversation
			require.NoError(t, json.Unmarshal(line, &c), "%s is JSON", name)
			h := c.History()
			summary := rulewriter.Summary(h, text.Options{Tokens: 2000, Counter: tokens.Estimate{}, Language: text.LanguageOf(h)})
			if summary == "" {
				continue
			}
			for range text.Pieces(summary) {
				sentences++
			}
			n++
			if found := claims.SourceOf(h, nil, nil).Check(summary); found != nil {
				changed++
				removed += len(found)
				for _, f := range found {
					t.Logf("%s: %q in %s", c.ID, f.Items, summary[f.From:f.To])
				}
			}
		}
	}
	t.Logf("of %d summaries with %d sentences %d are changed, %d sentences are removed", n, sentences, changed, removed)
	require.LessOrEqual(t, changed*50, n)
}

// history is a history of testdata/true.txt, with true summaries of it.
type history struct {
	name    string
	msgs    []message.Message
	truths  []string
	heldOut bool // it was not looked at while the check was tuned
}

func histories(tb testing.TB) (all []history) {
	tb.Helper()
	data, err := os.ReadFile("testdata/true.txt")
	require.NoError(tb, err)
	var h *history
	var role, body string
	truths, calls := false, 0
	end := func() {
		body = strings.TrimSuffix(body, "\n")
		id := "c" + string(rune('a'+calls))
		switch role {
		case "user":
			h.msgs = append(h.msgs, message.User(body))
		case "assistant":
			h.msgs = append(h.msgs, message.Assistant(message.Text{Text: body}))
		case "call":
			name, args, _ := strings.Cut(body, " ")
			h.msgs = append(h.msgs, message.Assistant(message.ToolCall{ID: id, Name: name, Arguments: args}))
		case "result", "error":
			h.msgs = append(h.msgs, message.Message{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: id, Text: body, Error: role == "error"},
			}})
			calls++
		}
		role = ""
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		name, isName := strings.CutPrefix(line, "== ")
		switch {
		case isName:
			all = append(all, history{name: name, heldOut: len(all)%2 == 1 || len(all) >= 10})
			h, truths, calls = &all[len(all)-1], false, 0
		case h == nil || line == "":
			if h != nil && !truths {
				end()
			}
		case line == "-- true":
			end()
			truths = true
		case truths:
			h.truths = append(h.truths, line)
		case strings.HasPrefix(line, "  "):
			body += "\n" + line[2:]
		default:
			end()
			role, body, _ = strings.Cut(line, " ")
		}
	}
	return all
}

// TestTrueSummaries checks true summaries that were written by hand: at most one of fifty may be changed.
func TestTrueSummaries(t *testing.T) {
	t.Parallel()
	for _, heldOut := range []bool{false, true} {
		n, wrong := 0, 0
		for _, h := range histories(t) {
			if h.heldOut != heldOut {
				continue
			}
			s := claims.SourceOf(h.msgs, nil, nil)
			for _, truth := range h.truths {
				n++
				if found := s.Check(truth); found != nil {
					wrong++
					if !heldOut || os.Getenv("SHOW") != "" {
						t.Logf("%s: %v in %s", h.name, found[0].Items, truth)
					}
				}
			}
		}
		require.LessOrEqual(t, wrong*50, n, "at most one of fifty is changed")
		t.Logf("of %d true summaries (held out: %v) %d are changed", n, heldOut, wrong)
	}
}

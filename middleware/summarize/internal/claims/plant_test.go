package claims_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/claims"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
)

// plants are false sentences; the operands of their verbs are random.
var plants = map[string][]string{
	"identifier": {
		"The function `%[1]sLedger` was renamed.", "It calls load_%[2]s_batch twice.", "Order #W%[3]d88214 is affected.",
		"The fix is in commit %[4]s.", "Ticket OPS-9%[3]d tracks the rest.", "相关订单号是 XK%[3]d7。", "The env var %[5]s_TOKEN is missing.",
		"It was run with --no-%[2]s.", "调用了 `%[2]s_sync` 工具。", "Class %[1]sManager implements it.", "The request ID was req-%[4]s.",
		"The `%[2]s` package is used.", "Contact %[2]s.meyer@example.net about it.", "The host is %[2]s-07.",
	},
	"number": {
		"The timeout is %[6]d seconds.", "It costs $%[6]d.%[7]d.", "内存上限为 %[7]d GB。", "The server listens on port 9%[6]d.",
		"The deadline is 2031-04-%[7]d.", "The error is in line %[3]d.", "Coverage is %[7]d.37 %%.", "总金额为 %[3]d.5 元。",
		"The job takes %[7]d hours.", "They found 7%[3]d rows.", "The meeting is on August %[7]d.", "缓存时间是%[6]d分钟。",
		"It started at 04:%[7]d.", "Version 9.%[7]d.%[6]d is installed.",
	},
	"path": {
		"See internal/%[2]s/evict.go for details.", "The limits are in /etc/%[2]s/limits.toml.", "Run ./scripts/%[2]s-rollback.sh next.",
		"修改了 src/%[2]s/index.vue。", "The file %[2]s_helpers.py was added.", "It reads `config/%[2]s.yaml`.", "日志写在 /var/log/%[2]s/%[2]s.log 中。",
		"The data is at https://%[2]s.example.net/v3/items.", "Docs: docs/%[2]s.md.", "C:\\Temp\\%[2]s\\out.csv was written.",
	},
	"quotation": {
		`The user said "use the old %[2]s gateway instead".`, "用户说“请把%[6]d条旧日志全部删除”。", `The error was "unexpected %[2]s token in header".`,
		"报错为“找不到模块 %[2]s”。", "It failed with %[1]sError: cannot open the %[2]s.", "The user insisted on “no %[2]s, ever”.",
		"`rm -rf /%[2]s --all` was mentioned.", `The log says "connection reset by %[2]s".`,
	},
}

// fill returns a sentence with random operands.
func fill(r *rand.Rand, pattern string) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	low := pick("quokka", "marmot", "zephyr", "basalt", "cobalt", "fjord", "gantry", "lichen", "mantis", "nimbus")
	s := fmt.Sprintf(pattern, strings.ToUpper(low[:1])+low[1:], low, 1000+r.IntN(9000), fmt.Sprintf("%07x", r.Uint32()|0x10a00000)[:7],
		strings.ToUpper(low), 21+r.IntN(5)*13+5, 21+r.IntN(7), "")
	s, _, _ = strings.Cut(s, "%!(EXTRA")
	return s
}

// TestPlanted plants a false item into true summaries: 99 of 100 are found.
func TestPlanted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	all, missed := map[string]int{}, map[string]int{}
	test := func(s *claims.Source, kind, truth, plant string) {
		all[kind]++
		body := truth + "\n" + plant
		for _, f := range s.Check(body) {
			if f.From > len(truth) {
				return
			}
		}
		missed[kind]++
		t.Logf("%s is missed: %s", kind, plant)
	}
	for _, h := range histories(t) {
		s := claims.SourceOf(h.msgs, nil, nil)
		for _, kind := range slices.Sorted(maps.Keys(plants)) {
			for _, p := range plants[kind] {
				test(s, kind, h.truths[r.IntN(len(h.truths))], fill(r, p))
			}
		}
		for _, plant := range falseOutcomes(facts.Runs(h.msgs)) {
			test(s, "outcome", h.truths[r.IntN(len(h.truths))], plant)
		}
		for _, truth := range h.truths {
			plants := altered(r, truth)
			for _, kind := range slices.Sorted(maps.Keys(plants)) {
				test(s, kind, h.truths[r.IntN(len(h.truths))], plants[kind])
			}
		}
	}
	n, m := 0, 0
	for kind := range all {
		t.Logf("%s: %d of %d are missed", kind, missed[kind], all[kind])
		n, m = n+all[kind], m+missed[kind]
	}
	t.Logf("all: %d of %d are missed", m, n)
	require.GreaterOrEqual(t, n, 500)
	require.LessOrEqual(t, m*100, n, "99 of 100 are found")
}

// falseOutcomes returns sentences that state the opposite of the newest outcome of each command.
func falseOutcomes(runs []facts.Run) (all []string) {
	newest, failed := map[string]facts.Run{}, map[string]bool{}
	for _, r := range runs {
		if r.Command != "" {
			newest[r.Command] = r
			failed[r.Command] = failed[r.Command] || r.Failed
		}
	}
	for _, command := range slices.Sorted(maps.Keys(newest)) {
		r := newest[command]
		words := strings.Fields(command)
		short := strings.Join(words[:min(3, len(words))], " ")
		within := false // of a command that passed
		for other, o := range newest {
			within = within || o.Passed && other != command && strings.Contains(other, short)
		}
		switch {
		case within:
		case r.Failed:
			all = append(all, "`"+command+"` passed.", "`"+short+"` 执行成功。", "Running `"+command+"` succeeded without problems.",
				"The command `"+short+"` completed successfully.")
		case r.Passed && !failed[command]:
			all = append(all, "`"+command+"` failed.", "`"+command+"` 执行失败。")
		}
	}
	return all
}

// altered returns a true sentence with one of its items altered, by the kind of the item.
func altered(r *rand.Rand, truth string) map[string]string {
	out := map[string]string{}
	for _, c := range claims.Find(truth) {
		var to string
		switch c.Kind {
		case lex.Name, lex.Path, lex.Link:
			to = c.Text[:len(c.Text)/2] + "q" + c.Text[len(c.Text)/2:]
		case lex.Number:
			at := strings.IndexAny(c.Text, "123456789")
			if at < 0 {
				continue
			}
			to = c.Text[:at] + string('1'+(c.Text[at]-'1'+3+byte(r.IntN(4)))%9) + c.Text[at+1:]
		case lex.Quotation:
			words := strings.Fields(c.Text)
			if len(words) < 3 {
				continue
			}
			words[len(words)/2] = "hardly"
			to = strings.Join(words, " ")
		case lex.Date, lex.Code:
			continue
		}
		if strings.Contains(truth, c.Text) && !strings.Contains(c.Text, "%") {
			out[string(c.Kind)+", altered"] = strings.Replace(truth, c.Text, to, 1)
		}
	}
	return out
}

// TestOutcomes compares sentences that quote no command with the recorded outcomes.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	contradicted := map[string][]string{
		"deploy": {
			"The deployment to staging completed successfully.", "部署已成功完成。", "Version 2.14.0 was deployed successfully.",
			"Deploy succeeded.", "Staging deploy: done, everything is green.", "The vault read succeeded.",
		},
		"frontend":        {"The branch was pushed successfully.", "推送成功。", "The tests failed.", "The commit failed."},
		"server":          {"The restart failed.", "服务重启失败。", "Restarting api.service was denied."},
		"travel":          {"The itinerary was successfully emailed to the user.", "The e-mail was sent successfully.", "邮件发送成功。"},
		"python-refactor": {"All tests pass.", "测试全部通过。", "pytest passes without failures.", "Ruff failed.", "ruff 检查失败。"},
		"config":          {"The integration tests passed.", "集成测试通过。", "The integration suite is green.", "lint 失败。"},
		"ml":              {"The evaluation failed.", "Evaluating failed."},
		"migration":       {"Tests still fail.", "bundle update failed.", "测试仍然失败。"},
		"chinese-shop":    {"包裹拦截成功。", "The parcel was intercepted successfully."},
	}
	for _, h := range histories(t) {
		s := claims.SourceOf(h.msgs, nil, nil)
		for _, said := range contradicted[h.name] {
			require.NotEmpty(t, s.Check(said), "%s: %s", h.name, said)
		}
		for _, said := range []string{
			"The tests should pass before merging.", "All checks have to pass.", "If the deployment failed, retry it.", "用户要求测试必须通过。",
			"Is the push done?", "The user said that the tests passed.", "Next: make the integration tests pass.", "The value is passed on.",
		} {
			require.Empty(t, s.Check(said), "%s: %s", h.name, said)
		}
	}
}

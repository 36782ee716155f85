package facts_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

func TestInstructions(t *testing.T) {
	t.Parallel()
	const ban, rule, none = "What the user forbade", "Other standing instructions", ""
	for sentence, kind := range map[string]string{
		"Never push to main.":                            ban,
		"never push to main":                             ban,
		"Please do not touch the tests!":                 ban,
		"Fix it, but don’t change the API.":              ban,
		"Fix it and don't change the API.":               ban,
		"DO NOT MODIFY: tests":                           ban,
		"You must not delete anything.":                  ban,
		"The tests must not be changed.":                 ban,
		"You should never ask twice.":                    ban,
		"Avoid global state.":                            ban,
		"Editing generated files is forbidden.":          ban,
		"I don't want you to use the network.":           ban,
		"I'd prefer not to be transferred.":              ban,
		"Change the colour without touching the layout.": ban,
		"Under no circumstances drop a table.":           ban,
		"**Never** skip a test.":                         ban,
		"⚠️ Do not push.":                                ban,
		"🚫 never push":                                   ban,
		"→ (never push)":                                 ban,
		"No new dependencies, please.":                   ban,
		"No emojis!":                                     ban,
		"Absolutely no refactoring.":                     ban,
		"Pushing to main is strictly forbidden.":         ban,
		"Pushing is not permitted.":                      ban,
		"The tests may not be changed.":                  ban,
		"Tests shouldn't be modified.":                   ban,
		"Hands off main.go.":                             ban,
		"Stop pushing to main.":                          ban,
		"测试不要改。":                                         ban,
		"数据库不能动。":                                        ban,
		"密码不可泄露":                                         ban,
		"任何人不得修改配置。":                                     ban,
		"不要修改测试。":                                        ban,
		"请不要修改测试!":                                       ban,
		"修复它,但不要改测试":                                     ban,
		"千万别删库":                                          ban,
		"别动生产环境。":                                        ban,
		"禁止访问外网。":                                        ban,
		"请勿打扰。":                                          ban,
		"不得使用全局变量。":                                      ban,
		"請勿修改。":                                          ban,
		"You may now push to main.":                      ban,
		"You can now change the API.":                    ban,
		"现在可以修改测试了。":                                     ban,
		"Always answer in French.":                       rule,
		"Only use the standard library.":                 rule,
		"Answer briefly; use only SI units.":             rule,
		"You must run the tests.":                        rule,
		"The answer must be JSON.":                       rule,
		"Make sure that it builds.":                      rule,
		"From now on write tests first.":                 rule,
		"Don't forget to run the tests.":                 rule,
		"Ask me before you delete anything.":             rule,
		"必须用中文回答。":                                       rule,
		"总是先写测试。":                                        rule,
		"请务必备份。":                                         rule,
		"只能使用标准库。":                                       rule,
		"No problem.":                                    none,
		"No, that is fine.":                              none,
		"No new errors since then.":                      none,
		"There are no new files.":                        none,
		"This should not be a problem.":                  none,
		"用户不能修改密码。":                                      none,
		"要不要改测试":                                         none,
		"舍不得删":                                           none,
		"Why do you never answer?":                       none,
		"Why must I always wait":                         none,
		"Should I never do that":                         none,
		"Do not you think so?":                           none,
		"是否必须备份":                                         none,
		"为什么不要改测试":                                       none,
		"可以不要改吗":                                         none,
		"I never saw that.":                              none,
		"It never works.":                                none,
		"Never mind.":                                    none,
		"I don't know.":                                  none,
		"I don't have the number with me.":               none,
		"It only fails at night.":                        none,
		"Only the first one is broken.":                  none,
		"There must be a mistake.":                       none,
		"I must have mixed them up.":                     none,
		"The server always returns 500.":                 none,
		"Nothing: never fires":                           none,
		"别人也这么说。":                                        none,
		"这是特别的类别。":                                       none,
		"我不得不重启。":                                        none,
		"他说“不要修改测试”。":                                    none,
		`The log says "do not use this" twice.`:          none,
		"The flag is called `never do that`.":            none,
		"```\nnever do this.\n```":                       none,
		"> never do this.":                               none,
		"// never do this":                               none,
		"if (a) { return never; }":                       none,
		"error: must be a string":                        none,
		"ValueError: name must be unique":                none,
		"<rule>":                                         none,
		"":                                               none,
		"never":                                          ban,
		"\xff\xfe":                                       none,
		"אף פעם אל תיגע בזה.":                            none,
	} {
		got := section(user(sentence))
		if kind == none {
			require.NotContains(t, got, "verbatim", "%q is no instruction", sentence)
			continue
		}
		_, after, found := strings.Cut(got, kind)
		require.True(t, found, "%q is an instruction of its kind, and the ledger is %q", sentence, got)
		require.Contains(t, after, "- "+strings.ReplaceAll(sentence, "…", ""), "%q stands there verbatim", sentence)
	}
}

func TestInstructionsStandInOrder(t *testing.T) {
	t.Parallel()
	h := join(user("Never push. Never force."), user("You may now push."), user("Never push."))
	require.Equal(t, lines(
		"[Facts recorded by code]", "What the user forbade, or permitted again (verbatim, the newest last):", "- Never force.",
		"- You may now push.", "- Never push.",
	), section(h), "what is said again moves behind what was said since")
}

func TestLongInstructions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"the rule at the beginning", "Never touch it, " + strings.Repeat("for it is old, ", 60), "- Never touch it, for"},
		{"the rule at the end", strings.Repeat("for it is old, ", 60) + "never touch it", "never touch it"},
		{"wide characters", strings.Repeat("因为它很旧,", 100) + "不要动它", "不要动它"},
		{"the end of a long text", strings.Repeat("Lorem ipsum. ", 10_000) + "Never touch it.", "- Never touch it."},
	} {
		got := section(user(c.text))
		require.Contains(t, got, c.want, c.name)
		for line := range strings.SplitSeq(got, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 302, "%s: a line is bounded", c.name)
		}
	}
	require.Empty(t, section(user(strings.Repeat("Lorem ipsum. ", 5_000)+"Never touch it. "+strings.Repeat("Lorem ipsum. ", 5_000))), "the middle of a long text is not read")
}

// TestProhibitionsWithoutRoom shows that the newest stay, and that it is said that
// there were others; also once the section has been read back.
func TestProhibitionsWithoutRoom(t *testing.T) {
	t.Parallel()
	var h []message.Message
	for i := range 60 {
		h = append(h, message.User(fmt.Sprintf("Never touch the module number %d, since it belongs to team %d.", i, i*7)))
	}
	for language, note := range map[text.Language]string{text.English: "- (there are older ones, for which there is no room)", text.Chinese: "- (还有更早的,此处放不下)"} {
		o := usual
		o.Language = language
		got := strings.Split(facts.Collect(h).Text(o), "\n")
		require.Equal(t, note, got[2], "above the newest, which stay")
		require.Equal(t, "- Never touch the module number 59, since it belongs to team 413.", got[len(got)-1])
		l := &facts.Set{}
		l.Resume(strings.Join(got, "\n"))
		l.Add([]message.Message{message.User("Do not push.")})
		again := l.Text(o)
		require.Equal(t, 1, strings.Count(again, note), "it is said once: %s", again)
		require.True(t, strings.HasSuffix(again, "- Do not push."), again)
	}
	require.NotContains(t, facts.Collect(h[:10]).Text(usual), "older", "all have room")
}

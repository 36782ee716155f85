package quotes_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// kept returns what is kept of messages that rules and values are in.
func kept(said ...string) []string {
	lines, _ := of(said...).Lines(quotes.Options{Tokens: 800, Counter: tokens.Estimate{}})
	return lines
}

func of(said ...string) *quotes.Set {
	s := &quotes.Set{}
	for _, m := range said {
		s.Add(m)
	}
	return s
}

// TestRules has sentences of each kind. Each is kept, although nothing else is.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		// Prohibitions.
		"Never push to main.", "Do not push to main.", "Must not exceed it.", "Please do not touch the tests!", "Fix it, but don’t change the API.", "Avoid global state.",
		"Editing generated files is forbidden.", "I don't want you to use the network.", "No new dependencies, please.",
		"Change the colour without touching the layout.", "Hands off main.go.", "Leave the changelog alone.", "Two spaces, no tabs.",
		"测试不要改。", "别动生产环境。", "禁止访问外网。", "请勿打扰。", "任何人不得修改配置。",
		// Demands and manner.
		"Always answer in French.", "Reply in bullet points only.", "End every reply with a haiku.", "You must run the tests.",
		"Do the migration first.", "What I want is a report in French.",
		"Use British spelling.", "Speak like a pirate.", "Answer first, explain later.", "Round all prices to two decimals.",
		"Could you always answer in French?", "Commit messages follow the conventional style.", "All amounts in Swiss francs.",
		"请用中文回答。", "必须写测试。", "先给结论,再解释。", "价格保留两位小数。", "代码注释写英文。", "所有文件名小写。",
		// Conditions.
		"Before you run a command, show it to me.", "Should the build fail, tell me.", "When you give measurements, use metric.", "If the build fails, tell me.",
		"Ask before you install anything.", "Ping me when the build is green.", "每次提交前运行测试。", "如果构建失败,就通知我。",
		// Preferences.
		"I'd rather have dark mode.", "I prefer tabs.", "I'm allergic to peanuts.", "我喜欢简短的回答。", "我对花生过敏。",
		"I care more about safety than about comfort.", "我更在意准确。", "我受不了长篇大论。",
		// Permissions.
		"The colour is up to you.", "标题随你写。", "只有王总能签字。",
		"You may now edit the schema.", "It's fine to skip the docs.", "现在可以使用外部依赖了。",
		// Limits and values.
		"The total may not exceed 500 euros.", "Stay under 80 columns.", "The deadline is Friday.", "My employee number is 48213.",
		"Our staging server is called heron.", "The API key lives in Vault.", "预算不超过五百元。", "数据库的端口是 5432。", "叫我小王。",
		// Goals and roles.
		"You are a strict reviewer.", "Treat me as a beginner.", "The goal is a smaller binary.", "我们的目标是减少内存。",
		// Another language, by its form.
		"אל תיגע בזה אף פעם!", "Nie die Tests ändern!", "Лимит 500 рублей.",
	} {
		require.Equal(t, []string{text.Line(said, 400)}, kept(said))
	}
}

func TestNotKept(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"", "Thanks, that looks great.", "Go on.", "ok", "继续", "好的,谢谢", "\xff\xfe", "Why does it fail?", "src/a.go src/b.go README.md tests", "I don't know why.", "Do you push to main now", "What is the budget", "Is it always so", "It never works for me.",
		"The tests failed again.", "Fine by me.", "为什么不要改测试?", "今天天气不错。", "```\nnever do this.\n```", "> never do this.", "// never do this",
		"if (a) { return never; }", "error: must be a string", "| never | always |", "<rule>", "2026-03-01 12:00:00.123 INFO worker never answers", "[2026-03-01T12:00:00Z] always 4 ms",
	} {
		require.Empty(t, kept(said), "%q", said)
	}
}

// TestCorrectedSubject: of several values of the same form, the one on the subject of the correction is changed.
func TestCorrectedSubject(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"端口用 8080。", "预算是 500 元，不要超过。", "端口改成 9090。"},
		{"Use port 8080 for the API server.", "At most 3 retries are allowed.", "Actually, the port should be 9090."},
		{"Use a timeout of 30 seconds for HTTP requests.", "Use port 8080 for the API server.", "I was wrong, the timeout is 60 seconds."},
	} {
		require.Equal(t, []string{quotes.Changed + c[0], c[1], c[2]}, kept(c[0], c[1], c[2]))
		require.Equal(t, []string{c[1], c[2]}, kept(c[1], c[2]), "nothing on the subject")
	}
}

// TestSpacesInChinese: spaces around Latin words and numbers, which many put, change nothing.
func TestSpacesInChinese(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"日志目录用 /data/logs，端口 8080，别用 80。", "超时 30s，重试 3 次，退避 2s/4s/8s。", "表名 user_info，字段 uid/uname，主键 uid。",
		"刚说的 8080 不对，8081 才对。", "只改 src/a.go、src/b.go，其他别动。", "能不能别老是改 import 的顺序？",
	} {
		require.Equal(t, []string{said}, kept(said))
	}
	file, err := os.ReadFile("../../../../tests/truth/testdata/orders.zh.txt")
	require.NoError(t, err)
	joint := regexp.MustCompile(`(\p{Han})([A-Za-z0-9/._-])|([A-Za-z0-9/._-])(\p{Han})`)
	spaced := 0
	for said := range strings.Lines(string(file)) {
		said = strings.TrimSpace(said)
		apart := joint.ReplaceAllString(said, "$1$3 $2$4")
		if apart != said && !strings.HasPrefix(said, "#") && len(kept(said)) > 0 {
			spaced++
			require.NotEmpty(t, kept(apart), apart)
		}
	}
	require.Greater(t, spaced, 20)
}

// TestReferences: a sentence is kept with the one that it refers to.
func TestReferences(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{
		"Budget cap is $500 total. Never exceed without explicit approval.":                        {"Budget cap is $500 total. Never exceed without explicit approval."},
		"There is a folder with old reports. Never delete it. The weather is fine.":                {"There is a folder with old reports. Never delete it."},
		"These are old:\n\n- the reports. Nobody reads them\n- the logs\n\nNever delete anything.": {"These are old: the reports. Nobody reads them", "Never delete anything."},
		"Never touch these files:\n1. the old ones\n2. the generated ones":                         {"Never touch these files: the old ones the generated ones"},
		"有一个旧的报告目录。不要删它。":                                                                          {"有一个旧的报告目录。 不要删它。"},
	} {
		require.Equal(t, want, kept(said), said)
	}
}

// TestCorrections: the newest value is kept, and what it corrects is marked.
func TestCorrections(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Use port 8080 for the server.", "No, 9090."},
		{"Book the room for three nights.", "Make that four nights for the room."},
		{"Cut the list to 12 rows.", "Cut the list to 30 rows, 12 is too few."},
		{"摘要不超过300字。", "摘要还是不超过150字吧。"},
		{"Use port 8080 for the server.", "Actually, make it port 9090."},
		{"Use port 8080 for the server.", "Use 9090 instead of 8080."},
		{"The port is 8080.", "The port is 9090."},
		{"Always reply in English.", "From now on always reply in Chinese."},
		{"The budget is $500.", "Correction: the budget is $750."},
		{"The contact is Laura.", "It's not Laura, it's Denise."},
		{"The rate is 15 percent.", "The rate is 12 percent, not 15."},
		{"Write the report to out/a.md.", "Put the report in docs/a.md instead."},
		{"Ask me before each commit.", "You no longer have to ask me before each commit."},
		{"联系人是刘芳。", "联系人不是刘芳，是陈静。"},
		{"预算是四百块。", "预算现在提高到六百五十块。"},
		{"数据库端口是 5432。", "不对,改成 6543。"},
		{"把超时改成 90s，别超过 90s。", "上面说的 90s 改错了，改成 60s。"},
		{"请用中文回答。", "以后请用英文回答。"},
	} {
		require.Equal(t, []string{quotes.Changed + c[0], c[1]}, kept(c[0], "Go on.", c[1]))
	}
	for _, c := range [][2]string{
		{"Use port 8080 for the api.", "Use port 9090 for the admin page."},
		{"Never touch a1.go.", "Never touch a2.go."},
		{"Don't run tests/integration more than once.", "No, I meant app/legacy, not app/old."},
		{"把端口改成 8080。", "不对，是 3.5% 不是 5.3%。"},
		{"The port is 8080.", "The budget is 500."},
		{"Answer within two lines.", "From now on answer in French."},
		{"Keep main.go below 300 lines.", "Run the tests 3 times."},
		{"Never push.", "You may now push."},
		{"Open the port in the firewall.", "The port must not be open at night."},
		{"Always run the tests.", "Fix the parser, not the tests."},
	} {
		require.Equal(t, []string{c[0], c[1]}, kept(c[0], c[1]), "neither corrects the other")
	}
	require.Equal(t, []string{"Never force it.", "You may push.", "Never push it."},
		kept("Never push it.", "Never force it.", "You may push.", "Never push it."), "what is said again is after what was said since")
}

// TestRoom: rules come first, then values, then whole paragraphs.
func TestRoom(t *testing.T) {
	t.Parallel()
	const story = "The weather was fine again. The people there were kind.\n\nWe had no bread in the morning, which was sad for the children."
	s := of("Never push to main.", story, "The invoice is 4711.", "Another day passed without much that would matter to anybody here.")
	for _, c := range []struct {
		tokens, others int
		want           []string
		all            bool
	}{
		{0, 0, nil, false},
		{8, 0, []string{"Never push to main."}, true},
		{20, 0, []string{"Never push to main.", "The invoice is 4711."}, true},
		{800, 35, []string{"Never push to main.", "The invoice is 4711.", "Another day passed without much that would matter to anybody here."}, true},
		{800, 800, []string{
			"Never push to main.", "The weather was fine again. The people there were kind.", "We had no bread in the morning, which was sad for the children.",
			"The invoice is 4711.", "Another day passed without much that would matter to anybody here.",
		}, true},
	} {
		lines, all := s.Lines(quotes.Options{Tokens: c.tokens, Others: c.others, Counter: tokens.Estimate{}})
		require.Equal(t, c.want, lines, "%d tokens, %d for others", c.tokens, c.others)
		require.Equal(t, c.all, all, "%d tokens", c.tokens)
	}
}

// TestRoomIsStable: if there is no room for all, what was said later does not replace what is as
// valuable, unless it corrects that.
func TestRoomIsStable(t *testing.T) {
	t.Parallel()
	s := of("Never push to the main branch.", "The whole budget for the journey and the hotel may be 500 euros.", "Never open the old cupboard.")
	room := quotes.Options{Tokens: 35, Counter: tokens.Estimate{}}
	before, all := s.Lines(room)
	require.Len(t, before, 3)
	require.True(t, all)
	for i := range 20 {
		s.Add(fmt.Sprintf("Never open the small window %d.", i))
	}
	after, all := s.Lines(room)
	require.Equal(t, before, after)
	require.False(t, all)
	s.Add("Correction: the whole budget for the journey and the hotel may be 750 euros.")
	after, _ = s.Lines(room)
	require.Contains(t, after, "Correction: the whole budget for the journey and the hotel may be 750 euros.")
	require.NotContains(t, after, "The whole budget for the journey and the hotel may be 500 euros.")

	s = of("Look at the file.", "The invoice is 4711.", "Never push.")
	for _, c := range []struct {
		tokens int
		want   []string
	}{{6, []string{"Never push."}}, {14, []string{"The invoice is 4711.", "Never push."}}, {30, []string{"Look at the file.", "The invoice is 4711.", "Never push."}}} {
		lines, _ := s.Lines(quotes.Options{Tokens: c.tokens, Counter: tokens.Estimate{}})
		require.Equal(t, c.want, lines, "%d tokens", c.tokens)
	}
}

// TestRoomWithoutContext: a short rule that is clear by itself does not need room for what is before it.
func TestRoomWithoutContext(t *testing.T) {
	t.Parallel()
	const story = "Somebody told me a lot about the warehouse and the trucks on the way to it. "
	for said, want := range map[string][]string{
		"Never push to main.": {"Never push to main."},
		"Never drive it.":     nil,
	} {
		lines, _ := of(story + said).Lines(quotes.Options{Tokens: 12, Counter: tokens.Estimate{}})
		require.Equal(t, want, lines)
	}
}

// TestPaste: what the user wrote around a long paste is kept before what is in it.
func TestPaste(t *testing.T) {
	t.Parallel()
	paste := strings.Repeat("The module must always be loaded before the kernel has 4 pages, unless it is built in.\n\n", 120)
	s := of("Never change the order of these rules.\n\n" + paste + "Please keep your summary under 80 words.\n\n" + paste + "\nReply in German.")
	lines, _ := s.Lines(quotes.Options{Tokens: 100, Counter: tokens.Estimate{}})
	for _, own := range []string{"Never change the order of these rules.", "Please keep your summary under 80 words.", "Reply in German."} {
		require.Contains(t, lines, own)
	}
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := "Never touch " + strings.Repeat("the old, slow, tired, ", 100) + "and dusty server 4711."
	require.Len(t, kept(long), 1)
	require.True(t, strings.HasPrefix(kept(long)[0], "Never touch the old") && strings.HasSuffix(kept(long)[0], "dusty server 4711."))
	require.LessOrEqual(t, utf8.RuneCountInString(kept(long)[0]), 420)
	huge := of(strings.Repeat("Lorem ipsum. ", 1<<20) + "Never touch it.")
	lines, _ := huge.Lines(quotes.Options{Tokens: 40, Counter: tokens.Estimate{}})
	require.Contains(t, strings.Join(lines, " "), "Never touch it.", "the end of a text of 13 MB")
}

// pieces are what users write, and worse.
var pieces = []string{
	"", " ", "Never push.", "Always ask. Never force it!", "No, 9090.", "Use port 8080.", "不要删库。必须备份", "改成 9090。", "Why never?", "Thanks!",
	"```\nnever do it\n```", "order #W1234567 for ann@example.com, $5.40", "[Facts recorded by code]\nErrors:\n- x", "\xff\xfe\x00\u202e\u2028",
	"שלום. אל תעשה", strings.Repeat("never ", 3000), strings.Repeat("x", 40_000), strings.Repeat("不要", 3000), "- never\n- always\n", "Rules:\n\n- a1\n- b2. It is old\n\nThis is it.",
	quotes.Changed + "x", "\"\"“”``", "。。。", "...", ":",
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 12).Draw(t, "said")
		o := quotes.Options{
			Tokens: rapid.IntRange(-1, 900).Draw(t, "tokens"), Others: rapid.IntRange(-1, 900).Draw(t, "others"),
			Counter: rapid.SampledFrom([]tokens.Counter{tokens.Estimate{}, tokens.Chars4{}, tokens.Cautious{}}).Draw(t, "counter"),
		}
		lines, all := of(said...).Lines(o)
		again, _ := of(said...).Lines(o)
		require.Equal(t, lines, again, "equal texts give equal lines")
		sum := 0
		for _, l := range lines {
			require.Equal(t, text.Line(l, len(l)+1), l, "a line has no marks and no line breaks")
			sum += o.Counter.Count(l)
		}
		require.LessOrEqual(t, sum, max(0, o.Tokens))

		resumed := &quotes.Set{}
		for _, l := range lines {
			resumed.Resume(l)
		}
		if !all {
			resumed.ResumeMissing()
		}
		_, still := resumed.Lines(o)
		require.False(t, still && !all, "what had no room is not forgotten")
	})
}

// TestManyFolds: as long as there is room, what was kept once is kept for ever, and written the
// same.
func TestManyFolds(t *testing.T) {
	t.Parallel()
	s := of("Never push to main. Reply in German.", "Use port 8080.")
	before := []string{}
	for round := range 50 {
		s.Add("Go on.")
		s.Add(fmt.Sprintf("Never touch a%d.go.", round))
		lines, all := s.Lines(quotes.Options{Tokens: 800, Counter: tokens.Estimate{}})
		require.True(t, all)
		require.Equal(t, before, lines[:len(before)])
		before = lines
	}
	resumed := &quotes.Set{}
	for _, l := range before {
		resumed.Resume(l)
	}
	lines, _ := resumed.Lines(quotes.Options{Tokens: 800, Counter: tokens.Estimate{}})
	require.Equal(t, before, lines, "what was written is read again")
}

func FuzzSet(f *testing.F) {
	for i, p := range pieces {
		f.Add(p, pieces[(i+5)%len(pieces)], uint16(i*30))
	}
	f.Fuzz(func(t *testing.T, first, second string, most uint16) {
		o := quotes.Options{Tokens: int(most), Others: int(most) / 2, Counter: tokens.Estimate{}}
		lines, _ := of(first, second).Lines(o)
		require.False(t, slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "\n") || !utf8.ValidString(l) }))
	})
}

// BenchmarkSet reads 200 messages of the user, and writes what is kept.
func BenchmarkSet(b *testing.B) {
	said := make([]string, 200)
	n := 0
	for i := range said {
		said[i] = fmt.Sprintf("Look at file%d.go, since it fails again. Never touch the tests in it. I think that the cause is in line %d. %s",
			i, i*7, strings.Repeat("It was fine on Monday, and then somebody changed the parser. ", 8))
		n += len(said[i])
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		of(said...).Lines(quotes.Options{Tokens: 800, Others: 400, Counter: tokens.Estimate{}})
	}
}

// What is marked as a standing order is found again by the line that is kept of it, with the same
// result: the section is the same after any number of folds.
func TestOrdersRemain(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"It rained.", "Never push to main.", "No, 9090.", "The port is 8080.", "Thanks!", "Then do it.", "Why?", "```\nrun: never\n```", "> never push",
		"- one thing here", "Please:\n- use tabs here\n- no spaces there", "端口是 8080。", "昨天下雨了。", "a\u200bb c.", "[Facts recorded by code] always.",
		strings.Repeat("very ", 90) + "long.", "\n\n", "   \n  ",
	}
	rapid.Check(t, func(r *rapid.T) {
		var said []string
		for range rapid.IntRange(1, 6).Draw(r, "messages") {
			said = append(said, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(r, "pieces"), rapid.SampledFrom([]string{" ", "\n"}).Draw(r, "between")))
		}
		orders := rapid.SliceOfN(rapid.SampledFrom(append(said, pieces...)), 0, 4).Draw(r, "orders")
		room := rapid.IntRange(0, 200).Draw(r, "room")
		lines := func(orders []string) (lines, marked []string) {
			s := &quotes.Set{}
			s.Order(orders...)
			for _, m := range said {
				s.Add(m)
			}
			lines, _ = s.Lines(quotes.Options{Tokens: room, Others: room / 4, Counter: tokens.Estimate{}})
			for _, l := range lines {
				if order, ok := strings.CutPrefix(l, quotes.Standing); ok {
					marked = append(marked, order)
				}
			}
			return lines, marked
		}
		_, marked := lines(orders)
		before, marked := lines(marked)
		after, _ := lines(marked)
		require.Equal(r, before, after)
	})
}

func TestOrderComesFirst(t *testing.T) {
	t.Parallel()
	s := &quotes.Set{}
	s.Order("Rain fell on the day of the move.")
	s.Add("Never push to main. Rain fell on the\nday of the move. Always answer in French.")
	lines, all := s.Lines(quotes.Options{Tokens: 18, Counter: tokens.Estimate{}})
	require.Equal(t, []string{"(standing order) Rain fell on the day of the move."}, lines)
	require.False(t, all, "rules have no room")

	s = &quotes.Set{}
	s.Order("Use port 8080 for it.")
	s.Add("Use port 8080 for it.")
	s.Add("No, use port 9090 for it.")
	lines, _ = s.Lines(quotes.Options{Tokens: 80, Counter: tokens.Estimate{}})
	require.Equal(t, []string{"(changed later) Use port 8080 for it.", "(standing order) No, use port 9090 for it."}, lines, "what corrects an order is one")
}

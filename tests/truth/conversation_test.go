package truth_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// order is something that a user says and that has to be kept word for word.
type order struct {
	lang, kind string
	text       string
	held       bool // never used to change a rule
}

// sections reads the lines of a file in testdata under their headings in brackets.
func sections(tb testing.TB, name string) (headings []string, lines map[string][]string) {
	tb.Helper()
	f, err := os.Open("testdata/" + name)
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	lines, heading := map[string][]string{}, ""
	for s := bufio.NewScanner(f); s.Scan(); {
		switch line := s.Text(); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			heading = strings.Trim(line, "[]")
			headings = append(headings, heading)
		default:
			lines[heading] = append(lines[heading], line)
		}
	}
	return headings, lines
}

// orders returns those of a language, each one next to those of other kinds.
func orders(tb testing.TB, lang string) (all []order) {
	tb.Helper()
	kinds, lines := sections(tb, "orders."+lang+".txt")
	for i := range lines[kinds[0]] {
		for _, k := range kinds {
			all = append(all, order{lang: lang, kind: k, text: lines[k][i], held: i%3 == 2})
		}
	}
	return all
}

// pairs returns the lines of a file that have two sentences.
func pairs(tb testing.TB, name string) (all [][2]order) {
	tb.Helper()
	_, lines := sections(tb, name)
	for i, line := range lines[""] {
		a, b, ok := strings.Cut(line, " | ")
		require.True(tb, ok, line)
		lang := "en"
		if len([]rune(line)) < len(line)*2/3 {
			lang = "zh"
		}
		all = append(all, [2]order{{lang: lang, text: a, held: i%3 == 2}, {lang: lang, text: b, held: i%3 == 2}})
	}
	return all
}

// talk is what users and assistants say around the orders.
type talk struct {
	turns, frames []string
	system        string
	answers       []string
	paste         string
}

func talkIn(tb testing.TB, lang string) talk {
	tb.Helper()
	_, lines := sections(tb, "talk."+lang+".txt")
	t := talk{
		turns: lines["turns"], frames: lines["frames"],
		system: "You are an assistant with tools.",
		answers: []string{
			"The module reads the rows, counts them and writes the totals into the second table.",
			"I looked at the log: the import runs through, and the counter differs by one batch.",
			"The second file has the same structure, and its rows come from the nightly import.",
		},
		paste: "This is the output from this morning:",
	}
	if lang == "zh" {
		t.system = "你是一个会使用工具的助手。"
		t.answers = []string{"这个模块读取每一行，计数后把合计写入第二张表。", "我看了日志：导入能跑完，计数差了一批。", "第二个文件的结构相同，数据来自夜间导入。"}
		t.paste = "这是今天早上的输出："
	}
	return t
}

// conversation is a history that grows by turns.
type conversation struct {
	talk

	n       int // places where it starts in the talk
	history []message.Message
}

func newConversation(tb testing.TB, lang string, n int) *conversation {
	tb.Helper()
	c := &conversation{talk: talkIn(tb, lang), n: n}
	c.history = []message.Message{message.System(c.system)}
	return c
}

// next is something of no consequence that the user says.
func (c *conversation) next() string {
	c.n++
	return c.turns[c.n%len(c.turns)]
}

// turn is a message of the user, a round with a tool and an answer.
func (c *conversation) turn(user string) {
	id := fmt.Sprintf("call_%d", len(c.history))
	c.history = append(c.history, message.User(user),
		message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: fmt.Sprintf(`{"part":%d}`, c.n)}),
		message.Result(id, "read_log", c.log(8)),
		message.Assistant(message.Text{Text: c.answers[len(c.history)/4%len(c.answers)]}))
}

// log is a part of one.
func (c *conversation) log(lines int) string {
	var b strings.Builder
	for i := range lines {
		k := len(c.history)*31 + i*7 + c.n
		fmt.Fprintf(&b, "10:%02d:%02d worker-%d batch %d finished in %d ms\n", k/60%60, k%60, k%5, 4000+k, 20+k%300)
	}
	return b.String()
}

// in returns orders in one message: alone, or between what else is said.
func (c *conversation) in(framed bool, all ...order) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.text
	}
	if !framed {
		return strings.Join(texts, "\n")
	}
	for i, o := range all {
		if !strings.ContainsAny(texts[i][len(texts[i])-1:], ".!?") && !slices.Contains([]string{"。", "！", "？"}, texts[i][max(0, len(texts[i])-3):]) {
			texts[i] += map[string]string{"en": ".", "zh": "。"}[o.lang]
		}
	}
	gap := map[string]string{"en": " ", "zh": ""}[all[0].lang]
	return fmt.Sprintf(c.frames[c.n%len(c.frames)], strings.Join(texts, gap))
}

// placed is an order in a conversation.
type placed struct {
	order

	position string
}

// several is the number of orders in one message.
const several = 4

// slots are the positions of the orders of one conversation.
var slots = append([]string{"first", "early", "middle", "late", "paste"}, slices.Repeat([]string{"several"}, several)...)

// withOrders returns a conversation with one order at each of the positions.
func withOrders(tb testing.TB, all []order, n int, framed bool) (c *conversation, ps []placed) {
	tb.Helper()
	c = newConversation(tb, all[0].lang, n)
	for i, o := range all {
		ps = append(ps, placed{order: o, position: slots[i]})
	}
	c.turn(c.in(framed, all[0]))
	for turn := range 18 {
		switch turn {
		case 2:
			c.turn(c.in(framed, all[1]))
		case 5:
			text := c.paste
			if framed {
				text = fmt.Sprintf(c.frames[n%len(c.frames)], text)
			}
			c.turn(text + "\n" + c.log(12) + "\n" + all[4].text + "\n\n" + c.log(12))
		case 8:
			c.turn(c.in(framed, all[2]))
		case 11:
			c.turn(c.in(framed, all[5:]...))
		case 14:
			c.turn(c.in(framed, all[3]))
		default:
			c.turn(c.next())
		}
	}
	return c, ps
}

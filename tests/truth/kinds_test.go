package truth_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// isHeld reports whether an order is never used to change a rule.
func isHeld(text string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // it never fails
	return h.Sum32()%3 == 2
}

// ordersOf returns the orders of all files in the given languages and kinds.
func ordersOf(tb testing.TB, names ...string) (os []order) {
	tb.Helper()
	_, more := sections(tb, "orders.more.txt")
	for _, name := range names {
		lines := more[name]
		if name == "en" || name == "zh" {
			kinds, byKind := sections(tb, "orders."+name+".txt")
			for _, k := range slices.Backward(kinds) {
				lines = slices.Concat(byKind[k], lines)
			}
		}
		for _, line := range lines {
			os = append(os, order{lang: name, text: strings.TrimSpace(line), held: isHeld(line)})
		}
	}
	return sample(os)
}

// long is a talk of a user without tools, joined from those of several customers.
type long struct{ said, answers []string }

const ofUser = 80 // messages of a long talk

// How much customers say in a message.
const (
	short = iota
	wordy // two messages in one
	dense // nearly each sentence has a request or a value
)

// talkOf returns a talk that begins at a place of those of the customers.
func talkOf(tb testing.TB, lang string, n, much int) (t long) {
	tb.Helper()
	names, lines := sections(tb, "customers.txt")
	var all []string
	for _, name := range names {
		if strings.HasSuffix(name, ".zh") == (lang == "zh") && strings.Contains(name, ".dense") == (much == dense) {
			all = append(all, lines[name]...)
		}
	}
	for i := range ofUser {
		text := all[(n+i)%len(all)]
		if much == wordy {
			text += " " + all[(n+i+17)%len(all)]
		}
		t.said = append(t.said, fmt.Sprintf("%s (%d)", text, i))
	}
	t.answers = answersOf(lang)
	return t
}

// answersOf returns what the assistant says in a long talk, in turns.
func answersOf(lang string) []string {
	if lang == "zh" {
		return []string{
			"好的，我刚刚在系统里查了一下，您说的这几项信息都能对上，状态也是正常的。接下来我会把相关的记录整理出来，再核对一遍时间和金额，确认之后马上告诉您结果。如果中途有需要补充的资料，我会提前说明。请问还有别的需要吗？",
			"明白，请稍等。我先看一下这一项在后台是怎么登记的，通常需要一两分钟；如果显示的内容和您手边的不一样，请直接告诉我，我们再一起核对。",
		}
	}
	return []string{
		"Thank you, I have looked that up in our system and everything that you have told me matches what is shown there. I will go through the " +
			"details once more, put the dates and the amounts side by side, and come back to you with the result. In case something is missing, " +
			"I will say so before anything is booked. Is there anything else that you would like to know in the meantime?",
		"One moment, please. I am opening the record now, which usually takes a minute or two; should it look different from what you have in " +
			"front of you, just say so and the two of us will compare it line by line before we go on.",
	}
}

// keeps reports which texts remain after a fold of the talk with the defaults. They are said at positions, each after
// what else is in the message.
func (t long) keeps(tb testing.TB, texts map[int]string) map[int]bool {
	tb.Helper()
	h := []message.Message{message.System("You help customers."), message.User("Hello!"), message.Assistant(message.Text{Text: t.answers[0]})}
	for i, said := range t.said {
		if text := texts[i]; text != "" {
			said += " " + text
		}
		h = append(h, message.User(said), message.Assistant(message.Text{Text: t.answers[i%2]}))
	}
	view := folded(tb, append(h, message.User("Bye!")))
	kept := map[int]bool{}
	for i, text := range texts {
		kept[i] = strings.Contains(view, text)
	}
	return kept
}

// folded returns the text of the view after a fold with the defaults.
func folded(tb testing.TB, h []message.Message) string {
	tb.Helper()
	return joined(viewOf(tb, h, summarize.Options{}))
}

// result is a share of what was used for the rules, and of what was held out.
type result struct{ used, held share }

func (r *result) add(held, kept bool) {
	if held {
		r.held.add(kept)
	} else {
		r.used.add(kept)
	}
}

// report is a list of results under names, in order.
type report struct {
	names   []string
	results map[string]*result
	missed  []string // of those that were used for the rules
}

func (p *report) add(name string, o order, kept bool) {
	if p.results == nil {
		p.results = map[string]*result{}
	}
	if p.results[name] == nil {
		p.names, p.results[name] = append(p.names, name), &result{}
	}
	p.results[name].add(o.held, kept)
	if !kept && !o.held {
		p.missed = append(p.missed, name+": "+o.text)
	}
}

// talks adds orders in long talks: eight in each.
func (p *report) talks(tb testing.TB, name string, langs []string, talk func(n int) long) {
	tb.Helper()
	const each = 8
	for _, lang := range langs {
		os := ordersOf(tb, lang)
		for first := 0; first < len(os); first += each {
			batch := os[first:min(first+each, len(os))]
			texts := map[int]string{}
			for i, o := range batch {
				texts[2+i*9] = o.text
			}
			for i, kept := range talk(first).keeps(tb, texts) {
				p.add(name, batch[(i-2)/9], kept)
			}
		}
	}
}

// pasted has lines of each kind of material, with a %d that differs from line to line.
var pasted = map[string][]string{
	"a contract": {
		"The Lessee acknowledges that the Premises have been inspected prior to the Commencement Date.",
		"Nothing in Clause %d shall be construed as a waiver of the rights of the Lessor.",
		"Each Party shall bear its own costs in connection with this Agreement.",
	},
	"a manual": {
		"## Configuration %d", "The server reads `config.toml` from the working directory and reloads it on SIGHUP.",
		"Set `pool = 12` to limit the number of connections.", "Run `harbor serve` to start it, and open the page in a browser.",
	},
	"a session": {
		"root@box%d:/srv# systemctl status harbor", "   Active: active (running) since Mon 2026-03-02 10:14:07 CET; 3h ago",
		"root@box:/srv# df -h /", "/dev/sda1        40G   31G  7.2G  82% /",
	},
	"log": {
		"2026-03-0%d 10:14:07 INFO  worker-3 batch 5512 finished in 212 ms, 0 rows rejected",
		"2026-03-0%d 10:14:09 WARN  pool: connection 17 was idle for 300 s and is closed now",
	},
	"code": {
		"\tfor i, row := range rows[%d:] {", "\t\ttotal += row.Amount * factor", "\t\tif row.Kind == kindRefund && row.Age > limit {",
		"\t\t\tcontinue // nothing to add", "\t\t}", "\t}", "\treturn total, nil", "}", "", "func (s *sums) add%d(rows []row) (int, error) {",
	},
	"JSON": {
		`  {"id": 88%d13, "name": "pump housing", "stock": 14, "price": "18.40"},`,
		`  {"id": 88%d14, "name": "gasket set", "stock": 0, "price": "3.95", "supplier": "Velmont"},`,
	},
	"a table": {"88%d1;2026-02-11;Ghent;418.20;open", "88%d2;2026-02-12;Tartu;77.00;paid"},
	"a trace": {
		`  File "/srv/app/jobs/import_%d.py", line 88, in run`, "    self.store.write(batch, retries=3)", "psycopg.OperationalError: server closed the connection unexpectedly",
	},
	"YAML": {
		"  - name: import-%d", "    image: registry.example/tools/import:4.12", "    schedule: \"15 2 * * *\"", "    env:", "      POOL_SIZE: 12", "    retries: 3",
	},
	"SQL": {
		"SELECT o.id, o.total_%d, c.name", "FROM orders o JOIN customers c ON c.id = o.customer_id", "WHERE o.created_at >= '2026-02-01' AND o.state IN ('open', 'late')",
		"GROUP BY 1, 2, 3 HAVING COUNT(*) > 1;", "",
	},
	"a mail": {
		"> On Tuesday the fourth we met the people from the depot %d again.", "> They have eleven trucks, of which three are in the workshop at the moment.",
		"> The new hall was opened in May, and most of the goods are stored there now.", "",
	},
	"Chinese prose": {
		"第%d章讲的是车站在三十年代的建造过程。", "建筑师之前设计过两座桥，他的哥哥是工程师。", "有些石料来自附近的采石场，那里战后就关闭了。", "到了晚上，值班的人沿着站台点灯。",
		"旅客们还记得木头的气味和门上方大钟的声音。",
	},
	"prose": {
		"Chapter %d describes how the station was built between 1931 and 1934.", "The architect had worked on two bridges before, and his brother was the engineer.",
		"Some of the stones came from a quarry near Aalen, which has been closed since the war.", "In the evening the lamps were lit by a guard who walked along the platform.",
		"Travellers remembered the smell of the wood and the sound of the clock above the door.", "A second track was added in 1952, when the line to the coast was opened.",
	},
}

var kindsOfPaste = []string{"a contract", "a manual", "a session", "log", "code", "JSON", "a table", "a trace", "prose", "YAML", "SQL", "a mail", "Chinese prose"}

// paste returns material of a kind.
func paste(kind string, lines int) string {
	var out []string
	for i := range lines {
		line := pasted[kind][i%len(pasted[kind])]
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, i%9)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// isKept reports whether an order remains that is in a message between others.
func isKept(tb testing.TB, said string, o order, n int) bool {
	tb.Helper()
	lang := "en"
	if o.lang == "zh" {
		lang = "zh"
	}
	c := newConversation(tb, lang, n)
	for turn := range 12 {
		if turn == 4 {
			c.turn(said)
		} else {
			c.turn(c.next())
		}
	}
	return strings.Contains(folded(tb, append(c.history, message.User(c.next()))), o.text)
}

// pastes adds orders in long messages that consist of material.
func (p *report) pastes(tb testing.TB) {
	tb.Helper()
	for i, o := range ordersOf(tb, "en", "zh", "ja", "es", "de", "fr", "it", "pt", "ko", "ru") {
		kind := kindsOfPaste[i%len(kindsOfPaste)]
		lines := []int{14, 40, 120}[i/len(kindsOfPaste)%3] // each side has 200 to 4,000 tokens
		before, after := paste(kind, lines), paste(kind, lines+1)
		p.add("in a long paste, at its beginning", o, isKept(tb, o.text+"\n\n"+before+"\n"+after, o, i))
		p.add("in the middle of a long paste", o, isKept(tb, before+"\n"+o.text+"\n"+after, o, i))
		p.add("at the end of a long paste", o, isKept(tb, before+"\n"+after+"\n\n"+o.text, o, i))
	}
}

// commented adds orders in comments of code that is pasted, and in the items of lists.
func (p *report) commented(tb testing.TB) {
	tb.Helper()
	for i, o := range ordersOf(tb, "comments") {
		code := paste("code", 25)
		p.add("in a comment of pasted code", o, isKept(tb, "Here is the file:\n\n"+code+"\n\t"+o.text+"\n"+code, o, i))
		p.add("in a comment of code in a fence", o, isKept(tb, "Here is the file:\n\n```go\n"+code+"\n\t"+o.text+"\n"+code+"\n```", o, i))
	}
	for i, o := range ordersOf(tb, "lists") {
		var items []string
		for k, other := range ordersOf(tb, "lists") {
			if k%3 == i%3 {
				items = append(items, "- "+other.text)
			}
		}
		list := "Please keep to this in the report:\n" + strings.Join(items, "\n")
		p.add("in a list", o, isKept(tb, list, o, i))
		p.add("in a list between paragraphs of prose", o, isKept(tb, paste("prose", 18)+"\n\n"+list+"\n\n"+paste("prose", 18), o, i))
	}
}

// atLeast requires that each kind of orders that were used for the rules is kept to so many percent: in a sample, all kinds
// together.
func (p *report) atLeast(tb testing.TB, percent float64) {
	tb.Helper()
	var used share
	for name, r := range p.results {
		used.kept, used.all = used.kept+r.used.kept, used.all+r.used.all
		if isWhole() {
			require.GreaterOrEqual(tb, r.used.percent(), percent, name)
		}
	}
	require.GreaterOrEqual(tb, used.percent(), percent)
}

// TestKinds measures orders in long talks and long messages.
func TestKinds(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	if testing.Short() {
		t.Skip("thousands of folds: run without -short")
	}
	var p report
	for _, lang := range []string{"en", "zh", "ja", "es", "de", "fr"} {
		p.talks(t, "in talks of 80 short messages", []string{lang}, func(n int) long { return talkOf(t, lang, n, short) })
		p.talks(t, "in talks of 80 long messages", []string{lang}, func(n int) long { return talkOf(t, lang, n, wordy) })
		p.talks(t, "in talks of 80 dense messages", []string{lang}, func(n int) long { return talkOf(t, lang, n, dense) })
	}
	p.pastes(t)
	p.commented(t)
	t.Log(p.lost())
	p.atLeast(t, 97)
	p.rows(t)
}

// rows compares or writes the rows of the page.
func (p *report) rows(tb testing.TB) {
	tb.Helper()
	for name, r := range p.results {
		row(tb, "orders "+name, r.used.String(), r.held.String())
	}
}

// lost returns what is not kept of what was used for the rules.
func (p *report) lost() string {
	slices.Sort(p.missed)
	return strings.Join(slices.Compact(p.missed), "\n")
}

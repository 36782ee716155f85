package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/tokens"
)

// lineOf returns the line of a text that is cleared alone.
func lineOf(text string, limit int, kept ...string) string {
	return digest.Lines([]digest.Cleared{{Text: text}}, kept, digest.Options{Tokens: limit})[0]
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"the numbers of a CI have the word before them, and versions do not", "step 3: job 48210 of run 9912033188 builds with go1.26.8, run 1.26.8", "job: 48210; run: 9912033188; go1.26.8 1.26.8"},
		{"JSON: a value that says little has its key", `{"order_id": "#W2378156", "user_id": "yusuf_rossi_9620", "items": [{"item_id": "1151293680", "price": 272.33}], "gift": false}`, "order_id: #W2378156; item_id: 1151293680; price: 272.33; yusuf_rossi_9620"},
		{"JSON: each value of a list has the key of the list", `{"reserved": ["4OG6T3", "PUNERT", "M05KNL"], "state": "OPEN"}`, "reserved: 4OG6T3 PUNERT M05KNL; state: OPEN"},
		{"JSON: keys can be facts", `{"variants": {"1656367028": {"size": "S"}, "9523456873": {"size": "L"}}}`, "1656367028 9523456873"},
		{"JSON that is cut off", `[{"id": "A-1001", "total": 12.5}, {"id": "A-1002", "tot`, "id: A-1001 A-1002; total: 12.5"},
		{"JSON in a string", `{"result": "{\"flight\": \"HAT045\", \"price\": 1973, \"nested\": \"{\\\"seat_no\\\": \\\"12A\\\"}\"}"}`, "flight: HAT045; price: 1973; seat_no: 12A"},
		{"the text of an object of Python", `Result(text="done: true\norder_id: W-1001\n  total: $54.04", is_error=False)`, "order_id: W-1001; total: $54.04"},
		{"indented JSON in a string, and a list of numbers", `{"result": "{\n  \"flights\": [\n    \"HAT045\",\n    \"HAT194\"\n  ]\n}", "rooms": [101, 1002]}`, "flights: HAT045 HAT194; rooms: 101 1002"},
		{
			name: "a text in a string",
			text: `{"content": "first line\nTotal: $54.04\n\nOrder AB-1234 was \"shipped\" to C:\\data\\out.csv"}`,
			want: `Total: $54.04; AB-1234 C:\\data\\out.csv`,
		},
		{"JSON with escapes: as the model will write it", `{"name": "\u5f20\u4e09", "url": "https:\/\/example.com\/a", "\u7535\u8bdd": "13812345678"}`, "name: 张三; 电话: 13812345678; https://example.com/a"},
		{"JSON in lines", "{\"id\": 4711, \"path\": \"/tmp/a.txt\"}\n{\"id\": 4712, \"path\": \"/tmp/b.txt\"}\nand then: c_d\n", "id: 4711 4712; /tmp/a.txt /tmp/b.txt c_d"},
		{"a literal of Python", `{'order_id': '#W123', 'price': 12.5, 'paid': True, 'note': None, 'path': "/tmp/it's.txt"}`, "order_id: #W123; price: 12.5; path: /tmp/it's.txt"},
		{"an identifier that begins like another", `{"orders": [{"order_id": "AB-10012"}, {"order_id": "AB-1001"}, {"order_id": "AB-100"}]}`, "order_id: AB-10012 AB-1001 AB-100"},
		{"several pairs in a line: the first has its key", "order_id: W-2378156 total: 54.04 ann@example.com\nseen: 2024-05-15\n", "order_id: W-2378156; seen: 2024-05-15; 54.04 ann@example.com"},
		{"CSV", "order_id,customer,total,date\n1001,\"Example, Ann\",54.04,2024-05-15\n1002,Bo,1299.00,2024-05-16\n", "order_id 1001 54.04 2024-05-15 1002 1299.00 2024-05-16"},
		{"TSV", "sku\tprice\nA-99\t54.04\nB-17\t7.50\n", "A-99 54.04 B-17 7.50"},
		{"a table of Markdown", "Your orders:\n\n| Order | Total | Paid on |\n|---|---|---|\n| #W12 | $54.04 | 2024-05-15 |\n| **#W13** | $7 | `2024-05-16` |\n", "#W12 $54.04 2024-05-15 #W13 $7 2024-05-16"},
		{"a table of psql", " account | owner\n---------+-------\n    1001 | Ann\n    1002 | Bo\n    1003 | Cy\n(3 rows)\n", "1001 1002 1003"},
		{"a table of MySQL", "+---------+-------+\n| account | total |\n+---------+-------+\n| 1001    | 54.04 |\n| 1002    | 7.50  |\n+---------+-------+\n", "1001 54.04 1002 7.50"},
		{"YAML", "image: registry.example.com/shop/web:1.26.8\nport: 8080\nenv:\n  - DB_HOST=10.0.0.7\n", "port: 8080; DB_HOST: 10.0.0.7; registry.example.com/shop/web:1.26.8"},
		{"a stack trace", "Traceback (most recent call last):\n  File \"/app/main.py\", line 12, in <module>\n    run_all()\nValueError: bad id 4711\n", "ValueError: bad id 4711; /app/main.py run_all"},
		{"a panic", "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x/prog.go:8 +0x1d\n", "panic: runtime error: index out of range [5] with length 3; main.main /tmp/x/prog.go +0x1d"},
		{"a log", "2026-03-15 12:18:24 started 3 workers\n2026-03-15 12:18:25 ERROR worker-3: connection to 10.0.0.7:5432 refused\n", "2026-03-15 12:18:24 12:18:25; ERROR worker-3: connection to 10.0.0.7:5432 refused"},
		{"colours of a terminal", "\x1b[31mFAILED\x1b[0m tests/test_api.py::test_login - AssertionError: 401 != 200", "FAILED tests/test_api.py::test_login - AssertionError: 401 != 200"},
		{"results of a search", "store/session.go:120:func (s *Store) LoadSession(id string) error {\nstore/session.go-121-\treturn errNotFound\n", "store/session.go LoadSession errNotFound"},
		{"a file with the numbers of its lines", "   118→// LoadSession loads.\n   119→func (s *Store) LoadSession(id string) error {\n   120→\treturn errNotFound\n", "LoadSession errNotFound"},
		{"a diff", "diff --git a/cmd/main.go b/cmd/main.go\nindex 83db48f..bf2a7c1\n--- a/cmd/main.go\n+++ b/cmd/main.go\n@@ -10,6 +10,7 @@\n+\tload_config()\n", "cmd/main.go 83db48f..bf2a7c1 load_config"},
		{"a listing", "total 12\ndrwxr-xr-x 2 ann staff 4096 Feb 12 2026 docs\n-rw-r--r-- 1 ann staff 98204 Feb 12 2026 report_2026.pdf\n", "4096 98204 report_2026.pdf; Feb 12 2026"},
		{"HTML", `<div class="order" id="ord-4711"><a href="https://example.com/o/4711?x=1">Order</a> costs <b>€ 54.04</b></div>`, "ord-4711 https://example.com/o/4711?x=1; € 54.04"},
		{"a letter", "Call +1 (555) 123-4567 or write to ann@example.com before May 16, 2024, 15:00. Your reference is QX7-99Z; see 'The Old Mill'.", "ann@example.com 15:00 QX7-99Z; +1 (555) 123-4567; May 16, 2024"},
		{"fields of a literal in code", "\tAuthorName:  \"Ann Example\",\n\tAuthorEmail: \"ann@example.com\",\n\tFiles: []string{\"a.txt\"},\n\tTotal: total(1),\n", "AuthorName: Ann Example; AuthorEmail ann@example.com a.txt"},
		{"lines that begin with the time", "12:30 lunch with the team_lead\n15:00:05 done\n", "12:30 team_lead 15:00:05"},
		{"what looks like JSON at first", "{\"a\": it's not JSON\nTotal: $54.04\nhttps://example.com/a\n", "Total: $54.04; JSON https://example.com/a"},
		{"a string that does not end", "{\"text\": \"cut\\nTotal: $54.04\nPaid: 2024-05-15\n", "Total: $54.04; Paid: 2024-05-15"},
		{"what has no hard facts", "She said it's fine, isn't it? The read-only mode and/or e.g. other I/O is no big deal. 1 or 12 of them.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, lineOf(c.text, 50))
		})
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"订单号：W20260315\n客户：张三\n金额：￥1,299.00\n付款日期：2026年3月15日\n", "订单号: W20260315; 客户: 张三; 金额: ￥1,299.00; 付款日期: 2026年3月15日"},
		{"订单W20260315于2026年3月15日付款1,299元，退款５００円，见《红楼梦》第3回。", "W20260315 2026年3月15日 1,299元 ５００円"},
		{"錯誤代碼Ｅ４０４，請致電02-2345-6789", "Ｅ４０４ 02-2345-6789"},
		{"注文番号: JP-2024-0815 合計 12,800円 発送日 2024年8月15日", "注文番号: JP-2024-0815; 12,800円 2024年8月15日"},
		{"주문번호 KR-4711-A, 합계 12,800원, 메일 kim@example.kr", "KR-4711-A 12,800원 kim@example.kr"},
		{"Заказ 4711 от 15.05.2024 на сумму 1 299,50 руб. Почта: ivan@example.ru", "4711 15.05.2024 ivan@example.ru; 1 299,50 руб"},
		{"Rechnung RE-2024-0815 vom 15.08.2024 über 54,04 € an Jürgen", "RE-2024-0815 15.08.2024; 54,04 €"},
		{"رقم الطلب AB-4711 المبلغ 250 USD بتاريخ 2024-05-15", "AB-4711 2024-05-15; 250 USD"},
		{"आदेश AB-4711 की राशि ₹1,299 है", "AB-4711 ₹1,299"},
	} {
		require.Equal(t, c.want, lineOf(c.text, 50), c.text)
	}
}

// Facts that are not in the text, or not facts.
func TestMistakenFacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a number in a path is not the number of a line", "/x/feat-109-text/cmd/f.go\n/x/feat-110-text/cmd/g.go\n", "/x/feat-109-text/cmd/f.go /x/feat-110-text/cmd/g.go"},
		{"grep -C: no numbers of lines", "115-from x import a_b\n116-from x import c_d\n117:from x import e_f\n118-from x import g_h\n--\n240:i_j\n241-k_l\n", "a_b c_d e_f g_h i_j k_l"},
		{"grep -C: relative paths, and a change of file", "a/b.go-120-\tx_y()\na/b.go:121:\tz_y()\n--\nc/d.go-7-\tq_r()\nc/d.go:8:\ts_t()\n", "a/b.go x_y z_y c/d.go q_r s_t"},
		{"grep -n: lines are missing", "118:func a_b()\n240:func c_d()\n777:func e_f()\n", "a_b c_d e_f"},
		{"a place in a file", "main.go:120: undefined: a_b\n", "main.go a_b"},
		{"the numbers of a hunk", "@@ -101,6 +103,8 @@ func run()\n+\tload_all()\n", "load_all"},
		{"rows with consecutive numbers", "1001, Ann\n1002, Bo\n1003, Cy\n", "1001 1002 1003"},
		{"a hyphen at the end of a folder", "pkg/issue-7-/x.go\n", "pkg/issue-7-/x.go"},
		{"a number before a hyphen", "3-in-1 printer PX-4711\n", "3-in-1 PX-4711"},
		{"a format string", "\treturn fmt.Errorf(\"error: no session %s: %w\", name, err)\n", "fmt.Errorf"},
		{"a format string of Python", "raise KeyError: {name} is not there\n", "KeyError"},
		{"a string in a program", "log.Print(\"error: no session\")\n", "log.Print"},
		{"a format string of another language", "error: {err:?}\nerror: %(name)s\nError: %1$s\nfatal: %-10s\nfailed: {0!r}\n错误：文件 %s 不存在\nA-1001\n", "A-1001"},
		{"a message with a percentage", "error: 50% of the disk is used by /a%20b\n", "error: 50% of the disk is used by /a%20b"},
		{"a heading", "Error Trace:\nFailed Tests:\nA-1001\n", "A-1001"},
		{"a flag", "isError: true,,\nerror: null\nerror: false\nis_error: None\nA-1001\n", "A-1001"},
		{"a flag of a call", "Result(id='A-1001', isError=False, is_last=true)", "id: A-1001"},
		{"a type", "  error: string;\n  failed: number,\nA-1001\n", "A-1001"},
		{"a count", "Tests failed: 0\nA-1001\n", "A-1001"},
		{"the bare kind of an identifier", `{"credit_card_7815826": {"source": "credit_card", "default": true, "id": "credit_card_7815826"}}`, "credit_card_7815826"},
	} {
		require.Equal(t, c.want, lineOf(c.text, 50), c.name)
	}
}

// TestNumbersOfLines shows lines before which their number is, in several forms.
func TestNumbersOfLines(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"%d\tx = y", "  %d\tx = y", "%d→x = y", "%d: x = y", "%d:x = y", "%d | x = y", "%d │ x = y", "  %d x = y", "%d  x = y",
		"L%d: x = y", "line %d: x = y", "Line %d, x = y", "第%d行：x = y", "a/b.go:%d: x = y", "a/b.go-%d-x = y", "%d-x = y",
	} {
		var lines []string
		for n := 118; n <= 125; n++ {
			lines = append(lines, fmt.Sprintf(form, n))
		}
		want := ""
		if strings.HasPrefix(form, "a/b.go") {
			want = "a/b.go"
		}
		require.Equal(t, want, lineOf(strings.Join(lines, "\n")+"\n", 50), "nothing, or the file, in the form %q", form)
	}
}

// TestFactInTwoResults shows that a fact remains if the result with other facts that are worth more is cleared after
// another one that has it, too.
func TestFactInTwoResults(t *testing.T) {
	t.Parallel()
	first, second := "The branch is feature_login; reserved.\n", "feature_login\n"+filled("paid by A-%05d on 2024-05-15\n", 400)
	line := digest.Lines([]digest.Cleared{{Text: first}}, nil, digest.Options{Tokens: 40, Results: []string{second}})[0]
	require.Equal(t, "feature_login", line)
	next := digest.Lines([]digest.Cleared{{Text: second}}, []string{line}, digest.Options{Tokens: 20})[0]
	require.NotContains(t, next, "feature_login", "it is not repeated")
	require.Contains(t, next, "A-00000")

	line = digest.Lines([]digest.Cleared{{Text: "A-1001 A-1002 A-1003"}}, nil, digest.Options{Tokens: 8, Results: []string{"A-1001 A-1002"}})[0]
	require.Contains(t, line, "A-1003", "facts that no result shows are first")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	text := `{"id": "A-1001", "next": "A-1002", "total": 54.04, "email": "ann@example.com", "due": "2024-05-15"}`
	other := func(year string) string {
		return strings.NewReplacer("A-", "B"+year+"-", "2024", year, "54", year).Replace(text)
	}
	lines := digest.Lines([]digest.Cleared{{Text: text}, {Text: other("2025"), Tokens: -1}, {Text: other("2026"), Tokens: 8}, {Text: other("2027"), Tokens: 100}},
		nil, digest.Options{Tokens: 30})
	require.Empty(t, lines[1], "a negative limit means no line")
	require.LessOrEqual(t, tokens.Estimate{}.Count(lines[2]), 8, "the limit of a text of its own")
	require.NotEmpty(t, lines[2])
	require.LessOrEqual(t, tokens.Estimate{}.Count(lines[3]), 30, "a limit of its own does not lift the other")
	require.NotEmpty(t, lines[0])

	for _, limit := range []int{0, -1} {
		require.Equal(t, []string{""}, digest.Lines([]digest.Cleared{{Text: text}}, nil, digest.Options{Tokens: limit}), "no line with %d tokens", limit)
	}
	require.Empty(t, digest.Lines(nil, nil, digest.Options{Tokens: 40}))
	require.Equal(t, []string{""}, digest.Lines([]digest.Cleared{{}}, []string{""}, digest.Options{Tokens: 40}), "an empty text has an empty line")
	require.Empty(t, lineOf(text, 1), "nothing fits")
	const uuid = "3f2c9a10-11d2-4b6e-9b7a-6d3f2a0e8f01"
	require.Equal(t, uuid, lineOf("stored as /artifacts/"+uuid+"/report.html", 40), "what identifies a path that does not fit")
}

// counter counts bytes, and how often it is asked.
type counter struct{ asked int }

func (c *counter) Count(text string) int { c.asked++; return len(text) }

func TestCounterOfTheCaller(t *testing.T) {
	t.Parallel()
	text := filled("item A-%05d costs $5.40\n", 100_000)
	for _, limit := range []int{5, 40, 400} {
		c := &counter{}
		line := digest.Lines([]digest.Cleared{{Text: text}}, nil, digest.Options{Tokens: limit, Counter: c})[0]
		require.LessOrEqual(t, len(line), limit)
		require.Greater(t, len(line), limit-len(" A-00001"), "the line is as long as it may be")
		require.Less(t, c.asked, 100+limit, "it is not asked for each fact of the text")
	}
}

func TestOfLongTextsBothEndsAreLookedAt(t *testing.T) {
	t.Parallel()
	filler := filled("nothing to see here, %d\n", digest.Window)
	text := "first A-1001\n" + filler + "middle A-1002\n" + filler + "last A-1003\n"
	found := digest.Found(text)
	for id, want := range map[string]bool{"A-1001": true, "A-1002": false, "A-1003": true} {
		require.Equal(t, want, slices.Contains(found, id), "%s is found", id)
	}

	records := "[" + filled(`{"sku": "A-%05d", "note": "it's, \"so\", said"},`, 2*digest.Window) + `{"sku": "LAST"}]`
	require.Equal(t, "sku: LAST", lineOf(records, 40, strings.Join(digest.Found(strings.TrimSuffix(records, `{"sku": "LAST"}]`)), " ")),
		"keys are known at the end of JSON too")
}

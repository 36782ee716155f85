package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// recording is a conversation of a file for the command.
type recording struct {
	ID       string `json:"id"`
	Messages []said `json:"messages"`
}

type said struct {
	Role   string `json:"role"`
	Text   string `json:"content"`
	Calls  []call `json:"tool_calls,omitempty"`
	Result string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// reading is a conversation of an agent that reads n files, whose text a function gives.
func reading(id string, n int, text func(i int) string) recording {
	r := recording{ID: id, Messages: []said{{Role: "user", Text: "Read the files."}}}
	for i := range n {
		c := fmt.Sprint("c", i)
		r.Messages = append(r.Messages, said{Role: "assistant", Calls: []call{{c, "read", fmt.Sprintf(`{"file":"%d.go"}`, i)}}},
			said{Role: "tool", Result: c, Text: text(i)})
	}
	r.Messages = append(r.Messages, said{Role: "assistant", Text: "done"})
	return r
}

func order(i int) string {
	return fmt.Sprintf("order #W%d00; %s", i, strings.Repeat("code of the file; ", 50))
}

// line is what replay --json writes of a chain.
type line struct {
	Chain  string
	Cost   map[string]float64
	Edits  int
	Calls  int
	Freed  int
	Tokens struct{ Sum int }
	Facts  struct{ All, Hard float64 }

	TooLong  struct{ N int } `json:"too_long"`
	Unedited struct{ N int }
}

// write replays recordings with a chain and the baselines, and returns the page and the results.
func write(t *testing.T, talks []recording, facts string, flags ...string) (file string, lines []line) {
	t.Helper()
	dir := t.TempDir()
	var all strings.Builder
	for _, r := range talks {
		b, err := json.Marshal(r)
		require.NoError(t, err)
		all.Write(append(b, '\n'))
	}
	file = filepath.Join(dir, "report.html")
	for name, text := range map[string]string{
		"conversations.jsonl": all.String(), "facts.jsonl": facts,
		"chain.yaml": "chain: [{use: contextedit, trigger: {messages: 1}, keep: 2, digest: none}, {use: summarize, by: rules, trigger: {rounds: 12}}]",
	} {
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	args := append([]string{"run", "./cmd/laconic", "replay", "--json", "--html", file, "--baselines", "--chain", filepath.Join(dir, "chain.yaml"), dir}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	for text := range strings.Lines(string(out)) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	return file, lines
}

// settled waits until the page has drawn what an event asks for.
const settled = `new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))`

const fact = `{"conversation": "files", "fact": "#W000", "kind": "id", "used_at_message": 41}`

// TestNumbers compares what is on the page with replay --json.
func TestNumbers(t *testing.T) {
	b := newTab(t, 1180, 1000, false)
	file, want := write(t, []recording{reading("files", 20, order), reading("few", 3, order)}, fact, "--window", "3000")
	b.open(file)
	rows := eval[[][]string](b, `[...document.querySelectorAll("#chains tbody tr")].map(r => [...r.cells].map(c => c.textContent))`)
	require.Len(t, rows, len(want))
	percent := func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	byName := map[string]line{}
	for _, l := range want {
		byName[l.Chain] = l
	}
	for i, r := range rows {
		l := byName[r[1]]
		got := []string{r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[10], r[11]}
		var costs []string
		for _, class := range []string{"K0", "K1", "K9", "K11.5", "K49"} {
			costs = append(costs, fmt.Sprintf("%.2f", l.Cost[class]))
		}
		require.Equal(t, append(costs, percent(l.Facts.Hard), percent(l.Facts.All), fmt.Sprint(l.Edits), fmt.Sprint(l.TooLong.N)), got, "row %d: %s", i, r[1])
	}
	long := eval[[]string](b, `[...document.querySelectorAll("#long td.bar")].map(c => c.textContent)`)
	require.Equal(t, fmt.Sprint(want[0].Unedited.N), long[0])
	require.Positive(t, want[0].Unedited.N)

	for chain, l := range want { // what the calls of all conversations add up to
		sums := eval[map[string]float64](b, fmt.Sprintf(`(async () => {
			const sum = {sent: 0, calls: 0, edits: 0, freed: 0};
			for (const talk of page.talks) {
				const r = (await unpack(talk.data)).chains[%d];
				sum.sent += r.sent.reduce((a, n) => a + n, 0); sum.calls += r.sent.length - r.unmade.length;
				for (const e of r.events) { sum.freed += e[5]; sum.edits += e[1] === "edited"; }
			}
			return sum;
		})()`, chain))
		require.Equal(t, map[string]float64{"sent": float64(l.Tokens.Sum), "calls": float64(l.Calls), "edits": float64(l.Edits), "freed": float64(l.Freed)}, sums, l.Chain)
	}
	b.quiet()
	b.shot("numbers")
}

// TestCall walks to a call, and reads what was cleared there.
func TestCall(t *testing.T) {
	b := newTab(t, 1180, 1000, false)
	file, want := write(t, []recording{reading("files", 20, order)}, fact)
	b.open(file)
	eval[any](b, fmt.Sprintf(`choose({chain: page.chains.findIndex(c => c.chain === %q)}).then(() => choose({call: 9}))`, want[0].Chain))
	require.Equal(t, "Call 10 of 21", eval[string](b, `$("call-h").textContent`))
	require.Equal(t, "all 19", eval[string](b, `document.querySelector("#filter button").textContent`))
	require.Equal(t, "cleared 7", eval[string](b, `document.querySelector("#filter .cleared").textContent`))
	b.do(chromedp.Focus(chromedp.CSS("#filter .cleared")), chromedp.KeyEvent(kb.Enter))
	require.Equal(t, 7, eval[int](b, `document.querySelectorAll("#messages li").length`))
	require.Equal(t, "true", eval[string](b, `document.querySelector("#filter .cleared").getAttribute("aria-pressed")`))
	b.do(chromedp.Focus(chromedp.CSS("#messages summary")), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	eval[any](b, settled) // a message is opened by an event
	require.Equal(t, []string{order(1), "[cleared"}, eval[[]string](b, `[...document.activeElement.parentElement.querySelectorAll("pre")].map(p => p.textContent.split(": recall")[0])`))
	require.Contains(t, eval[string](b, `document.activeElement.parentElement.querySelector("p").textContent`), "cleared by contextedit, call 5: cleared 1 result")
	b.do(chromedp.KeyEvent(kb.End))
	require.True(t, eval[bool](b, `document.activeElement === [...document.querySelectorAll("#messages summary")].at(-1)`))

	// Every call is reached by keys: the slider, and the buttons for edits.
	b.do(chromedp.Focus(chromedp.CSS("#step")), chromedp.KeyEvent(kb.Home))
	eval[any](b, settled)
	require.Equal(t, "Call 1 of 21", eval[string](b, `$("call-h").textContent`))
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	eval[any](b, settled)
	require.Equal(t, "Call 2 of 21", eval[string](b, `$("call-h").textContent`))
	b.do(chromedp.Focus(chromedp.CSS("#edit-after")), chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "Call 4 of 21", eval[string](b, `$("call-h").textContent`))

	require.Equal(t, []string{"21", "hard", "#W000"}, eval[[]string](b, `[...document.querySelector("#lost tbody tr").cells].map(c => c.textContent)`),
		"where the fact was lost")
	b.do(chromedp.Focus(chromedp.CSS("#lost button")), chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "Call 21 of 21", eval[string](b, `$("call-h").textContent`))
	require.Positive(t, eval[int](b, `document.querySelectorAll("#messages li.added, #messages li.folded").length + document.querySelectorAll("#filter .folded").length`))
	b.quiet()
}

// TestReaders checks names and roles, both languages, the dark, and a phone.
func TestReaders(t *testing.T) {
	b := newTab(t, 390, 844, true)
	file, _ := write(t, []recording{reading("files", 20, order)}, fact)
	b.open(file)
	require.Contains(t, eval[string](b, `document.querySelector("#warning").textContent`), "contains everything that the recordings contain")
	require.GreaterOrEqual(t, eval[int](b, `Number(getComputedStyle($("warning")).fontWeight)`), 600)
	nameless := `[...document.querySelectorAll("button, select, input, [role=img], [role=region], [role=group]")].filter(e => e.offsetParent &&
		!(e.getAttribute("aria-label") || e.ariaLabel || e.getAttribute("aria-labelledby") || e.textContent.trim() && e.tagName === "BUTTON" || e.labels && e.labels.length)).map(e => e.outerHTML.slice(0, 80))`
	require.Empty(t, eval[[]string](b, nameless), "what a screen reader would not name")
	require.LessOrEqual(t, eval[int](b, `document.documentElement.scrollWidth`), 390, "no sideways scroll")
	require.Less(t, eval[int](b, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number).reduce((a, n) => a + n)`), 150, "dark")
	require.Equal(t, "right", eval[string](b, `getComputedStyle(document.querySelector("#chains td.n")).textAlign`))
	b.shot("phone-en")

	b.do(chromedp.SetValue(chromedp.CSS("#language"), "1"))
	eval[any](b, `$("language").dispatchEvent(new Event("change"))`)
	require.Equal(t, "zh-CN", eval[string](b, `document.documentElement.lang`))
	require.Equal(t, "所有对话", eval[string](b, `$("all-h").textContent`))
	require.Empty(t, eval[[]string](b, `Object.entries(WORDS).filter(([k, w]) => w.length !== 2 || !w[0] || !w[1]).map(([k]) => k)`))
	require.LessOrEqual(t, eval[int](b, `document.documentElement.scrollWidth`), 390)
	b.shot("phone-zh")
	b.quiet()
}

// TestOdd shows recordings that would break a careless page. Their texts are shown as they are, and nothing of them runs.
func TestOdd(t *testing.T) {
	texts := []string{
		"</script><script>window.pwned=1</script>", `<img src=x onerror="window.pwned=1">`, "a\x00b", "\x1b[31mred", "right \u202Eto left", "line\u2028break",
		"{{data}}{{script}}", `"><svg onload=window.pwned=1>`, "&lt;b&gt;", " ", "",
	}
	chinese := reading("两千条消息", 1000, func(i int) string { return strings.Repeat("文件内容。", 20) + fmt.Sprint(i) })
	talks := []recording{
		reading("</script><img src=x onerror=window.pwned=1>", len(texts), func(i int) string { return texts[i] }), chinese,
		{ID: "one message", Messages: []said{{Role: "assistant", Text: "hello"}}},
		{ID: "no tools", Messages: []said{{Role: "user", Text: "hi"}, {Role: "assistant", Text: "hello"}, {Role: "user", Text: "bye"}, {Role: "assistant", Text: "bye"}}},
	}
	b := newTab(t, 1180, 1000, false)
	file, _ := write(t, talks, "")
	b.open(file)
	require.Equal(t, 1, eval[int](b, `state.talk`), "the longest conversation is shown first")
	none := eval[int](b, `page.chains.findIndex(c => c.chain === "none")`)
	ms := eval[float64](b, fmt.Sprintf(`choose({chain: %d}).then(() => Math.min(...[0, 0, 0, 0, 0].map(() => {
		const at = performance.now(); drawCall(); document.body.offsetHeight; return performance.now() - at; })))`, none))
	require.Equal(t, 2001, eval[int](b, `document.querySelectorAll("#messages li").length`))
	t.Logf("a call of 2,001 messages is drawn in %.0f ms, the fastest of five", ms)

	eval[any](b, fmt.Sprintf(`choose({talk: 0, chain: %d})`, none))
	for i, want := range texts {
		if want == "" {
			want = "(empty)"
		}
		got := eval[string](b, fmt.Sprintf(`(async () => { const d = document.querySelectorAll("#messages details")[%d]; d.open = true;
			await `+settled+`; return d.querySelector("pre").textContent })()`, 2*i+2))
		require.Equal(t, want, got)
	}
	for talk := range talks {
		for chain := range eval[int](b, `page.chains.length`) {
			eval[any](b, fmt.Sprintf(`choose({talk: %d, chain: %d})`, talk, chain))
		}
	}
	require.False(t, eval[bool](b, `"pwned" in window`), "nothing of a recording runs")
	b.quiet()

	file, _ = write(t, talks[:1], "", "--no-text")
	b.open(file)
	require.Contains(t, eval[string](b, `document.querySelector("#warning").textContent`), "no texts of messages")
	require.NotContains(t, eval[string](b, `document.body.innerText`), "window.pwned=1</script>")
	b.quiet()
}

// TestRecorded shows all recordings of LACONIC_DATA with six chains, and reports sizes and times.
func TestRecorded(t *testing.T) {
	dir := os.Getenv("LACONIC_PAGE") // a page of them, since making one takes minutes
	if dir == "" {
		t.Skip("no LACONIC_PAGE: name a page of laconic replay --html to measure it")
	}
	b := newTab(t, 1180, 1000, false)
	b.open(dir)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	ready := eval[float64](b, `performance.getEntriesByType("measure").find(m => m.name === "ready").duration`)
	detail := eval[[]float64](b, `(async () => { const all = []; for (let k = 0; k < calls(); k += 1 + Math.floor(calls() / 20)) {
		const at = performance.now(); await choose({call: k}); document.body.offsetHeight; all.push(performance.now() - at); } return all.sort((a, b) => a - b) })()`)
	t.Logf("%d bytes, drawn after %.0f ms, a call after %.0f ms (fastest), %.0f ms (median) of %d messages", info.Size(), ready,
		detail[0], detail[len(detail)/2], eval[int](b, `document.querySelectorAll("#messages li").length`))
	b.quiet()
	b.shot("recorded")
}

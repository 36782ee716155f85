package truth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/tokens"
)

const recordings = "conversations.jsonl.gz"

// mark is a passage of a recorded user.
type mark struct {
	conversation string
	message      int
	from, to     int // bytes
	sum          string
}

func marks(tb testing.TB) (ids []string, byID map[string][]mark) {
	tb.Helper()
	_, lines := sections(tb, "marks.txt")
	byID = map[string][]mark{}
	for _, line := range lines[""] {
		var m mark
		_, err := fmt.Sscan(line, &m.conversation, &m.message, &m.from, &m.to, &m.sum)
		require.NoError(tb, err, line)
		if byID[m.conversation] == nil {
			ids = append(ids, m.conversation)
		}
		byID[m.conversation] = append(byID[m.conversation], m)
	}
	return ids, byID
}

// text returns the passage.
func (m mark) text(tb testing.TB, h []message.Message) string {
	tb.Helper()
	said := h[m.message].Text()
	require.LessOrEqual(tb, m.to, len(said), "%v", m)
	sum := sha256.Sum256([]byte(said[m.from:m.to]))
	require.True(tb, strings.HasPrefix(hex.EncodeToString(sum[:]), m.sum), "the recordings are those that were marked: %v", m)
	return said[m.from:m.to]
}

// recordedUser is what remains of one recorded user after a fold with the defaults.
type recordedUser struct {
	held          bool
	folded, words int // tokens of the messages that are folded, and of the user's words in the summary
	marks, kept   int // in folded messages
}

func measureRecordings(tb testing.TB) (all []recordedUser) {
	tb.Helper()
	ids, byID := marks(tb)
	held := map[string]bool{}
	for i, id := range ids {
		held[id] = i%3 == 2
	}
	for line := range recorded.Lines(tb, recordings) {
		var c recorded.Conversation
		require.NoError(tb, json.Unmarshal(line, &c))
		ms := byID[c.ID]
		if ms == nil {
			continue
		}
		h := c.History()
		u := recordedUser{held: held[c.ID]}
		stays := map[string]bool{}
		summary := ""
		for _, m := range viewOf(tb, h, summarize.Options{}) {
			if text := m.Text(); strings.Contains(text, "messages compacted") || strings.Contains(text, "条消息") {
				summary = text
			} else {
				stays[m.Text()] = true
				u.folded -= tokens.Meter{}.Message(m)
			}
		}
		if summary == "" {
			continue
		}
		for _, m := range h {
			u.folded += tokens.Meter{}.Message(m)
		}
		u.words = tokens.Meter{}.Part(message.Text{Text: said(summary)})
		for _, m := range ms {
			text := m.text(tb, h)
			if stays[h[m.message].Text()] {
				continue
			}
			u.marks++
			if strings.Contains(oneLine(summary), strings.TrimRight(oneLine(text), ".。")) {
				u.kept++
			}
		}
		all = append(all, u)
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// said returns the section of a summary with the user's words.
func said(summary string) string {
	for _, heading := range []string{"[What the user said", "[用户的原话"} {
		if _, rest, ok := strings.Cut(summary, heading); ok {
			var b strings.Builder
			for i, line := range strings.Split(rest, "\n") {
				if i > 0 && line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "  ") {
					break
				}
				b.WriteString(line + "\n")
			}
			return b.String()
		}
	}
	return ""
}

// realMessages returns what recorded people have typed, each once, without the longest pastes: so the views are small.
func realMessages(tb testing.TB) (all []string) {
	const longest = 2000 // bytes
	tb.Helper()
	seen := map[string]bool{}
	for line := range recorded.Lines(tb, recordings) {
		var c recorded.Conversation
		require.NoError(tb, json.Unmarshal(line, &c))
		if !strings.HasPrefix(c.ID, "cc-") && !strings.HasPrefix(c.ID, "pi-") {
			continue
		}
		for _, m := range c.History() {
			if said := m.Text(); m.Role == message.RoleUser && said != "" && len(said) <= longest && !seen[said] {
				seen[said] = true
				all = append(all, said)
			}
		}
	}
	return all
}

// realTalk returns a talk of real messages with others at even places.
func realTalk(typed []string, n, from int, others []string) (h []message.Message) {
	h = []message.Message{message.System("You are a coding agent."), message.User("Hello!"), message.Assistant(message.Text{Text: "Hello."})}
	answers := []string{"Done.", "I changed it, and the tests pass."}
	k := 0
	for i := range n {
		said := typed[(from+i*7)%len(typed)]
		if k < len(others) && i >= (2*k+1)*n/(2*len(others)) {
			said = others[k]
			k++
		}
		h = append(h, message.User(said), message.Assistant(message.Text{Text: answers[i%2]}))
	}
	return append(h, message.User("Bye!"))
}

// viewIn returns the text of the view of a talk: by default, or if it has at most a part of the history, in percent.
func viewIn(tb testing.TB, h []message.Message, percent int) string {
	tb.Helper()
	o := summarize.Options{}
	if percent > 0 {
		o = folding(h, tokens.Meter{}.Request(h, nil)*percent/100)
	}
	return joined(viewOf(tb, h, o))
}

// TestRealTalks measures short orders and corrections between messages of recorded people.
func TestRealTalks(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	if !recorded.Exists(recordings) || testing.Short() {
		t.Skip("measured with recordings, without -short")
	}
	typed := realMessages(t)
	_, lines := sections(t, "orders.real.txt")
	const each, pairsOf = 12, 4
	var p report
	add := func(name, view, text string) {
		p.add(name, order{text: text, held: isHeld(text)}, strings.Contains(view, text))
	}
	for first := 0; first < len(lines["orders"]); first += each * every(2) {
		batch := lines["orders"][first:min(first+each, len(lines["orders"]))]
		for k := range 3 {
			short, long := realTalk(typed, 80, 31*first+k*211, batch), realTalk(typed, 300, 31*first+k*211, batch)
			a, b, c := viewIn(t, short, 0), viewIn(t, short, 25), viewIn(t, long, 0)
			for _, o := range batch {
				add("in talks of 80 real messages", a, o)
				add("in talks of 80 real messages, view of 25 %", b, o)
				add("in talks of 300 real messages", c, o)
			}
		}
	}
	for first := 0; first < len(lines["corrections"]); first += pairsOf {
		var said, now []string
		for _, l := range lines["corrections"][first:min(first+pairsOf, len(lines["corrections"]))] {
			old, fresh, _ := strings.Cut(l, " | ")
			said, now = append(said, old), append(now, fresh)
		}
		for k := range 3 {
			view := viewIn(t, realTalk(typed, 80, 17*first+k*211, append(said, now...)), 25)
			for _, o := range now {
				add("that correct others, in talks of 80 real messages, view of 25 %", view, o)
			}
		}
	}
	t.Log(p.lost())
	p.atLeast(t, 85)
	p.rows(t)
}

// shown matches what tells a reader that a run failed.
var shown = regexp.MustCompile(`(?i)fail|false|err|not |panic|\bno tests|[✗✘✖❌×]|失|未|不合格|실패|fallid|échec|fehlgeschlagen|exited|abort|\bNG\b|dumped|violated|[^.\d]0 (passed|tests|items|examples|selected|passing)|run: 0|\d+ ?(/|of|out of) ?\d+|exit status`)

// TestDigests measures how many cleared results of failed runs have a line of facts that begins with the failure.
func TestDigests(t *testing.T) {
	t.Parallel()
	var found split
	for _, e := range endings(t) {
		if e.verdict != "failed" {
			continue
		}
		h := []message.Message{
			message.User("Test it."), message.Assistant(message.ToolCall{ID: "run", Name: "bash", Arguments: `{"command":"make"}`}),
			message.Result("run", "bash", strings.Repeat("collecting the parts of it\n", 40)+e.output), message.Assistant(message.Text{Text: "Now the next step."}), message.User("Go on."),
		}
		chain := contextedit.New(contextedit.Options{Keep: -1, Digest: 40})
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Force: []string{"contextedit"}})
		require.NoError(t, err)
		line := ""
		for _, m := range sent.Messages {
			for r := range m.Results() {
				_, line, _ = strings.Cut(r.Text, "some facts: ")
			}
		}
		first, _, _ := strings.Cut(line, ";")
		found.add(e.command+e.output, shown.MatchString(first))
		if !shown.MatchString(first) {
			missf(t, e.command+e.output, "%q: %s", e.command, line)
		}
	}
	found.row(t, "cleared results of failed runs whose line begins with the failure")
	t.Log(found.String())
	require.GreaterOrEqual(t, min(found.seen.percent(), found.held.percent()), 90.0)
}

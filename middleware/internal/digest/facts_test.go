package digest_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/tokens"
)

var update = flag.Bool("update", false, "write the tables of docs/digest.md")

const (
	keptResults = 5
	page        = "../../../docs/digest.md"
	documented  = 9281 // uses of facts in the data that the page tells of
)

// recording is what a real agent did.
type recording struct {
	ID       string     `json:"id"`
	Source   string     `json:"source"`
	Messages []recorded `json:"messages"`
}

// recorded is a message.
type recorded struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	ToolCalls []struct {
		Arguments string `json:"arguments"`
	} `json:"tool_calls"`

	texts  []string // content and arguments as they are, and the values of the arguments
	tokens int
}

// UnmarshalJSON notes what is asked for many times.
func (m *recorded) UnmarshalJSON(data []byte) error {
	type plain recorded
	if err := json.Unmarshal(data, (*plain)(m)); err != nil {
		return err
	}
	m.texts = []string{m.Content}
	m.tokens = tokens.Estimate{}.Count(m.Content)
	for _, call := range m.ToolCalls {
		m.texts = append(m.texts, call.Arguments)
		m.tokens += tokens.Estimate{}.Count(call.Arguments)
		for d := json.NewDecoder(strings.NewReader(call.Arguments)); ; {
			t, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := t.(string); ok {
				m.texts = append(m.texts, s)
			}
		}
	}
	return nil
}

func (m *recorded) has(fact string) bool {
	return slices.ContainsFunc(m.texts, func(text string) bool { return strings.Contains(text, fact) })
}

// use is a call of the model that used, word for word, what a tool had returned
// before.
type use struct {
	Conversation string `json:"conversation"`
	Fact         string `json:"fact"`
	Kind         string `json:"kind"`
	At           int    `json:"used_at_message"`
}

// isHard reports whether there is no other way to the fact.
func (u use) isHard() bool { return slices.Contains([]string{"id", "amount", "date", "email"}, u.Kind) }

// held are sources that nothing was learnt from when the rules were made.
var held = []string{"tau-bench", "swe-agent-claude-3.5-sonnet", "pi-mono", "livemcpbench"}

// isDeveloped reports whether the rules were made with a conversation in sight:
// with one half of those whose source is not held back.
func (r *recording) isDeveloped() bool {
	sum := sha256.Sum256([]byte(r.ID))
	return sum[len(sum)-1]%2 == 0 && !slices.Contains(held, r.Source)
}

// decode reads a file of JSON values, one a line.
func decode[T any](tb testing.TB, name string) []T {
	tb.Helper()
	folder := cmp.Or(os.Getenv("LACONIC_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	f, err := os.Open(filepath.Join(folder, "dev", name))
	if os.IsNotExist(err) {
		tb.Skipf("no recorded conversations in %s: set LACONIC_DATA to the folder that has them", folder)
	}
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	unzipped, err := gzip.NewReader(bufio.NewReader(f))
	require.NoError(tb, err, "%s is gzip", name)
	var all []T
	for dec := json.NewDecoder(unzipped); dec.More(); {
		var v T
		require.NoError(tb, dec.Decode(&v), "%s, value %d", name, len(all)+1)
		all = append(all, v)
	}
	return all
}

// moment is a call of the model at which all results but the newest have been
// cleared: the worst case.
type moment struct {
	cleared, kept []*recorded
	lines         [][]string // for each of the lengths; nil: not made yet
}

// momentAt returns the moment of the call that wrote a message.
func (r *recording) momentAt(at int) *moment {
	m, results := &moment{}, 0
	for i := range slices.Backward(r.Messages[:at]) {
		msg := &r.Messages[i]
		if msg.Role == "tool" {
			results++
		}
		if msg.Role == "tool" && results > keptResults {
			m.cleared = append(m.cleared, msg)
		} else {
			m.kept = append(m.kept, msg)
		}
	}
	slices.Reverse(m.cleared)
	slices.Reverse(m.kept)
	return m
}

// linesOf returns the lines of what is cleared.
func (m *moment) linesOf(k int) []string {
	if m.lines != nil {
		return m.lines[k]
	}
	var cleared []digest.Cleared
	for _, msg := range m.cleared {
		cleared = append(cleared, digest.Cleared{Text: msg.Content})
	}
	var kept []digest.Kept
	for _, msg := range m.kept {
		kept = append(kept, digest.Kept{Text: msg.Content, Said: msg.Role == "user" || msg.Role == "assistant"})
		for _, call := range msg.ToolCalls {
			kept = append(kept, digest.Kept{Text: call.Arguments, Said: true})
		}
	}
	m.lines = digest.LinesOfLengths(cleared, kept, lengths[:])
	return m.lines[k]
}

func has(messages []*recorded, fact string) bool {
	return slices.ContainsFunc(messages, func(m *recorded) bool { return m.has(fact) })
}

// sum returns the tokens of messages.
func sum(messages []*recorded) (n int) {
	for _, m := range messages {
		n += m.tokens
	}
	return n
}

// tally counts uses of facts, and those whose fact the model cannot see, for each
// length of the lines.
type tally struct {
	uses int
	lost [4]int
}

var lengths = [4]int{0, 20, 40, 80}

func (t *tally) share(k int) float64 { return 100 - 100*float64(t.lost[k])/float64(max(t.uses, 1)) }

// measured is what a set of conversations shows.
type measured struct {
	groups   map[string]*tally
	recalled int    // uses whose fact is in the view, or in a result that was cleared
	views    int    // the last moment of each conversation
	tokens   [4]int // of their views
	whole    int    // tokens of their histories
}

func (m *measured) count(r *recording, u use, seen [4]bool) {
	part := "held back"
	if r.isDeveloped() {
		part = "developed on"
	}
	names := []string{"all", part, "source " + r.Source, "kind " + u.Kind}
	if u.isHard() {
		names = append(names, "all hard", part+" hard", "source "+r.Source+" hard")
	}
	for _, name := range names {
		g := m.groups[name]
		if g == nil {
			g = &tally{}
			m.groups[name] = g
		}
		g.uses++
		for k := range seen {
			if !seen[k] {
				g.lost[k]++
			}
		}
	}
}

// measure counts the uses of a conversation.
func (m *measured) measure(r *recording, uses []use) {
	byCall := map[int][]use{}
	for _, u := range uses {
		byCall[u.At] = append(byCall[u.At], u)
	}
	var now *moment
	for _, at := range slices.Sorted(maps.Keys(byCall)) {
		now = r.momentAt(at)
		for _, u := range byCall[at] {
			var seen [4]bool
			kept := has(now.kept, u.Fact)
			for k := range seen {
				seen[k] = kept || slices.ContainsFunc(now.linesOf(k), func(line string) bool { return strings.Contains(line, u.Fact) })
			}
			m.count(r, u, seen)
			if kept || has(now.cleared, u.Fact) {
				m.recalled++
			}
		}
	}
	m.views++
	m.whole += sum(now.kept) + sum(now.cleared)
	for k := range lengths {
		m.tokens[k] += sum(now.kept)
		for _, line := range now.linesOf(k) {
			m.tokens[k] += tokens.Estimate{}.Count(strings.TrimSpace("[cleared] " + line))
		}
	}
}

// TestFactsKept measures how many of the facts that recorded agents needed later
// are in the view in the worst case, and compares with the tables of the page.
func TestFactsKept(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("the race detector makes this long, and nothing here runs at the same time")
	}
	m := measureFiles(t, "conversations.jsonl.gz", "facts.jsonl.gz")
	long := measureFiles(t, "long-extra.jsonl.gz", "long-extra-facts.jsonl.gz")
	tables := m.tables(long)
	t.Log("\n" + tables)
	if m.groups["all"].uses != documented {
		t.Skip("these are not the conversations that docs/digest.md tells of")
	}
	require.InDelta(t, 92.1, m.groups["all"].share(0), 0.1, "facts in the view without lines, as measured before")
	require.InDelta(t, 95.3, m.groups["all hard"].share(0), 0.1, "the hard ones")
	require.GreaterOrEqual(t, m.groups["all"].share(2), 95.0, "facts in the view with lines of 40 tokens")
	require.GreaterOrEqual(t, m.groups["all hard"].share(2), 98.8, "the hard ones")

	text, err := os.ReadFile(page)
	require.NoError(t, err)
	const begin, end = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has the line %q", page, begin)
	was, behind, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has the line %q", page, end)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+tables+end+behind), fs.FileMode(0o644)))
		return
	}
	require.Equal(t, tables, was, "the tables of %s: go test ./middleware/internal/digest -run Facts -update writes them", page)
}

func measureFiles(t *testing.T, conversations, facts string) *measured {
	t.Helper()
	uses := map[string][]use{}
	for _, u := range decode[use](t, facts) {
		uses[u.Conversation] = append(uses[u.Conversation], u)
	}
	m := &measured{groups: map[string]*tally{}}
	for _, r := range decode[recording](t, conversations) {
		if len(uses[r.ID]) > 0 {
			m.measure(&r, uses[r.ID])
		}
	}
	return m
}

// tables are those of the page.
func (m *measured) tables(long *measured) string {
	var b strings.Builder
	all, hard := m.groups["all"], m.groups["all hard"]
	b.WriteString("| tokens a line | facts in the view | id, amount, date, email | tokens a view | facts in the view, or recalled |\n|---|---|---|---|---|\n")
	for k, n := range lengths {
		fmt.Fprintf(&b, "| %s | %.1f %% | %.1f %% | %d | %.1f %% |\n", cmp.Or(strings.TrimPrefix(fmt.Sprint(n), "0"), "no lines"),
			all.share(k), hard.share(k), m.tokens[k]/m.views, 100*float64(m.recalled)/float64(all.uses))
	}
	fmt.Fprintf(&b, "| nothing cleared | 100 %% | 100 %% | %d | |\n\n", m.whole/m.views)

	b.WriteString("| of these | uses | no lines | 40 tokens | hard uses | no lines | 40 tokens |\n|---|---|---|---|---|---|---|\n")
	row := func(title string, m *measured, group string) {
		all, hard := m.groups[group], m.groups[group+" hard"]
		fmt.Fprintf(&b, "| %s | %d | %.1f %% | %.1f %% |", title, all.uses, all.share(0), all.share(2))
		if hard == nil {
			b.WriteString(" 0 | | |\n")
			return
		}
		fmt.Fprintf(&b, " %d | %.1f %% | %.1f %% |\n", hard.uses, hard.share(0), hard.share(2))
	}
	row("all", m, "all")
	row("developed on", m, "developed on")
	row("held back", m, "held back")
	for _, group := range slices.Sorted(maps.Keys(m.groups)) {
		if source, ok := strings.CutPrefix(group, "source "); ok && !strings.HasSuffix(source, " hard") {
			title := source
			if slices.Contains(held, source) {
				title += " (held back)"
			}
			row(title, m, group)
		}
	}
	row("eight more, with 100 results or more", long, "all")

	b.WriteString("\n| kind | uses | no lines | 20 tokens | 40 tokens | 80 tokens |\n|---|---|---|---|---|---|\n")
	for _, group := range slices.Sorted(maps.Keys(m.groups)) {
		if kind, ok := strings.CutPrefix(group, "kind "); ok {
			g := m.groups[group]
			fmt.Fprintf(&b, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", kind, g.uses, g.share(0), g.share(1), g.share(2), g.share(3))
		}
	}
	return b.String()
}

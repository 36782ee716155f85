// Package facts_test measures how many of the facts that recorded agents needed
// later remain in the view after clearing.
package facts_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

var update = flag.Bool("update", false, "write the tables of docs/internals/digest.md, which takes minutes")

const (
	page       = "../../docs/internals/digest.md"
	documented = 9281 // uses of facts in the data that the page describes
)

// recording is what a real agent did.
type recording struct {
	ID       string            `json:"id"`
	Source   string            `json:"source"`
	Messages []recordedMessage `json:"messages"`

	history []message.Message
}

// recordedMessage is a message.
type recordedMessage struct {
	recorded.Message

	texts  []string // content and arguments as they are, and the values of the arguments
	tokens int
}

// UnmarshalJSON stores what is needed many times.
func (m *recordedMessage) UnmarshalJSON(data []byte) error {
	type plain recordedMessage
	if err := json.Unmarshal(data, (*plain)(m)); err != nil {
		return err
	}
	m.texts = []string{m.Content}
	m.tokens = tokens.Estimate{}.Count(m.Content)
	for _, call := range m.Calls {
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

func (m *recordedMessage) has(fact string) bool {
	return slices.ContainsFunc(m.texts, func(text string) bool { return strings.Contains(text, fact) })
}

// use is a call of the model that used, word for word, what a tool had returned
// before.
type use struct {
	Conversation string `json:"conversation"`
	Fact         string `json:"fact"`
	Kind         string `json:"kind"`
	At           int    `json:"used_at_message"`

	offset bool // it says where a call begins or ends to read, and nothing else
}

// isHard reports whether the fact cannot be found in another way.
func (u use) isHard() bool { return slices.Contains([]string{"id", "amount", "date", "email"}, u.Kind) }

// isExact reports whether the fact is hard, and not an offset.
func (u use) isExact() bool { return u.isHard() && !u.offset }

// offsets matches where a call that reads a file begins or ends: in the argument of a tool, or in a command of sed, awk,
// head, tail, or of the editor of SWE-agent.
var offsets = regexp.MustCompile(`"(?:offset|view_range|start_index|(?:start|end)_line|line_(?:start|end|number)|line)":\s*[\["]?\d+(?:,\s*\d+)?` +
	`|sed -n\s+\W?\d+(?:,\s*\d+)?\s*p|NR\s*[<>=]+\s*\d+|\b(?:head|tail)\s+(?:-n\s*)?[-+]?\d+|\bgoto \d+|\bopen \S+ \d+`)

// isOffset reports whether a call has a fact as an offset of what it reads, and nowhere else. Most of these are
// found by chance: many texts have numbers of lines.
func (m *recordedMessage) isOffset(fact string) bool {
	found := false
	for _, call := range m.Calls {
		if strings.Contains(offsets.ReplaceAllString(call.Arguments, ""), fact) {
			return false
		}
		found = found || strings.Contains(call.Arguments, fact)
	}
	return found
}

// held are sources that were not looked at when the rules were made.
var held = []string{"tau-bench", "swe-agent-claude-3.5-sonnet", "pi-mono", "livemcpbench"}

// isDeveloped reports whether the rules were made with a conversation in view: one
// half of those whose source is not held back.
func (r *recording) isDeveloped() bool {
	sum := sha256.Sum256([]byte(r.ID))
	return sum[len(sum)-1]%2 == 0 && !slices.Contains(held, r.Source)
}

// isSampled reports whether each run of the tests measures a conversation.
// Measuring all of them takes minutes.
func (r *recording) isSampled() bool { return sha256.Sum256([]byte(r.ID))[0]%16 == 0 }

// decode reads a file of JSON values, one per line.
func decode[T any](tb testing.TB, name string) []T {
	tb.Helper()
	var all []T
	for line := range recorded.Lines(tb, name) {
		var v T
		require.NoError(tb, json.Unmarshal(line, &v), "%s, value %d", name, len(all)+1)
		all = append(all, v)
	}
	return all
}

// moment is what the model sees at one of its calls if all results but the newest
// five are cleared at that call.
type moment struct {
	recording *recording
	sent      []message.Message
	archive   *store.Memory

	cleared []string // placeholders
	tokens  int      // of all texts in the view, by the default counter
	handles int      // of these, tokens of the handles
}

// momentAt returns the moment of the call that wrote a message, with lines of so
// many tokens.
func (r *recording) momentAt(t *testing.T, at, line int) *moment {
	t.Helper()
	return r.view(t, newClearing(line), at)
}

// clearing clears all results but the newest five in each call.
type clearing struct {
	middleware.Middleware

	archive *store.Memory
}

func newClearing(line int) clearing {
	c := clearing{archive: store.NewMemory(1 << 40)}
	edit := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Digest: cmp.Or(line, -1)})
	c.Middleware = middleware.With(middleware.Env{Archive: c.archive}, edit)
	return c
}

// view returns what the model sees at the call that wrote a message.
func (r *recording) view(t *testing.T, c clearing, at int) *moment {
	t.Helper()
	m := &moment{recording: r, archive: c.archive}
	sent, _, err := middleware.Apply(t.Context(), c.Middleware, &middleware.Request{Messages: r.history[:at]})
	require.NoError(t, err)
	require.Len(t, sent.Messages, at, "clearing does not move messages")
	m.sent = sent.Messages
	for i := range at {
		was := &r.Messages[i]
		now := m.placeholder(i)
		if now == "" {
			m.tokens += was.tokens
			continue
		}
		m.cleared = append(m.cleared, now)
		m.tokens += tokens.Estimate{}.Count(now)
		m.handles += tokens.Estimate{}.Count(now) - tokens.Estimate{}.Count(handle.ReplaceAllString(now, ""))
	}
	return m
}

var handle = regexp.MustCompile(`: recall [a-z]+`)

// placeholder returns the placeholder of a result; "" if it is not cleared.
func (m *moment) placeholder(i int) string {
	if was := &m.recording.Messages[i]; was.Role == message.RoleTool {
		if r, ok := m.sent[i].Parts[0].(message.ToolResult); ok && r.Text != was.Content {
			return r.Text
		}
	}
	return ""
}

// shows reports whether a fact is in the view.
func (m *moment) shows(fact string) bool {
	for i := range m.sent {
		if m.placeholder(i) == "" && m.recording.Messages[i].has(fact) {
			return true
		}
	}
	return slices.ContainsFunc(m.cleared, func(text string) bool { return strings.Contains(text, fact) })
}

// recalls returns the newest handle in the view whose content has a fact.
func (m *moment) recalls(t *testing.T, fact string) (h store.Handle, ok bool) {
	t.Helper()
	for _, text := range slices.Backward(m.cleared) {
		named := archived.In(text)
		require.Len(t, named, 1, "handles in %q", text)
		c, err := m.archive.Get(t.Context(), named[0])
		require.NoError(t, err, text)
		if strings.Contains(c.Data, fact) {
			return named[0], true
		}
	}
	return store.Handle{}, false
}

// tally counts uses of facts, and those whose fact the model cannot see, for each
// length of the lines.
type tally struct {
	uses int
	lost [4]int
}

var lengths = [4]int{0, 20, 40, 80}

const oneByOne = 40 // tokens of the lines of results that are cleared one by one

func (t *tally) share(k int) float64 { return 100 - 100*float64(t.lost[k])/float64(max(t.uses, 1)) }

// measured is what a set of conversations shows, for each length of the lines.
type measured struct {
	groups  map[string]*tally
	reached [4]int // uses whose fact is in the view, or under a handle in it
	recalls [4]int // calls of the recall tool, one per content and call of the model
	views   int    // the last moment of each conversation
	tokens  [4]int // of their views
	handles [4]int // of these
	whole   int    // tokens of their histories

	played, playedHard, playedExact, playedTokens int // uses whose fact is in the view if results are cleared one by one; tokens as above

	bare, bareHard, bareExact int // uses whose fact is in the view if all but five results are removed, short ones too
}

func (m *measured) count(r *recording, u use, seen [4]bool) {
	part := "held back"
	if r.isDeveloped() {
		part = "developed on"
	}
	names := []string{"all", part}
	if r.isSampled() {
		names = append(names, "sample")
	}
	if u.isHard() {
		names = append(names, "all hard", part+" hard")
		if r.isSampled() {
			names = append(names, "sample hard")
		}
	}
	if u.isExact() {
		names = append(names, "all exact", part+" exact")
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
func (m *measured) measure(t *testing.T, r *recording, uses []use) {
	t.Helper()
	byCall := map[int][]use{}
	for _, u := range uses {
		byCall[u.At] = append(byCall[u.At], u)
	}
	calls := slices.Sorted(maps.Keys(byCall))
	m.play(t, r, byCall, calls[len(calls)-1])
	for _, at := range calls {
		seen := make([][len(lengths)]bool, len(byCall[at]))
		for k, line := range lengths {
			now := r.momentAt(t, at, line)
			m.reach(t, now, k, byCall[at], seen)
			if at == calls[len(calls)-1] {
				m.tokens[k] += now.tokens
				m.handles[k] += now.handles
			}
		}
		for i, u := range byCall[at] {
			m.count(r, u, seen[i])
			if r.isKept(at, u.Fact) {
				m.bare++
				if u.isHard() {
					m.bareHard++
				}
				if u.isExact() {
					m.bareExact++
				}
			}
		}
	}
	m.views++
	for i := range calls[len(calls)-1] {
		m.whole += r.Messages[i].tokens
	}
}

// play counts the facts that are in the view if each result is cleared when a sixth one arrives.
func (m *measured) play(t *testing.T, r *recording, uses map[int][]use, last int) {
	t.Helper()
	c := newClearing(oneByOne)
	for at := range last + 1 {
		if r.Messages[at].Role != message.RoleAssistant {
			continue
		}
		now := r.view(t, c, at)
		for _, u := range uses[at] {
			if now.shows(u.Fact) {
				m.played++
				if u.isHard() {
					m.playedHard++
				}
				if u.isExact() {
					m.playedExact++
				}
			}
		}
		if at == last {
			m.playedTokens += now.tokens
		}
	}
}

// playedShares returns the shares of all facts, of the hard ones, and of these without offsets that play found.
func (m *measured) playedShares() (all, hard, exact float64) {
	return m.share(m.played, "all"), m.share(m.playedHard, "all hard"), m.share(m.playedExact, "all exact")
}

// share returns n as a part of the uses of a group.
func (m *measured) share(n int, group string) float64 {
	return 100 * float64(n) / float64(m.groups[group].uses)
}

// reach counts which facts of one call the model sees, and what it must recall.
func (m *measured) reach(t *testing.T, now *moment, k int, uses []use, seen [][len(lengths)]bool) {
	t.Helper()
	asked := map[store.Handle]bool{}
	for i, u := range uses {
		if seen[i][k] = now.shows(u.Fact); seen[i][k] {
			m.reached[k]++
		} else if h, ok := now.recalls(t, u.Fact); ok {
			m.reached[k]++
			asked[h] = true
		}
	}
	m.recalls[k] += len(asked)
}

// isKept reports whether a fact is in the view of a call if all results but the
// newest five are removed.
func (r *recording) isKept(at int, fact string) bool {
	const newest = 5
	results := 0
	for i := at - 1; i >= 0; i-- {
		m := &r.Messages[i]
		if m.Role == message.RoleTool {
			results++
		}
		if (m.Role != message.RoleTool || results <= newest) && m.has(fact) {
			return true
		}
	}
	return false
}

// TestFactsKept measures how many of the facts that recorded agents needed later
// are in the view, and compares with the tables of the page: a sample with its
// row. With -update it measures all conversations and writes the tables.
func TestFactsKept(t *testing.T) {
	t.Parallel()
	if race.Enabled && !*update {
		t.Skip("the race detector makes this long, and nothing here runs at the same time")
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	const begin, end = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has the line %q", page, begin)
	was, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has the line %q", page, end)

	m := measureFiles(t)
	if !*update {
		all, _, _ := m.playedShares()
		require.GreaterOrEqual(t, all, 99.0, "facts of the sample in the view if results are cleared one by one")
		require.Contains(t, was, m.row(sample, "sample"), "the tables of %s: go test ./tests/facts -update writes them", page)
		return
	}
	require.InDelta(t, 92.1, m.share(m.bare, "all"), 0.1, "facts in the view without placeholders, as measured before")
	require.InDelta(t, 95.3, m.share(m.bareHard, "all hard"), 0.1, "the hard ones")
	require.GreaterOrEqual(t, m.groups["all"].share(2), 95.2, "facts in the view with lines of 40 tokens")
	require.GreaterOrEqual(t, m.groups["all hard"].share(2), 98.5, "the hard ones")
	require.GreaterOrEqual(t, m.groups["all exact"].share(2), 99.5, "these without offsets of reads")
	all, hard, exact := m.playedShares()
	require.GreaterOrEqual(t, all, 95.05, "facts in the view if results are cleared one by one: the page has 95.1")
	require.GreaterOrEqual(t, hard, 98.2, "the hard ones")
	require.GreaterOrEqual(t, exact, 99.25, "these without offsets of reads")
	require.NoError(t, os.WriteFile(page, []byte(before+begin+m.tables()+end+after), fs.FileMode(0o644)))
}

func measureFiles(t *testing.T) *measured {
	t.Helper()
	uses, sum := map[string][]use{}, 0
	for _, u := range decode[use](t, "facts.jsonl.gz") {
		uses[u.Conversation] = append(uses[u.Conversation], u)
		sum++
	}
	if sum != documented {
		t.Skip("these are not the conversations that docs/internals/digest.md describes")
	}
	m := &measured{groups: map[string]*tally{}}
	for _, r := range decode[recording](t, "conversations.jsonl.gz") {
		if len(uses[r.ID]) == 0 || !*update && !r.isSampled() {
			continue
		}
		for i := range r.Messages {
			r.history = append(r.history, r.Messages[i].Convert())
		}
		for i, u := range uses[r.ID] {
			uses[r.ID][i].offset = r.Messages[u.At].isOffset(u.Fact)
		}
		m.measure(t, &r, uses[r.ID])
	}
	return m
}

// sample is the title of the row that each run of the tests measures.
const sample = "a sample, by a hash of the id"

// tables are those of the page.
func (m *measured) tables() string {
	var b strings.Builder
	all, hard, exact := m.groups["all"], m.groups["all hard"], m.groups["all exact"]
	b.WriteString("| tokens a line | facts in the view | id, amount, date, email | without offsets of reads | in the view, or recalled | recalls needed | tokens a view | of these, handles |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for k, n := range lengths {
		fmt.Fprintf(&b, "| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %d | %d | %d |\n", cmp.Or(strings.TrimPrefix(fmt.Sprint(n), "0"), "no lines"),
			all.share(k), hard.share(k), exact.share(k), 100*float64(m.reached[k])/float64(all.uses), m.recalls[k], m.tokens[k]/m.views, m.handles[k]/m.views)
	}
	playedAll, playedHard, playedExact := m.playedShares()
	fmt.Fprintf(&b, "| %d, one by one | %.1f %% | %.1f %% | %.1f %% | | | %d | |\n", oneByOne, playedAll, playedHard, playedExact, m.playedTokens/m.views)
	fmt.Fprintf(&b, "| nothing cleared | 100 %% | 100 %% | 100 %% | | | %d | |\n", m.whole/m.views)
	fmt.Fprintf(&b, "| all but five removed, short ones too | %.1f %% | %.1f %% | %.1f %% | | | | |\n\n",
		m.share(m.bare, "all"), m.share(m.bareHard, "all hard"), m.share(m.bareExact, "all exact"))

	b.WriteString("| of these | uses | no lines | 40 tokens | hard uses | no lines | 40 tokens |\n|---|---|---|---|---|---|---|\n")
	row := func(title, group string) { b.WriteString(m.row(title, group)) }
	row("all", "all")
	exactly := func(title, group string) {
		g := m.groups[group]
		fmt.Fprintf(&b, "| %s, without offsets of reads | | | | %d | %.1f %% | %.1f %% |\n", title, g.uses, g.share(0), g.share(2))
	}
	exactly("all", "all exact")
	row("developed on", "developed on")
	exactly("developed on", "developed on exact")
	row("held back", "held back")
	exactly("held back", "held back exact")
	row(sample, "sample")
	return b.String()
}

// row returns the row of one group of conversations.
func (m *measured) row(title, group string) string {
	all, hard := m.groups[group], m.groups[group+" hard"]
	row := fmt.Sprintf("| %s | %d | %.1f %% | %.1f %% |", title, all.uses, all.share(0), all.share(2))
	return row + fmt.Sprintf(" %d | %.1f %% | %.1f %% |\n", hard.uses, hard.share(0), hard.share(2))
}

package truth_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
)

var update = flag.Bool("update", false, "write the tables of docs/truth.md")

// isWhole reports whether all cases are measured, for the table of the page, as by .ci/run. Otherwise a test has some of them.
func isWhole() bool { return *update || soak.Enabled() }

// every returns n, for a test that takes every nth of its cases, or 1 if all are measured.
func every(n int) int {
	if isWhole() {
		return 1
	}
	return n
}

// sample returns every twentieth of some cases, but all of them if that is asked for.
func sample[T any](all []T) (some []T) {
	for i := 0; i < len(all); i += every(20) {
		some = append(some, all[i])
	}
	return some
}

var writing sync.Mutex // tests write parts of the page at the same time

const page = "../../docs/truth.md"

// row compares a row of the table of the page, or writes it, if all cases were measured: the result of the cases that rules
// were changed for, and of those that are held out.
func row(tb testing.TB, name, seen, held string) {
	tb.Helper()
	if !isWhole() {
		return
	}
	writing.Lock()
	defer writing.Unlock()
	text, err := os.ReadFile(page)
	require.NoError(tb, err)
	line, lines := fmt.Sprintf("| %s | %s | %s |", name, seen, held), strings.Split(string(text), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| "+name+" | ") })
	require.GreaterOrEqual(tb, at, 0, "%s has a row %q", page, name)
	if *update {
		lines[at] = line
		require.NoError(tb, os.WriteFile(page, []byte(strings.Join(lines, "\n")), fs.FileMode(0o644)))
		return
	}
	require.Equal(tb, lines[at], line, "the table of %s: go test ./tests/truth -update writes it", page)
}

// share is how many of some are kept.
type share struct{ kept, all int }

func (s *share) add(kept bool) {
	s.all++
	if kept {
		s.kept++
	}
}

func (s *share) percent() float64 { return 100 * float64(s.kept) / float64(max(1, s.all)) }

func (s *share) String() string { return fmt.Sprintf("%.1f %%", s.percent()) }

func of(all []observed, kept, selected func(o observed) bool) *share {
	s := &share{}
	for _, o := range all {
		if selected(o) {
			s.add(kept(o))
		}
	}
	return s
}

func inFirst(o observed) bool { return o.kept[0] }
func inLast(o observed) bool  { return o.kept[rounds-1] }

// isLost reports whether a later fold has lost what the first one has kept.
func isLost(o observed) bool { return o.kept[0] && !o.kept[rounds-1] }

// TestOrders measures the orders in agent histories.
func TestOrders(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	all, parts := measureOrders(t)
	var b strings.Builder
	b.WriteString("| writer | view at most | view | first message | elsewhere, round 1 | round 5 | lost after round 1 |\n|---|---|---|---|---|---|---|\n")
	for w := range writers {
		for _, s := range shares {
			if parts[view{w, s}] == 0 {
				continue
			}
			at := func(o observed) bool { return o.writer == w && o.share == s }
			elsewhere := func(o observed) bool { return at(o) && o.position != "first" }
			first := of(all, inLast, func(o observed) bool { return at(o) && o.position == "first" })
			before, after := of(all, inFirst, elsewhere), of(all, inLast, elsewhere)
			fmt.Fprintf(&b, "| %s | %d %% | %.1f %% | %v | %v | %v | %v |\n",
				writers[w].name, s, parts[view{w, s}], first, before, after, of(all, isLost, elsewhere))
			require.Equal(t, first.all, first.kept, "%s: orders in the first message", writers[w].name)
			if w == rules || w == badModel {
				least := map[int]float64{10: 90, 20: 97, 30: 97}[s]
				require.GreaterOrEqual(t, min(before.percent(), after.percent()), least, "%s: orders kept in %d %% of the history", writers[w].name, s)
			}
		}
	}
	elsewhere := func(o observed) bool { return o.writer <= byDefault && o.position != "first" }
	b.WriteString("\n" + groups(all, elsewhere, "kind", func(o observed) string { return o.kind + ", " + languages[o.lang] }))
	b.WriteString("\n" + groups(all, elsewhere, "position", func(o observed) string {
		return positions[o.position] + map[bool]string{true: ", between other sentences", false: ""}[o.framed]
	}))
	b.WriteString("\n" + groups(all, elsewhere, "use", func(o observed) string {
		return map[bool]string{true: "held out", false: "for changes of the rules"}[o.held]
	}))
	t.Log("\n" + b.String())
	for _, v := range []struct {
		name          string
		writer, share int
	}{
		{"orders kept by rules, view of at most 10 %", rules, 10},
		{"orders kept by rules, view of at most 20 %", rules, 20},
		{"orders kept beside a bad model's summary, view of at most 20 %", badModel, 20},
		{"orders kept with the default options", byDefault, 10},
	} {
		at := func(held bool) string {
			return of(all, inLast, func(o observed) bool { return o.writer == v.writer && o.share == v.share && o.held == held }).String()
		}
		row(t, v.name, at(false), at(true))
	}
}

var (
	languages = map[string]string{"en": "English", "zh": "Chinese"}
	positions = map[string]string{
		"early": "early", "middle": "in the middle", "late": "late", "paste": "inside of a long paste", "several": "several in one message",
	}
)

// groups is a table of what rules keep after the first round.
func groups(all []observed, selected func(o observed) bool, title string, group func(o observed) string) string {
	var names []string
	kept := map[string]*[4]share{}
	for _, o := range all {
		if !selected(o) {
			continue
		}
		g := group(o)
		if kept[g] == nil {
			names, kept[g] = append(names, g), &[4]share{}
		}
		if k := o.share/10 - 1; o.writer == rules {
			kept[g][k].add(inFirst(o))
		} else {
			kept[g][3].add(inFirst(o))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | 10 %% | 20 %% | 30 %% | default |\n|---|---|---|---|---|\n", title)
	for _, g := range names {
		k := kept[g]
		fmt.Fprintf(&b, "| %s | %v | %v | %v | %v |\n", g, &k[0], &k[1], &k[2], &k[3])
	}
	return b.String()
}

// TestPairs measures sentences that refer to others or correct them.
func TestPairs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| view at most | references: both | order alone | conflicts: new value |\n|---|---|---|---|\n")
	references, conflicts := measurePairs(t, "references.txt", false), measurePairs(t, "conflicts.txt", true)
	for _, s := range shares {
		var both, alone, newest share
		for _, p := range references {
			for r := range rounds {
				if p.share == s {
					both.add(p.first[r] && p.second[r])
					alone.add(p.second[r] && !p.first[r])
				}
			}
		}
		for _, p := range conflicts {
			for r := range rounds {
				if p.share == s {
					newest.add(p.second[r])
				}
			}
		}
		fmt.Fprintf(&b, "| %d %% | %v | %v | %v |\n", s, &both, &alone, &newest)
		require.Zero(t, alone.kept, "orders that are kept without what they refer to")
		if s > 10 {
			require.Equal(t, newest.all, newest.kept, "new values")
		}
	}
	t.Log("\n" + b.String())
	replaced := map[bool]*share{false: {}, true: {}}
	for _, p := range conflicts {
		for r := range rounds {
			replaced[p.held].add(p.second[r])
		}
	}
	row(t, "values that were changed later: the new one is kept", replaced[false].String(), replaced[true].String())
}

// skipRaced skips a test of code that runs in one goroutine.
func skipRaced(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("measured by the run without the race detector")
	}
}

// TestRecordedUsers measures what recorded users said, with the default options.
func TestRecordedUsers(t *testing.T) {
	t.Parallel()
	if !recorded.Exists(recordings) {
		t.Skipf("there is no %s: what recorded users said is not measured", recordings)
	}
	if race.Enabled || testing.Short() {
		t.Skip("recordings take long: run without -short and the race detector")
	}
	users := measureRecordings(t)
	var b strings.Builder
	found := map[string]string{}
	b.WriteString("| recordings | conversations | marked passages that are folded | kept | kept words, of all that is folded | conversations above 5 % | most in one summary |\n|---|---|---|---|---|---|---|\n")
	for _, name := range []string{"seen", "held out"} {
		var kept share
		n, words, folded, most, above := 0, 0, 0, 0, 0
		for _, u := range users {
			if u.held != (name == "held out") {
				continue
			}
			n++
			kept.kept, kept.all = kept.kept+u.kept, kept.all+u.marks
			if 20*u.words > u.folded {
				above++
			}
			words, folded, most = words+u.words, folded+u.folded, max(most, u.words)
		}
		part := 100 * float64(words) / float64(folded)
		fmt.Fprintf(&b, "| %s | %d | %d | %v | %.1f %% | %d | %d tokens |\n", name, n, kept.all, &kept, part, above, most)
		found[name] = kept.String()
		require.LessOrEqual(t, part, 5.0, "tokens of the user's words, in percent of what is folded")
		require.LessOrEqual(t, most, 3000, "tokens of the user's words")
		require.GreaterOrEqual(t, kept.percent(), 90.0, "passages kept")
	}
	t.Log("\n" + b.String())
	row(t, "passages of recorded users, kept with the default options", found["seen"], found["held out"])
}

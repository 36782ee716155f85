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

// TestOrders measures the orders in agent histories.
func TestOrders(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	all := measureOrders(t)
	for w := range writers {
		for _, s := range shares {
			at := func(o observed) bool { return o.writer == w && o.share == s }
			elsewhere := func(o observed) bool { return at(o) && o.position != "first" }
			first := of(all, inLast, func(o observed) bool { return at(o) && o.position == "first" })
			before, after := of(all, inFirst, elsewhere), of(all, inLast, elsewhere)
			t.Logf("%s, %d %%: %v after the first round, %v after the last", writers[w].name, s, before, after)
			require.Equal(t, first.all, first.kept, "%s: orders in the first message", writers[w].name)
			if w != byDefault {
				least := map[int]float64{10: 90, 20: 97, 30: 97}[s]
				require.GreaterOrEqual(t, min(before.percent(), after.percent()), least, "%s: orders kept in %d %% of the history", writers[w].name, s)
			}
		}
	}
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

// TestPairs measures sentences that refer to others or correct them.
func TestPairs(t *testing.T) {
	t.Parallel()
	references, conflicts := measurePairs(t, "references.txt", false), measurePairs(t, "conflicts.txt", true)
	for _, s := range shares {
		var alone, newest share
		for _, p := range references {
			for r := range rounds {
				if p.share == s {
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
		require.Zero(t, alone.kept, "orders that are kept without what they refer to")
		if s > 10 {
			require.Equal(t, newest.all, newest.kept, "new values")
		}
	}
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
	found := map[bool]string{}
	for _, held := range []bool{false, true} {
		var kept share
		words, folded, most := 0, 0, 0
		for _, u := range users {
			if u.held == held {
				kept.kept, kept.all = kept.kept+u.kept, kept.all+u.marks
				words, folded, most = words+u.words, folded+u.folded, max(most, u.words)
			}
		}
		found[held] = kept.String()
		require.LessOrEqual(t, 100*float64(words)/float64(folded), 5.0, "tokens of the user's words, in percent of what is folded")
		require.LessOrEqual(t, most, 3000, "tokens of the user's words")
		require.GreaterOrEqual(t, kept.percent(), 90.0, "passages kept")
	}
	row(t, "passages of recorded users, kept with the default options", found[false], found[true])
}

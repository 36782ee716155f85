package facts

import (
	_ "embed"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
)

//go:embed testdata/cases.txt
var cases string

// same reports whether the second command takes the place of the first.
func same(first, second string) bool {
	s, a, b := &Set{}, readCommand(first), readCommand(second)
	return s.addCommand(&a, result{}) == s.addCommand(&b, result{})
}

// keys returns the identifiers of a text, each with its key.
func keys(said string) string {
	s := &Set{}
	s.Add([]message.Message{message.User(said)})
	all := strings.NewReplacer(": ", " ", ", ", "; ").Replace(strings.Join(s.identifiers(1000), "; "))
	return all
}

// holds reports whether a line of cases.txt is as it says.
func holds(kind, a, b string) bool {
	a, b = strings.ReplaceAll(a, `\n`, "\n"), strings.ReplaceAll(b, `\n`, "\n")
	switch kind {
	case "same":
		return same(a, b)
	case "other":
		return !same(a, b)
	case "book":
		k := callOf(message.ToolCall{Name: a, Arguments: b}).kind
		return k == plans || k == looks
	case "work":
		return callOf(message.ToolCall{Name: a, Arguments: b}).kind != plans && callOf(message.ToolCall{Name: a, Arguments: b}).kind != looks
	case "key":
		for _, i := range digest.Identifiers(a) {
			if !strings.Contains(b, i.Text) {
				return false
			}
		}
		return keys(a) == b
	}
	how, said := decisionIn(a)
	return how == map[string]state{"refused": refused, "approved": approved}[kind] && said == strings.TrimPrefix(b, "-")
}

// TestCases measures the cases of testdata, which were written before the rules. A third, by hash, is held out.
func TestCases(t *testing.T) {
	t.Parallel()
	right, all := map[string]int{}, map[string]int{}
	for line := range strings.Lines(cases) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' || len(f) < 2 {
			continue
		}
		f = append(f, "")
		hash := fnv.New32()
		hash.Write([]byte(line))
		held := hash.Sum32()%3 == 0
		set := f[0] + map[bool]string{true: ", held out"}[held]
		all[set]++
		if holds(f[0], f[1], f[2]) {
			right[set]++
		} else if !held || testing.Verbose() {
			t.Logf("%s: %s", set, line)
		}
	}
	missed := 0
	for set, n := range all {
		t.Logf("%-20s %d of %d", set, right[set], n)
		missed += n - right[set]
	}
	require.LessOrEqual(t, missed, 3, "of all cases")
}

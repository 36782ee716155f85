package facts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
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
	all := strings.NewReplacer(": ", " ", ", ", "; ").Replace(strings.Join(s.identifiers(), "; "))
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
		return keys(a) == b
	}
	return false
}

// decidedOf returns the decision that is recorded for a call with a result, without the call, or "-".
func decidedOf(tool, arguments, result string) string {
	body, isError := strings.CutPrefix(strings.ReplaceAll(result, `\n`, "\n"), "!")
	s := &Set{}
	s.Add([]message.Message{
		message.Assistant(message.ToolCall{ID: "1", Name: tool, Arguments: arguments}),
		{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "1", Text: body, Error: isError}}},
	})
	for _, e := range s.all(decided) {
		_, how, _ := strings.Cut(english.line(e), " → ")
		return how
	}
	return "-"
}

// ran returns the facts of commands with their outputs.
func ran(all ...[2]string) *Set {
	s := &Set{}
	for _, r := range all {
		arguments, _ := json.Marshal(map[string]string{"command": r[0]}) //nolint:errchkjson // of strings it never fails
		s.Add([]message.Message{
			message.Assistant(message.ToolCall{ID: "1", Name: "bash", Arguments: string(arguments)}),
			message.Result("1", "bash", strings.ReplaceAll(r[1], `\n`, "\n")),
		})
	}
	return s
}

// endedOf returns the outcome that is recorded for a command, or "-".
func endedOf(command, output string) string {
	for _, e := range ran([2]string{command, output}).all(commands) {
		if _, how, ok := strings.Cut(english.line(e), " → "); ok {
			return how
		}
	}
	return "-"
}

// calledAs returns the line of a call, or that of its error after "!", or "-".
func calledAs(tool, arguments, result string) string {
	s := &Set{}
	s.Add([]message.Message{message.Assistant(message.ToolCall{ID: "1", Name: tool, Arguments: arguments}), message.Result("1", tool, strings.ReplaceAll(result, `\n`, "\n"))})
	for _, e := range s.all(errors) {
		return "!" + english.line(e)
	}
	for _, e := range s.all(done) {
		return english.line(e)
	}
	return "-"
}

// failedOf returns the commands that are recorded as failed after some runs, or "-".
func failedOf(runs []string) string {
	var all [][2]string
	for _, r := range runs {
		command, output, _ := strings.Cut(r, "=")
		all = append(all, [2]string{command, output})
	}
	var failures []string
	for _, e := range ran(all...).all(commands) {
		if e.state >= failed && e.state <= denied {
			failures = append(failures, e.key)
		}
	}
	return cmp.Or(strings.Join(failures, "; "), "-")
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
		var isRight bool
		switch f[0] {
		case "decided":
			isRight = decidedOf(f[1], f[2], f[3]) == f[4]
		case "ended":
			isRight = endedOf(f[1], f[2]) == f[3]
		case "call":
			isRight = calledAs(f[1], f[2], f[3]) == f[4]
		case "stale":
			isRight = failedOf(f[1:4]) == f[4]
		default:
			isRight = holds(f[0], f[1], f[2])
		}
		if isRight {
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

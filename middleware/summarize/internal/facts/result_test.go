package facts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// Each line of patterns.txt matches its own example.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for kind, all := range patterns {
		require.Len(t, all, 1, kind)
		require.Regexp(t, all[0].Regexp, all[0].Example)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]command{
		"":                                       {},
		"pytest":                                 {acts: true},
		"cd a && pytest -k 'a|b;c'":              {acts: true},
		"cd a; pytest":                           {acts: true},
		"CI=1 timeout pytest 2>&1":               {acts: true},
		"cat a | grep b; ls":                     {filtered: true},
		"git log | head":                         {filtered: true},
		"pytest | tail":                          {acts: true, hidden: true, filtered: true},
		"pytest |& tee log":                      {acts: true, hidden: true, filtered: true},
		"set -o pipefail; pytest | tail":         {acts: true, filtered: true, pipefail: true},
		"pytest; echo done":                      {acts: true, hidden: true, filtered: true},
		"pytest;":                                {acts: true},
		"make || true":                           {acts: true, hidden: true, filtered: true},
		"make &":                                 {acts: true, hidden: true},
		"make\ngo vet ./...":                     {acts: true, hidden: true},
		"cat <<'E' > a.py\nx | y; z\nE\npytest":  {acts: true},
		"bash -c 'pytest | tail'":                {acts: true, hidden: true, filtered: true},
		"for f in *; do pytest $f; done":         {acts: true, hidden: true, filtered: true},
		`python -c "import a; a.run()" | head`:   {acts: true, hidden: true, filtered: true},
		"echo 'it''s' # pytest | x":              {hidden: false, acts: true},
		"python - <<E | tail\na; b\nE":           {acts: true, hidden: true, filtered: true},
		"cat <<E":                                {filtered: true},
		"'":                                      {},
		"grep -q a b && echo yes || echo 'no; '": {filtered: true},
	} {
		c := readCommand(line)
		c.line, c.bare, c.folder, c.reads, c.prints = "", "", "", false, false
		require.Equal(t, want, c, line)
	}
}

// An outcome is recorded only if it is certain.
func TestResultOf(t *testing.T) {
	t.Parallel()
	run := func(line string) call { return call{kind: runs, command: readCommand(line)} }
	w, r := call{kind: writes, files: []string{"a"}}, call{kind: reads, files: []string{"a"}}
	for _, c := range []struct {
		name   string
		call   call
		output string
		want   state
	}{
		{"no exit code", run("make"), "done", unknown},
		{"exit code 0", run("make"), "done\nexit code 0", passed},
		{"a reader prints a failure", run("cat log"), "exit code 0\n--- FAIL: TestA", passed},
		{"a failure behind exit code 0", run("make"), "exit code 0\n--- FAIL: TestA", failed},
		{"a failure in the middle", run("make"), "exit code 0\n" + strings.Repeat("line\n", 900) + "1 failed, 2 passed\n" + strings.Repeat("line\n", 900), failed},
		{"exit code 0 and another", run("make; echo"), "<returncode>0</returncode>\nexit code: 2", failed},
		{"grep finds nothing", run("make | grep x"), "exit code 1", unknown},
		{"passed, with a logged error", run("pytest"), "exit code 0\nTraceback (most recent call last)\n2 passed in 1s", passed},
		{"not certain, with a logged error", run("pytest | tail"), "exit code 0\nTraceback (most recent call last)\n2 passed in 1s", unknown},
		{"an error in JSON", w, `{"success": false, "message": "no room"}`, failed},
		{"an error in JSON in JSON", w, `[{"text":"{\"isError\": true}"}]`, failed},
		{"a missing text", w, "String to replace not found in file.", failed},
		{"no room, in Chinese", w, "保存失败：磁盘空间不足", failed},
		{"contents of the file", w, "The file has been updated:\n  panic: no\nFAILED (errors=1)", unknown},
		{"a file that was read", r, `{"success": false}`, unknown},
		{"a tool that is not known", call{}, `{"status": "error", "reason": "x"}`, failed},
		{"the same in several lines", call{}, "{\n  \"success\": false,\n  \"reason\": \"x\"\n}", failed},
		{"no error", call{}, `{"error": null, "errors": [], "ok": true}`, unknown},
	} {
		require.Equal(t, c.want, resultOf(message.ToolResult{Text: c.output}, &c.call).state, c.name)
	}
}

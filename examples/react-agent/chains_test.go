package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/internal/testkit/soak"
)

var update = flag.Bool("update", false, "write the calls of each chain into docs/choosing.md, in each of its languages")

// What is read again from the archive fits into the window and is cleared last. So with each chain of docs/choosing.md
// the audit takes at most one and a half times the calls of the default chain, and its report is complete.
func TestCallsOfChains(t *testing.T) {
	if testing.Short() {
		t.Skip("many audits, each from its first call to its last")
	}
	t.Parallel()
	dir := large(t)
	calls := func(chain, window string) int {
		status, stdout, stderr := exec(t, "-json", "-dir", dir, "-chain", chain, "-window", window)
		require.Zero(t, status, "%s, window %s: %s", chain, window, stderr)
		r, _ := decode(t, stdout)
		return r.ModelCalls
	}
	most := calls("default", "12000") * 3 / 2
	known := map[string]string{}
	for _, page := range []string{"../../docs/choosing.md", "../../docs/choosing.zh-CN.md"} {
		data, err := os.ReadFile(page)
		require.NoError(t, err)
		before, rest, ok := strings.Cut(string(data), "<!-- calls -->\n")
		require.True(t, ok, "%s has no table of calls", page)
		table, after, _ := strings.Cut(rest, "\n\n")
		lines := strings.SplitAfter(rest, "\n")
		head, rows := lines[0]+lines[1], ""
		for i, c := range append(chainsOn(string(data)), furtherChains...) {
			if i%soak.Nth(4, 1) > 0 && !*update {
				rows += lines[2+i] // is taken as it is
				continue
			}
			if known[c.file] == "" {
				file := filepath.Join(write(t, map[string]string{"chain.yaml": c.file}), "chain.yaml")
				small, large := calls(file, "8192"), calls(file, "12000")
				require.LessOrEqual(t, large, most, c.file)
				known[c.file] = fmt.Sprintf(" | %d | %d |\n", small, large)
			}
			rows += "| " + c.name + known[c.file]
		}
		if *update {
			page, err := filepath.Abs(page)
			require.NoError(t, err)
			text := before + "<!-- calls -->\n" + head + rows + "\n" + after
			require.NoError(t, os.WriteFile(page, []byte(text), 0o600))
			continue
		}
		require.Equal(t, head+rows, table+"\n", "%s is not up to date; run: go test ./examples/react-agent -run TestCallsOfChains -update", page)
	}
}

// namedChain is a chain file with a name.
type namedChain struct{ name, file string }

// chainsOn returns the chain files on a page, named by the last bold text before them.
func chainsOn(page string) []namedChain {
	var all []namedChain
	blocks := strings.Split(page, "```yaml\n")
	for i, block := range blocks[1:] {
		bold := strings.Split(blocks[i], "**")
		file, _, _ := strings.Cut(block, "```")
		all = append(all, namedChain{bold[len(bold)-2], file})
	}
	return all
}

// furtherChains clear and fold more than those of the page.
var furtherChains = []namedChain{
	{"`contextedit` (0.6, `keep: 4`)", "chain: [{use: contextedit, trigger: {fraction: 0.6}, keep: 4}, {use: fit}]"},
	{
		"`contextedit` (0.6, `keep: 8`), `summarize` (0.7, `keep_rounds: 2`)",
		"chain: [{use: contextedit, trigger: {fraction: 0.6}, keep: 8}, {use: summarize, trigger: {fraction: 0.7}, keep_rounds: 2}, {use: fit}]",
	},
	{
		"`microcompact` (3 rounds), `contextedit` (0.6, `digest: 40`), `summarize`",
		"chain: [{use: microcompact, keep_rounds: 3, limit: {results: 300}, batch: {results: 6, tokens: 2000}}, " +
			"{use: contextedit, trigger: {fraction: 0.6}, keep: 4, digest: 40}, {use: summarize}, {use: fit}]",
	},
	{"`trim`", "chain: [{use: trim}, {use: fit}]"},
	{"`summarize`", "chain: [{use: summarize}, {use: fit}]"},
	{"`fit`", "chain: [{use: fit}]"},
}

// nasty writes the tree of testdata/nasty.txtar, with files that are too long
// to be written down.
func nasty(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/nasty.txtar")
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}

	// Something stands across each boundary between two pages.
	var long strings.Builder
	long.WriteString("package nasty\n\n")
	across := []string{
		"\n// %[1]s is documented,\n// in two lines.\nfunc %[1]s() {}\n",
		"\n// A comment that documents nothing,\n\nfunc %[1]s() {}\n",
		"\n/*\n%[1]s is documented.\n*/\nfunc %[1]s() {}\n",
		"\nvar (\n\t%[1]s int\n\n\t%[1]sToo, %[1]sAsWell int\n)\n",
		"\n// A group.\ntype (\n\t%[1]s struct{}\n\n\t%[1]sToo struct{}\n)\n",
	}
	for i := 0; strings.Count(long.String(), "\n") < 500; i++ {
		text := fmt.Sprintf(across[i%len(across)], fmt.Sprintf("Across%d", i))
		half := strings.Count(text, "\n")/2 + i/len(across)%2
		for strings.Count(long.String(), "\n")%pageSize != pageSize-half {
			long.WriteString("\n")
		}
		long.WriteString(text)
	}
	files["long/long.go"] = long.String()
	files["long/crlf.go"] = strings.ReplaceAll(files["groups.go"], "\n", "\r\n")
	files["long/end.go"] = "package long\n\nfunc WithoutNewline() {}"
	files["long/page.go"] = "package long\n" + strings.Repeat("\n", pageSize-2) + "const LastOfPage = 1\n"
	return write(t, files)
}

// write makes a tree of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

// byAST audits a tree without the agent.
func byAST(t *testing.T, dir string) answer {
	t.Helper()
	tree, err := openTree(dir)
	require.NoError(t, err)
	a, err := tree.audit()
	require.NoError(t, errors.Join(err, tree.close()))
	return a
}

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
)

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

var updateNames = flag.Bool("update-names", false, "write testdata/nasty.names.txt")

// TestUndocumented compares what is found in a tree with declarations of every form with a list that was read by hand.
func TestUndocumented(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, n := range byAST(t, nasty(t)).Undocumented {
		fmt.Fprintln(&got, n.File, n.Name)
	}
	const list = "testdata/nasty.names.txt"
	if *updateNames {
		require.NoError(t, os.WriteFile(list, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(list)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

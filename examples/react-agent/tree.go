package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/agent"
)

const (
	maxFiles = 40 // of a tree that are audited
	pageSize = 60 // lines that read_file gives at a time
)

// tree is the audited source tree. It reads no file outside its directory, also not through a symbolic link. It is
// safe for concurrent use.
type tree struct {
	name  string // of the directory, and the first element of all paths
	root  *os.Root
	files []file // those to audit, sorted by path
	found int    // number of files without the limit
}

// file is a Go file that is not a test.
type file struct {
	path  string
	lines int
}

func openTree(dir string) (*tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	t := &tree{name: filepath.Base(abs), root: root}
	if err := t.survey(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return t, nil
}

func (t *tree) close() error { return t.root.Close() }

// survey finds the files.
func (t *tree) survey() error {
	var names []string
	err := t.walk(func(name string) error {
		if !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no Go files in %s, other than tests", t.name)
	}
	slices.Sort(names)
	t.found = len(names)
	for _, name := range names[:min(maxFiles, len(names))] {
		lines, err := t.lines(name)
		if err != nil {
			return err
		}
		t.files = append(t.files, file{path: name, lines: len(lines)})
	}
	return nil
}

// list is the tool list_files: one file a line, numbered.
func (t *tree) list() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d Go files, with their lines:\n", len(t.files), t.found)
	for i, f := range t.files {
		fmt.Fprintf(&b, "%d %s %d\n", i+1, f.path, f.lines)
	}
	return b.String()
}

// read is the tool read_file: a page from the given line on, counted from 1.
func (t *tree) read(name string, from int) (string, error) {
	lines, err := t.lines(name)
	if err != nil {
		return "", err
	}
	if from < 1 || from > len(lines) {
		return "", fmt.Errorf("%s has lines 1 to %d, and no line %d", name, len(lines), from)
	}
	to := min(from+pageSize-1, len(lines))
	return pageHead(name, from, to, len(lines)) + strings.Join(lines[from-1:to], "\n") + "\n", nil
}

// pageHead is the first line of a page.
func pageHead(name string, from, to, of int) string {
	return fmt.Sprintf("%s, lines %d-%d of %d\n", name, from, to, of)
}

// search is the tool search: the lines of each file that match the expression, including tests.
func (t *tree) search(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var hits []string
	err = t.walk(func(name string) error {
		lines, err := t.lines(name)
		if err != nil {
			return err
		}
		var at []string
		for i, line := range lines {
			if re.MatchString(line) {
				at = append(at, fmt.Sprint(i+1))
			}
		}
		if len(at) > 0 {
			hits = append(hits, name+": "+strings.Join(at, " ")+"\n")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	slices.Sort(hits)
	return fmt.Sprintf("%d files match, in lines:\n%s", len(hits), strings.Join(hits, "")), nil
}

// walk calls fn for each Go file in the directory and below. Like the go command, it skips testdata, vendor, and names
// that begin with a dot or an underscore.
func (t *tree) walk(fn func(name string) error) error {
	return fs.WalkDir(t.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		base := path.Base(p)
		hidden := p != "." && (base[0] == '.' || base[0] == '_')
		switch {
		case err != nil:
			return err
		case d.IsDir() && (hidden || base == "testdata" || base == "vendor"):
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden && path.Ext(p) == ".go":
			return fn(path.Join(t.name, p))
		}
		return nil
	})
}

// lines returns the lines of a file, with invalid UTF-8 replaced.
func (t *tree) lines(name string) ([]string, error) {
	rest, ok := strings.CutPrefix(path.Clean(name), t.name+"/")
	if !ok {
		return nil, fmt.Errorf("no file %q: paths begin with %s/", name, t.name)
	}
	data, err := t.root.ReadFile(filepath.FromSlash(rest))
	if err != nil || len(data) == 0 {
		return nil, err
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), nil
}

// The arguments of the tools. Their schemas are inferred from these types.
type (
	listArgs struct{}

	readArgs struct {
		Path string `json:"path" jsonschema:"as list_files names it"`
		From int    `json:"from" jsonschema:"first line, from 1"`
	}

	searchArgs struct {
		Pattern string `json:"pattern" jsonschema:"regular expression for a line"`
	}
)

// tools returns the tools that read the tree.
func (t *tree) tools() []agent.Tool {
	return []agent.Tool{
		agent.NewTool("list_files", "Lists the Go files, other than tests, with their numbers of lines.",
			func(context.Context, listArgs) (string, error) { return t.list(), nil }),
		agent.NewTool("read_file", "Reads a page of 60 lines of a file.",
			func(_ context.Context, in readArgs) (string, error) { return t.read(in.Path, in.From) }),
		agent.NewTool("search", "Finds lines in all Go files, tests included.",
			func(_ context.Context, in searchArgs) (string, error) { return t.search(in.Pattern) }),
	}
}

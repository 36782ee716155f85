// Package golden replays the conversations in testdata: files of sections in the
// form of txtar, under a comment that says what the file shows. The sections edits
// and out are what is expected; go test -update writes them anew. It is for tests.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write anew what testdata/*.txtar expects")

// Case is one file.
type Case struct{ archive *txtar.Archive }

// Test replays each testdata/*.txtar in a test of its own. Replay returns what
// happened, and what the model saw in the last call.
func Test(t *testing.T, replay func(t *testing.T, c Case) (edits, out string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata/*.txtar: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(a.Comment)) == "" {
				t.Error("say at the top of the file what it shows")
			}
			c := Case{a}
			edits, out := replay(t, c)
			c.expect(t, "edits", edits)
			c.expect(t, "out", out)
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// expect compares a section, or writes it anew.
func (c Case) expect(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		c.set(name, got)
		return
	}
	if want := c.Section(name); got != want {
		t.Errorf("section %s\n--- want\n%s--- got\n%s", name, want, got)
	}
}

// Section returns a section by its name, the first of them; "": there is none.
func (c Case) Section(name string) string {
	if all := c.Sections(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Sections returns all sections of a name.
func (c Case) Sections(name string) []string {
	var all []string
	for _, f := range c.archive.Files {
		if f.Name == name {
			all = append(all, string(f.Data))
		}
	}
	return all
}

func (c Case) set(name, data string) {
	k := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if k < 0 {
		k = len(c.archive.Files)
		c.archive.Files = append(c.archive.Files, txtar.File{Name: name})
	}
	c.archive.Files[k].Data = []byte(data)
}

// Settings calls set for each line “key: value” of a section.
func Settings(t *testing.T, text string, set func(key, value string)) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("want “key: value”, got %q", line)
		}
		set(key, value)
	}
}

// Number returns the whole number that a value is.
func Number(t *testing.T, value string) int {
	t.Helper()
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("want a whole number, got %q", value)
	}
	return n
}

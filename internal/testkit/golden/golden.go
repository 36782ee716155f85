// Package golden replays the conversations in testdata/*.txtar. It is for tests only.
//
// A file has a header, which describes the case, and sections in the form of txtar.
// The sections edits and out are expected results; go test -update rewrites them.
//
//	golden.Test(t, func(t *testing.T, c golden.Case) (edits, out string) {
//		history, ends, err := golden.Parse(c.Section("in"))
//		...
//	})
//
// # Conversations
//
// In a conversation, a message is a paragraph without blank lines:
//
//	system: You fix builds.
//	user [pinned]: Why does the build fail?
//	  media image/png screen.png: «.»×4000
//	assistant: Let me look.
//	  thinking: I need the log.
//	  thinking [seal]: signed by the provider
//	  call c1 read_log {"job":"nightly"}
//	  call c2 read_log {"job":"weekly"}
//	tool:
//	  result c1 read_log: «exit status 2 »×40
//	  error c2 read_log: no such job
//	tool:
//	  result c3 shot: two pieces, this one
//	  image c3 shot: «.»×4000
//	  artifact c3 shot: build.zip
//
// A text is written plain, as «unit»×n if it is a repetition, or quoted as in Go. At a
// line === the model is called with all messages above it. The brackets after a role
// contain pinned, memory and one of the priorities low, normal, high and critical, with
// commas between them.
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

var update = flag.Bool("update", false, "rewrite the expected sections of testdata/*.txtar")

// Case is one file of testdata.
type Case struct{ archive *txtar.Archive }

// Test replays each testdata/*.txtar in a subtest. Replay returns the expected
// contents of the sections edits and out: the events of all calls, and the messages
// that the model received in the last call.
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
				t.Error("want a header that describes the case")
			}
			c := Case{a}
			edits, out := replay(t, c)
			c.expect(t, "edits", edits)
			c.expect(t, "out", out)
			if !*update {
				return
			}
			if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// expect compares a section with the result, or rewrites it.
func (c Case) expect(t *testing.T, name, got string) {
	t.Helper()
	if want := c.Section(name); got != want && !*update {
		t.Errorf("section %s\n--- want\n%s--- got\n%s", name, want, got)
	}
	k := slices.IndexFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if k < 0 {
		k = len(c.archive.Files)
		c.archive.Files = append(c.archive.Files, txtar.File{Name: name})
	}
	c.archive.Files[k].Data = []byte(got)
}

// Section returns the first section of a name, or "" if there is no such section.
func (c Case) Section(name string) string {
	return append(c.Sections(name), "")[0]
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

// Number parses a value that is a whole number.
func Number(t *testing.T, value string) int {
	t.Helper()
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("want a whole number, got %q", value)
	}
	return n
}

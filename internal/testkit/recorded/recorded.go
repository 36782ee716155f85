// Package recorded reads recorded conversations of real agents. They are not part of the repository: they are in
// ../shared/data next to it, or in the folder that LACONIC_DATA names. It is for tests only, which are skipped if there
// are no recordings.
package recorded

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
)

// Conversation is a line of a file with conversations, with the fields that several tests need.
type Conversation struct {
	ID       string    `json:"id"`
	Messages []Message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// Declared returns the definitions of the tools.
func (c *Conversation) Declared() (defs []message.ToolDef) {
	for _, t := range c.Tools {
		f := t.Function
		defs = append(defs, message.ToolDef{Name: f.Name, Description: f.Description, Parameters: string(f.Parameters)})
	}
	return defs
}

// History returns the messages.
func (c *Conversation) History() []message.Message {
	h := make([]message.Message, len(c.Messages))
	for i := range c.Messages {
		h[i] = c.Messages[i].Convert()
	}
	return h
}

// Message is a recorded message.
type Message struct {
	Role    message.Role `json:"role"`
	Content string       `json:"content"`
	Name    string       `json:"name"`
	CallID  string       `json:"tool_call_id"`
	Calls   []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"tool_calls"`
}

// Convert returns the message in the form of package message.
func (m *Message) Convert() message.Message {
	out := message.Message{Role: m.Role}
	switch {
	case m.Role == message.RoleTool:
		out = message.Result(m.CallID, m.Name, m.Content)
	case m.Content != "":
		out.Parts = append(out.Parts, message.Text{Text: m.Content})
	}
	for _, c := range m.Calls {
		out.Parts = append(out.Parts, message.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

// Files returns the sorted names of the files with conversations. It skips the test with -short, or if there is no file.
func Files(tb testing.TB) []string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("recorded conversations take long: run without -short")
	}
	paths, err := filepath.Glob(path("*.jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		if name := filepath.Base(p); !strings.Contains(name, "facts") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		skip(tb)
	}
	return names
}

// Exists reports whether there is a file of this name.
func Exists(name string) bool {
	_, err := os.Stat(path(name))
	return err == nil
}

// Some yields a thirtieth of the [Lines] of a file in a plain go test, a tenth with LACONIC_ALL, and all in a soak.
func Some(tb testing.TB, name string) iter.Seq[[]byte] {
	tb.Helper()
	lines := Lines(tb, name)
	return func(yield func([]byte) bool) {
		n := 0
		for line := range lines {
			if n%soak.Nth(30, 10) == 0 && !yield(line) {
				return
			}
			n++
		}
	}
}

// Lines yields the lines of a file that are not blank. A line is valid until the next one. Lines skips the test if there
// is no such file.
func Lines(tb testing.TB, name string) iter.Seq[[]byte] {
	tb.Helper()
	if !Exists(name) {
		skip(tb)
	}
	return func(yield func([]byte) bool) {
		tb.Helper()
		f, err := os.Open(path(name))
		if err != nil {
			tb.Fatal(err)
		}
		defer func() { _ = f.Close() }() // it was only read
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatalf("%s is no gzip: %v", name, err)
		}
		lines := bufio.NewReaderSize(unzipped, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 && !yield(line) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func skip(tb testing.TB) {
	tb.Helper()
	tb.Skipf("no recorded conversations in %s: set LACONIC_DATA to the folder that has them", path(""))
}

// path returns the path of a file, which need not exist.
func path(name string) string {
	return filepath.Join(cmp.Or(os.Getenv("LACONIC_DATA"), filepath.Join(root(), "..", "shared", "data")), "dev", name)
}

// root returns the root of the module of the test.
func root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, none := os.Stat(filepath.Join(dir, "go.mod")); none == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

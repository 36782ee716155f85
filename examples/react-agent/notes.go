package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// batch is the number of pages that the stand-in reads at a time.
const batch = 4

// notes are the knowledge of the stand-in. Each call gathers them from the messages: the list of files from the result
// of list_files, the rest from the texts of its own earlier answers.
type notes struct {
	files   []file         // as listed; files are numbered from 1
	cleared store.Handle   // of the list of files, if it was cleared
	left    []store.Handle // of messages that were removed
	known   []store.Handle // those of left that it has searched
	found   []finding      // names without a doc comment
	bare    []string       // packages without an Example
	lost    []string       // calls that had no result
	begun   bool           // it has a place
	at      place          // up to which it has read
	open    string         // the open source at that place, see undocumented
}

type finding struct {
	file  int
	names []string
}

// place is a line of a file; line 0 is the beginning.
type place struct {
	file, line int
}

func (p place) before(q place) bool { return p.file < q.file || p.file == q.file && p.line < q.line }

// page is a run of lines of a file.
type page struct {
	file     int
	from, to int
}

// The notes, one a line, and the tool results that the stand-in reads.
var (
	foundNote = regexp.MustCompile(`^(\d+) lacks comments: (.+)$`)
	bareNote  = regexp.MustCompile(`^no Example: (.+)$`)
	lostNote  = regexp.MustCompile(`^no result: (.+)$`)
	placeNote = regexp.MustCompile(`^read to (\d+):(\d+)(?: in (".*"))?$`)
	listHead  = regexp.MustCompile(`^\d+ of \d+ Go files, `)
	hitsHead  = regexp.MustCompile(`^\d+ files match, `)
	hitsOf    = regexp.MustCompile(`^\[\d+ matching in `)
	listLine  = regexp.MustCompile(`^\d+ (.+) (\d+)$`)
)

// gather gathers the notes.
func gather(msgs []message.Message) *notes {
	n := &notes{}
	calls := map[string]message.ToolCall{}
	for _, m := range msgs {
		for c := range m.Calls() {
			calls[c.ID] = c
		}
		for r := range m.Results() {
			n.result(calls[r.CallID], r.Text)
		}
		switch m.Role {
		case message.RoleAssistant:
			for line := range strings.Lines(m.Text()) {
				n.take(strings.TrimSuffix(line, "\n"))
			}
		case message.RoleUser:
			n.leave(m.Text())
		case message.RoleSystem, message.RoleTool:
		}
	}
	return n
}

// result reads the result of a call.
func (n *notes) result(call message.ToolCall, text string) {
	switch handles := store.HandlesIn(text); {
	case listHead.MatchString(text):
		n.list(text)
	case call.Name == store.RecallTool && hitsOf.MatchString(text):
		n.recalled(store.Asked(call), text)
	case call.Name == "list_files" && len(handles) > 0:
		n.cleared = handles[0]
	}
}

// list reads the list of files: a head, and a line for each file.
func (n *notes) list(text string) {
	n.files = nil
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		m := listLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return
		}
		n.files = append(n.files, file{path: m[1], lines: number(m[2])})
	}
}

// take reads one line of an earlier answer.
func (n *notes) take(line string) {
	if m := foundNote.FindStringSubmatch(line); m != nil {
		n.add(number(m[1]), strings.Split(m[2], ", "))
	}
	if m := bareNote.FindStringSubmatch(line); len(m) > 0 && !slices.Contains(n.bare, m[1]) {
		n.bare = append(n.bare, m[1])
	}
	if m := lostNote.FindStringSubmatch(line); len(m) > 0 && !slices.Contains(n.lost, m[1]) {
		n.lost = append(n.lost, m[1])
	}
	if m := placeNote.FindStringSubmatch(line); m != nil {
		at := place{file: number(m[1]), line: number(m[2])}
		if n.begun && at.before(n.at) {
			return // an older note, which was recalled
		}
		n.begun, n.at = true, at
		n.open, _ = strconv.Unquote(m[3])
	}
}

// add adds names of a file without duplicates.
func (n *notes) add(file int, names []string) {
	i := slices.IndexFunc(n.found, func(f finding) bool { return f.file == file })
	if i < 0 {
		i = len(n.found)
		n.found = append(n.found, finding{file: file})
	}
	for _, name := range names {
		if !slices.Contains(n.found[i].names, name) {
			n.found[i].names = append(n.found[i].names, name)
		}
	}
}

// study reads the newest results and returns the notes about them.
func (n *notes) study(results []message.ToolResult) string {
	var fresh notes
	if n.begun {
		fresh = n.read(results)
	} else {
		fresh = n.begin(results)
	}
	var b strings.Builder
	for _, f := range fresh.found {
		fmt.Fprintf(&b, "%d lacks comments: %s\n", f.file, strings.Join(f.names, ", "))
		n.add(f.file, f.names)
	}
	for _, p := range fresh.bare {
		fmt.Fprintf(&b, "no Example: %s\n", p)
	}
	for _, p := range fresh.lost {
		fmt.Fprintf(&b, "no result: %s\n", p)
	}
	n.bare = append(n.bare, fresh.bare...)
	n.lost = append(n.lost, fresh.lost...)
	n.begun, n.at, n.open = true, fresh.at, fresh.open
	fmt.Fprintf(&b, "read to %d:%d", n.at.file, n.at.line)
	if n.open != "" {
		fmt.Fprintf(&b, " in %q", n.open)
	}
	return b.String()
}

// begin reads the list of files and the search for examples.
func (n *notes) begin(results []message.ToolResult) notes {
	fresh := notes{at: place{file: 1}}
	hits, ok := result(results, hitsHead.MatchString)
	if !ok {
		fresh.lost = []string{"search"}
		return fresh
	}
	var with []string
	for line := range strings.Lines(hits) {
		if name, _, ok := strings.Cut(line, ".go: "); ok {
			with = append(with, path.Dir(name))
		}
	}
	for _, f := range n.files {
		if p := path.Dir(f.path); !slices.Contains(with, p) {
			fresh.bare = append(fresh.bare, p)
		}
	}
	slices.Sort(fresh.bare)
	fresh.bare = slices.Compact(fresh.bare)
	return fresh
}

// read reads the requested pages.
func (n *notes) read(results []message.ToolResult) notes {
	fresh := notes{at: n.at, open: n.open}
	for _, p := range n.plan() {
		f := n.files[p.file-1]
		text, ok := result(results, func(text string) bool {
			return strings.HasPrefix(text, pageHead(f.path, p.from, p.to, f.lines))
		})
		if !ok {
			fresh.lost = append(fresh.lost, strings.TrimSpace(pageHead(f.path, p.from, p.to, f.lines)))
		}
		_, source, _ := strings.Cut(text, "\n")
		if p.from == 1 {
			fresh.open = ""
		}
		var names []string
		if names, fresh.open = undocumented(fresh.open, source); len(names) > 0 {
			fresh.add(p.file, names)
		}
		fresh.at = place{file: p.file, line: p.to}
	}
	return fresh
}

func result(results []message.ToolResult, is func(text string) bool) (text string, ok bool) {
	for _, r := range results {
		if !r.Error && is(r.Text) {
			return r.Text, true
		}
	}
	return "", false
}

// plan returns the pages to read next. It is empty if all files are read, or if the list of files was removed.
func (n *notes) plan() []page {
	var pages []page
	for i, f := range n.files {
		from := 1
		switch {
		case i+1 < n.at.file:
			continue
		case i+1 == n.at.file:
			from = n.at.line + 1
		}
		for ; from <= f.lines && len(pages) < batch; from += pageSize {
			pages = append(pages, page{file: i + 1, from: from, to: min(from+pageSize-1, f.lines)})
		}
	}
	return pages
}

// name returns the path of a file.
func (n *notes) name(file int) string {
	if file > len(n.files) {
		return fmt.Sprintf("file %d", file)
	}
	return n.files[file-1].path
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// recallArgs are arguments of agent.Recall.
type recallArgs struct {
	Handle  string `json:"handle"`
	Pattern string `json:"pattern,omitempty"`
}

// isNote matches the lines that the stand-in searches for in removed messages: its notes, the list of files, and the
// handles of older messages.
const isNote = `^\d+ lacks comments: |^no Example: |^no result: |^read to |` +
	`^\d+ of \d+ Go files, |^\d+ .+\.go \d+$|` + whereOlder

// whereOlder matches the text that replaces messages and has their handle.
const whereOlder = `messages .*` + store.RecallTool + ` [a-z]{12}`

var older = regexp.MustCompile(whereOlder)

// hitLine matches a line of a search in the archive.
var hitLine = regexp.MustCompile(`^\d+[:-] (.*)$`)

// again returns what to recall: the list of files if its handle is in view, else the removed messages.
func (n *notes) again(asked []store.Handle) []recallArgs {
	if n.files == nil && !n.cleared.IsZero() && !slices.Contains(asked, n.cleared) {
		return []recallArgs{{Handle: n.cleared.String()}}
	}
	var again []recallArgs
	for _, h := range n.left {
		if !slices.Contains(n.known, h) && !slices.Contains(asked, h) {
			again = append(again, recallArgs{Handle: h.String(), Pattern: isNote})
		}
	}
	return again
}

// ask returns a message with calls of the recall tool.
func ask(text string, last int, again []recallArgs) message.Message {
	parts := []message.Part{message.Text{Text: text}}
	for i, args := range again {
		parts = append(parts, toolCall(last+1+i, store.RecallTool, args))
	}
	return message.Assistant(parts...)
}

// askedFor returns the handles of the recall calls in messages.
func askedFor(msgs []message.Message) []store.Handle {
	var asked []store.Handle
	for _, m := range msgs {
		for c := range m.Calls() {
			if h := store.Asked(c); !h.IsZero() {
				asked = append(asked, h)
			}
		}
	}
	return asked
}

// recalled reads what was found in removed messages.
func (n *notes) recalled(h store.Handle, text string) {
	n.known = append(n.known, h)
	var lines []string
	for line := range strings.Lines(text) {
		if m := hitLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			lines = append(lines, m[1])
		}
	}
	if i := slices.IndexFunc(lines, listHead.MatchString); i >= 0 && n.files == nil {
		n.list(strings.Join(lines[i:], "\n"))
	}
	newer := n.found
	n.found = nil
	for _, line := range lines {
		n.take(line)
	}
	for _, f := range newer {
		n.add(f.file, f.names)
	}
	n.leave(strings.Join(lines, "\n"))
}

// leave adds the handles of removed messages.
func (n *notes) leave(text string) {
	for line := range strings.Lines(text) {
		if older.MatchString(line) {
			n.left = append(n.left, store.HandlesIn(line)...)
		}
	}
}

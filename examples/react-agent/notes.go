package main

import (
	"encoding/json"
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
	files   []file       // as listed; files are numbered from 1
	cleared store.Handle // of the list of files, if it was cleared
	where   string       // handle of the removed messages with the list of files
	left    []recallArgs // how to search messages that were removed
	done    []recallArgs // those of left whose notes it has copied
	hits    []string     // lines that it has found there
	found   []finding    // names without a doc comment
	bare    []string     // packages without an Example
	begun   bool         // it has a place
	all     bool         // it has read all files
	at      place        // up to which it has read
	open    string       // the open source at that place, see undocumented
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
	listNote  = regexp.MustCompile(`^list of files: ([a-z]{12})$`)
	doneNote  = regexp.MustCompile(`^searched ([a-z]{12})(?: from (\d+):(\d+))?$`)
	placeNote = regexp.MustCompile(`^read to (\d+):(\d+)(?: in (".*"))?$`)
	listHead  = regexp.MustCompile(`^\d+ of \d+ Go files, `)
	hitsHead  = regexp.MustCompile(`^\d+ files match, `)
	hitsOf    = regexp.MustCompile(`^\[\d+ matching in .*?(?:; more: the same with from=(\d+)(?: column=(\d+))?)?\]\n`)
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
	case listHead.MatchString(text) && n.list(text):
	case call.Name == store.RecallTool:
		n.recalled(argsOf(call), text)
	case call.Name == "list_files" && len(handles) > 0:
		n.cleared = handles[0]
	}
}

// list reads the list of files: a head, and a line for each file. It returns false if the list is not complete.
func (n *notes) list(text string) bool {
	head, text, _ := strings.Cut(text, "\n")
	want, _, _ := strings.Cut(head, " ")
	var files []file
	for line := range strings.Lines(text) {
		m := listLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			break
		}
		files = append(files, file{path: m[1], lines: number(m[2])})
	}
	if len(files) != number(want) {
		return false
	}
	n.files = files
	return true
}

// take reads one line of an earlier answer.
func (n *notes) take(line string) {
	if m := foundNote.FindStringSubmatch(line); m != nil {
		n.add(number(m[1]), strings.Split(m[2], ", "))
	}
	if m := bareNote.FindStringSubmatch(line); len(m) > 0 && !slices.Contains(n.bare, m[1]) {
		n.bare = append(n.bare, m[1])
	}
	if m := listNote.FindStringSubmatch(line); m != nil {
		n.where = m[1]
	}
	if m := doneNote.FindStringSubmatch(line); m != nil {
		n.done = append(n.done, recallArgs{Handle: m[1], From: number(m[2]), Column: number(m[3]), Pattern: isNote})
	}
	n.all = n.all || line == allRead
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

// study reads the newest results, of the calls in asked, and returns the notes about them.
func (n *notes) study(asked message.Message, results []message.ToolResult) string {
	var fresh notes
	if n.begun {
		fresh = n.read(asked, results)
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
	n.bare = append(n.bare, fresh.bare...)
	n.begun, n.at, n.open = true, fresh.at, fresh.open
	return b.String() + n.place()
}

// place returns the notes of the place up to which it has read, and of that of the list of files.
func (n *notes) place() string {
	text := fmt.Sprintf("read to %d:%d", n.at.file, n.at.line)
	if n.open != "" {
		text += fmt.Sprintf(" in %q", n.open)
	}
	if n.where != "" {
		text += "\nlist of files: " + n.where
	}
	return text
}

// copied returns the notes in the answers to recall calls, to be written down again: these answers may be removed
// before the next ones are there.
func (n *notes) copied(asked message.Message, results []message.ToolResult) string {
	var lines []string
	note := func(line string) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for c := range asked.Calls() {
		i := slices.IndexFunc(results, func(r message.ToolResult) bool { return r.CallID == c.ID })
		if c.Name != store.RecallTool || i < 0 || argsOf(c).Pattern != isNote {
			continue
		}
		for _, line := range hitsIn(results[i].Text) {
			if foundNote.MatchString(line) || bareNote.MatchString(line) || doneNote.MatchString(line) || line == allRead {
				note(line)
			}
		}
		done, part := "searched ", argsOf(c)
		if done += part.Handle; part.From > 0 {
			done += fmt.Sprintf(" from %d:%d", part.From, part.Column)
		}
		note(done)
	}
	return strings.Join(lines, "\n")
}

// begin reads the list of files and the search for examples.
func (n *notes) begin(results []message.ToolResult) notes {
	fresh := notes{at: place{file: 1}}
	hits := result(results, hitsHead.MatchString)
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

// read reads the requested pages. It does not need the list of files, which may be cleared.
func (n *notes) read(asked message.Message, results []message.ToolResult) notes {
	fresh := notes{at: n.at, open: n.open}
	for c := range asked.Calls() {
		var args readArgs
		if json.Unmarshal([]byte(c.Arguments), &args) != nil || args.Path == "" {
			continue
		}
		p := page{file: fresh.at.file, from: args.From, to: args.From + pageSize - 1}
		if i := slices.IndexFunc(n.files, func(f file) bool { return f.path == args.Path }); i >= 0 {
			p.file, p.to = i+1, min(p.to, n.files[i].lines)
		} else if args.From == 1 && fresh.at.line > 0 {
			p.file++
		}
		text := result(results, func(text string) bool {
			return strings.HasPrefix(text, fmt.Sprintf("%s, lines %d-", args.Path, args.From))
		})
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

// result returns the first result of this kind, "" if there is none.
func result(results []message.ToolResult, is func(text string) bool) string {
	for _, r := range results {
		if !r.Error && is(r.Text) {
			return r.Text
		}
	}
	return ""
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
	From    int    `json:"from,omitempty"`
	Column  int    `json:"column,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

func argsOf(call message.ToolCall) recallArgs {
	var args recallArgs
	_ = json.Unmarshal([]byte(call.Arguments), &args) // other arguments were not given by the stand-in
	return args
}

// allRead is the note that all files are read.
const allRead = "all files are read"

// The patterns that the stand-in searches for in removed messages: the list of files, and its notes.
const (
	isList = `^\d+ of \d+ Go files, |^\d+ .+\.go \d+$`
	isNote = `^\d+ lacks comments: |^no Example: |^searched |^` + allRead + `$|^read to `
)

var (
	older   = regexp.MustCompile(`messages .*` + store.RecallTool + ` [a-z]{12}`) // in place of removed messages
	hitLine = regexp.MustCompile(`^\d+[:-] (.*)$`)                                // of a search in the archive
	also    = regexp.MustCompile(`(?m)^\[also matching: .*\]$`)                   // other contents with hits
)

// leave adds the handles of removed messages.
func (n *notes) leave(text string) {
	for line := range strings.Lines(text) {
		if older.MatchString(line) {
			for _, h := range store.HandlesIn(line) {
				n.left = append(n.left, recallArgs{Handle: h.String(), Pattern: isList}, recallArgs{Handle: h.String(), Pattern: isNote})
			}
		}
	}
}

// again returns what to recall: for the list of files, its handle if that is in view, else a search in the removed
// messages; for the notes, a search in those removed messages whose notes it has not copied. What is answered in view
// is not asked again.
func (n *notes) again(answered []recallArgs, pattern string) []recallArgs {
	whole := recallArgs{Handle: n.cleared.String()}
	if pattern == isList && whole.Handle != "" && !slices.Contains(answered, whole) {
		return []recallArgs{whole}
	}
	left := n.left
	if n.where != "" {
		left = append([]recallArgs{{Handle: n.where, Pattern: isList}}, left...)
	}
	var again []recallArgs
	for _, part := range left {
		if part.Pattern == pattern && !slices.Contains(slices.Concat(answered, n.done, again), part) {
			again = append(again, part)
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

// answered returns the arguments of the recall calls in messages whose answers are there, too, and not cleared.
func answered(msgs []message.Message) []recallArgs {
	var all []recallArgs
	asked := map[string]recallArgs{}
	for _, m := range msgs {
		for c := range m.Calls() {
			asked[c.ID] = argsOf(c)
		}
		for r := range m.Results() {
			cleared := !strings.Contains(r.Text, "\n") && len(store.HandlesIn(r.Text)) > 0
			if r.Name == store.RecallTool && !cleared {
				all = append(all, asked[r.CallID])
			}
		}
	}
	return all
}

// recalled reads what was found in removed messages. The answer may name a line from which there is more, and other
// contents.
func (n *notes) recalled(part recallArgs, text string) {
	if more := hitsOf.FindStringSubmatch(text); len(more) > 1 && more[1] != "" {
		n.left = append(n.left, recallArgs{Handle: part.Handle, From: number(more[1]), Column: number(more[2]), Pattern: part.Pattern})
	}
	for _, h := range store.HandlesIn(also.FindString(text)) {
		n.left = append(n.left, recallArgs{Handle: h.String(), Pattern: part.Pattern})
	}
	lines := hitsIn(text)
	if part.Pattern == isList {
		n.hits = append(n.hits, lines...)
		if i := slices.IndexFunc(n.hits, listHead.MatchString); i >= 0 && n.files == nil {
			if n.list(strings.Join(n.hits[i:], "\n")) {
				n.where = part.Handle
			}
		}
		return
	}
	newer := n.found
	n.found = nil
	for _, line := range lines {
		n.take(line)
	}
	for _, f := range newer {
		n.add(f.file, f.names)
	}
}

// hitsIn returns the lines that a search has found, and those around them.
func hitsIn(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if m := hitLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			lines = append(lines, m[1])
		}
	}
	return lines
}

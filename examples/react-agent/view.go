package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// view is what the stand-in finds in the messages of a request.
type view struct {
	results  map[string]string // texts of tool results by the IDs of their calls
	notes    []string          // that it wrote down earlier
	recalled []string          // notes in results of recall
	files    []file            // of the list of files; nil: it is not in view
	removed  []recallArgs      // how to find what was removed
}

// recallArgs are arguments of agent.Recall.
type recallArgs struct {
	Handle  string `json:"handle"`
	From    int    `json:"from,omitempty"`
	Column  int    `json:"column,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// The notes, and the patterns by which they and the list of files are searched for in removed messages.
const (
	lacks     = " lacks comments: "
	noExample = "no Example: "
	isNote    = hits + `([^{"]+\.go lacks comments: |no Example: )`
	isList    = hits + `(\d+ of \d+ Go files, |\d+ .+\.go \d+$)`
	hits      = `^(?:\d+[:-] )*` // the lines of a search in the archive have numbers, also those of an earlier search
)

var (
	noteLine = regexp.MustCompile(isNote)
	listHead = regexp.MustCompile(`^(\d+) of \d+ Go files, `)
	listLine = regexp.MustCompile(`^\d+ (.+) (\d+)$`)
	fold     = regexp.MustCompile(`messages .*` + store.RecallTool + ` [a-z]{12}`) // in the place of removed messages
	hitStart = regexp.MustCompile(hits)
	more     = regexp.MustCompile(`^\[\d+ matching in .*; more: the same with from=(\d+)(?: column=(\d+))?\]\n`)
	also     = regexp.MustCompile(`(?m)^\[also matching: .*\]$`) // other contents with hits
)

// look reads the messages of a request.
func look(msgs []message.Message) view {
	v := view{results: map[string]string{}}
	var found []string
	calls := map[string]message.ToolCall{}
	for _, m := range msgs {
		for c := range m.Calls() {
			calls[c.ID] = c
		}
		for r := range m.Results() {
			v.results[r.CallID] = r.Text
			switch calls[r.CallID].Name {
			case store.RecallTool:
				found = append(found, v.recall(calls[r.CallID], r.Text)...)
			case "list_files":
				v.list(strings.Split(r.Text, "\n"))
				for _, h := range archived.In(r.Text) {
					v.search(recallArgs{Handle: h.String()})
				}
			}
		}
		for line := range strings.Lines(m.Text()) {
			v.line(m.Role, strings.TrimSuffix(line, "\n"))
		}
	}
	v.list(found)
	return v
}

// line reads a line of a text: a note of its own, or what is in the place of removed messages.
func (v *view) line(role message.Role, line string) {
	switch {
	case role == message.RoleAssistant && noteLine.MatchString(line):
		v.notes = append(v.notes, line)
	case role == message.RoleUser && fold.MatchString(line):
		for _, h := range archived.In(line) {
			v.search(recallArgs{Handle: h.String(), Pattern: isNote})
			v.search(recallArgs{Handle: h.String(), Pattern: isList})
		}
	}
}

// search adds a way to what was removed.
func (v *view) search(args recallArgs) {
	if !slices.Contains(v.removed, args) {
		v.removed = append(v.removed, args)
	}
}

// recall reads a result of recall and returns its lines. It may name a line from which there is more, and other contents.
func (v *view) recall(call message.ToolCall, text string) []string {
	var args recallArgs
	_ = json.Unmarshal([]byte(call.Arguments), &args) // other arguments were not given by the stand-in
	if m := more.FindStringSubmatch(text); m != nil {
		v.search(recallArgs{Handle: args.Handle, From: number(m[1]), Column: number(m[2]), Pattern: args.Pattern})
	}
	for _, h := range archived.In(also.FindString(text)) {
		v.search(recallArgs{Handle: h.String(), Pattern: args.Pattern})
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		line = line[len(hitStart.FindString(line)):]
		lines = append(lines, line)
		if noteLine.MatchString(line) && !slices.Contains(v.recalled, line) {
			v.recalled = append(v.recalled, line)
		}
	}
	return lines
}

// list reads the list of files: a head, and a line for each file. A list that is not complete does not count.
func (v *view) list(lines []string) {
	at := slices.IndexFunc(lines, listHead.MatchString)
	if at < 0 || v.files != nil {
		return
	}
	want := number(listHead.FindStringSubmatch(lines[at])[1])
	var files []file
	for _, line := range lines[at+1:] {
		if m := listLine.FindStringSubmatch(line); m != nil && len(files) < want {
			files = append(files, file{path: m[1], lines: number(m[2])})
		}
	}
	if len(files) == want {
		v.files = files
	}
}

// answer returns the report: what is in view, and the notes of this message.
func (v *view) answer(said []string) answer {
	var found []name
	var bare []string
	notes := slices.Concat(v.notes, said)
	for _, note := range notes {
		if file, names, ok := strings.Cut(note, lacks); ok {
			for n := range strings.SplitSeq(names, ", ") {
				if f := (name{File: file, Name: n}); !slices.Contains(found, f) {
					found = append(found, f)
				}
			}
		}
		if p, ok := strings.CutPrefix(note, noExample); ok {
			bare = append(bare, p)
		}
	}
	slices.Sort(bare)
	slices.SortStableFunc(found, func(a, b name) int { return strings.Compare(a.File, b.File) })
	return newAnswer(v.files, found, slices.Compact(bare))
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// recallArgs are the arguments of agent.Recall that the stand-in uses.
type recallArgs struct {
	Handle  string `json:"handle"`
	Pattern string `json:"pattern,omitempty"`
}

// isNote fits the lines that the stand-in looks for in messages that were left
// out: what it wrote, the list of files, and where older messages are.
const isNote = `^\d+ lacks comments: |^no Example: |^no result: |^read to |` +
	`^\d+ of \d+ Go files, |^\d+ .+\.go \d+$|` + whereOlder

// whereOlder fits what stands in place of messages, and names their handle.
const whereOlder = `messages .*` + store.RecallTool + ` [a-z]{12}`

var older = regexp.MustCompile(whereOlder)

// hitLine is a line that a search in the archive shows.
var hitLine = regexp.MustCompile(`^\d+[:-] (.*)$`)

// again returns what to ask for again: the list of files by its handle, if that is
// in view, else whatever was left out.
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

// ask is a message with calls of the recall tool.
func ask(text string, last int, again []recallArgs) message.Message {
	parts := []message.Part{message.Text{Text: text}}
	for i, args := range again {
		parts = append(parts, toolCall(last+1+i, store.RecallTool, args))
	}
	return message.Assistant(parts...)
}

// askedFor returns the handles that messages ask for.
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

// recalled takes in what was found in messages that had been left out.
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

// leave notes the handles of messages that were left out.
func (n *notes) leave(text string) {
	for line := range strings.Lines(text) {
		if older.MatchString(line) {
			n.left = append(n.left, store.HandlesIn(line)...)
		}
	}
}

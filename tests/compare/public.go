package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
)

// public reads the conversations that make compare has fetched. The files are sessions of Claude Code, and runs of
// tau-bench: a list of objects with the messages in traj.
func public(folder string) (talks []*replay.Conversation, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json*"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no conversations: make compare fetches them, or set LACONIC_DATA", folder)
	}
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // G304: a file that was fetched
		if err != nil {
			return nil, err
		}
		var runs []struct {
			Trial    int             `json:"trial"`
			Task     int             `json:"task_id"`
			Messages json.RawMessage `json:"traj"`
		}
		if json.Unmarshal(data, &runs) == nil {
			var lines bytes.Buffer
			for _, r := range runs {
				if r.Trial == 0 {
					fmt.Fprintf(&lines, "{\"id\": \"tau-%d\", \"messages\": %s}\n", r.Task, bytes.ReplaceAll(r.Messages, []byte("\n"), nil))
				}
			}
			data = lines.Bytes()
		}
		some, err := replay.Read(filepath.Base(file), bytes.NewReader(data))
		if err != nil && len(some) == 0 {
			return nil, err
		}
		talks = append(talks, some...)
	}
	for _, t := range talks {
		t.Facts = facts(t.Messages)
	}
	return talks, nil
}

// hard matches what cannot be looked up again: identifiers with digits, amounts, dates, addresses.
var hard = regexp.MustCompile(`[\w.+-]+@[\w-]+\.\w+|\b\d{4}-\d\d-\d\d\b|\b\d+\.\d\d\b|\b[A-Za-z_#-]*\d[\w-]{4,}\b`)

// facts returns the uses of hard facts: what a call has verbatim from an earlier result.
func facts(msgs []message.Message) (uses []replay.Fact) {
	var seen strings.Builder
	for i := range msgs {
		for c := range msgs[i].Calls() {
			known := map[string]bool{}
			for _, text := range hard.FindAllString(c.Arguments, -1) {
				if !known[text] && strings.Contains(seen.String(), text) {
					uses = append(uses, replay.Fact{Text: text, Hard: true, At: i})
				}
				known[text] = true
			}
		}
		for r := range msgs[i].Results() {
			seen.WriteString(r.Text + "\n")
		}
	}
	return uses
}

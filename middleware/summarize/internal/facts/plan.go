package facts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

var taskID = regexp.MustCompile(`#\d+`)

// addPlan adds a list of what is to be done in place of that before it, or one task, or changes the status of a task.
func (s *Set) addPlan(c message.ToolCall, result string) {
	var got []entry
	at := func(has func(entry) bool) *entry {
		if n := len(got); n == 0 || has(got[n-1]) {
			got = append(got, entry{})
		}
		return &got[len(got)-1]
	}
	for f := range fields(c.Arguments) {
		switch key := bareKey(f.key); {
		case is("title key", key):
			at(func(e entry) bool { return e.text != "" }).text = f.text(readOfName)
		case key == "status":
			at(func(e entry) bool { return e.detail != "" }).detail = bareKey(f.raw)
		case key == "taskid":
			at(func(e entry) bool { return e.key != "" }).key = "#" + f.raw
		}
	}
	tasks := slices.Contains(words(c.Name), "task")
	if !tasks && got != nil {
		s.lists[planned] = nil
	}
	for _, e := range got {
		before := s.lists[planned][e.key]
		switch {
		case before != nil:
			before.detail = cmp.Or(e.detail, before.detail)
		case e.text != "":
			if e.key = taskID.FindString(result); !tasks {
				e.key = e.text
			}
			s.put(planned, e)
		}
	}
}

// planLines returns the list as one line, with the number of what is done.
func (s *Set) planLines(w *wording) []string {
	done, left := 0, []string(nil)
	for _, e := range s.all(planned) {
		switch {
		case e.detail == "deleted":
		case is("done", e.detail):
			done++
		case is("active", e.detail):
			left = append(left, cmp.Or(e.text, e.key)+w.active)
		default:
			left = append(left, cmp.Or(e.text, e.key))
		}
	}
	if done > 0 {
		left = append(left, fmt.Sprintf(w.finished, done))
	}
	if left == nil {
		return nil
	}
	return []string{text.Line(strings.Join(left, "; "), longestSaid)}
}

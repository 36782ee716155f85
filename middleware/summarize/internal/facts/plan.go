package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// addPlan adds a list of what is to be done in place of that before it, or one task, or changes the status of a task.
func (s *Set) addPlan(c message.ToolCall, result string) {
	var items []map[string]string
	for _, f := range fields(c.Arguments) {
		if part := lists["item"].Of(bareKey(f.key)); part != "" {
			if n := len(items); n == 0 || items[n-1][part] != "" {
				items = append(items, map[string]string{})
			}
			items[len(items)-1][part] = f.text(readOfName)
		}
	}
	tasks := slices.Contains(words(c.Name), "task")
	if !tasks && items != nil {
		s.lists[planned] = nil
	}
	for _, item := range items {
		e := entry{key: item["title"], text: item["title"], detail: bareKey(item["status"])}
		if tasks {
			e.key = cmp.Or(item["number"], strings.TrimPrefix(patterns["number"][0].FindString(result), "#"))
		}
		if before := s.lists[planned][e.key]; before != nil {
			before.detail = cmp.Or(e.detail, before.detail)
		} else if e.text != "" {
			s.put(planned, e)
		}
	}
}

// planLine returns the list as one line, with the number of what is done, or "".
func (s *Set) planLine(w *wording) string {
	done, left := 0, []string(nil)
	for _, e := range s.all(planned) {
		switch lists["status"].Of(e.detail) {
		case "done":
			done++
		case "active":
			left = append(left, e.text+w.active)
		case "":
			left = append(left, e.text)
		}
	}
	if done > 0 {
		left = append(left, fmt.Sprintf(w.finished, done))
	}
	return text.Line(strings.Join(left, "; "), longestSaid)
}

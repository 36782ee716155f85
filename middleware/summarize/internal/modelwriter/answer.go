package modelwriter

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Concept is a subject of which the facts are wanted.
type Concept struct {
	Keyword     string // one line, unique
	Description string // one line, or ""
	Many        bool   // there may be several facts; otherwise the newest counts
}

// list is a list of texts in the JSON of an answer.
type list struct {
	key, title string
	single     bool // of several texts the last one counts
}

// lists returns those that are asked for.
func (s *session) lists() (all []list) {
	for _, c := range s.Concepts {
		title := "## KNOWN FACTS ABOUT " + c.Keyword
		if c.Description != "" {
			title += " (" + c.Description + ")"
		}
		all = append(all, list{key: c.Keyword, title: title, single: !c.Many})
	}
	if all != nil {
		return all
	}
	english := []list{
		{key: "topics", title: "## Topics"},
		{key: "entities", title: "## Entities"},
		{key: "decisions", title: "## Decisions"},
		{key: "actions", title: "## Actions"},
	}
	chinese := []list{
		{key: "topics", title: "## 主题"},
		{key: "entities", title: "## 实体"},
		{key: "decisions", title: "## 决定"},
		{key: "actions", title: "## 行动"},
	}
	return text.Pick(s.Language, english, chinese)
}

// parse turns {"facts": {keyword: [text, …], …}}, or the JSON of a structured summary,
// into a section for each list that is not empty.
func (s *session) parse(answer string) (string, *RejectedError) {
	answer = withoutFence(answer)
	if len(s.Concepts) > 0 {
		var outer map[string]json.RawMessage
		if err := json.Unmarshal([]byte(answer), &outer); err != nil || len(outer) != 1 {
			return "", reject(Malformed, "it is no JSON object with facts alone (%v)", err)
		}
		answer = string(outer["facts"])
	}
	sections, r := readLists(answer, s.lists())
	switch {
	case r != nil:
		return "", r
	case sections == nil && len(s.Concepts) > 0:
		return "", reject(Nothing, "about no concept")
	case sections == nil:
		return "", reject(Empty, "all lists are empty")
	}
	return strings.Join(sections, "\n\n"), nil
}

// readLists reads a JSON object that has exactly the given lists. White space in a text
// becomes single spaces, since each is one line.
func readLists(answer string, lists []list) (sections []string, r *RejectedError) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		return nil, reject(Malformed, "it is no JSON object: %v", err)
	}
	for key := range all {
		if !slices.ContainsFunc(lists, func(l list) bool { return l.key == key }) {
			return nil, reject(Malformed, "it has a key that is not asked for")
		}
	}
	for _, l := range lists {
		items, r := l.read(all[l.key])
		if r != nil {
			return nil, r
		}
		if len(items) > 0 {
			sections = append(sections, l.title+"\n- "+strings.Join(items, "\n- "))
		}
	}
	return sections, nil
}

// read returns the texts of the list. Models write a text for a list of one, and null for an empty one.
func (l list) read(raw json.RawMessage) (items []string, r *RejectedError) {
	if raw == nil {
		return nil, reject(Malformed, "%q is missing", l.key)
	}
	if raw[0] == '"' {
		raw = slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, reject(Malformed, "%q is no list of texts (%v)", l.key, err)
	}
	for i, item := range items { // null is an empty text
		if !visible(item) || strings.ContainsRune(item, 0) {
			return nil, reject(Malformed, "%q has no text at %d", l.key, i)
		}
		items[i] = oneSpace(item)
	}
	if n := len(items); n > 1 && l.single {
		items = items[n-1:]
	}
	return items, nil
}

// withoutFence removes a fence around the whole text.
func withoutFence(answer string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(answer), "```")
	if !ok {
		return answer
	}
	inner, ok = strings.CutSuffix(inner, "```")
	if _, rest, lines := strings.Cut(inner, "\n"); ok && lines {
		return strings.TrimSpace(rest)
	}
	return answer
}

// imitates rejects an answer with a line that only the program writes.
func (t limits) imitates(answer string) *RejectedError {
	folded := fold(answer)
	for _, m := range t.markers {
		if containsMarker(answer, folded, m) {
			return reject(Copied, "it contains %q", m)
		}
	}
	for line := range strings.Lines(answer) {
		if text.Counts(strings.TrimSpace(line)) != [4]int{} {
			return reject(Copied, "it contains the last line of a summary")
		}
	}
	return nil
}

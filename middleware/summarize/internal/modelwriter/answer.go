package modelwriter

import (
	"encoding/json"
	"slices"
	"strings"
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
		all = append(all, list{c.Keyword, title, !c.Many})
	}
	if len(s.Concepts) == 0 {
		for line := range strings.SplitSeq(wordingOf(s.Language)["structured sections"], "\n") {
			key, title, _ := strings.Cut(line, " | ")
			all = append(all, list{key: key, title: "## " + title})
		}
	}
	return all
}

// parse turns {"facts": {keyword: [text, …], …}}, or the JSON of a structured summary,
// into a section for each list that is not empty.
func (s *session) parse(answer string) (string, *RejectedError) {
	all := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(withoutFence(answer)), &all)
	if facts := all["facts"]; err == nil && len(s.Concepts) > 0 {
		if len(all) != 1 || facts == nil {
			return "", reject(Malformed, "it is no JSON object with facts alone")
		}
		all = nil
		err = json.Unmarshal(facts, &all)
	}
	if err != nil {
		return "", reject(Malformed, "it is no JSON object: %v", err)
	}
	var sections []string
	lists := s.lists()
	for _, l := range lists {
		items, r := l.read(all[l.key])
		if r != nil {
			return "", r
		}
		if len(items) > 0 {
			sections = append(sections, l.title+"\n- "+strings.Join(items, "\n- "))
		}
	}
	switch {
	case len(all) > len(lists): // it has all of them
		return "", reject(Malformed, "it has a key that is not asked for")
	case sections == nil && len(s.Concepts) > 0:
		return "", reject(Nothing, "about no concept")
	case sections == nil:
		return "", reject(Empty, "all lists are empty")
	}
	return strings.Join(sections, "\n\n"), nil
}

// read returns the texts of the list, each as one line. Models write a text for a list of one, and null for an empty one.
func (l list) read(raw json.RawMessage) (items []string, r *RejectedError) {
	if strings.HasPrefix(string(raw), `"`) {
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

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

package scribe

// structuredKeys are the lists of a structured summary, in the order in which
// they are shown.
var structuredKeys = []string{"topics", "entities", "decisions", "actions"}

var structuredTitles = [...]map[string]string{
	English: {"topics": "Topics", "entities": "Entities", "decisions": "Decisions", "actions": "Actions"},
	Chinese: {"topics": "主题", "entities": "实体", "decisions": "决定", "actions": "行动"},
}

// structured turns the JSON of an answer into text under headings.
func (s *session) structured(text string) (string, *RejectedError) {
	r := newListReader(text)
	l, rej := r.lists("answer", structuredKeys)
	if rej == nil {
		rej = r.end()
	}
	if rej != nil {
		return "", rej
	}
	out := l.write(structuredKeys, func(key string) string { return "## " + structuredTitles[s.Language][key] })
	if out == "" {
		return "", reject(Empty, "all lists are empty")
	}
	return out, nil
}

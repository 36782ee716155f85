package ledger

import "strings"

// phrases are wordings, by their first byte.
type phrases [256][]string

func list(wordings ...string) *phrases {
	var p phrases
	for _, w := range wordings {
		p[w[0]] = append(p[w[0]], w)
	}
	return &p
}

// begin reports whether a text begins with one of them.
func (p *phrases) begin(text string) bool {
	return p.at(text) != ""
}

// at returns the first that a text begins with; "": none.
func (p *phrases) at(text string) string {
	if text == "" {
		return ""
	}
	for _, w := range p[text[0]] {
		if strings.HasPrefix(text, w) {
			return w
		}
	}
	return ""
}

// in returns where one of them stands in a text, at the beginning of a word; -1:
// nowhere.
func (p *phrases) in(text string) int {
	before := byte(' ')
	for i := range len(text) {
		b := text[i]
		inside := 'a' <= before && before <= 'z' && 'a' <= b && b <= 'z'
		if !inside && p.at(text[i:]) != "" {
			return i
		}
		before = b
	}
	return -1
}

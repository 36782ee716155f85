package overflow

// Wording is one of the texts that are recognised.
type Wording struct{ By, Text, Source string }

// Wordings returns all texts that are recognised.
func Wordings() []Wording {
	all := make([]Wording, len(texts))
	for i, w := range texts {
		all[i] = Wording{By: w.by, Text: w.text, Source: w.source}
	}
	return all
}

// WordingOf returns the index of the text that matches an error, or -1.
func WordingOf(err error) int {
	i, _ := match(Text(err), nil)
	return i
}

package middleware

// Wording is one of the wordings of an excess.
type Wording struct{ By, Says, Source string }

// Wordings returns all wordings of an excess.
func Wordings() []Wording {
	all := make([]Wording, len(wordings))
	for i, w := range wordings {
		all[i] = Wording{By: w.by, Says: w.says, Source: w.source}
	}
	return all
}

// WordingOf returns the wording that decides what an error tells, or -1.
func WordingOf(err error) int {
	all := table()
	found, _ := all.find(saidBy(err))
	for i := range all {
		if &all[i] == found {
			return i
		}
	}
	return -1
}

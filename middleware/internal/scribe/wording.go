package scribe

// wording is what the models are told, in one language. Verbs of Sprintf are
// filled in the order that the comments name.
type wording struct {
	scribe   string   // to a reader of a record, as a system message
	task     string   // what a summary is
	sections []string // its headings
	under    []string // what belongs under each
	headings string   // custom sections: their names, in lines
	earlier  string   // where the record, or the conversation, has an earlier summary
	head     string   // of the entry that holds the earlier summary
	focus    string   // before the question of the user, which stands in a fence
	record   string   // before the record: its fence, twice
	suffix   string   // in the live conversation
	note     string   // for a piece of a record: its number, of how many
	noteHead string   // of the entry that holds such notes: number
	form     string   // JSON is wanted
	facts    string   // facts are wanted, for the concepts in the lines that follow
	factOne  string   // one fact at most
	factMany string   // any number
	factForm string
	length   string // words at most
	words    int    // words, or characters, for 100 tokens
	language string
	strict   string // before the reason, on a second attempt
	because  map[Reason]string
}

func (l Language) words() *wording {
	if l == Chinese {
		return &chinese
	}
	return &english
}

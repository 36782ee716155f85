package digest

// Identifier is a fact that nobody can guess, and no tool lists again when asked
// for something near: an id, an amount, an e-mail address, a link, a hash, a phone
// number.
type Identifier struct {
	Text  string // as it stands in the text
	Label string // its key, if Text says little without it; "": it says enough, or has none
}

// Identifiers returns those of a text, each once, in its order. Of a long text
// the parts are read that [Lines] reads.
func Identifiers(text string) []Identifier {
	var found []Identifier
	seen := map[string]bool{}
	scan(text, func(f fact) {
		if seen[f.text] || !f.identifies() {
			return
		}
		seen[f.text] = true
		i := Identifier{Text: f.text}
		if f.labelled() {
			i.Label = f.label
		}
		found = append(found, i)
	})
	return found
}

// identifies reports whether a fact is an identifier by its looks or, if it is all
// of a value, by its key.
func (f *fact) identifies() bool {
	switch f.kind {
	case amount, email, link, id, hash, phone:
		return true
	case number, code, word:
		return f.whole && f.role == idRole
	default:
		return false
	}
}

// Fault returns the message of an error in a line, with the word that says that
// it is one, up to the end of the line.
func Fault(line string) (msg string, ok bool) {
	if k := faultAt(line); k >= 0 {
		return line[k:], true
	}
	return "", false
}

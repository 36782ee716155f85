package tokens

// Fitted reports whether the rates of a family were fitted to its tokenizer itself.
func Fitted(family string) bool {
	for _, row := range families {
		if row.name == family {
			return row.rates == &o200k || row.rates == &cl100k
		}
	}
	return false
}

// Milli returns the cost of a text in thousandths of a token, in blocks and byte by byte.
func Milli(text string) (blocks, bytes int) {
	return o200k.milli(text, 0), o200k.milli(text, len(text))
}

// Families returns the names of all families.
func Families() []string {
	names := make([]string, len(families))
	for i, row := range families {
		names[i] = row.name
	}
	return names
}

// Tokens returns the cost of an image of this size.
func (r Images) Tokens(width, height int) int { return r.cost(width, height) }

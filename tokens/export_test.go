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

package quotes

// IsRule reports whether a sentence forbids, or demands from now on.
func IsRule(sentence string) bool {
	r, _ := judge(sentence)
	return r == rule && !isCode(sentence)
}

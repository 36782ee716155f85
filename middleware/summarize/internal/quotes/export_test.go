package quotes

// IsRule reports whether a sentence forbids, or demands from now on.
func IsRule(sentence string) bool {
	return judge(sentence) == rule && !isCode(sentence)
}

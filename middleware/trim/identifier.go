package trim

// What may be in an identifier, as bits.
const (
	lower uint8 = 1 << iota
	upper
	digit
	joint // - . : #, which stand in sentences too
	bond  // _ / @, which do not
)

// classes says of each byte what it is in an identifier; 0: it parts words.
var classes = func() (c [256]uint8) {
	for b := 'a'; b <= 'z'; b++ {
		c[b] = lower
		c[b-'a'+'A'] = upper
	}
	for b := '0'; b <= '9'; b++ {
		c[b] = digit
	}
	for _, b := range "-.:#" {
		c[b] = joint
	}
	for _, b := range "_/@" {
		c[b] = bond
	}
	return c
}()

// How long an identifier is, in bytes, and how much of a text is read.
const (
	shortestIdentifier = 4
	shortestPlain      = 5 // of digits or capitals alone
	longestIdentifier  = 128
	longestHead        = 24 << 10
	longestTail        = 8 << 10
)

// identifiers calls found with each identifier in a text, in its order.
func identifiers(text string, found func(word string)) {
	eachWord(text, func(word string, key bool) bool {
		if !key && isIdentifier(word) {
			found(word)
		}
		return true
	})
}

// eachWord calls yield with the words of a text that may be identifiers, in its
// order, and says whether they are keys of JSON: with all that are identifiers, and
// some more. Of a very long text it leaves out the middle. It stops, and reports
// false, when yield does.
func eachWord(text string, yield func(word string, key bool) bool) bool {
	if len(text) > longestHead+longestTail {
		if !eachWord(text[:longestHead], yield) {
			return false
		}
		text = text[len(text)-longestTail:]
	}
	for i := 0; i < len(text); i++ {
		kinds := classes[text[i]]
		if kinds == 0 {
			continue
		}
		first := i
		for i++; i < len(text); i++ {
			c := classes[text[i]]
			if c == 0 {
				break
			}
			kinds |= c
		}
		if kinds == lower || i-first < shortestIdentifier {
			continue // most words
		}
		if !yield(trimmed(text[first:i]), i+1 < len(text) && text[i] == '"' && text[i+1] == ':') {
			return false
		}
	}
	return true
}

// trimmed returns a word without what may stand around it in a sentence.
func trimmed(word string) string {
	for word != "" && classes[word[0]] == joint {
		word = word[1:]
	}
	for word != "" && classes[word[len(word)-1]] == joint {
		word = word[:len(word)-1]
	}
	return word
}

// isIdentifier reports whether a word looks like no ordinary one.
func isIdentifier(word string) bool {
	if len(word) < shortestIdentifier || len(word) > longestIdentifier {
		return false
	}
	var kinds uint8
	digits, dot, hump := 0, false, false
	for i := range len(word) {
		c := classes[word[i]]
		digits += int(c & digit / digit)
		dot = dot || word[i] == '.'
		hump = hump || c == upper && i > 0 && classes[word[i-1]] == lower
		kinds |= c
	}
	letters := kinds&(lower|upper) != 0
	switch {
	case kinds&digit != 0 && letters, kinds&bond != 0 && kinds != bond, hump:
		return true
	case letters:
		return dot || kinds == upper && len(word) >= shortestPlain
	}
	return digits >= shortestPlain
}

// hashOf is FNV-1a, the same in each process.
func hashOf(word string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * prime
	}
	return h
}

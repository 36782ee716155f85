package digest

import "strings"

// shapeOf says what a word looks like; none: like a word of a sentence.
func shapeOf(s string) kind {
	if s == "" {
		return none
	}
	t := traitsOf(s)
	switch {
	case strings.Contains(s, "://"):
		return link
	case t.at > 0 && isEmail(s, t):
		return email
	case t.letters() == 0:
		return numeric(s, t)
	case t.other > 0 && strings.Contains(s, `:\`):
		return path
	case isTimestamp(s, t):
		return date
	case t.slash > 0:
		return slashed(s, t)
	case t.colon > 0:
		return coloned(s)
	case isVersion(s, t):
		return version
	case isHash(s, t):
		return hash
	case isFile(s, t):
		return file
	}
	return plainShape(s, t)
}

// plainShape says what a word without slashes and colons looks like.
func plainShape(s string, t traits) kind {
	switch {
	case t.digit > 0 && isMeasure(s, t):
		return number
	case t.dot > 0:
		return dotted(s)
	case t.digit > 0 && (t.lower == 0 && t.letter == 0 || t.under+t.dash > 0 || t.digit > 2 || s[0] == '#'):
		return id
	case t.digit > 0, t.humps > 0, t.under > 0 && t.letters() > 1, s[0] == '@':
		return symbol
	case t.dash > 1 && isSlug(s):
		return slug
	case t.upper > 1 && t.upper == t.letters():
		return code
	}
	return none
}

// numeric says what a word without letters looks like.
func numeric(s string, t traits) kind {
	switch {
	case t.digit == 0:
		return none
	case s[0] == '#':
		return id
	case s[0] == '$':
		return amount
	case s[0] == '+' && t.digit >= 7:
		return phone
	case isDate(s, t):
		return date
	case t.slash > 0:
		return none
	case t.dot == 3:
		return host
	case t.colon > 0:
		return clock
	case t.dot == 2:
		return version
	case t.dash > 0 && s[0] != '-' && t.digit >= 9:
		return phone
	case t.dash > 0 && s[0] != '-' && t.digit >= 7:
		return id
	}
	return number
}

// isDate tells 2024-05-15, 5/15/2024 and 15.05.2024.
func isDate(s string, t traits) bool {
	marks := t.dash + t.slash + t.dot
	if marks != 2 || t.digit < 5 || t.digit > 8 || t.colon+t.other > 0 || s[0] < '0' || s[0] > '9' {
		return false
	}
	first := strings.IndexAny(s, "-/.")
	last := strings.LastIndexAny(s, "-/.")
	return s[first] == s[last] && last-first > 1 && last-first <= 3 && (first == 4 || len(s)-last == 5 || t.dot == 0 && t.digit == 6)
}

// isTimestamp tells 2024-05-15T12:18:24Z.
func isTimestamp(s string, t traits) bool {
	const day = len("2024-05-15")
	return t.dash >= 2 && t.letters() <= 2 && len(s) > day+2 && (s[day] == 'T' || s[day] == 't') && isDate(s[:day], traitsOf(s[:day]))
}

func isEmail(s string, t traits) bool {
	local, domain, _ := strings.Cut(s, "@")
	return t.at == 1 && t.slash+t.colon == 0 && local != "" && strings.IndexByte(domain, '.') > 0
}

// slashed tells paths from words of a sentence such as and/or.
func slashed(s string, t traits) kind {
	inner := strings.Count(strings.Trim(s, "/"), "/")
	switch {
	case t.slash == len(s), t.letters()+t.digit == 0:
		return none
	case inner > 0 && s[0] != '.' && strings.IndexByte(s[:strings.IndexByte(s, '/')], '.') > 0:
		return link // example.com/a/b
	case inner > 1, t.under > 0, t.dot > 0 && !strings.HasPrefix(s, "./"), t.digit > 0 && inner > 0:
		return path
	case inner > 0 && (strings.IndexByte("/.~", s[0]) >= 0 || strings.HasSuffix(s, "/")):
		return path
	case inner == 0 && strings.HasSuffix(s, "/"):
		return path
	}
	return slug
}

// coloned tells std::sort and localhost:8080.
func coloned(s string) kind {
	_, behind, _ := strings.Cut(s, ":")
	switch {
	case strings.Contains(s, "::"):
		return symbol
	case isHash(behind, traitsOf(behind)): // sha256:…
		return hash
	}
	return host
}

// isVersion tells v2, v1.26.8 and 1.2.3-rc1.
func isVersion(s string, t traits) bool {
	switch {
	case t.under > 0 || t.digit == 0:
		return false
	case s[0] == 'v' || s[0] == 'V':
		return t.letters() == 1
	}
	return t.dot >= 2 && s[0] >= '0' && s[0] <= '9'
}

// isHash tells the hexadecimal numbers that identify something.
func isHash(s string, t traits) bool {
	const short, uuid = 7, 36
	if t.beyondHex || t.digit == 0 || t.lower > 0 && t.upper > 0 {
		return false
	}
	return len(s) == uuid && t.dash == 4 || len(s) >= short && t.digit+t.letters() == len(s)
}

// isFile tells a name with a short ending. It takes obj.field for one, which does
// no harm: both say where something is.
func isFile(s string, t traits) bool {
	k := strings.LastIndexByte(s, '.')
	if k <= 1 || len(s)-k > 6 || len(s)-k < 2 {
		return false
	}
	ending := traitsOf(s[k+1:])
	return ending.lower > 0 && ending.upper+ending.letter+ending.under+ending.dash == 0 && (t.dot == 1 || t.under+t.dash > 0)
}

// isSlug tells ready-to-ship from -rw-r--r-- and from what is left of s-expression.
func isSlug(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if len(part) < 2 {
			return false
		}
	}
	return true
}

// dotted tells os.Getenv from e.g.
func dotted(s string) kind {
	for part := range strings.SplitSeq(s, ".") {
		if len(part) > 1 {
			return symbol
		}
	}
	return none
}

// isMeasure tells 12kB, 3rd, 1.5GB, 0x1F and 9c0.
func isMeasure(s string, t traits) bool {
	const short = 7 // of a hash
	if t.under+t.dash+t.other > 0 {
		return false
	}
	if len(s) < short && (strings.HasPrefix(s, "0x") || !t.beyondHex && t.upper+t.dot == 0) {
		return true
	}
	k := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	return k > 0 && len(s)-k <= 3 && traitsOf(s[k:]).digit == 0
}

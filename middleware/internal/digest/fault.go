package digest

import (
	"regexp"
	"strings"
	"unicode"
)

// faultWords begin the message of an error, alone or as the end of a name such as
// KeyError. wideFaults are those in scripts without spaces between words.
var (
	wideFaults = []string{"错误", "失败", "异常", "エラー"}
	faultWords = append(strings.Fields("error exception fatal panic failed failure erreur échec fehler ошибка 오류"), wideFaults...)
)

// isFaultWord reports whether a token is a fault word, or a constant or type that
// ends with one, or a qualified name of these.
func isFaultWord(w string) bool {
	name := w[strings.LastIndexByte(w, '.')+1:]
	for _, f := range faultWords {
		if n := len(name) - len(f); n >= 0 && strings.EqualFold(name[n:], f) {
			return n == 0 || is(name, 0, upper) && is(name, n, upper)
		}
	}
	return false
}

// ideographicFault returns the length of the fault word that begins a text without
// spaces between words.
func ideographicFault(text string) int {
	for _, f := range wideFaults {
		if strings.HasPrefix(text, f) {
			return len(f)
		}
	}
	return 0
}

var (
	// %s, %02d, %1$s, %(name)s, {}, {name}, {0!r}, {err:?}, ${name}.
	format = regexp.MustCompile(`%(?:\d\$|\(\w+\)|[-.0]\d*)?[a-zA-Z+#]|\{[\w.]*(?:![rsa])?(?::[?<>^=+#.0][\w?<>^=+#.]*)?\}|\$\{`)
	noText = setOf("true false null none nil undefined")
)

// isFormat reports whether a text is a format string.
func isFormat(s string) bool { return strings.ContainsAny(s, "%{") && format.MatchString(s) }

// isMessage reports whether a text can be an error message, rather than a value or
// a part of a program.
func isMessage(s string) bool {
	inText := func(r rune) bool { return r == ' ' || unicode.IsLetter(r) }
	return strings.IndexByte("=,;|&<>)", s[0]) < 0 && strings.IndexByte(",:;{([=|+\\", s[len(s)-1]) < 0 &&
		strings.ContainsFunc(s, inText) && !isFormat(s) && !noText[strings.ToLower(strings.TrimRight(s, "."))]
}

// faultEnd returns the end of the error message that begins with the token from i
// to end, or 0 if the token does not begin one. A message is in quotes or continues
// to the end of the line. Format strings, and values of keys such as isError, are
// not messages.
func faultEnd(line string, i, end int) int {
	const indent, longest = 16, 200 // bytes before the first word of a line, and of a message
	rest := line[end:min(len(line), end+longest)]
	marked := !strings.HasPrefix(rest, "::") && (is(rest, 0, colon) || strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "："))
	begins := strings.HasPrefix(rest, " ") && (is(line, i, upper) && is(line, end-1, upper) ||
		i < indent && strings.Trim(line[:i], " \t[(*>") == "")
	if !marked && !begins || !isFaultWord(line[i:end]) {
		return 0
	}
	if is(line, i-1, quote) {
		if i > 1 && line[i-2] == '(' { // an argument in a program
			return 0
		}
		rest, _, _ = strings.Cut(rest, line[i-1:i])
	}
	if k := strings.IndexFunc(rest, unicode.IsControl); k >= 0 {
		rest = rest[:k]
	}
	rest = strings.TrimRight(rest, " ")
	if m := strings.TrimLeft(rest, " :：]"); m != "" && !isMessage(m) {
		return 0
	}
	return end + len(rest)
}

// takeFault takes the error message that begins with the token from i to end, if
// it begins one. A long one is cut at a space.
func (s *scanner) takeFault(i, end int) {
	const longest = 80
	if i < s.fault { // a part of a message
		return
	}
	to := s.body + faultEnd(s.text[s.body:s.end], i-s.body, end-s.body)
	if to <= end+len(":") { // no fault, or a word without a message
		return
	}
	s.fault = to
	if to-i > longest {
		to = max(i, i+strings.LastIndexByte(s.text[i:i+longest], ' '))
	}
	s.addAs(s.text[i:to], fault, false, false)
}

// Fault returns the error message in a line, with the word that marks it as one.
func Fault(line string) (msg string, ok bool) {
	for i := 0; i < len(line); {
		from, end, next := tokenAt(line, i)
		if n := ideographicFault(line[i:]); n > 0 {
			from, end, next = i, i+n, i+n
		}
		if from < end {
			if to := faultEnd(line, from, end); to > 0 {
				return line[from:to], true
			}
		}
		i = next
	}
	return "", false
}

package lex

import "strings"

// NameAt returns the name at i: a word, a number, a path or a link. It is a run of letters and digits with signs between them.
// It is empty if there are only signs. next is where reading continues. The text need not be folded.
func NameAt(text string, i int) (from, end, next int) {
	signs := false
	for end = i; end < len(text); {
		if b := text[end]; b >= 'a' && b <= 'z' {
			end++
			continue
		}
		c, size := ClassAt(text, end)
		if c == Sign {
			if text[end] == ':' && end > i && strings.HasPrefix(text[end:], "://") {
				end = linkEnd(text, end+len("://"))
				return i, end, end
			}
			size = joins(text, i, end)
			if size > 0 {
				signs = true
			}
		} else if !c.InWord() {
			break
		}
		if size == 0 {
			break
		}
		end += size
	}
	next = max(end, i+1)
	if !signs {
		return i, end, next
	}
	w := strings.TrimRight(text[i:end], ".-:@+#$~")
	end = i + len(w)
	w = strings.TrimLeft(w, ":-+")
	if !strings.Contains(w, "/") { // ./a and ~/b
		w = strings.TrimLeft(w, ".:-+~")
	}
	from = end - len(w)
	if w != "" && isDigit(w[0]) && from > i && strings.IndexByte("+-", text[from-1]) >= 0 { // -5
		from--
	}
	return from, end, next
}

// joins returns how many bytes at i belong to the name that begins at from, if a sign is at i; 0 if it ends there.
func joins(text string, from, i int) (size int) {
	after := text[i+1:]
	digit := digitsAt(text, i+1)
	ok := false
	switch b := text[i]; b {
	case '.', '-', '_', '@', '/':
		ok = true
	case '$', '#':
		ok = i == from
	case '+', '~':
		ok = i == from || digit > 0
	case '%':
		ok = i > from && isDigit(text[i-1])
	case ':': // localhost:8080, std::sort, C:\dir
		ok = digit > 0 || strings.HasPrefix(after, ":") || i > from && text[i-1] == ':' || i == from+1 && strings.HasPrefix(after, `\`)
	case '\\':
		ok = i > from+1 && text[from+1] == ':'
	case ',': // 1,299
		const group = 3
		digits := strings.TrimLeft(text[max(from, i-group-1):i], "$+-,")
		isBefore := digits != "" && digitsAt(digits, 0) == len(digits)
		if isBefore && digit == group && !InName(after, group) && !strings.HasPrefix(after[group:], `"`) {
			return 1 + group
		}
	}
	if ok {
		return 1
	}
	return 0
}

// linkEnd returns the end of the link whose host begins at i.
func linkEnd(text string, i int) int {
	end := i
	for end < len(text) && (InName(text, end) || strings.IndexByte("./-:@+#$~%&=?,;!()*", text[end]) >= 0) {
		end++
	}
	return i + len(strings.TrimRight(text[i:end], ".,;:!?)*_"))
}

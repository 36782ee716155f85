package digest

import "strings"

// wordAt reads the word that begins at i, or later if what stands at i cannot
// begin one, and returns where it stands. A word is a run of letters and digits
// with marks between them that make it one name, number, path or link. next is
// where reading goes on.
func (s *scanner) wordAt(i, to int) (p span, next int) {
	from, end := s.wordStart(i, to)
	for end < to {
		c, size := classAt(s.text, end)
		switch {
		case c.isWord():
			end += size
		case c == joint && strings.HasPrefix(s.text[end:to], "://") && end > from:
			end = s.linkEnd(end+len("://"), to)
			return span{from, end}, end
		case c == joint && s.joins(from, end, to):
			end++
		case s.text[end] == ',' && s.groups(from, end, to):
			end += len(",000")
		case s.text[end] == '\\' && s.isDrivePath(from, end, to):
			end++
		default:
			return span{from, end}, max(end, i+1)
		}
	}
	return span{from, end}, max(end, i+1)
}

// wordStart returns where the first letter or digit stands among or behind the
// marks at i, and where the word begins: some marks belong to it.
func (s *scanner) wordStart(i, to int) (from, letter int) {
	letter = i
	for letter < to && s.text[letter] < 0x80 && narrow[s.text[letter]] == joint {
		letter++
	}
	if letter == i || letter == to {
		return letter, letter
	}
	c, _ := classAt(s.text, letter)
	alone := letter-1 == i && (i == 0 || !s.wordBefore(i))
	from = letter
	switch b := s.text[from-1]; {
	case !c.isWord():
	case b == '_':
		for from > i && s.text[from-1] == '_' {
			from--
		}
	case b == '/':
		for from--; from > i && (s.text[from-1] == '.' || s.text[from-1] == '~'); {
			from--
		}
	case b == '#', b == '@', b == '$', b == '+' && c == digit, b == '-' && c == digit && alone, b == '.' && c != digit && alone:
		from--
	}
	return from, letter
}

// wordBefore reports whether a word or a closing bracket ends at i.
func (s *scanner) wordBefore(i int) bool {
	b := s.text[i-1]
	return b >= 0x80 || narrow[b].isWord() || b == ')' || b == ']' || b == '_'
}

// joins reports whether the mark at i belongs to the word that begins at from.
func (s *scanner) joins(from, i, to int) bool {
	next, b := mark, byte(0)
	if i+1 < to {
		next, _ = classAt(s.text, i+1)
		b = s.text[i+1]
	}
	switch s.text[i] {
	case '_':
		return true
	case '-', '@':
		return next.isWord() || b == '_'
	case '.':
		return next.isWord() || b == '_' || b == '.' && i+2 < to && isNameByte(s.text[i+2])
	case '/':
		return next.isWord() || b != 0 && strings.IndexByte("._-@~$", b) >= 0 || i+1 == to || next == space || next == newline ||
			strings.IndexByte(s.text[from:i], '/') >= 0
	case ':':
		return next == digit || s.text[i-1] == ':' && next.isWord() ||
			b == ':' && i+2 < to && isNameByte(s.text[i+2]) ||
			b == '\\' && i == from+1 && s.isDrivePath(from, i+1, to)
	case '+', '~':
		return next == digit && i > from
	case '%':
		return !next.isWord() && narrow[s.text[i-1]&0x7F] == digit
	case '$':
		return next.isWord()
	}
	return false
}

// groups reports whether the comma at i separates thousands.
func (s *scanner) groups(from, i, to int) bool {
	digits := s.text[from:i]
	if k := strings.LastIndexByte(digits, ','); k >= 0 {
		digits = digits[k+1:]
	} else {
		digits = strings.TrimLeft(digits, "$+-")
	}
	if digits == "" || len(digits) > 3 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	behind := i + len(",000")
	if behind > to || strings.Trim(s.text[i+1:behind], "0123456789") != "" {
		return false
	}
	return behind == to || !isNameByte(s.text[behind]) && s.text[behind] != '"'
}

// isDrivePath reports whether the backslash at i goes on with C:\dir or C:\\dir.
func (s *scanner) isDrivePath(from, i, to int) bool {
	if i-from < 2 || s.text[from+1] != ':' || narrow[s.text[from]&0x7F] < lower || i+1 == to {
		return false
	}
	next, _ := classAt(s.text, i+1)
	return next.isWord() || strings.IndexByte(`\._-`, s.text[i+1]) >= 0 && i+2 < to
}

// linkEnd returns where a link ends whose path begins at i.
func (s *scanner) linkEnd(i, to int) int {
	end := i
	for end < to {
		c, size := classAt(s.text, end)
		if c != joint && (!c.isWord() || c == letter) && (c != mark || size > 1 || strings.IndexByte(`<>{}|\^[]`, s.text[end]) >= 0) {
			break
		}
		end += size
	}
	for end > i && strings.IndexByte(".,;:!?)*_", s.text[end-1]) >= 0 {
		end--
	}
	return end
}

// isNameByte reports whether a byte can be in a name of a program.
func isNameByte(b byte) bool { return b == '_' || narrow[b&0x7F].isWord() && b < 0x80 }

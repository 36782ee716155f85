package digest

import "strings"

// lineKind is what a line is about.
type lineKind uint8

const (
	plain   lineKind = iota
	fails            // tells of an error
	defines          // names something for the first time: func f() {
)

// declaring are the words that declarations begin with, in many programming
// languages.
var declaring = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("abstract async class const create def define enum export extension final fn fun func function " +
		"impl interface let module namespace object package private proc protected protocol public record static struct sub trait type " +
		"typedef union val var") {
		m[w] = true
	}
	return m
}()

// declares tells whether a line names something for the first time.
func declares(line string) lineKind {
	first, rest, _ := strings.Cut(strings.TrimLeft(line, " \t+-*>|"), " ")
	if rest != "" && declaring[first] {
		return defines
	}
	return plain
}

// faults are words of error messages, by their first bytes. They count where
// messages have them: before a colon, or at the beginning of a line.
var faults = func() (m [256][]string) {
	for _, w := range []string{
		"error", "exception", "fatal", "panic", "failed", "failure", "erreur", "échec", "fehler", "ошибка", "错误", "失败", "异常", "エラー", "오류",
	} {
		m[w[0]] = append(m[w[0]], w)
		if first := strings.ToUpper(w)[0]; first != w[0] {
			m[first] = append(m[first], w)
		}
	}
	return m
}()

// faultAt returns where the message of an error begins in a line, with the word
// that says so; -1: there is none.
func faultAt(line string) int {
	begin := len(line) - len(strings.TrimLeft(line, " \t[(*>"))
	for i := begin; i < len(line); i++ {
		for _, w := range faults[line[i]] {
			if len(line)-i >= len(w) && strings.EqualFold(line[i:i+len(w)], w) && isMessage(line, i, i+len(w), begin) {
				for i > begin && (isNameByte(line[i-1]) || line[i-1] == '.') {
					i--
				}
				return i
			}
		}
	}
	return -1
}

// isMessage reports whether a word stands where the message of an error has it.
func isMessage(line string, from, to, begin int) bool {
	if from > 0 && narrow[line[from]&0x7F] == lower && line[from] < 0x80 && isNameByte(line[from-1]) {
		return false // terror
	}
	rest := line[to:]
	switch {
	case line[from:to] == strings.ToUpper(line[from:to]) && line[from] < 0x80:
		return (rest == "" || !isNameByte(rest[0])) && (from == 0 || !isNameByte(line[from-1]))
	case strings.HasPrefix(rest, ":"):
		return !strings.HasPrefix(rest, "::")
	case strings.HasPrefix(rest, "]"), strings.HasPrefix(rest, "："):
		return true
	}
	return from == begin && (rest == "" || rest[0] == ' ')
}

// fault takes the message of an error that begins at p.from, cut at a space.
func (s *scanner) fault(p span) {
	const longest = 80
	end := p.from
	for end < p.to && end-p.from < longest {
		c, size := classAt(s.text, end)
		if c == newline || c == space && s.text[end] != ' ' || s.text[end] == '\\' && s.escaped {
			break
		}
		end += size
	}
	if end < p.to && s.text[end] != '\\' {
		if k := strings.LastIndexByte(s.text[p.from:end], ' '); k > 0 {
			end = p.from + k
		}
	}
	for end > p.from && s.text[end-1] == ' ' {
		end--
	}
	s.add(span{p.from, end}, fault)
}

// lineNumber takes the number in front of a line of a file or of a search result
// (12→, 12:, a/b.go:12:, a/b.go-12-) and returns what is behind it.
func (s *scanner) lineNumber(p span) span {
	i := p.from
	for i < p.to && strings.IndexByte(" \t>", s.text[i]) >= 0 {
		i++
	}
	number, file := span{i, i}, span{i, i}
	if k := s.fileBeforeNumber(i, p.to); k > 0 {
		file.to, number.from = k, k+1
	}
	number.to = s.digitsEnd(number.from, p.to)
	next := s.behindNumber(number, !file.empty(), p.to)
	if next == 0 {
		return p
	}
	p.from = next
	s.line = declares(s.text[p.from:p.to])
	if !file.empty() {
		s.add(file, shapeOf(s.text[file.from:file.to]))
	}
	s.addLineNumber(number, file)
	return p
}

func (s *scanner) digitsEnd(i, to int) int {
	for i < to && s.text[i] >= '0' && s.text[i] <= '9' {
		i++
	}
	return i
}

// behindNumber returns where the line begins behind its number; 0: it is not the
// number of a line.
func (s *scanner) behindNumber(number span, file bool, to int) int {
	const longest = 7
	n, rest := number.to-number.from, s.text[number.to:to]
	if n == 0 || n > longest || rest == "" {
		return 0
	}
	clock := len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9'
	blank := len(rest) > 1 && rest[1] <= ' '
	switch b := rest[0]; {
	case strings.HasPrefix(rest, "→"):
		return number.to + len("→")
	case b == '|', b == '\t', b == ':' && (file || !clock), b == '-' && (file || blank):
		return number.to + 1
	}
	return 0
}

// fileBeforeNumber returns where the name of a file ends that begins at i and is
// followed by the number of a line; 0: there is none.
func (s *scanner) fileBeforeNumber(i, to int) int {
	to = min(to, i+longestFact)
	named := false
	for k := i; k+2 < to; k++ {
		switch b := s.text[k]; {
		case b == '.' || b == '/':
			named = true
		case b <= ' ' || b == '"' || b == '(' || b == ',':
			return 0
		case named && (b == ':' || b == '-'):
			if end := s.digitsEnd(k+1, to); end > k+1 && end < to && s.text[end] == b {
				return k
			}
		}
	}
	return 0
}

// lineKey returns the key of a line such as "Total price: 54.04".
func (s *scanner) lineKey(p span) span {
	const (
		longest = 40 // bytes
		most    = 4  // words
	)
	for p.from < p.to && strings.IndexByte(" \t-*#>", s.text[p.from]) >= 0 {
		p.from++
	}
	words := 1
	for k := p.from; k < min(p.to, p.from+longest) && words <= most; {
		c, size := classAt(s.text, k)
		switch {
		case s.isColon(k, p.to):
			if t := traitsOf(s.text[p.from:k]); t.letters() == 0 {
				return span{}
			}
			for end := k; end > p.from; end-- {
				if b := s.text[end-1]; b != '*' && b != ' ' {
					return span{p.from, end}
				}
			}
			return span{}
		case s.text[k] == ' ':
			words++
		case !c.isWord() && c != ideograph && strings.IndexByte("_-*./", s.text[k]) < 0:
			return span{}
		}
		k += size
	}
	return span{}
}

// isColon reports whether the colon of a key stands at i.
func (s *scanner) isColon(i, to int) bool {
	if s.text[i] == ':' {
		return i+1 == to || strings.IndexByte(" \t*\"'", s.text[i+1]) >= 0
	}
	return strings.HasPrefix(s.text[i:to], "：")
}

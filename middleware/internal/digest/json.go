package digest

import "strings"

// reader reads JSON that may be cut off anywhere, be written as Python writes it,
// or be in a string of other JSON. It takes the values, and the words in them;
// keys say what they are.
type reader struct {
	*scanner

	slashes int    // in front of a quote: 0 in JSON, 1 in JSON in a string of JSON, 3 in a string of that
	open    []span // the keys that count in the lists and objects that are open
	cut     bool   // the beginning of the JSON is missing
}

// json reads the JSON that a stretch begins with and returns where it ends; where
// it begins, if it is none.
func (s *scanner) json(p span) (next int) {
	const near = 64
	i := p.from
	for i < p.to && strings.IndexByte(" \t,", s.text[i]) >= 0 {
		i++
	}
	if i == p.to || s.text[i] != '{' && s.text[i] != '[' {
		return p.from
	}
	slashes, ok := s.opens(i, min(p.to, i+near))
	if !ok {
		return p.from
	}
	r := reader{scanner: s, slashes: slashes}
	return r.run(span{i, p.to})
}

// opens reports whether a string, or a number of a list, stands behind the
// brackets at i, and how many backslashes are in front of it.
func (s *scanner) opens(i, to int) (slashes int, ok bool) {
	list := s.text[i] == '['
	for ; i < to; i++ {
		switch b := s.text[i]; {
		case b == '[', b == '{', b <= ' ':
		case b == '\\' && i+1 < to && strings.IndexByte("nrt", s.text[i+1]) >= 0:
			i++
			slashes = 0
		case b == '\\':
			slashes++
		case b == '"', b == '\'':
			return slashes, true
		default:
			return 0, list && slashes == 0 && b >= '0' && b <= '9'
		}
	}
	return 0, false
}

// resume reads JSON whose beginning is missing and returns where it ends. It
// begins at a new line, or where a comma is followed by a string.
func (s *scanner) resume(p span) (next int) {
	for i := p.from; i < p.to; i++ {
		b := s.text[i]
		if b == '\n' || b == ',' && strings.HasPrefix(strings.TrimPrefix(s.text[i+1:p.to], " "), `"`) {
			r := reader{scanner: s, cut: true}
			return r.run(span{i, p.to})
		}
	}
	return p.from
}

// run reads until all that was opened is closed, or something follows that is no
// JSON.
func (r *reader) run(p span) (next int) {
	key, escaped := r.key, r.escaped
	r.escaped = true
	i, more := p.from, true
	for i < p.to && more {
		switch b := r.text[i]; {
		case b == ',', b == ':', b <= ' ':
			i++
		case b == '"', b == '\'', b == '\\':
			i = r.string(i, p.to)
		case b == '{', b == '[', b == '}', b == ']':
			more = r.bracket(b)
			i++
		default:
			i, more = r.bare(i, p.to)
		}
	}
	r.setKey(key)
	r.escaped = escaped
	return i
}

// bracket opens or closes a list or an object. It reports false if that was the
// last.
func (r *reader) bracket(b byte) (more bool) {
	if b == '{' || b == '[' {
		r.row++
		r.open = append(r.open, r.key)
		return true
	}
	if n := len(r.open); n > 0 {
		r.setKey(r.open[n-1])
		r.open = r.open[:n-1]
	}
	return len(r.open) > 0 || r.cut
}

// bare reads a number or a word without quotes. It reports false if it is no
// JSON.
func (r *reader) bare(i, to int) (next int, ok bool) {
	end := i
	for end < to && (isNameByte(r.text[end]) || strings.IndexByte(".+-", r.text[end]) >= 0) {
		end++
	}
	switch w := r.text[i:end]; {
	case w == "":
		return i, false
	case w[0] == '-', w[0] >= '0' && w[0] <= '9':
		r.addWhole(span{i, end})
		return end, true
	case w == "true", w == "false", w == "null", w == "True", w == "False", w == "None", w == "NaN":
		return end, true
	}
	return i, false
}

// string reads what begins with the quote at i, a key or a value.
func (r *reader) string(i, to int) (next int) {
	k := i
	for k < to && r.text[k] == '\\' {
		k++
	}
	if k == to || r.text[k] != '\'' && (k-i != r.slashes || r.text[k] != '"') {
		return k + 1
	}
	p, next, escapes := r.body(k+1, to, r.text[k])
	if next == to && r.text[to-1] != r.text[k] { // it is cut off
		r.escapedLines(p)
		return to
	}
	k = next
	for k < to && r.text[k] <= ' ' {
		k++
	}
	if k < to && r.text[k] == ':' {
		r.keyIs(p)
		return k + 1
	}
	r.takeValue(p, escapes)
	return next
}

// body finds the end of a string that begins at i, and whether it has backslashes.
func (r *reader) body(i, to int, quote byte) (p span, next int, escapes bool) {
	from, slashes := i, 0
	for ; i < to; i++ {
		switch b := r.text[i]; {
		case b == '\\':
			slashes++
			continue
		case b == quote && slashes <= r.slashes:
			return span{from, i - slashes}, i + 1, escapes
		}
		escapes = escapes || slashes > 0
		slashes = 0
	}
	return span{from, to}, to, escapes
}

// keyIs takes a key, and as a fact too if it is one: {"1656367028": {…}}.
func (r *reader) keyIs(p span) {
	switch k := shapeOf(r.text[p.from:p.to]); k {
	case number, amount, date, email, link, path, file, id, hash, version, host, phone:
		outer := span{}
		if n := len(r.open); n > 0 {
			outer = r.open[n-1]
		}
		r.setKey(outer)
		r.addWhole(p)
	default:
	}
	r.setKey(p)
}

// takeValue takes the value of a string: as one if it is short, else its words, or
// line by line if it has escapes.
func (r *reader) takeValue(p span, escapes bool) {
	const longest = 100
	switch {
	case escapes:
		if next := r.json(p); next > p.from {
			p.from = next
		}
		r.escapedLines(p)
	case strings.IndexByte(r.text[p.from:p.to], ' ') < 0 && p.to-p.from <= longest:
		r.addWhole(p)
	default:
		if p.to-p.from <= longest {
			r.addWhole(p)
		}
		r.words(p)
	}
}

// escapedLines reads a text whose line ends are escapes, or those that they are
// where a string does not end as it should.
func (s *scanner) escapedLines(p span) {
	for !p.empty() {
		rest, next := s.cutLine(p)
		for !rest.empty() {
			line, behind := rest, rest.to
			if k := strings.Index(s.text[rest.from:rest.to], `\n`); k >= 0 {
				line.to, behind = rest.from+k, rest.from+k+len(`\n`)
			}
			for !line.empty() && s.text[line.to-1] == '\\' {
				line.to--
			}
			s.readLine(line)
			rest.from = behind
		}
		p.from = next
	}
}

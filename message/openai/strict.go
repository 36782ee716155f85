package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// check returns the one JSON value of a text, without the space around it, or
// what keeps it from being read.
func check(data []byte) (before, value, after string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bad := firstInvalid(data); bad >= 0 {
		return "", "", "", at(data, bad, errors.New("not UTF-8"))
	}
	text := string(data)
	from := skipSpace(text, 0)
	if from == len(text) {
		return "", "", "", errors.New("empty")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var first json.RawMessage
	if err := dec.Decode(&first); err != nil {
		offset := len(text)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = max(0, int(syntax.Offset)-1)
			err = fmt.Errorf("not JSON: %w", syntax)
		} else {
			err = errors.New("not JSON: it ends in the middle")
		}
		return "", "", "", at([]byte(text), offset, err)
	}
	to := int(dec.InputOffset())
	if rest := skipSpace(text, to); rest < len(text) {
		if text[rest] == '{' || text[rest] == '[' {
			err = errors.New("a second JSON value begins here: want one conversation, not one a line")
		} else {
			err = errors.New("something stands behind the JSON: want nothing")
		}
		return "", "", "", at([]byte(text), rest, err)
	}
	w := walker{raw: text}
	w.value(from)
	if w.twice != "" {
		return "", "", "", at([]byte(text), w.at, fmt.Errorf("%s is here twice: want each key once", w.twice))
	}
	return text[:from], text[from:to], text[to:], nil
}

// at puts the place of an offset before an error.
func at(data []byte, offset int, err error) error {
	head := data[:min(offset, len(data))]
	line := bytes.Count(head, []byte("\n")) + 1
	column := utf8.RuneCount(head[bytes.LastIndexByte(head, '\n')+1:]) + 1
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

func firstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// walker looks for a key that an object has twice, in one pass over valid JSON.
type walker struct {
	raw   string
	path  []string
	twice string // "": there is none
	at    int    // its offset
}

// value walks over the value that begins at i and returns the offset behind it.
func (w *walker) value(i int) int {
	switch w.raw[i] {
	case '{':
		return w.object(i)
	case '[':
		i = skipSpace(w.raw, i+1)
		for n := 0; w.twice == "" && w.raw[i] != ']'; n++ {
			w.path = append(w.path, fmt.Sprintf("[%d]", n))
			i = w.next(w.value(i))
			w.path = w.path[:len(w.path)-1]
		}
		return i + 1
	}
	return skipValue(w.raw, i)
}

func (w *walker) object(i int) int {
	seen := map[string]bool{}
	i = skipSpace(w.raw, i+1)
	for w.twice == "" && w.raw[i] != '}' {
		colon := skipString(w.raw, i)
		name := unquote(w.raw[i:colon])
		w.path = append(w.path, "."+name)
		if seen[name] {
			w.twice, w.at = strings.TrimPrefix(strings.Join(w.path, ""), "."), i
			break
		}
		seen[name] = true
		i = w.next(w.value(skipSpace(w.raw, skipSpace(w.raw, colon)+1)))
		w.path = w.path[:len(w.path)-1]
	}
	return i + 1
}

// next returns the offset of what comes behind a value and a comma.
func (w *walker) next(i int) int {
	if w.twice != "" {
		return i
	}
	if i = skipSpace(w.raw, i); w.raw[i] == ',' {
		i = skipSpace(w.raw, i+1)
	}
	return i
}

package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// The types here keep valid JSON as it was written, with the positions of its values.

// object is a JSON object.
type object struct {
	raw     string
	members []member
}

// member is a member of an object.
type member struct {
	name       string
	key, value jsonscan.Span
}

// parseObject returns the members of an object.
func parseObject(raw string) object {
	o := object{raw: raw}
	for key, value := range jsonscan.Members(raw, 0) {
		o.members = append(o.members, member{jsonscan.Unquote(key.In(raw)), key, value})
	}
	return o
}

// get returns the value of a member, or "" if the object does not have it.
func (o object) get(name string) string {
	for _, m := range o.members {
		if m.name == name {
			return m.value.In(o.raw)
		}
	}
	return ""
}

// set returns the object with another value for a member. A new member is added at
// the end, with the white space of the last one.
func (o object) set(name, value string) object {
	for _, m := range o.members {
		if m.name == name {
			return parseObject(o.raw[:m.value.From] + value + o.raw[m.value.To:])
		}
	}
	key := quote(name)
	if len(o.members) == 0 {
		return parseObject("{" + key + ":" + value + "}")
	}
	last := o.members[len(o.members)-1]
	before := o.raw[1:last.key.From]
	if len(o.members) > 1 {
		before = o.raw[o.members[len(o.members)-2].value.To:last.key.From]
	}
	before = "," + strings.Replace(before, ",", "", 1)
	return parseObject(o.raw[:last.value.To] + before + key + o.raw[last.key.To:last.value.From] + value + o.raw[last.value.To:])
}

// remove returns the object without a member.
func (o object) remove(name string) object {
	for i, m := range o.members {
		if m.name != name {
			continue
		}
		from, to := m.key.From, m.value.To
		switch {
		case i+1 < len(o.members):
			to = o.members[i+1].key.From
		case i > 0:
			from = o.members[i-1].value.To
		}
		return parseObject(o.raw[:from] + o.raw[to:])
	}
	return o
}

// text returns a member that is a string, or "" if it is absent and not required.
func (o object) text(name string, required bool) (string, error) {
	raw := o.get(name)
	switch {
	case absent(raw) && !required:
		return "", nil
	case raw == "" || raw[0] != '"':
		return "", faultf(name, "is %s, want a string", kindOf(raw))
	}
	return jsonscan.Unquote(raw), nil
}

// object returns a member that is an object.
func (o object) object(name string) (object, error) {
	raw := o.get(name)
	if raw == "" || raw[0] != '{' {
		return object{}, faultf(name, "is %s, want an object", kindOf(raw))
	}
	return parseObject(raw), nil
}

// setText sets a member to a text.
func (o object) setText(name, text string) (object, error) {
	raw, err := textJSON(text)
	if err != nil {
		return o, in(name, err)
	}
	return o.set(name, raw), nil
}

// setOrRemove sets a member to a text, or removes it if the text is empty.
func (o object) setOrRemove(name, text string) (object, error) {
	if text == "" {
		return o.remove(name), nil
	}
	return o.setText(name, text)
}

// setRaw sets a member to JSON, or removes it if the JSON is empty.
func (o object) setRaw(name, raw string) (object, error) {
	if raw == "" {
		return o.remove(name), nil
	}
	if !json.Valid([]byte(raw)) {
		return o, faultf(name, "is opaque, want the JSON of this field")
	}
	return o.set(name, raw), nil
}

// absent reports whether a member is missing or null.
func absent(raw string) bool { return raw == "" || raw == "null" }

// list is a JSON array.
type list struct {
	raw   string
	items []jsonscan.Span
}

// parseList returns the items of an array.
func parseList(raw string) list {
	return list{raw: raw, items: slices.Collect(jsonscan.Items(raw, 0))}
}

// item returns item i.
func (l list) item(i int) string { return l.items[i].In(l.raw) }

// each calls a function with each item of a member that is an array, or absent.
func (o object) each(name, of string, read func(raw string) error) error {
	raw := o.get(name)
	if absent(raw) {
		return nil
	}
	if raw[0] != '[' {
		return faultf(name, "is %s, want a list of %s", kindOf(raw), of)
	}
	return eachItem(name, raw, read)
}

// eachItem calls a function with each item of an array.
func eachItem(name, raw string, read func(raw string) error) error {
	i := 0
	for s := range jsonscan.Items(raw, 0) {
		if err := read(s.In(raw)); err != nil {
			return in(item(name, i), err)
		}
		i++
	}
	return nil
}

// with returns the array with other items, separated like the first two.
func (l list) with(items []string) string {
	var b strings.Builder
	if len(items) == len(l.items) {
		end := 0
		for i, s := range l.items {
			b.WriteString(l.raw[end:s.From])
			b.WriteString(items[i])
			end = s.To
		}
		b.WriteString(l.raw[end:])
		return b.String()
	}
	head, between, tail := "[", ",", "]"
	if n := len(l.items); n > 0 {
		head, tail = l.raw[:l.items[0].From], l.raw[l.items[n-1].To:]
		if n > 1 {
			between = l.raw[l.items[0].To:l.items[1].From]
		}
	}
	b.WriteString(head)
	b.WriteString(strings.Join(items, between))
	b.WriteString(tail)
	return b.String()
}

// quote returns a text as JSON, without the escapes for HTML.
func quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("openai: " + err.Error()) // strings are always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// textJSON returns a text as JSON, or an error if it is not UTF-8.
func textJSON(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", faultf("", "is not UTF-8, want text that JSON can have")
	}
	return quote(text), nil
}

// kindOf describes a value for an error.
func kindOf(raw string) string {
	switch raw[:min(1, len(raw))] {
	case "":
		return "missing"
	case "{":
		return "an object"
	case "[":
		return "an array"
	case `"`:
		return "a string"
	case "t", "f", "n":
		return raw
	}
	return "a number"
}

// check returns the one JSON value of a text and the white space before and after it.
// The error has the line and column of what is not valid, or of a key that an object
// has twice.
func check(data []byte) (before, value, after string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bad := firstInvalid(data); bad >= 0 {
		return "", "", "", at(data, bad, errors.New("not UTF-8"))
	}
	text := string(data)
	from := jsonscan.Space(text, 0)
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
	if rest := jsonscan.Space(text, to); rest < len(text) {
		if text[rest] == '{' || text[rest] == '[' {
			err = errors.New("a second JSON value begins here: want one conversation, not one a line")
		} else {
			err = errors.New("there is text after the JSON: want none")
		}
		return "", "", "", at([]byte(text), rest, err)
	}
	if name, offset := duplicateKey(text, jsonscan.Span{From: from, To: to}); name != "" {
		return "", "", "", at([]byte(text), offset, fmt.Errorf("%s is here twice: want each key once", name))
	}
	return text[:from], text[from:to], text[to:], nil
}

// at adds the line and column of an offset to an error.
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

// duplicateKey returns the path and the offset of the first key that an object has
// twice, or "" if no key occurs twice.
func duplicateKey(text string, value jsonscan.Span) (path string, offset int) {
	switch text[value.From] {
	case '{':
		seen := map[string]bool{}
		for key, member := range jsonscan.Members(text, value.From) {
			name := jsonscan.Unquote(key.In(text))
			if seen[name] {
				return name, key.From
			}
			seen[name] = true
			if path, offset := duplicateKey(text, member); path != "" {
				return join(name, path), offset
			}
		}
	case '[':
		n := 0
		for member := range jsonscan.Items(text, value.From) {
			if path, offset := duplicateKey(text, member); path != "" {
				return join(item("", n), path), offset
			}
			n++
		}
	}
	return "", 0
}

// fault is an error at a position of a conversation.
type fault struct {
	path string // such as messages[3].content; "": the value itself
	text string // what was found, and what is expected
}

func (f *fault) Error() string { return strings.TrimPrefix(f.path+" "+f.text, " ") }

// faultf returns a fault.
func faultf(path, format string, args ...any) error {
	return &fault{path: path, text: fmt.Sprintf(format, args...)}
}

// in adds the position of an enclosing value to a fault.
func in(place string, err error) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	return &fault{path: join(place, f.path), text: f.text}
}

// join returns the path of something inside an enclosing value.
func join(place, path string) string {
	if path == "" || path[0] == '[' {
		return place + path
	}
	return place + "." + path
}

// item is the position of an item of a list.
func item(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

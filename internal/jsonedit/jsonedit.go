// Package jsonedit changes single values of JSON texts and keeps all other bytes: white space, the order and the
// names of members, the form of numbers and escapes.
//
//	o := jsonedit.ParseObject(`{"a": 1.0, "b": [true]}`)
//	o.Set("a", `"x"`).Raw // {"a": "x", "b": [true]}
//
// All texts must be valid JSON, for example since [Check] has read them. Errors have the position of a value, such as
// messages[3].content.
package jsonedit

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

// Object is a JSON object.
type Object struct {
	Raw string

	n    int
	few  [6]member // the first n members: most objects have no more, and need no other memory
	more []member  // the others
}

// member is a member of an object.
type member struct{ name, value string }

// ParseObject returns the members of an object.
func ParseObject(raw string) Object {
	o := Object{Raw: raw}
	for key, value := range jsonscan.Members(raw, 0) {
		m := member{jsonscan.Unquote(key.In(raw)), value.In(raw)}
		if o.n < len(o.few) {
			o.few[o.n] = m
			o.n++
		} else {
			o.more = append(o.more, m)
		}
	}
	return o
}

// Get returns the value of a member, or "" if the object does not have it.
func (o Object) Get(name string) string {
	for i := range o.n {
		if o.few[i].name == name {
			return o.few[i].value
		}
	}
	for i := range o.more {
		if o.more[i].name == name {
			return o.more[i].value
		}
	}
	return ""
}

// Get returns the value of a member of an object, or "" if the object does not have it.
func Get(object, name string) string {
	for key, value := range jsonscan.Members(object, 0) {
		if jsonscan.Unquote(key.In(object)) == name {
			return value.In(object)
		}
	}
	return ""
}

// place is where a member of an object is.
type place struct{ key, value jsonscan.Span }

// places returns where the members are, and the position of the one with a name; -1: there is none.
func (o Object) places(name string) (all []place, at int) {
	at = -1
	for key, value := range jsonscan.Members(o.Raw, 0) {
		if at < 0 && jsonscan.Unquote(key.In(o.Raw)) == name {
			at = len(all)
		}
		all = append(all, place{key, value})
	}
	return all, at
}

// Names returns the names of the members.
func (o Object) Names() []string {
	all, _ := o.places("")
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = jsonscan.Unquote(p.key.In(o.Raw))
	}
	return names
}

// Set returns the object with another value for a member. A new member is added at
// the end, with the white space of the last one.
func (o Object) Set(name, value string) Object {
	all, at := o.places(name)
	if at >= 0 {
		return ParseObject(o.Raw[:all[at].value.From] + value + o.Raw[all[at].value.To:])
	}
	key := Quote(name)
	if len(all) == 0 {
		return ParseObject("{" + key + ":" + value + "}")
	}
	last := all[len(all)-1]
	before := o.Raw[1:last.key.From]
	if len(all) > 1 {
		before = o.Raw[all[len(all)-2].value.To:last.key.From]
	}
	before = "," + strings.Replace(before, ",", "", 1)
	return ParseObject(o.Raw[:last.value.To] + before + key + o.Raw[last.key.To:last.value.From] + value + o.Raw[last.value.To:])
}

// Remove returns the object without a member.
func (o Object) Remove(name string) Object {
	all, at := o.places(name)
	if at < 0 {
		return o
	}
	from, to := all[at].key.From, all[at].value.To
	switch {
	case at+1 < len(all):
		to = all[at+1].key.From
	case at > 0:
		from = all[at-1].value.To
	}
	return ParseObject(o.Raw[:from] + o.Raw[to:])
}

// Text returns a member that is a string, or "" if it is absent and not required. It is in memory of its own.
func (o Object) Text(name string, required bool) (string, error) {
	raw, err := o.literal(name, required)
	return jsonscan.Text(raw), err
}

// Word is Text in the memory of the object, for a text that is only compared.
func (o Object) Word(name string, required bool) (string, error) {
	raw, err := o.literal(name, required)
	return jsonscan.Unquote(raw), err
}

// literal returns a member that is a string, or "" if it is absent and not required.
func (o Object) literal(name string, required bool) (string, error) {
	raw := o.Get(name)
	switch {
	case Absent(raw) && !required:
		return "", nil
	case raw == "" || raw[0] != '"':
		return "", Faultf(name, "is %s, want a string", KindOf(raw))
	}
	return raw, nil
}

// Object returns a member that is an object.
func (o Object) Object(name string) (Object, error) {
	raw := o.Get(name)
	if raw == "" || raw[0] != '{' {
		return Object{}, Faultf(name, "is %s, want an object", KindOf(raw))
	}
	return ParseObject(raw), nil
}

// SetText sets a member to a text.
func (o Object) SetText(name, text string) (Object, error) {
	raw, err := TextJSON(text)
	if err != nil {
		return o, In(name, err)
	}
	return o.Set(name, raw), nil
}

// SetOrRemove sets a member to a text, or removes it if the text is empty.
func (o Object) SetOrRemove(name, text string) (Object, error) {
	if text == "" {
		return o.Remove(name), nil
	}
	return o.SetText(name, text)
}

// SetRaw sets a member to JSON, or removes it if the JSON is empty.
func (o Object) SetRaw(name, raw string) (Object, error) {
	if raw == "" {
		return o.Remove(name), nil
	}
	if !json.Valid([]byte(raw)) {
		return o, Faultf(name, "is opaque, want the JSON of this field")
	}
	return o.Set(name, raw), nil
}

// Absent reports whether a member is missing or null.
func Absent(raw string) bool { return raw == "" || raw == "null" }

// List is a JSON array.
type List struct {
	Raw   string
	items []jsonscan.Span
}

// ParseList returns the items of an array.
func ParseList(raw string) List {
	return List{Raw: raw, items: slices.Collect(jsonscan.Items(raw, 0))}
}

// Item returns item i.
func (l List) Item(i int) string { return l.items[i].In(l.Raw) }

// Len returns the number of items.
func (l List) Len() int { return len(l.items) }

// Each calls a function with each item of a member that is an array, or absent.
func (o Object) Each(name, of string, read func(raw string) error) error {
	raw := o.Get(name)
	if Absent(raw) {
		return nil
	}
	if raw[0] != '[' {
		return Faultf(name, "is %s, want a list of %s", KindOf(raw), of)
	}
	return EachItem(name, raw, read)
}

// EachItem calls a function with each item of an array.
func EachItem(name, raw string, read func(raw string) error) error {
	i := 0
	for s := range jsonscan.Items(raw, 0) {
		if err := read(s.In(raw)); err != nil {
			return In(Place(name, i), err)
		}
		i++
	}
	return nil
}

// With returns the array with other items, separated like the first two.
func (l List) With(items []string) string {
	var b strings.Builder
	if len(items) == len(l.items) {
		end := 0
		for i, s := range l.items {
			b.WriteString(l.Raw[end:s.From])
			b.WriteString(items[i])
			end = s.To
		}
		b.WriteString(l.Raw[end:])
		return b.String()
	}
	head, between, tail := "[", ",", "]"
	if n := len(l.items); n > 0 {
		head, tail = l.Raw[:l.items[0].From], l.Raw[l.items[n-1].To:]
		if n > 1 {
			between = l.Raw[l.items[0].To:l.items[1].From]
		}
	}
	b.WriteString(head)
	b.WriteString(strings.Join(items, between))
	b.WriteString(tail)
	return b.String()
}

// Quote returns a text as JSON, without the escapes for HTML.
func Quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("jsonedit: " + err.Error()) // strings are always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TextJSON returns a text as JSON, or an error if it is not UTF-8.
func TextJSON(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", Faultf("", "is not UTF-8, want text that JSON can have")
	}
	return Quote(text), nil
}

// KindOf describes a value for an error.
func KindOf(raw string) string {
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

// Check returns the one JSON value of a text and the white space before and after it.
// The error has the line and column of what is not valid, or of a key that an object
// has twice.
func Check(data []byte) (before, value, after string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bad := firstInvalid(data); bad >= 0 {
		return "", "", "", at(data, bad, errors.New("not UTF-8"))
	}
	text := string(data)
	from := jsonscan.Space(text, 0)
	if from == len(text) {
		return "", "", "", errors.New("empty")
	}
	to, twice := jsonscan.Check(text, from)
	if to < 0 {
		return "", "", "", syntaxError(text)
	}
	if rest := jsonscan.Space(text, to); rest < len(text) {
		if text[rest] == '{' || text[rest] == '[' {
			err = errors.New("a second JSON value begins here: want one conversation, not one a line")
		} else {
			err = errors.New("there is text after the JSON: want none")
		}
		return "", "", "", at(data, rest, err)
	}
	if twice {
		name, offset := duplicateKey(text, jsonscan.Span{From: from, To: to})
		return "", "", "", at(data, offset, fmt.Errorf("%s is here twice: want each key once", name))
	}
	return text[:from], text[from:to], text[to:], nil
}

// syntaxError returns why a text does not begin with a JSON value, and where.
func syntaxError(text string) error {
	var first json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&first)
	offset := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(0, int(syntax.Offset)-1)
		err = fmt.Errorf("not JSON: %w", syntax)
	} else {
		err = errors.New("not JSON: it ends in the middle")
	}
	return at([]byte(text), offset, err)
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
				return join(Place("", n), path), offset
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

// Faultf returns a fault.
func Faultf(path, format string, args ...any) error {
	return &fault{path: path, text: fmt.Sprintf(format, args...)}
}

// In adds the position of an enclosing value to a fault.
func In(place string, err error) error {
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

// Place is the position of an item of a list.
func Place(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

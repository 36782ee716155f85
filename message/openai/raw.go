package openai

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The functions here look at JSON that is known to be valid, and keep hold of
// where things stand in it.

// object is a JSON object as it was written.
type object struct {
	raw     string
	members []member
}

// member is a member of an object, as offsets into it.
type member struct {
	name             string
	from, colon      int // the first byte of the key, and the one behind it
	value, valueEnds int
}

// parseObject returns the members of an object.
func parseObject(raw string) object {
	o := object{raw: raw}
	for i := skipSpace(raw, 1); raw[i] != '}'; {
		m := member{from: i}
		m.colon = skipValue(raw, i)
		m.name = unquote(raw[i:m.colon])
		m.value = skipSpace(raw, skipSpace(raw, m.colon)+1)
		m.valueEnds = skipValue(raw, m.value)
		o.members = append(o.members, m)
		if i = skipSpace(raw, m.valueEnds); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return o
}

// get returns the value of a member, "" if there is none.
func (o object) get(name string) string {
	for _, m := range o.members {
		if m.name == name {
			return o.raw[m.value:m.valueEnds]
		}
	}
	return ""
}

// set returns the object with another value for a member. A new member comes
// last, set apart like the last one.
func (o object) set(name, value string) object {
	for _, m := range o.members {
		if m.name == name {
			return parseObject(o.raw[:m.value] + value + o.raw[m.valueEnds:])
		}
	}
	key := quote(name)
	if len(o.members) == 0 {
		return parseObject("{" + key + ":" + value + "}")
	}
	last := o.members[len(o.members)-1]
	before := o.raw[1:last.from]
	if len(o.members) > 1 {
		before = o.raw[o.members[len(o.members)-2].valueEnds:last.from]
	}
	before = "," + strings.Replace(before, ",", "", 1)
	return parseObject(o.raw[:last.valueEnds] + before + key + o.raw[last.colon:last.value] + value + o.raw[last.valueEnds:])
}

// remove returns the object without a member.
func (o object) remove(name string) object {
	for i, m := range o.members {
		if m.name != name {
			continue
		}
		from, to := m.from, m.valueEnds
		switch {
		case i+1 < len(o.members):
			to = o.members[i+1].from
		case i > 0:
			from = o.members[i-1].valueEnds
		}
		return parseObject(o.raw[:from] + o.raw[to:])
	}
	return o
}

// text returns a member that is text, "" if it is absent and need not be there.
func (o object) text(name string, required bool) (string, error) {
	raw := o.get(name)
	switch {
	case absent(raw) && !required:
		return "", nil
	case raw == "" || raw[0] != '"':
		return "", faultf(name, "is %s, want a string", kindOf(raw))
	}
	return unquote(raw), nil
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

// setOrRemove sets a member to a text, or removes it if there is none.
func (o object) setOrRemove(name, text string) (object, error) {
	if text == "" {
		return o.remove(name), nil
	}
	return o.setText(name, text)
}

// setRaw sets a member to JSON, or removes it if there is none.
func (o object) setRaw(name, raw string) (object, error) {
	if raw == "" {
		return o.remove(name), nil
	}
	if !json.Valid([]byte(raw)) {
		return o, faultf(name, "is opaque, want the JSON of this field")
	}
	return o.set(name, raw), nil
}

// absent reports whether a member is not there, or null.
func absent(raw string) bool { return raw == "" || raw == "null" }

// list is a JSON array as it was written.
type list struct {
	raw   string
	items []span
}

type span struct{ from, to int }

// parseList returns the items of an array.
func parseList(raw string) list {
	l := list{raw: raw}
	for i := skipSpace(raw, 1); raw[i] != ']'; {
		s := span{from: i, to: skipValue(raw, i)}
		l.items = append(l.items, s)
		if i = skipSpace(raw, s.to); raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return l
}

// item returns item i.
func (l list) item(i int) string { return l.raw[l.items[i].from:l.items[i].to] }

// with returns the array with other items, set apart like the first two.
func (l list) with(items []string) string {
	var b strings.Builder
	if len(items) == len(l.items) {
		end := 0
		for i, s := range l.items {
			b.WriteString(l.raw[end:s.from])
			b.WriteString(items[i])
			end = s.to
		}
		b.WriteString(l.raw[end:])
		return b.String()
	}
	head, between, tail := "[", ",", "]"
	if n := len(l.items); n > 0 {
		head, tail = l.raw[:l.items[0].from], l.raw[l.items[n-1].to:]
		if n > 1 {
			between = l.raw[l.items[0].to:l.items[1].from]
		}
	}
	b.WriteString(head)
	b.WriteString(strings.Join(items, between))
	b.WriteString(tail)
	return b.String()
}

// skipSpace returns the offset of the next byte that is no space.
func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the offset behind the value that begins at i.
func skipValue(s string, i int) int {
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch s[i] {
			case '"':
				i = skipString(s, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(s) && !strings.ContainsRune(",]} \t\r\n", rune(s[i])) {
		i++
	}
	return i
}

func skipString(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote returns the text of a JSON string.
func unquote(raw string) string {
	if inner := raw[1 : len(raw)-1]; !strings.Contains(inner, `\`) {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(raw), &s) // it is known to be a string
	return s
}

// quote returns a text as JSON. What HTML needs escaped is left as it is.
func quote(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic("openai: " + err.Error()) // a string always has a JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// textJSON returns a text as JSON, if it can have one without a change.
func textJSON(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", faultf("", "is not UTF-8, which JSON cannot say")
	}
	return quote(text), nil
}

// kindOf says for an error what a value is.
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

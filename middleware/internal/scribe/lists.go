package scribe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// lists is what a JSON answer holds: texts by key.
type lists map[string][]string

// listReader reads the JSON of an answer, and takes nothing but the form that was
// asked for.
type listReader struct {
	text string
	dec  *json.Decoder
}

func newListReader(text string) *listReader {
	text = withoutFence(text)
	return &listReader{text, json.NewDecoder(strings.NewReader(text))}
}

// withoutFence takes off the fence of a block of code around the whole text.
func withoutFence(text string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "```")
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, "```")
	if _, rest, lines := strings.Cut(inner, "\n"); ok && lines {
		return strings.TrimSpace(rest)
	}
	return text
}

// lists reads an object that has exactly these keys, with lists of texts.
func (r *listReader) lists(at string, keys []string) (lists, *RejectedError) {
	if rej := r.delim(at, '{', "an object"); rej != nil {
		return nil, rej
	}
	out := lists{}
	for r.dec.More() {
		key, rej := r.key(at, keys, out)
		if rej != nil {
			return nil, rej
		}
		if out[key], rej = r.list(at + "." + key); rej != nil {
			return nil, rej
		}
	}
	for _, k := range keys {
		if _, ok := out[k]; !ok {
			return nil, r.wrong(at, "%q is missing", k)
		}
	}
	return out, r.delim(at, '}', "the end of the object")
}

func (r *listReader) key(at string, keys []string, read lists) (string, *RejectedError) {
	t, err := r.dec.Token()
	key, ok := t.(string)
	if err != nil || !ok {
		return "", r.syntax(at, err)
	}
	if !slices.Contains(keys, key) {
		return "", r.wrong(at, "%s is no key, want %q", word(key), keys)
	}
	if _, twice := read[key]; twice {
		return "", r.wrong(at, "%q is there twice", key)
	}
	return key, nil
}

// list reads a list of texts. What a text has of white space becomes single
// spaces, since each will be one line.
func (r *listReader) list(at string) ([]string, *RejectedError) {
	if rej := r.delim(at, '[', "a list"); rej != nil {
		return nil, rej
	}
	out := []string{}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return nil, r.syntax(at, err)
		}
		item, ok := t.(string)
		if !ok {
			return nil, r.wrong(fmt.Sprintf("%s[%d]", at, len(out)), "it is %s, want a text", typeOf(t))
		}
		if item = strings.Join(strings.Fields(item), " "); !visible(item) || strings.ContainsRune(item, 0) {
			return nil, r.wrong(fmt.Sprintf("%s[%d]", at, len(out)), "the text is empty")
		}
		out = append(out, item)
	}
	return out, r.delim(at, ']', "the end of the list")
}

// end reports what stands behind the value.
func (r *listReader) end() *RejectedError {
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.wrong("answer", "there is more behind the JSON")
	}
	return nil
}

func (r *listReader) delim(at string, want json.Delim, what string) *RejectedError {
	t, err := r.dec.Token()
	if err != nil {
		return r.syntax(at, err)
	}
	if t != want {
		return r.wrong(at, "it is %s, want %s", typeOf(t), what)
	}
	return nil
}

func (r *listReader) syntax(at string, err error) *RejectedError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.wrong(at, "the JSON ends too early")
	}
	return r.wrong(at, "no JSON: %v", err)
}

// wrong rejects the answer, and names the place up to which it was read.
func (r *listReader) wrong(at, format string, args ...any) *RejectedError {
	read := r.text[:min(max(0, int(r.dec.InputOffset())), len(r.text))]
	line := strings.Count(read, "\n") + 1
	column := len([]rune(read[strings.LastIndexByte(read, '\n')+1:])) + 1
	return reject(Malformed, "%s, line %d, column %d: %s", at, line, column, fmt.Sprintf(format, args...))
}

func typeOf(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "a list"}[t]
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	}
	return "a number"
}

// write writes lists under headings; empty ones are left out.
func (l lists) write(keys []string, title func(key string) string) string {
	var sections []string
	for _, k := range keys {
		if len(l[k]) > 0 {
			sections = append(sections, title(k)+"\n- "+strings.Join(l[k], "\n- "))
		}
	}
	return strings.Join(sections, "\n\n")
}

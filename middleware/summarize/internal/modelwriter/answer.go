package modelwriter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Concept is something about which facts are wanted.
type Concept struct {
	Keyword     string // one line, and no two alike
	Description string // what is meant by it; "": the keyword says it
	Many        bool   // there may be several facts; else the newest counts
}

func (c Concept) title() string {
	if c.Description == "" {
		return "## KNOWN FACTS ABOUT " + c.Keyword
	}
	return "## KNOWN FACTS ABOUT " + c.Keyword + " (" + c.Description + ")"
}

// Facts asks for what the messages, and the earlier summary, say about concepts.
// The text has a section with a line a fact for each concept about which there is
// one. It always asks with a record. Form, Task and Sections play no part; Apart
// asks for each concept alone.
//
// Errors are those of [Write]. If there is no fact about any concept, [ReasonOf]
// the error is [Nothing].
func Facts(ctx context.Context, b Brief, concepts []Concept) (*Summary, error) {
	b = b.ofRecord()
	b.Form, b.Writer.Task, b.Writer.Sections = Prose, "", []string{}
	if err := errors.Join(b.Validate(), validConcepts(concepts)); err != nil {
		return nil, err
	}
	s := newSession(b, concepts)
	found, err := s.gather(ctx, concepts)
	if err != nil {
		return s.close("", err)
	}
	text := found.write(keywords(concepts), titles(concepts))
	t := s.terms(s.Writer, order{kind: whole}, s.desk.limit, 0)
	var rej *RejectedError
	if text == "" {
		rej = reject(Nothing, "about %q", keywords(concepts))
	} else if rej = t.shape(text); rej == nil {
		rej = t.length(text)
	}
	if rej != nil {
		return s.close("", rej)
	}
	return s.close(text, nil)
}

func validConcepts(concepts []Concept) error {
	if len(concepts) == 0 {
		return invalid(errors.New("there are no concepts, want one at least"))
	}
	seen := map[string]bool{}
	for i, c := range concepts {
		switch {
		case !visible(c.Keyword) || strings.ContainsAny(c.Keyword+c.Description, "\r\n"):
			return invalid(fmt.Errorf("concepts[%d]: keyword and description are %q and %q, want a line each, the keyword not empty",
				i, c.Keyword, c.Description))
		case seen[c.Keyword]:
			return invalid(fmt.Errorf("concepts[%d]: the keyword %q is there twice", i, c.Keyword))
		}
		seen[c.Keyword] = true
	}
	return nil
}

// gather asks about all concepts at once, or about each alone.
func (s *session) gather(ctx context.Context, concepts []Concept) (lists, error) {
	if !s.Apart {
		return s.search(ctx)
	}
	found, limit := lists{}, s.desk.limit
	s.desk.limit = max(1, limit/len(concepts))
	for _, c := range concepts {
		s.concepts = []Concept{c}
		l, err := s.search(ctx)
		if err != nil {
			return nil, err
		}
		found[c.Keyword] = l[c.Keyword]
	}
	s.concepts, s.desk.limit = concepts, limit
	return found, nil
}

// search reads the record, and what was found in its parts once more if it is too
// much together.
func (s *session) search(ctx context.Context) (lists, error) {
	if s.room < leastRoom {
		return nil, s.tooSmall()
	}
	units := record(s.Folded)
	if s.Earlier != "" {
		units = append([]unit{{{s.Language.words().head, s.Earlier}}}, units...)
	}
	for {
		texts, err := s.read(ctx, order{kind: facts}, s.cutter.pieces(units, s.roomNow()))
		if err != nil {
			return nil, err
		}
		found, err := s.join(texts)
		if err != nil {
			return nil, err
		}
		if len(texts) == 1 || s.fitsLimit(found) {
			return found, nil
		}
		units = units[:0:0]
		for _, c := range s.concepts {
			if all := found[c.Keyword]; len(all) > 0 {
				units = append(units, unit{{"facts about " + word(c.Keyword), strings.Join(all, "\n")}})
			}
		}
	}
}

// join puts the facts of all parts together, in the order of the record.
func (s *session) join(texts []string) (lists, error) {
	found := lists{}
	for _, text := range texts {
		var l lists
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("scribe: read facts: %w", err)
		}
		for _, c := range s.concepts {
			for _, fact := range l[c.Keyword] {
				switch have := found[c.Keyword]; {
				case !c.Many:
					found[c.Keyword] = []string{fact}
				case !slices.Contains(have, fact):
					found[c.Keyword] = append(have, fact)
				}
			}
		}
	}
	return found, nil
}

func (s *session) fitsLimit(l lists) bool {
	return s.cutter.count(l.write(keywords(s.concepts), titles(s.concepts))) <= s.desk.limit
}

// facts checks the JSON of an answer, and returns it as lists by keyword.
func (s *session) facts(text string) (string, *RejectedError) {
	r := newListReader(text)
	l, rej := r.facts(keywords(s.concepts))
	if rej != nil {
		return "", rej
	}
	for _, c := range s.concepts {
		if n := len(l[c.Keyword]); n > 1 && !c.Many {
			return "", r.wrong("answer.facts", "%q has %d facts, want one at most", c.Keyword, n)
		}
	}
	if !s.fitsLimit(l) {
		return "", reject(TooLong, "the facts have more than %d tokens", s.desk.limit)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return "", reject(Malformed, "%v", err)
	}
	return b.String(), nil
}

// facts reads {"facts": {keyword: [text, …], …}}.
func (r *listReader) facts(keys []string) (lists, *RejectedError) {
	if rej := r.delim("answer", '{', "an object"); rej != nil {
		return nil, rej
	}
	if _, rej := r.key("answer", []string{"facts"}, nil); rej != nil {
		return nil, rej
	}
	l, rej := r.lists("answer.facts", keys)
	if rej != nil {
		return nil, rej
	}
	if rej := r.delim("answer", '}', "the end of the object"); rej != nil {
		return nil, rej
	}
	return l, r.end()
}

func keywords(concepts []Concept) []string {
	var out []string
	for _, c := range concepts {
		out = append(out, c.Keyword)
	}
	return out
}

func titles(concepts []Concept) func(keyword string) string {
	return func(keyword string) string {
		k := slices.IndexFunc(concepts, func(c Concept) bool { return c.Keyword == keyword })
		return concepts[k].title()
	}
}

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

// structuredKeys are the lists of a structured summary, in the order in which
// they are shown.
var structuredKeys = []string{"topics", "entities", "decisions", "actions"}

var structuredTitles = [...]map[string]string{
	English: {"topics": "Topics", "entities": "Entities", "decisions": "Decisions", "actions": "Actions"},
	Chinese: {"topics": "主题", "entities": "实体", "decisions": "决定", "actions": "行动"},
}

// structured turns the JSON of an answer into text under headings.
func (s *session) structured(text string) (string, *RejectedError) {
	r := newListReader(text)
	l, rej := r.lists("answer", structuredKeys)
	if rej == nil {
		rej = r.end()
	}
	if rej != nil {
		return "", rej
	}
	out := l.write(structuredKeys, func(key string) string { return "## " + structuredTitles[s.Language][key] })
	if out == "" {
		return "", reject(Empty, "all lists are empty")
	}
	return out, nil
}

package modelwriter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Concept is a subject of which the facts are wanted.
type Concept struct {
	Keyword     string // one line, unique
	Description string // one line, or ""
	Many        bool   // there may be several facts; otherwise the newest counts
}

func (c Concept) title() string {
	if c.Description == "" {
		return "## KNOWN FACTS ABOUT " + c.Keyword
	}
	return "## KNOWN FACTS ABOUT " + c.Keyword + " (" + c.Description + ")"
}

// Facts asks for what the messages and the earlier summary contain about concepts. The
// text has a section for each concept with facts, and a line for each fact. Facts are
// always asked for with a record; Structured, Task and Sections are not used.
//
// Errors are those of [Write]. If there is no fact about any concept, [ReasonOf] the
// error is [Nothing].
func Facts(ctx context.Context, r Request, concepts []Concept) (Summary, error) {
	if r.Writer.Model == nil {
		r.Writer = r.Main
	}
	r.Main, r.Structured, r.Writer.Task, r.Writer.Sections = Author{}, false, "", []string{}
	s := newSession(r, concepts)
	found, err := s.search(ctx)
	if err != nil {
		return s.close("", err)
	}
	answer := s.factLines(found)
	l := s.limitsOf(s.Writer, task{kind: whole}, s.capacity.accepted, 0)
	var rejected *RejectedError
	if answer == "" {
		rejected = reject(Nothing, "about %q", s.keywords())
	} else if rejected = l.form(answer); rejected == nil {
		rejected = l.length(answer)
	}
	if rejected != nil {
		return s.close("", rejected)
	}
	return s.close(answer, nil)
}

// search reads the record, and the facts in its parts again if they are too long
// together.
func (s *session) search(ctx context.Context) (lists, error) {
	if s.room < leastRoom {
		return nil, s.tooSmall()
	}
	units := record(s.Folded)
	if s.Earlier != "" {
		units = append([]unit{{{earlierHead, s.Earlier}}}, units...)
	}
	for {
		answers, err := s.readAll(ctx, task{kind: facts}, s.cutter.pieces(units, s.roomNow()))
		if err != nil {
			return nil, err
		}
		found, err := s.join(answers)
		if err != nil {
			return nil, err
		}
		if len(answers) == 1 || s.fitsLimit(found) {
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

// join joins the facts of all parts, in the order of the record.
func (s *session) join(answers []string) (lists, error) {
	found := lists{}
	for _, a := range answers {
		var l lists
		if err := json.Unmarshal([]byte(a), &l); err != nil {
			return nil, fmt.Errorf("summarize: read facts: %w", err)
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

func (s *session) keywords() []string {
	var all []string
	for _, c := range s.concepts {
		all = append(all, c.Keyword)
	}
	return all
}

func (s *session) factLines(l lists) string {
	var titles []string
	for _, c := range s.concepts {
		titles = append(titles, c.title())
	}
	return l.lines(s.keywords(), titles)
}

func (s *session) fitsLimit(l lists) bool {
	return s.cutter.count(s.factLines(l)) <= s.capacity.accepted
}

// facts checks {"facts": {keyword: [text, …], …}}, and returns the inner object.
func (s *session) facts(answer string) (string, *RejectedError) {
	var outer struct {
		Facts json.RawMessage `json:"facts"`
	}
	dec := json.NewDecoder(strings.NewReader(withoutFence(answer)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&outer); err != nil {
		return "", reject(Malformed, "%v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", reject(Malformed, "there is more after the JSON")
	}
	l, r := readLists(string(outer.Facts), s.keywords())
	if r != nil {
		return "", r
	}
	for _, c := range s.concepts {
		if n := len(l[c.Keyword]); n > 1 && !c.Many {
			return "", reject(Malformed, "%q has %d facts, want one at most", c.Keyword, n)
		}
	}
	if !s.fitsLimit(l) {
		return "", reject(TooLong, "the facts have more than %d tokens", s.capacity.accepted)
	}
	inner, err := json.Marshal(l)
	if err != nil {
		return "", reject(Malformed, "%v", err)
	}
	return string(inner), nil
}

// lists are the texts of a JSON answer by key.
type lists map[string][]string

// readLists reads a JSON object that has exactly the given keys, each once, with lists
// of texts. White space in a text becomes single spaces, since each is one line.
func readLists(answer string, keys []string) (lists, *RejectedError) {
	dec := json.NewDecoder(strings.NewReader(answer))
	if t, err := dec.Token(); t != json.Delim('{') {
		return nil, reject(Malformed, "it is no JSON object (%v)", err)
	}
	out := lists{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		switch {
		case !ok:
			return nil, reject(Malformed, "%v", err)
		case !slices.Contains(keys, key):
			return nil, reject(Malformed, "%s is no key, want %q", word(key), keys)
		case out[key] != nil:
			return nil, reject(Malformed, "%q is there twice", key)
		}
		var items []*string
		if err := dec.Decode(&items); err != nil || items == nil {
			return nil, reject(Malformed, "%q is no list of texts (%v)", key, err)
		}
		out[key] = []string{}
		for i, item := range items {
			if item == nil || !visible(*item) || strings.ContainsRune(*item, 0) {
				return nil, reject(Malformed, "%q has no text at %d", key, i)
			}
			out[key] = append(out[key], strings.Join(strings.Fields(*item), " "))
		}
	}
	if _, err := dec.Token(); err != nil { // the end of the object
		return nil, reject(Malformed, "%v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, reject(Malformed, "there is more after the JSON")
	}
	for _, k := range keys {
		if out[k] == nil {
			return nil, reject(Malformed, "%q is missing", k)
		}
	}
	return out, nil
}

// lines returns lists under titles, without empty ones.
func (l lists) lines(keys, titles []string) string {
	var sections []string
	for i, k := range keys {
		if len(l[k]) > 0 {
			sections = append(sections, titles[i]+"\n- "+strings.Join(l[k], "\n- "))
		}
	}
	return strings.Join(sections, "\n\n")
}

// withoutFence removes a fence around the whole text.
func withoutFence(answer string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(answer), "```")
	if !ok {
		return answer
	}
	inner, ok = strings.CutSuffix(inner, "```")
	if _, rest, lines := strings.Cut(inner, "\n"); ok && lines {
		return strings.TrimSpace(rest)
	}
	return answer
}

// structured turns the JSON of a structured summary into text under headings.
func (s *session) structured(answer string) (string, *RejectedError) {
	titles := []string{"## Topics", "## Entities", "## Decisions", "## Actions"}
	if s.Language == text.Chinese {
		titles = []string{"## 主题", "## 实体", "## 决定", "## 行动"}
	}
	keys := []string{"topics", "entities", "decisions", "actions"}
	l, r := readLists(withoutFence(answer), keys)
	if r != nil {
		return "", r
	}
	if lines := l.lines(keys, titles); lines != "" {
		return lines, nil
	}
	return "", reject(Empty, "all lists are empty")
}

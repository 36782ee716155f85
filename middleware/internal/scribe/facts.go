package scribe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

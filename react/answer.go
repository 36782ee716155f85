package react

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// unnamed is the name of a call to which the model gave none. Providers refuse
// an empty one.
const unnamed = "unnamed"

// accept makes the model's answer fit for the history, in which it will have
// the position at. It also returns, by call id, what is wrong with arguments
// that are not a JSON object.
func accept(m message.Message, at int) (message.Message, map[string]error, error) {
	if m.Role != message.RoleAssistant {
		return m, nil, fmt.Errorf("role %q, want %q", m.Role, message.RoleAssistant)
	}
	m.Parts = slices.Clone(m.Parts)
	malformed := map[string]error{}
	ids := newIDs(m, at)
	for i, p := range m.Parts {
		c, ok := p.(message.ToolCall)
		if !ok {
			continue
		}
		c.ID = ids.next(c.ID)
		if c.Name == "" {
			c.Name = unnamed
		}
		var err error
		if c.Arguments, err = object(c.Arguments); err != nil {
			malformed[c.ID] = err
		}
		m.Parts[i] = c
	}
	if v := message.Content([]message.Message{m}, 0); len(v) > 0 {
		return m, nil, errors.New(describe(v[0]))
	}
	return m, malformed, nil
}

// describe says what a violation means in an answer.
func describe(v message.Violation) string {
	switch v.Rule {
	case message.EmptyMessage:
		return "it says nothing and calls nothing"
	case message.MisplacedPart:
		return "it holds a tool result, want text, thinking, media, calls or opaque parts"
	case message.UnknownPart:
		return "it holds a part of unknown type, such as a pointer to one"
	default:
		return "it holds a " + string(v.Rule)
	}
}

// ids gives each call of an answer an id of its own.
type ids struct {
	at    int
	n     int             // calls so far
	taken map[string]bool // by the model, and true once in use
}

func newIDs(m message.Message, at int) *ids {
	s := &ids{at: at, taken: map[string]bool{"": true}}
	for c := range m.Calls() {
		if c.ID != "" {
			s.taken[c.ID] = false
		}
	}
	return s
}

// next returns the id, or another one if an earlier call has it or it is empty.
func (s *ids) next(id string) string {
	s.n++
	if s.taken[id] {
		id = fmt.Sprintf("call_%d_%d", s.at, s.n)
		for {
			if _, ok := s.taken[id]; !ok {
				break
			}
			id += "x"
		}
	}
	s.taken[id] = true
	return id
}

// object returns the arguments as a JSON object. No arguments are the empty
// object. What is not an object is put into one, where the model finds it
// again, and the error says what is wrong.
func object(arguments string) (string, error) {
	trimmed := strings.TrimSpace(arguments)
	if trimmed == "" || trimmed == "null" {
		return "{}", nil
	}
	var raw json.RawMessage
	err := json.Unmarshal([]byte(arguments), &raw)
	if err == nil {
		if strings.HasPrefix(trimmed, "{") {
			return arguments, nil
		}
		err = errors.New("another JSON value")
	}
	wrapped, _ := json.Marshal(map[string]string{"invalid_json": arguments}) //nolint:errchkjson // strings are always JSON
	return string(wrapped), fmt.Errorf("invalid arguments: want a JSON object: %w", err)
}

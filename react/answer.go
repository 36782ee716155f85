package react

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// unnamed is the name of a call without a name. Providers reject an empty one.
const unnamed = "unnamed"

// accept corrects the model's answer for the history, where it gets the position at. What is not UTF-8 becomes U+FFFD.
// It also returns, by call id, an error for arguments that are not a JSON object.
func accept(m message.Message, at int) (message.Message, map[string]error, error) {
	if m.Role != message.RoleAssistant {
		return m, nil, fmt.Errorf("role %q, want %q", m.Role, message.RoleAssistant)
	}
	m.Name, m.Parts = strings.ToValidUTF8(m.Name, "\ufffd"), slices.Clone(m.Parts)
	malformed := map[string]error{}
	unique := uniqueIDs(m, at)
	for i, p := range m.Parts {
		p = within.WithText(p)
		m.Parts[i] = p
		c, ok := p.(message.ToolCall)
		if !ok {
			continue
		}
		c.ID = unique(strings.ToValidUTF8(c.ID, "\ufffd"))
		if c.Name == "" {
			c.Name = unnamed
		}
		var err error
		c.Arguments, err = object(c.Arguments)
		if err != nil {
			malformed[c.ID] = err
		}
		m.Parts[i] = c
	}
	if v := within.Content(m); len(v) > 0 {
		return m, nil, errors.New(v[0].Rule)
	}
	return m, malformed, nil
}

// uniqueIDs returns a function that returns a call's id, or a new one if the id is
// empty or an earlier call has it.
func uniqueIDs(m message.Message, at int) func(string) string {
	used := map[string]bool{"": true} // the ids of the model, true after their first call
	for c := range m.Calls() {
		if c.ID != "" {
			used[c.ID] = false
		}
	}
	n := 0
	return func(id string) string {
		n++
		if used[id] {
			id = fmt.Sprintf("call_%d_%d", at, n)
			for _, exists := used[id]; exists; _, exists = used[id] {
				id += "x"
			}
		}
		used[id] = true
		return id
	}
}

// object returns the arguments as a JSON object. No arguments are the empty
// object. Anything else is put into an object as a string, so that the model can
// read it, and the error describes the problem.
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

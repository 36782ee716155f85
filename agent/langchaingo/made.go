package langchaingo

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// argument is the one argument that the agents of langchaingo give every tool.
// They put the bare value back into the conversation in place of the JSON.
const argument = "__arg1"

// maxMade bounds what is remembered of the model's calls, in bytes.
const maxMade = 16 << 20

// made remembers the arguments that the model wrote, for when their bare value
// comes back. Ids repeat, so a call is found by id, tool and value, whatever
// conversation it is from. It is safe for concurrent use.
type made struct {
	limit int

	mu        sync.Mutex
	arguments map[written]string
	order     []written // oldest first
	bytes     int
}

// written is a call as an agent puts it back.
type written struct{ id, tool, value string }

func newMade(limit int) *made {
	return &made{limit: limit, arguments: map[written]string{}}
}

// remember keeps the calls of an answer. What restore finds without memory
// takes none.
func (m *made) remember(resp *llms.ContentResponse) {
	for _, choice := range resp.Choices {
		if choice == nil {
			continue
		}
		for _, c := range choice.ToolCalls {
			m.keep(c.ID, c.FunctionCall)
		}
		m.keep("", choice.FuncCall)
	}
}

func (m *made) keep(id string, f *llms.FunctionCall) {
	if f == nil {
		return
	}
	var fields map[string]any
	if json.Unmarshal([]byte(f.Arguments), &fields) != nil {
		return
	}
	value, ok := fields[argument].(string)
	if !ok {
		return
	}
	w := written{id, f.Name, value}
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.arguments[w]
	switch {
	case known && was == f.Arguments, !known && unremembered(value) == f.Arguments:
		return
	case known:
		m.bytes += len(f.Arguments) - len(was)
	default:
		m.bytes += w.size() + len(f.Arguments)
		m.order = append(m.order, w)
	}
	m.arguments[w] = f.Arguments
	for m.bytes > m.limit && len(m.order) > 0 {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.bytes -= oldest.size() + len(m.arguments[oldest])
		delete(m.arguments, oldest)
	}
}

func (w written) size() int { return len(w.id) + len(w.tool) + len(w.value) + 128 }

// restore returns the arguments that belong to a call.
func (m *made) restore(w written) string {
	if arguments, ok := m.find(w); ok {
		return arguments
	}
	return unremembered(w.value)
}

func (m *made) find(w written) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	arguments, ok := m.arguments[w]
	return arguments, ok
}

// means reports whether arguments are what restore returns, or another spelling
// of it.
func (m *made) means(arguments string, w written) bool {
	switch {
	case arguments == w.value:
		return true
	case w.value == "" && arguments == "{}":
		return true
	case !unwraps(arguments, w.value):
		return false
	case !isObject(w.value):
		return true
	}
	was, ok := m.find(w)
	return ok && was == arguments
}

// unremembered returns the arguments of a call of which nothing but the value
// is known.
func unremembered(value string) string {
	switch {
	case value == "":
		return "{}"
	case isObject(value):
		return value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{argument: value}); err != nil {
		return value // strings can always be encoded
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func isObject(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
		case '{':
			return json.Valid([]byte(s))
		default:
			return false
		}
	}
	return false
}

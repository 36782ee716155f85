package langchaingo

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// argument is the one argument that the agents of langchaingo give every tool.
// They put its bare value back into the conversation in place of the JSON.
const argument = "__arg1"

// maxCallMemory limits what is remembered of the model's calls, in bytes.
const maxCallMemory = 16 << 20

// callMemory remembers the arguments that the model wrote, for calls whose bare value
// comes back. Ids repeat, so a call is found by id, tool and value, in all
// conversations. It is safe for concurrent use.
type callMemory struct {
	limit int

	mu        sync.Mutex
	arguments map[bareCall]string
	order     []bareCall // oldest first
	bytes     int
}

// bareCall is a call as an agent puts it back.
type bareCall struct{ id, tool, value string }

func newCallMemory(limit int) *callMemory {
	return &callMemory{limit: limit, arguments: map[bareCall]string{}}
}

// rememberAll remembers the calls of an answer.
func (m *callMemory) rememberAll(resp *llms.ContentResponse) {
	for _, choice := range resp.Choices {
		if choice == nil {
			continue
		}
		for _, c := range choice.ToolCalls {
			m.remember(c.ID, c.FunctionCall)
		}
		m.remember("", choice.FuncCall)
	}
}

// remember keeps the arguments of a call, unless restore makes the same from the value.
func (m *callMemory) remember(id string, f *llms.FunctionCall) {
	if f == nil {
		return
	}
	value, ok := unwrap(f.Arguments)
	if !ok {
		return
	}
	c := bareCall{id, f.Name, value}
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.arguments[c]
	switch {
	case known && was == f.Arguments, !known && wrap(value) == f.Arguments:
		return
	case known:
		m.bytes += len(f.Arguments) - len(was)
	default:
		m.bytes += c.size() + len(f.Arguments)
		m.order = append(m.order, c)
	}
	m.arguments[c] = f.Arguments
	for m.bytes > m.limit && len(m.order) > 0 {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.bytes -= oldest.size() + len(m.arguments[oldest])
		delete(m.arguments, oldest)
	}
}

func (c bareCall) size() int { return len(c.id) + len(c.tool) + len(c.value) + 128 }

// restore returns the arguments of a call.
func (m *callMemory) restore(c bareCall) string {
	if arguments, ok := m.find(c); ok {
		return arguments
	}
	return wrap(c.value)
}

func (m *callMemory) find(c bareCall) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	arguments, ok := m.arguments[c]
	return arguments, ok
}

// means reports whether arguments are what restore returns, or another spelling of
// that. It is called for every call of every conversation.
func (m *callMemory) means(arguments string, c bareCall) bool {
	switch {
	case arguments == c.value, c.value == "" && arguments == "{}":
		return true
	case !isObject(c.value):
		return unwraps(arguments, c.value)
	}
	was, ok := m.find(c)
	return ok && was == arguments
}

// wrap returns the arguments of a call of which only the value is known.
func wrap(value string) string {
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

// unwrap returns the value in arguments.
func unwrap(arguments string) (value string, ok bool) {
	var fields map[string]any
	if json.Unmarshal([]byte(arguments), &fields) != nil {
		return "", false
	}
	value, ok = fields[argument].(string)
	return value, ok
}

// unwraps reports whether arguments have this value. If they are what wrap returns, it
// allocates nothing.
func unwraps(arguments, value string) bool {
	if quoted, ok := strings.CutPrefix(arguments, `{"`+argument+`":"`); ok && isQuoted(quoted, value) {
		return true
	}
	got, ok := unwrap(arguments)
	return ok && got == string([]rune(value)) // bytes that are not UTF-8 became U+FFFD
}

// isQuoted reports whether text is the value with the usual escapes, and the end of an
// object. It may be false for other escapes.
func isQuoted(text, value string) bool {
	const escaped, letters = "\"\\\n\r\t", `"\nrt`
	for {
		n := strings.IndexAny(value, escaped)
		if n < 0 {
			return text == value+`"}`
		}
		if !strings.HasPrefix(text, value[:n]) || len(text) < n+2 ||
			text[n] != '\\' || text[n+1] != letters[strings.IndexByte(escaped, value[n])] {
			return false
		}
		text, value = text[n+2:], value[n+1:]
	}
}

func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && json.Valid([]byte(s))
}

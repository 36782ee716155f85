package foreign

import (
	"strings"

	"github.com/laconic-go/laconic/message"
)

// matching maps the messages of one list to those of another that they come
// from.
type matching struct {
	same bool // they are one list
	to   []target
}

type target struct {
	at     int // -1: none
	edited bool
}

func (m matching) of(i int) (at int, edited bool) {
	if m.same {
		return i, false
	}
	return m.to[i].at, m.to[i].edited
}

// match finds the messages of one list in another, in order: first those that
// are equal, then those that carry the same calls or results. Middlewares that
// are no editors may have put others between them, or left some out.
func match(list, in []message.Message) matching {
	if len(list) == len(in) && (len(list) == 0 || &list[0] == &in[0]) {
		return matching{same: true}
	}
	m := matching{to: make([]target, len(list))}
	var where index
	next := 0
	for i := range list {
		if next < len(in) && list[i].Equal(in[next]) {
			m.to[i] = target{at: next}
			next++
			continue
		}
		if where == nil {
			where = newIndex(in, next)
		}
		m.to[i] = where.find(&list[i], next)
		next = max(next, m.to[i].at+1)
	}
	return m
}

// index has the positions of messages by what they say, and by the calls and
// results that they carry.
type index map[string][]int

func newIndex(msgs []message.Message, from int) index {
	x := index{}
	for i := from; i < len(msgs); i++ {
		for _, key := range keys(&msgs[i]) {
			x[key] = append(x[key], i)
		}
	}
	return x
}

func (x index) find(m *message.Message, from int) target {
	for k, key := range keys(m) {
		for _, at := range x[key] {
			if at >= from {
				return target{at: at, edited: k > 0}
			}
		}
	}
	return target{at: -1}
}

// keys returns under what a message is found, the best first.
func keys(m *message.Message) []string {
	all := []string{"=" + string(m.AppendContent(nil))}
	var ids strings.Builder
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			ids.WriteString("\x00c" + p.ID)
		case message.ToolResult:
			ids.WriteString("\x00r" + p.CallID)
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	if ids.Len() > 0 {
		all = append(all, string(m.Role)+ids.String())
	}
	return all
}

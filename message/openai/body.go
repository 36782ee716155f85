package openai

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// Body returns the JSON of a request with these messages and tools in place of those of the conversation, for example
// those that a chain made of them. A message or tool that is the same is written with the bytes that were read. In one
// that was edited, only the fields of the edited content change. The other fields of the request are kept, but without
// tools it has no fields tools, tool_choice and parallel_tool_calls: providers refuse them then. A list of messages
// becomes an object. &Conversation{Model: "gpt-4.1-mini"} writes a request that was not read.
//
// Edited messages are found by the IDs of their calls and results, or else by their place. A new tool is of type
// function. Errors are those of [New], with the position.
func (c *Conversation) Body(msgs []message.Message, tools []message.ToolDef) ([]byte, error) {
	items := make([]string, len(msgs))
	for i, at := range c.origins(msgs) {
		m, err := c.write(&msgs[i], at)
		if err != nil {
			return nil, fmt.Errorf("openai: %w", jsonedit.In(jsonedit.Place("messages", i), err))
		}
		items[i] = m
	}
	o := jsonedit.ParseObject(cmp.Or(c.raw, "[]"))
	if o.Raw[0] == '[' {
		list := o.Raw
		o = jsonedit.ParseObject("{}")
		if c.Model != "" {
			o = o.Set("model", jsonedit.Quote(c.Model))
		}
		o = o.Set("messages", list)
	}
	o, err := c.setTools(o.Set("messages", jsonedit.ParseList(o.Get("messages")).With(items)), tools)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return []byte(c.before + o.Raw + c.after), nil
}

// write returns the JSON of a message that was made from the one at a position; -1: it is new.
func (c *Conversation) write(m *message.Message, at int) (string, error) {
	if at < 0 {
		return write(within.JoinTexts(*m))
	}
	from := c.Messages[at]
	if from.content.Equal(*m) {
		return from.raw, nil
	}
	return from.edit(within.JoinTexts(*m))
}

// setTools sets the definitions of tools, or removes the fields about them.
func (c *Conversation) setTools(o jsonedit.Object, tools []message.ToolDef) (jsonedit.Object, error) {
	if len(tools) == 0 {
		return o.Remove("tools").Remove("tool_choice").Remove("parallel_tool_calls"), nil
	}
	l := jsonedit.List{Raw: "[]"}
	if raw := o.Get("tools"); !jsonedit.Absent(raw) {
		l = jsonedit.ParseList(raw)
	}
	items := make([]string, len(tools))
	for i, def := range tools {
		raw, was := `{"type":"function","function":{"name":""}}`, message.ToolDef{}
		at := slices.Index(c.Tools, def)
		if at < 0 {
			at = slices.IndexFunc(c.Tools, func(d message.ToolDef) bool { return d.Name == def.Name })
		}
		if at >= 0 {
			raw, was = l.Item(at), c.Tools[at]
		}
		var err error
		items[i], err = editTool(raw, was, def)
		if err != nil {
			return o, jsonedit.In(jsonedit.Place("tools", i), err)
		}
	}
	return o.Set("tools", l.With(items)), nil
}

// editTool returns the JSON of a definition with the fields changed that differ.
func editTool(raw string, was, now message.ToolDef) (string, error) {
	if was == now {
		return raw, nil
	}
	o, kind, body, err := readTyped(raw)
	if err != nil {
		return "", err
	}
	if was.Name != now.Name {
		body, err = body.SetText("name", now.Name)
		if err != nil {
			return "", jsonedit.In(kind, err)
		}
	}
	if was.Description != now.Description {
		body, err = body.SetOrRemove("description", now.Description)
		if err != nil {
			return "", jsonedit.In(kind, err)
		}
	}
	if was.Parameters != now.Parameters {
		body, err = body.SetRaw(schemas[kind], now.Parameters)
		if err != nil {
			return "", jsonedit.In(kind, err)
		}
	}
	return o.Set(kind, body.Raw).Raw, nil
}

// origins returns, for each message, the position in the conversation of the one that it was made from, or -1.
func (c *Conversation) origins(msgs []message.Message) []int {
	like := map[string][]int{} // by key, increasing
	for i := range c.Messages {
		k := key(&c.Messages[i].content)
		like[k] = append(like[k], i)
	}
	from := make([]int, len(msgs))
	next, begin := 0, 0 // in the conversation and in msgs: after those that are found
	for i := range msgs {
		least := next
		for msgs[i].Role == message.RoleTool && least > 0 && c.Messages[least-1].content.Role == message.RoleTool {
			least-- // the results of a round may be in another order
		}
		k := key(&msgs[i])
		from[i] = c.first(like[k], least, &msgs[i])
		if from[i] < 0 {
			continue
		}
		like[k] = slices.DeleteFunc(like[k], func(at int) bool { return at == from[i] })
		c.pair(msgs[begin:i], from[begin:i], next, from[i])
		next, begin = max(next, from[i]+1), i+1
	}
	c.pair(msgs[begin:], from[begin:], next, len(c.Messages))
	return from
}

// first returns the first of some positions from least on that has an equal message, or else the same IDs, or -1.
func (c *Conversation) first(of []int, least int, m *message.Message) int {
	similar := -1
	for _, at := range of {
		switch {
		case at < least:
		case c.Messages[at].content.Equal(*m):
			return at
		case similar < 0 && hasIDs(m):
			similar = at
		}
	}
	return similar
}

// pair takes messages that were not found for edits of those at positions from first to before end, if these are as
// many and have the same roles.
func (c *Conversation) pair(msgs []message.Message, from []int, first, end int) {
	same := len(msgs) == end-first
	for i := range msgs {
		same = same && c.Messages[first+i].content.Role == msgs[i].Role
	}
	for i := range msgs {
		if same {
			from[i] = first + i
		}
	}
}

func hasIDs(m *message.Message) bool { return m.Role == message.RoleTool || m.HasCalls() }

// key has the role and the IDs of calls and results of a message, or else its text.
func key(m *message.Message) string {
	k := []string{string(m.Role)}
	if !hasIDs(m) {
		return string(m.Role) + m.Text()
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			k = append(k, p.ID)
		case message.ToolResult:
			k = append(k, p.CallID)
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	return strings.Join(slices.Compact(k), "\x00")
}

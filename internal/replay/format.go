package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
)

// conversations returns the conversations of a JSON value: one, a list of its messages, or a list of several.
func conversations(value []byte) (all []*Conversation, err error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		c, err := conversation(value)
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	}
	if len(list) == 0 {
		return nil, errors.New("is an empty list: want a conversation")
	}
	var first struct {
		Messages json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(list[0], &first)
	if first.Messages == nil {
		c, err := conversation([]byte(`{"messages":` + string(value) + `}`))
		if err != nil {
			return nil, err
		}
		return []*Conversation{c}, nil
	}
	var errs []error
	for i, v := range list {
		c, err := conversation(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("conversation %d of the list: %w", i, err))
			continue
		}
		if c.ID == "" && len(list) > 1 {
			c.ID = fmt.Sprintf("conversation %d of the list", i)
		}
		all = append(all, c)
	}
	return all, errors.Join(errs...)
}

// head has what is read of a conversation besides its messages.
type head struct {
	ID       string        `json:"id"`
	Messages []messageHead `json:"messages"`
}

type messageHead struct {
	Timestamp *time.Time        `json:"timestamp"`
	Calls     []json.RawMessage `json:"tool_calls"`
}

// conversation reads a conversation.
func conversation(value []byte) (*Conversation, error) {
	var h head
	_ = json.Unmarshal(value, &h) // of another format, there is no such head
	value, err := nested(value, h)
	if err != nil {
		return nil, err
	}
	t, err := transcript.Parse(value)
	if err != nil {
		return nil, err
	}
	c := &Conversation{ID: h.ID, Messages: slices.Clone(t.Body.Request().Messages), Tools: t.Body.Tools}
	for i, at := range t.Body.Values() {
		if at >= 0 && at < len(h.Messages) && h.Messages[at].Timestamp != nil {
			c.Messages[i].Time = *h.Messages[at].Timestamp
		}
	}
	if !slices.ContainsFunc(c.Messages, func(m message.Message) bool { return m.Role == message.RoleAssistant }) {
		return nil, errors.New("has no message of the assistant, so there is no call to replay")
	}
	return c, nil
}

// nested returns a conversation in the format of chat completions whose calls have the level function.
func nested(value []byte, h head) ([]byte, error) {
	if !slices.ContainsFunc(h.Messages, func(m messageHead) bool { return slices.ContainsFunc(m.Calls, isFlat) }) {
		return value, nil
	}
	_, object, _, err := jsonedit.Check(value)
	if err != nil {
		return nil, err
	}
	o := jsonedit.ParseObject(object)
	list := jsonedit.ParseList(o.Get("messages"))
	items := make([]string, list.Len())
	for i := range items {
		items[i] = list.Item(i)
		if len(h.Messages[i].Calls) == 0 {
			continue
		}
		var calls []string
		for _, c := range h.Messages[i].Calls {
			call := string(c)
			if isFlat(c) {
				id := jsonedit.Get(call, "id")
				call = `{"id":` + cmp.Or(id, "null") + `,"type":"function","function":` + call + "}"
			}
			calls = append(calls, call)
		}
		items[i] = jsonedit.ParseObject(items[i]).Set("tool_calls", "["+strings.Join(calls, ",")+"]").Raw
	}
	return []byte(o.Set("messages", list.With(items)).Raw), nil
}

// isFlat reports whether a call has its name and arguments without the level function.
func isFlat(call json.RawMessage) bool {
	var f struct {
		Name     json.RawMessage `json:"name"`
		Function json.RawMessage `json:"function"`
	}
	return json.Unmarshal(call, &f) == nil && f.Name != nil && f.Function == nil
}

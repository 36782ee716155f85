package guarantee

import (
	"encoding/json"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// parts checks what was sent part by part: thinking, media and opaque parts are
// those of the history and none of them twice; so are the calls and the results
// of a history that there was nothing to mend in.
func (l *ledger) parts() {
	had := map[message.Part]int{}
	for _, m := range l.call.History {
		for _, p := range m.Parts {
			for _, k := range l.keys(p) {
				had[k]++
			}
		}
	}
	for i, m := range l.call.Sent {
		for _, p := range m.Parts {
			for _, k := range l.keys(p) {
				had[k]--
				if had[k] < 0 {
					l.notef(guaranteeOf(k), "message %d has %s, which the history has not, or not so often", i, showPart(p))
				}
			}
			if c, ok := p.(message.ToolCall); ok && !isObject(c.Arguments) {
				l.notef(Paired, "message %d: the arguments of call %q are no JSON object: %s", i, c.ID, short(c.Arguments))
			}
		}
	}
	l.newestThinking()
}

// keys returns what must not change about a part, as parts that can be
// compared.
func (l *ledger) keys(p message.Part) []message.Part {
	switch p := p.(type) {
	case message.Thinking, message.Media, message.Opaque:
		return []message.Part{p}
	case message.ToolCall:
		if l.sound {
			return []message.Part{message.ToolCall{ID: p.ID, Name: p.Name}}
		}
	case message.ToolResult:
		var keys []message.Part
		if p.Content != nil {
			keys = l.keys(p.Content)
		}
		if l.sound {
			keys = append(keys, message.ToolResult{CallID: p.CallID, Name: p.Name, Error: p.Error})
		}
		return keys
	case message.Text:
	}
	return nil
}

func guaranteeOf(key message.Part) Guarantee {
	switch key.(type) {
	case message.ToolCall, message.ToolResult:
		return Paired
	case message.Text, message.Thinking, message.Media, message.Opaque:
	}
	return Verbatim
}

func isObject(s string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &o) == nil && o != nil
}

// newestThinking checks that messages of the newest turn have all the thinking
// that they had: providers want it back as it was.
func (l *ledger) newestThinking() {
	c := l.call
	if c.View == nil || !l.sound {
		return
	}
	turn := -1
	for i, m := range c.History {
		if isQuestion(m) {
			turn = i
		}
	}
	for i, m := range c.Sent {
		s := c.View.Span(i)
		if s.Len() != 1 || s.First <= turn || s.Edit != nil && s.Edit.Kind != middleware.Rewrite {
			continue
		}
		if was := thoughts(c.History[s.First]); !slices.Equal(was, thoughts(m)) {
			l.notef(Verbatim, "message %d is of the newest turn and has lost thinking: %s", i, Show(c.History[s.First:s.First+1]))
		}
	}
}

func thoughts(m message.Message) []message.Thinking {
	var out []message.Thinking
	for _, p := range m.Parts {
		if t, ok := p.(message.Thinking); ok {
			out = append(out, t)
		}
	}
	return out
}

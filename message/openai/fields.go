package openai

import (
	"slices"

	"github.com/laconic-go/laconic/internal/jsonedit"
	"github.com/laconic-go/laconic/message"
)

// fields is the content of a message by the fields of the format.
type fields struct {
	name     string // of the speaker, or of the tool
	callID   string // of a tool message
	thinks   bool   // there is thinking, which may be empty
	thinking string
	content  []message.Part // of a tool message: the content of the results
	refusal  string         // JSON
	audio    string         // JSON
	calls    []message.Part

	last int // rank of the last part
}

// The kinds of opaque parts that have fields of their own.
const (
	refusalField = "refusal_field"
	audioField   = "audio_field"
	callField    = "tool_calls:" // followed by the type of the call
)

// The order of the parts of a message in the format.
const (
	thinkingRank = iota + 1
	contentRank
	extraRank
	callRank
)

// fieldsOf assigns the parts of a message to fields.
func fieldsOf(m message.Message) (fields, error) {
	f := fields{name: m.Name}
	for i, p := range m.Parts {
		err := f.add(p)
		if _, result := p.(message.ToolResult); err == nil && result != (m.Role == message.RoleTool) {
			err = jsonedit.Faultf("", "is %T in a message of role %s, want results in messages of role tool, and nothing else there",
				p, m.Role)
		}
		if err == nil && f.last == callRank && m.Role != message.RoleAssistant {
			err = jsonedit.Faultf("", "is a tool call in a message of role %s, want calls in messages of role assistant", m.Role)
		}
		if err != nil {
			return f, jsonedit.In(jsonedit.Place("parts", i), err)
		}
	}
	if m.Role == message.RoleTool && len(m.Parts) == 0 {
		return f, jsonedit.Faultf("", "has no result, want one in a message of role tool")
	}
	return f, nil
}

func (f *fields) add(p message.Part) error {
	switch p := p.(type) {
	case message.Thinking:
		if p.Signature != "" || f.thinks {
			return jsonedit.Faultf("", "is thinking that is encrypted or in several pieces, which the format does not have")
		}
		f.thinks, f.thinking = true, p.Text
		return f.rank(thinkingRank)
	case message.Text, message.Media:
		f.content = append(f.content, p)
		return f.rank(contentRank)
	case message.Opaque:
		return f.addOpaque(p)
	case message.ToolResult:
		return f.addResult(p)
	case message.ToolCall:
		f.calls = append(f.calls, p)
		return f.rank(callRank)
	}
	return jsonedit.Faultf("", "is %T, want one of the six types of parts", p)
}

func (f *fields) addOpaque(p message.Opaque) error {
	switch {
	case p.Kind == refusalField:
		f.refusal = p.Data
		return f.rank(extraRank)
	case p.Kind == audioField:
		f.audio = p.Data
		return f.rank(extraRank)
	case isCall(p):
		f.calls = append(f.calls, p)
		return f.rank(callRank)
	}
	f.content = append(f.content, p)
	return f.rank(contentRank)
}

func (f *fields) addResult(r message.ToolResult) error {
	switch {
	case f.last != 0 && r.CallID != f.callID:
		return jsonedit.Faultf("", "is the result of call %q after one of call %q, want a message for each", r.CallID, f.callID)
	case r.Content != nil && r.Text != "":
		return jsonedit.Faultf("", "has text and other content, want one of them")
	case r.Content != nil:
		f.content = append(f.content, r.Content)
	default:
		f.content = append(f.content, message.Text{Text: r.Text})
	}
	f.name, f.callID = r.Name, r.CallID
	return f.rank(contentRank)
}

// rank returns an error for parts in an order that the format does not have.
func (f *fields) rank(r int) error {
	if r < f.last {
		return jsonedit.Faultf("", "is out of order, want thinking, then content, then tool calls")
	}
	f.last = r
	return nil
}

// write returns the JSON of a new message.
func write(m message.Message) (string, error) {
	f, err := fieldsOf(m)
	if err != nil {
		return "", err
	}
	o := jsonedit.ParseObject("{}")
	switch m.Role {
	case message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool:
		o = o.Set("role", jsonedit.Quote(string(m.Role)))
	default:
		return "", jsonedit.Faultf("role", "is %q, want system, user, assistant or tool", m.Role)
	}
	var old fields
	if m.Role == message.RoleTool {
		old.name = f.name // the call has it
		o, err = o.SetText("tool_call_id", f.callID)
		if err != nil {
			return "", err
		}
		old.callID = f.callID
	}
	content := `""`
	switch {
	case len(f.content) > 0:
		content, err = writeContent(f.content)
		if err != nil {
			return "", jsonedit.In("content", err)
		}
	case m.Role == message.RoleAssistant:
		content = "null"
	}
	old.content = f.content
	return edit(o.Set("content", content), old, f)
}

// edit returns the JSON with other content.
func (m Message) edit(content message.Message) (string, error) {
	if content.Role != m.content.Role {
		return "", jsonedit.Faultf("role", "is %q and was %q, want the same", content.Role, m.content.Role)
	}
	old, err := fieldsOf(m.content)
	if err != nil {
		return "", err
	}
	now, err := fieldsOf(content)
	if err != nil {
		return "", err
	}
	return edit(jsonedit.ParseObject(m.raw), old, now)
}

// edit returns the JSON of an object with the fields changed that differ.
func edit(o jsonedit.Object, old, now fields) (string, error) {
	var err error
	for _, field := range []struct {
		name, old, now string
		set            func(o jsonedit.Object, name, now string) (jsonedit.Object, error)
	}{
		{"name", old.name, now.name, jsonedit.Object.SetOrRemove},
		{"tool_call_id", old.callID, now.callID, jsonedit.Object.SetText},
		{"refusal", old.refusal, now.refusal, jsonedit.Object.SetRaw},
		{"audio", old.audio, now.audio, jsonedit.Object.SetRaw},
	} {
		if field.old == field.now {
			continue
		}
		o, err = field.set(o, field.name, field.now)
		if err != nil {
			return "", err
		}
	}
	switch {
	case old.thinks && !now.thinks:
		o = o.Remove("reasoning_content")
	case old.thinks != now.thinks || old.thinking != now.thinking:
		o = o.Set("reasoning_content", jsonedit.Quote(now.thinking)) // servers that demand thinking accept an empty one
	}
	if !slices.Equal(old.content, now.content) {
		content, err := editContent(o.Get("content"), old.content, now.content)
		if err != nil {
			return "", jsonedit.In("content", err)
		}
		o = o.Set("content", content)
	}
	if !slices.Equal(old.calls, now.calls) {
		o, err = editCalls(o, old.calls, now.calls)
		if err != nil {
			return "", jsonedit.In("tool_calls", err)
		}
	}
	return o.Raw, nil
}

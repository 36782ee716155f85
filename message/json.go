package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// MarshalJSON writes the message for storage. Nothing is lost: signatures,
// opaque parts, hints and usage are kept, and a string that is not valid UTF-8
// becomes {"base64": …}. It is not the wire format of a provider. A nil part
// is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON{Role: raw(m.Role), Name: raw(m.Name), Usage: m.Usage}
	if !m.Time.IsZero() {
		out.Time = &m.Time
	}
	if m.Hints != (Hints{}) {
		out.Hints = &m.Hints
	}
	for i, p := range m.Parts {
		j, err := partToJSON(p)
		if err != nil {
			return nil, fmt.Errorf("message: part %d: %w", i, err)
		}
		out.Parts = append(out.Parts, *j)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what [Message.MarshalJSON] wrote. A part of unknown type
// and an unknown field are errors, since leaving them out would lose them.
func (m *Message) UnmarshalJSON(data []byte) error {
	var in messageJSON
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	out := Message{Role: Role(in.Role), Name: string(in.Name), Usage: in.Usage}
	if in.Time != nil {
		out.Time = *in.Time
	}
	if in.Hints != nil {
		out.Hints = *in.Hints
	}
	for i := range in.Parts {
		p, err := in.Parts[i].part()
		if err != nil {
			return fmt.Errorf("message: part %d: %w", i, err)
		}
		out.Parts = append(out.Parts, p)
	}
	*m = out
	return nil
}

type messageJSON struct {
	Role  raw        `json:"role"`
	Name  raw        `json:"name,omitempty"`
	Parts []partJSON `json:"parts,omitempty"`
	Time  *time.Time `json:"time,omitempty"`
	Usage *Usage     `json:"usage,omitempty"`
	Hints *Hints     `json:"hints,omitempty"`
}

// partJSON is a part of any type; Type says which fields count.
type partJSON struct {
	Type      string    `json:"type"`
	ID        raw       `json:"id,omitempty"`
	Name      raw       `json:"name,omitempty"`
	Arguments raw       `json:"arguments,omitempty"`
	Text      raw       `json:"text,omitempty"`
	Signature raw       `json:"signature,omitempty"`
	Mime      raw       `json:"mime,omitempty"`
	URL       raw       `json:"url,omitempty"`
	Data      raw       `json:"data,omitempty"`
	Kind      raw       `json:"kind,omitempty"`
	Error     bool      `json:"error,omitempty"`
	Content   *partJSON `json:"content,omitempty"`
}

func partToJSON(p Part) (*partJSON, error) {
	switch p := p.(type) {
	case nil:
		return nil, errors.New("nil, want a part")
	case Text:
		return &partJSON{Type: "text", Text: raw(p.Text)}, nil
	case Thinking:
		return &partJSON{Type: "thinking", Text: raw(p.Text), Signature: raw(p.Signature)}, nil
	case Media:
		return &partJSON{Type: "media", Mime: raw(p.Type), URL: raw(p.URL), Data: raw(p.Data), Name: raw(p.Name)}, nil
	case ToolCall:
		return &partJSON{Type: "call", ID: raw(p.ID), Name: raw(p.Name), Arguments: raw(p.Arguments)}, nil
	case ToolResult:
		j := &partJSON{Type: "result", ID: raw(p.CallID), Name: raw(p.Name), Text: raw(p.Text), Error: p.Error}
		if p.Content == nil {
			return j, nil
		}
		content, err := partToJSON(p.Content)
		j.Content = content
		return j, err
	case Opaque:
		return &partJSON{Type: "opaque", Kind: raw(p.Kind), Data: raw(p.Data)}, nil
	default:
		return nil, fmt.Errorf("unknown part %T", p)
	}
}

func (j *partJSON) part() (Part, error) {
	switch j.Type {
	case "text":
		return Text{string(j.Text)}, nil
	case "thinking":
		return Thinking{Text: string(j.Text), Signature: string(j.Signature)}, nil
	case "media":
		return Media{Type: string(j.Mime), URL: string(j.URL), Data: string(j.Data), Name: string(j.Name)}, nil
	case "call":
		return ToolCall{ID: string(j.ID), Name: string(j.Name), Arguments: string(j.Arguments)}, nil
	case "result":
		r := ToolResult{CallID: string(j.ID), Name: string(j.Name), Text: string(j.Text), Error: j.Error}
		if j.Content == nil {
			return r, nil
		}
		content, err := j.Content.part()
		r.Content = content
		return r, err
	case "opaque":
		return Opaque{Kind: string(j.Kind), Data: string(j.Data)}, nil
	}
	return nil, fmt.Errorf("type %q, want text, thinking, media, call, result or opaque", j.Type)
}

// raw is a string that survives JSON even if it is not valid UTF-8, which
// encoding/json would repair.
type raw string

func (r raw) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(r)) {
		return json.Marshal(string(r))
	}
	return json.Marshal(rawBytes{Base64: []byte(r)})
}

func (r *raw) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '{' {
		return json.Unmarshal(data, (*string)(r))
	}
	var b rawBytes
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	*r = raw(b.Base64)
	return nil
}

type rawBytes struct {
	Base64 []byte `json:"base64"`
}

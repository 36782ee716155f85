package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// MarshalJSON returns the message as JSON for storage. It keeps signatures, opaque parts,
// hints and usage; a string that is not valid UTF-8 becomes {"base64": …}. It keeps the
// time with the offset of its zone, but not the name of the zone. It is not the format of
// a provider. A nil part is an error.
func (m Message) MarshalJSON() ([]byte, error) {
	out := messageJSON{Role: raw(m.Role), Name: raw(m.Name), Usage: m.Usage}
	if !m.Time.IsZero() {
		out.Time = storable(m.Time)
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

// storable returns the time in a zone that RFC 3339 can represent: offsets in it have no
// seconds.
func storable(t time.Time) *time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return &t
}

// UnmarshalJSON reads the output of [Message.MarshalJSON]. A part of unknown type, an
// unknown field, and a field of another type of part are errors, since ignoring them
// would lose data.
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

// partJSON is a part of any type; which fields are used depends on Type.
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
		var err error
		if p.Content != nil {
			j.Content, err = partToJSON(p.Content)
			if err != nil {
				return nil, fmt.Errorf("content: %w", err)
			}
		}
		return j, nil
	case Opaque:
		return &partJSON{Type: "opaque", Kind: raw(p.Kind), Data: raw(p.Data)}, nil
	default:
		return nil, fmt.Errorf("%T is not a part, want one of the six types", p)
	}
}

// part returns the part in j. It is an error if j has other fields.
func (j *partJSON) part() (p Part, err error) {
	switch j.Type {
	case "text":
		p = Text{string(j.Text)}
	case "thinking":
		p = Thinking{Text: string(j.Text), Signature: string(j.Signature)}
	case "media":
		p = Media{Type: string(j.Mime), URL: string(j.URL), Data: string(j.Data), Name: string(j.Name)}
	case "call":
		p = ToolCall{ID: string(j.ID), Name: string(j.Name), Arguments: string(j.Arguments)}
	case "result":
		p = ToolResult{CallID: string(j.ID), Name: string(j.Name), Text: string(j.Text), Error: j.Error}
	case "opaque":
		p = Opaque{Kind: string(j.Kind), Data: string(j.Data)}
	default:
		return nil, fmt.Errorf("type %q, want text, thinking, media, call, result or opaque", j.Type)
	}
	same, err := partToJSON(p)
	if err != nil {
		return nil, err
	}
	r, isResult := p.(ToolResult)
	if isResult {
		same.Content = j.Content
	}
	if *same != *j {
		return nil, fmt.Errorf("type %q has a field of another type of part", j.Type)
	}
	if j.Content == nil {
		return p, nil
	}
	r.Content, err = j.Content.part()
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	return r, nil
}

// raw is a string that JSON keeps unchanged even if it is not valid UTF-8, which
// encoding/json would replace.
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
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return err
	}
	if b.Base64 == nil {
		return errors.New(`want a string or {"base64": …}`)
	}
	*r = raw(b.Base64)
	return nil
}

type rawBytes struct {
	Base64 []byte `json:"base64"`
}

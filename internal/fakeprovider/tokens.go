package fakeprovider

import (
	"bytes"
	"encoding/json"
)

const (
	perMessage = 4
	perRequest = 3
	perImage   = 1600
)

// Tokens is how long a request is, by the server's own count: one token for
// four bytes, rounded up for each message and for the declarations.
type Tokens struct {
	Messages int // 3, and for each message 4 and its bytes; an image is 1,600 whatever its size
	Tools    int // the compact JSON of tools, functions and response_format
}

// Total returns the sum.
func (t Tokens) Total() int { return t.Messages + t.Tools }

// CountText returns the tokens of a text: its bytes divided by four, rounded up.
func CountText(s string) int { return (len(s) + 3) / 4 }

// Tokens counts the request. What is not counted is what the provider does not
// put before the model: names of fields, sampling options, metadata.
func (r *Request) Tokens() Tokens {
	t := Tokens{Messages: perRequest, Tools: CountText(r.declarations())}
	for _, m := range r.Messages {
		t.Messages += m.Tokens()
	}
	return t
}

// Tokens counts one message: 4, 1,600 for each image, and a token for each
// four bytes of role, name, texts, reasoning, sound and files, calls (id, name,
// arguments) and the id that a result answers.
func (m Message) Tokens() int {
	n := len(m.Role) + len(m.Name) + len(m.CallID) + len(m.Reasoning)
	images := 0
	for _, p := range m.Parts {
		if p.Type == "image_url" {
			images++
			continue
		}
		n += len(p.Text) + len(p.Data)
	}
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return perMessage + images*perImage + (n+3)/4
}

// declarations returns what stands before the messages, as compact JSON.
func (r *Request) declarations() string {
	var b bytes.Buffer
	for _, name := range []string{"tools", "functions", "response_format"} {
		raw, ok := r.Fields[name]
		if !ok || kindOf(raw) == "null" {
			continue
		}
		if json.Compact(&b, raw) != nil {
			b.Write(raw)
		}
	}
	return b.String()
}

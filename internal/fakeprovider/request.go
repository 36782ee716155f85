package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Request is a request as the server read it. It is shared by the server's
// record and the brain: nobody changes it.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []Tool // from tools or from functions
	Legacy       bool   // functions were given in place of tools, so a call is answered as function_call
	Choice       string // "": not given; none, auto, required, or the name of a tool
	Stream       bool
	IncludeUsage bool // of stream_options
	MaxTokens    int  // max_tokens or max_completion_tokens; 0: not given
	// Fields are all top-level fields as they were sent.
	Fields map[string]json.RawMessage
}

// Parse reads the body of a request. An error is an [*Error] of status 400:
// no JSON, an unknown or missing field, a wrong type. What the messages owe one
// another is left to [Request.Check].
func Parse(body []byte) (*Request, error) {
	if !utf8.Valid(body) {
		return nil, unreadable(errors.New("it is not UTF-8"))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		if err == nil {
			err = errors.New("it is null")
		}
		return nil, unreadable(err)
	}
	o := object{fields: fields}
	if !o.has("model") {
		return nil, invalid("", "", "you must provide a model parameter")
	}
	if !o.has("messages") {
		return nil, missing("messages")
	}
	if err := checkParams(o); err != nil {
		return nil, err
	}
	r := &Request{Fields: fields, Stream: string(fields["stream"]) == "true"}
	for _, read := range []func(object) error{r.readModel, r.readMessages, r.readTools, r.readChoice, r.readStreamOptions} {
		if err := read(o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Request) readModel(o object) (err error) {
	if r.Model, err = o.text("model"); err != nil {
		return err
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if !o.has(name) {
			continue
		}
		if err := json.Unmarshal(o.fields[name], &r.MaxTokens); err != nil {
			return wrongType(name, "an integer", "another number")
		}
	}
	return nil
}

func (r *Request) readMessages(o object) error {
	all, err := o.list("messages")
	if err != nil {
		return err
	}
	r.Messages = make([]Message, len(all))
	for i, raw := range all {
		if r.Messages[i], err = readMessage(raw, index("messages", i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) readStreamOptions(o object) error {
	if !o.has("stream_options") {
		return nil
	}
	so, err := readObject(o.fields["stream_options"], "stream_options", "include_usage", "include_obfuscation")
	if err != nil {
		return err
	}
	for name, raw := range so.fields {
		if got := kindOf(raw); got != "a boolean" && got != "null" {
			return wrongType(so.at(name), "a boolean", got)
		}
	}
	r.IncludeUsage = string(so.fields["include_usage"]) == "true"
	return nil
}

// Tool returns the declaration of a tool, or nil.
func (r *Request) Tool(name string) *Tool {
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return &r.Tools[i]
		}
	}
	return nil
}

// String shows a request as a test's failure text wants it: one line a message.
func (r *Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s, %d tools, %d tokens\n", r.Model, len(r.Tools), r.Tokens().Total())
	for i, m := range r.Messages {
		fmt.Fprintf(&b, "%3d %s %q", i, m.Role, m.Text())
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %s=%s(%s)", c.ID, c.Name, c.Arguments)
		}
		if m.CallID != "" {
			fmt.Fprintf(&b, " to %s", m.CallID)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Package transcript reads conversations from files: requests of OpenAI's chat completions and Responses, of Anthropic's
// Messages, of Gemini and of Ollama, lists of such messages, and sessions of Claude Code.
//
//	t, err := transcript.Parse(data)
//	req, _, err := middleware.Apply(ctx, chain, t.Body.Request())
//	out, err := t.Body.Encode(req)
package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/jsonedit"
)

// Transcript is a conversation that was read.
type Transcript struct {
	Body    *codec.Body
	Session bool // a session of Claude Code, whose conversation is a request of Messages

	text string // of the request
}

// Recognised reports whether a text is a conversation, valid or not, in a format that this package knows.
func Recognised(data []byte) bool { return detect(data) != "" }

// InSession reports whether a JSON value is a line of a session of Claude Code. The lines of a session are parsed together.
func InSession(value []byte) bool { return formatOf(value) == session }

// Parse reads a conversation. A list of messages is a request with these messages. An error names what is wrong and where,
// or a format that is not read.
func Parse(data []byte) (*Transcript, error) {
	name := detect(data)
	f, err := readable(name)
	if err != nil {
		return nil, err
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	t := &Transcript{Session: name == session}
	if t.Session {
		f = codec.Messages
		if text, err = sessionBody(data); err != nil {
			return nil, err
		}
	}
	before, value, after, err := jsonedit.Check([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case strings.HasPrefix(value, "["):
		text = before + `{"` + f.List() + `":` + value + "}" + after
	case !strings.HasPrefix(value, "{") || jsonedit.Get(value, f.List()) == "":
		return nil, errors.New(`is no conversation: want {"messages": […]}, or {"input": …} or {"contents": […]} ` +
			`of the APIs that have these`)
	}
	t.text = text
	if t.Body, err = f.Decode([]byte(text)); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "codec: "+f.Name+": "))
	}
	return t, nil
}

// With returns a request with one more member, before which it may have had one of this name.
func With(request, name, value string) (string, error) {
	before, object, _, err := jsonedit.Check([]byte(request))
	if err != nil {
		return "", err
	}
	return before + jsonedit.ParseObject(object).Remove(name).Set(name, value).Raw, nil
}

// line is a line of a session. Lines without a message are about the session.
type line struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	Sidechain bool   `json:"isSidechain"`       //nolint:tagliatelle // of an agent that was started by this one
	Failed    bool   `json:"isApiErrorMessage"` //nolint:tagliatelle // as the sessions have it
	Message   *turn  `json:"message"`
}

// turn is a message. The pieces of an answer have a line each, with the same ID.
type turn struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
}

// sessionBody returns the conversation of a session as a request of Messages, from the newest compaction on.
func sessionBody(data []byte) (string, error) {
	var turns []turn
	var model string
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	for n := 1; dec.More(); n++ {
		var l line
		if err := dec.Decode(&l); err != nil {
			return "", fmt.Errorf("value %d: %w", n, err)
		}
		if l.Type == "system" && l.Subtype == "compact_boundary" {
			turns = nil
		}
		if l.Message == nil || l.Sidechain || l.Failed || l.Type != "user" && l.Type != "assistant" {
			continue
		}
		model = cmp.Or(l.Message.Model, model)
		turns = join(turns, *l.Message)
	}
	if len(turns) == 0 {
		return "", errors.New("is a session without messages")
	}
	messages := make([]string, len(turns))
	for i, t := range turns {
		messages[i] = `{"role":` + jsonedit.Quote(t.Role) + `,"content":` + string(t.Content) + "}"
	}
	return `{"model":` + jsonedit.Quote(model) + `,"messages":[` + strings.Join(messages, ",") + "]}", nil
}

// join adds a turn, or its content to the answer that it is a piece of.
func join(turns []turn, t turn) []turn {
	last := len(turns) - 1
	if last < 0 || t.ID == "" || turns[last].ID != t.ID || turns[last].Role != t.Role {
		return append(turns, t)
	}
	is, was := string(t.Content), string(turns[last].Content)
	if strings.HasPrefix(is, "[") && strings.HasPrefix(was, "[") {
		list := jsonedit.ParseList(is)
		all := jsonedit.ParseList(was)
		var items []string
		for i := range all.Len() {
			items = append(items, all.Item(i))
		}
		for i := range list.Len() {
			items = append(items, list.Item(i))
		}
		turns[last].Content = json.RawMessage("[" + strings.Join(items, ",") + "]")
		return turns
	}
	return append(turns, t)
}

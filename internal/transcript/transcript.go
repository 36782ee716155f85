// Package transcript reads conversations from files: requests of OpenAI's chat completions and Responses, of Anthropic's
// Messages, of Gemini and of Ollama, lists of such messages, and sessions of Claude Code, Codex, Gemini CLI and opencode.
//
//	t, err := transcript.Parse(data)
//	req, _, err := middleware.Apply(ctx, chain, t.Body.Request())
//	out, err := t.Body.Encode(req)
package transcript

import (
	"bytes"
	"errors"
	"strings"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/internal/jsonedit"
)

// Transcript is a conversation that was read.
type Transcript struct {
	Body    *codec.Body
	Session bool // of a coding agent: the request is made from its lines

	text string // of the request
}

// Recognised reports whether a text is a conversation, valid or not, in a format that this package knows.
func Recognised(data []byte) bool { return detect(data) != "" }

// InSession reports whether a JSON value is a line of a session of a coding agent. The lines of a session are parsed together.
func InSession(value []byte) bool { return sessions[formatOf(value)] != nil }

// Parse reads a conversation. A list of messages is a request with these messages. An error names what is wrong and where,
// or a format that is not read.
func Parse(data []byte) (*Transcript, error) {
	name := detect(data)
	f, err := readable(name)
	if err != nil {
		return nil, err
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	read := sessions[name]
	t := &Transcript{Session: read != nil}
	if t.Session {
		f, text, err = read(data)
		if err != nil {
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
	t.Body, err = f.Decode([]byte(text))
	if err != nil {
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

package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// Answer reads an HTTP answer of any format while it passes: one JSON value, a JSON array of a stream, server-sent events,
// or JSON lines. It keeps at most a line of a stream, or an answer that is not a stream. The zero value is for JSON.
type Answer struct {
	Stream bool // server-sent events or JSON lines

	Usage   message.Usage
	Stop    string // why the model stopped, as [middleware.Response]
	ID      string // of the answer
	Model   string // that has answered
	Refused string // the JSON of an error in the answer; "": none
	Cleared bool   // the provider says that it has cleared or compacted by itself, other than thinking

	// Dropped are the thinking blocks that the provider has left out of the request, as it was asked to:
	// "messages.1.content.0: prefix_binding_mismatch".
	Dropped []string

	buffer []byte // of a line, or of all
	event  []byte // the lines of an event that goes on
	lost   bool   // it is longer than what is kept
	cr     bool   // the last line ended with CR, so LF belongs to that
	depth  int    // of what is open in the JSON
	quoted bool   // within a string
	escape bool   // after a backslash
	called bool   // a message of Ollama has calls
	ended  bool
}

// longest is how many bytes of a line or of an answer are kept.
const longest = 8 << 20

// Ended reports whether the answer has ended, by its last frame or its last bracket.
func (a *Answer) Ended() bool { return a.ended }

// Write takes more bytes of the answer.
func (a *Answer) Write(p []byte) {
	if a.ended {
		return
	}
	if !a.Stream {
		a.keep(p)
		if a.close(p) {
			a.finish()
		}
		return
	}
	for len(p) > 0 && !a.ended {
		if a.cr && p[0] == '\n' {
			p, a.cr = p[1:], false
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if cr := bytes.IndexByte(p[:max(i, 0)], '\r'); cr >= 0 {
			i = cr
		} else if i < 0 {
			i = bytes.IndexByte(p, '\r') // some servers end lines so
		}
		if i < 0 {
			a.keep(p)
			return
		}
		a.keep(p[:i])
		a.line()
		p, a.cr = p[i+1:], p[i] == '\r'
	}
}

func (a *Answer) keep(p []byte) {
	a.lost = a.lost || len(a.buffer)+len(p) > longest
	if !a.lost {
		a.buffer = append(a.buffer, p...)
	}
}

// line reads a line of a stream.
func (a *Answer) line() {
	data, ok := bytes.CutPrefix(a.buffer, []byte("data:"))
	data = bytes.TrimSpace(data)
	ok = ok || len(data) > 0 && data[0] == '{' // a line of JSON
	switch {
	case !ok || a.lost || len(a.event) > longest:
		a.event = a.event[:0]
	case string(data) == "[DONE]":
		a.ended = true
	default:
		a.event = append(a.event, data...)
		if a.read(a.event) {
			a.event = a.event[:0]
		} // else it goes on in the next line
	}
	a.buffer, a.lost = a.buffer[:0], false
}

// close reports whether the JSON ends with these bytes.
func (a *Answer) close(p []byte) bool {
	for _, c := range p {
		switch {
		case a.escape:
			a.escape = false
		case a.quoted:
			a.escape, a.quoted = c == '\\', c != '"'
		case c == '"':
			a.quoted = true
		case c == '{' || c == '[':
			a.depth++
		case c == '}' || c == ']':
			a.depth--
			if a.depth <= 0 {
				return true
			}
		}
	}
	return false
}

// finish reads an answer that is not a stream.
func (a *Answer) finish() {
	a.ended = true
	data := bytes.TrimSpace(a.buffer)
	if a.lost || len(data) == 0 {
		return
	}
	if data[0] != '[' {
		a.read(data)
		return
	}
	for _, chunk := range list(string(data)) {
		a.read([]byte(chunk))
	}
}

// frame has the members of answers and frames of all formats.
type frame struct {
	Type          string          `json:"type"`
	ID            string          `json:"id"`
	ResponseID    string          `json:"responseId"` //nolint:tagliatelle // Gemini names it so
	Model         string          `json:"model"`
	ModelVersion  string          `json:"modelVersion"` //nolint:tagliatelle // Gemini names it so
	Error         json.RawMessage `json:"error"`
	Usage         *usage          `json:"usage"`
	UsageMetadata *usage          `json:"usageMetadata"` //nolint:tagliatelle // Gemini names it so
	Message       *frame          `json:"message"`       // of message_start
	Response      *frame          `json:"response"`      // of response.completed
	Status        string          `json:"status"`
	Output        []frame         `json:"output"`
	StopReason    string          `json:"stop_reason"`
	Incomplete    struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Delta struct {
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Done       bool              `json:"done"` // of Ollama, as the next ones
	DoneReason string            `json:"done_reason"`
	ToolCalls  []json.RawMessage `json:"tool_calls"` // of a message
	PromptEval int               `json:"prompt_eval_count"`
	Eval       int               `json:"eval_count"`
	Candidates []struct {
		FinishReason any `json:"finishReason"` //nolint:tagliatelle // Gemini names it so; a number, if the client asks for such enums
	} `json:"candidates"`
	Transformations []struct {
		Type   string `json:"type"`
		Path   string `json:"path"`
		Reason string `json:"reason"`
	} `json:"input_transformations"`
	Management struct {
		Applied []frame `json:"applied_edits"`
	} `json:"context_management"` // of Messages, if the request asks for edits
}

// usage has the numbers of all formats.
type usage struct {
	Prompt     int `json:"prompt_tokens"` // chat
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek

	Input   int  `json:"input_tokens"` // Responses, Messages
	Output  int  `json:"output_tokens"`
	Read    *int `json:"cache_read_input_tokens"` // Messages: not in input_tokens
	Write   int  `json:"cache_creation_input_tokens"`
	Written struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	InputDetails struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`

	PromptTokens int `json:"promptTokenCount"`        //nolint:tagliatelle // Gemini names it so
	ToolTokens   int `json:"toolUsePromptTokenCount"` //nolint:tagliatelle // Gemini names it so
	Candidates   int `json:"candidatesTokenCount"`    //nolint:tagliatelle // Gemini names it so
	Thoughts     int `json:"thoughtsTokenCount"`      //nolint:tagliatelle // Gemini names it so
	CachedTokens int `json:"cachedContentTokenCount"` //nolint:tagliatelle // Gemini names it so
}

// read reads a frame or an answer, if it is JSON.
func (a *Answer) read(data []byte) (isJSON bool) {
	var f frame
	// A member of another type than here is of another format, and left out.
	if _, bad := errors.AsType[*json.SyntaxError](json.Unmarshal(data, &f)); bad {
		return false
	}
	if f.Type == "error" || len(f.Error) > 0 && string(f.Error) != "null" {
		a.Refused, a.ended = string(data), true
		return true
	}
	a.take(&f)
	switch f.Type {
	case "message_stop", "response.completed", "response.incomplete":
		a.ended = true
	case "response.failed":
		a.Refused, a.ended = string(data), true
	}
	a.ended = a.ended || f.Done
	if a.Stream && len(f.Candidates) > 0 {
		reason := f.Candidates[0].FinishReason
		a.ended = a.ended || reason != nil && reason != "" // some servers write it into each piece
	}
	return true
}

// take reads a frame.
func (a *Answer) take(f *frame) {
	a.ID, a.Model = cmp.Or(a.ID, f.ID, f.ResponseID), cmp.Or(a.Model, f.Model, f.ModelVersion)
	for _, u := range []*usage{f.Usage, f.UsageMetadata} {
		if u != nil {
			a.add(u)
		}
	}
	for _, inner := range []*frame{f.Message, f.Response} {
		if inner != nil {
			a.take(inner)
		}
	}
	if f.PromptEval > 0 {
		a.add(&usage{Prompt: f.PromptEval, Completion: f.Eval})
	}
	a.called = a.called || len(f.ToolCalls) > 0
	a.Cleared = a.Cleared || slices.ContainsFunc(f.Output, func(o frame) bool { return o.Type == "compaction" }) ||
		slices.ContainsFunc(f.Management.Applied, func(e frame) bool { return !strings.HasPrefix(e.Type, "clear_thinking_") })
	for _, t := range f.Transformations {
		if t.Type == "thinking_dropped" {
			a.Dropped = append(a.Dropped, strings.TrimSpace(t.Path+": "+t.Reason))
		}
	}
	if reason := f.reason(); reason != "" {
		if a.called && f.DoneReason == "stop" {
			reason = "tool_calls"
		}
		a.Stop = foreign.StopReason(reason, &message.Message{})
	}
}

// reason returns why the model stopped, in the word of the provider.
func (f *frame) reason() string {
	reason := cmp.Or(f.StopReason, f.Delta.StopReason, f.Incomplete.Reason, f.DoneReason)
	for _, c := range f.Choices {
		reason = cmp.Or(reason, c.FinishReason)
	}
	for _, c := range f.Candidates {
		s, _ := c.FinishReason.(string)
		reason = cmp.Or(reason, s)
	}
	if reason != "" || f.Status != "completed" {
		return reason
	}
	for _, o := range f.Output {
		if strings.HasSuffix(o.Type, "_call") {
			return "tool_calls"
		}
	}
	return "stop"
}

// add takes the numbers of a usage: later frames of a stream have only some.
func (a *Answer) add(u *usage) {
	in := message.Usage{
		Input:      cmp.Or(u.Prompt, u.Input, u.PromptTokens+u.ToolTokens),
		Output:     cmp.Or(u.Completion, u.Output, u.Candidates+u.Thoughts),
		CacheRead:  cmp.Or(u.Details.Cached, u.CacheHit, u.InputDetails.Cached, u.CachedTokens),
		CacheWrite: cmp.Or(u.Details.Written, u.InputDetails.Written),
		Thinking:   cmp.Or(u.CompletionDetails.Reasoning, u.OutputDetails.Reasoning, u.Thoughts),
	}
	if u.Read != nil || u.Write > 0 {
		in.CacheWrite, in.CacheWriteLong = u.Write, min(u.Write, u.Written.Hour)
		if u.Read != nil {
			in.CacheRead = *u.Read
		}
		in.Input += in.CacheRead + in.CacheWrite
	}
	if in.Input >= a.Usage.Input {
		a.Usage.Input = in.Input
		a.Usage.CacheRead = in.CacheRead
		a.Usage.CacheWrite = in.CacheWrite
		a.Usage.CacheWriteLong = max(a.Usage.CacheWriteLong, in.CacheWriteLong)
	}
	a.Usage.Output, a.Usage.Thinking = max(a.Usage.Output, in.Output), max(a.Usage.Thinking, in.Thinking)
}

package fakeprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is a request as the server has decoded it. The record and the responder share it: it must not be changed.
type Request struct {
	Model        string
	Messages     []Message
	Tools        []Tool // from tools or from functions
	Legacy       bool   // functions were given in place of tools, so a call is answered as function_call
	Choice       string // "": not given; none, auto, required, or the name of a tool
	Stream       bool
	IncludeUsage bool                       // of stream_options
	MaxTokens    int                        // max_tokens or max_completion_tokens; 0: not given
	Fields       map[string]json.RawMessage // all top-level fields as they were sent
}

// Message is one message of a request.
type Message struct {
	Role      string
	Name      string
	Parts     []Part // a string is one text part; empty if the content is null
	Calls     []Call // tool_calls; or function_call, as one call without an ID
	Legacy    bool   // the call is a function_call
	CallID    string // of a tool message
	Reasoning string // reasoning_content
}

// Part is one piece of a message's content.
type Part struct {
	Type string // text, refusal, image_url, input_audio, file or audio
	Text string // of text and refusal
	Data string // of the others: the JSON of their object
}

// Call is a call of a tool, in a request or in a reply.
type Call struct {
	ID        string // in a reply, "": the server gives it a new one
	Name      string
	Arguments string // a JSON object
}

// Tool is the declaration of a tool.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON schema; nil: the tool has no parameters
}

// Parse decodes the body of a request. Its error is an [*Error] of status 400 about invalid JSON, an unknown or
// missing field or a wrong value. [Request.Check] checks how the messages fit together.
func Parse(body []byte) (*Request, error) {
	r, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	return r, nil
}

// Text returns the text parts, joined.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
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

// String returns the request for the failure text of a test, one message a line.
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

// Tokens is the length of a request by the server's own count: four bytes are one token, rounded up for each
// message and for the declarations.
type Tokens struct {
	Messages int // 3, and for each message 4 and its bytes; an image of any size is 1,600
	Tools    int // the compact JSON of tools, functions and response_format
}

// Total returns the sum.
func (t Tokens) Total() int { return t.Messages + t.Tools }

// CountText returns the tokens of a text: its bytes divided by four, rounded up.
func CountText(s string) int { return (len(s) + 3) / 4 }

// Tokens counts the request. Names of fields, sampling options and metadata are not counted.
func (r *Request) Tokens() Tokens {
	t := Tokens{Messages: 3, Tools: CountText(r.declarations())}
	for _, m := range r.Messages {
		t.Messages += m.Tokens()
	}
	return t
}

// Tokens counts one message: 4, 1,600 for each image, and a token for each four bytes of role, name, texts,
// reasoning, audio and files, calls (ID, name, arguments) and the call ID of a result.
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
	return 4 + 1600*images + (n+3)/4
}

// declarations returns the compact JSON of the fields that the model reads before the messages.
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

// Check returns the first rule that a request breaks, as an [*Error]:
//
//   - The model is served (404).
//   - The content is null only in a message with calls, a refusal or audio, and empty only in a result.
//   - The arguments of a call are a JSON object, and the call IDs of one message differ.
//   - A message with calls is followed directly by one result for each, in the order of the calls. No other
//     result is allowed.
//   - Messages, declarations and the requested answer fit the model's window (context_length_exceeded).
//
// [Options.Lenient] turns some of them off.
func (r *Request) Check(opts Options) error {
	if refused := r.check(opts); refused != nil {
		return refused
	}
	return nil
}

func (r *Request) check(opts Options) *Error {
	window, ok := opts.models()[r.Model]
	if !ok {
		return &Error{
			Status: http.StatusNotFound, Code: "model_not_found",
			Message: "The model `" + r.Model + "` does not exist or you do not have access to it.",
		}
	}
	for i, m := range r.Messages {
		if refused := m.check(fmt.Sprintf("messages[%d]", i), opts.Lenient); refused != nil {
			return refused
		}
	}
	if refused := checkPairs(r.Messages, opts.Lenient); refused != nil {
		return refused
	}
	return r.checkWindow(window)
}

// check checks one message for itself.
func (m Message) check(path string, lenient bool) *Error {
	if len(m.Parts) == 0 && len(m.Calls) == 0 {
		return invalid("", path+".content", "Invalid value for 'content': expected a string, got null.")
	}
	for k, c := range m.Calls {
		at := fmt.Sprintf("%s.tool_calls[%d]", path, k)
		if slices.ContainsFunc(m.Calls[:k], func(earlier Call) bool { return earlier.ID == c.ID }) {
			return invalid("invalid_value", at+".id",
				"Invalid parameter: Duplicate value for 'id' of '%s' in 'tool_calls' of %s.", c.ID, path)
		}
		arguments := []byte(c.Arguments)
		if !lenient && (!json.Valid(arguments) || kindOf(arguments) != "an object") {
			at += ".function"
			if m.Legacy {
				at = path + ".function_call"
			}
			return invalid("invalid_value", at+".arguments",
				"Invalid '%s.arguments': expected a string with a JSON object, but got %q instead.", at, clip(c.Arguments))
		}
	}
	if lenient || len(m.Calls) > 0 || m.Role == "tool" || m.Role == "function" {
		return nil
	}
	if slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Type == "text" && p.Text == "" }) {
		return invalid("empty_string", path+".content", "Invalid '%s.content': empty string. "+
			"Expected a string with minimum length 1, but got an empty string instead.", path)
	}
	return nil
}

func clip(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// orphan has the provider's misspelling, which some clients look for.
const orphan = "Invalid parameter: messages with role 'tool' must be a response to a " +
	"preceeding message with 'tool_calls'." //nolint:misspell // see above

// checkPairs reports calls without results, results without calls, and results in a wrong place.
func checkPairs(ms []Message, lenient bool) *Error {
	for i := 0; i < len(ms); i++ {
		role := fmt.Sprintf("messages.[%d].role", i)
		switch m := ms[i]; {
		case m.Role == "tool":
			return invalid("", role, orphan)
		case m.Role == "function" && !lenient:
			return invalid("", role,
				"Invalid parameter: messages with role 'function' must be a response to a preceding message with 'function_call'.")
		case m.Legacy && !lenient:
			i++
			if i == len(ms) || ms[i].Role != "function" || ms[i].Name != m.Calls[0].Name {
				return invalid("", "messages",
					"An assistant message with 'function_call' must be followed by a function message of that name. "+
						"The call of '%s' in messages[%d] did not have one.", m.Calls[0].Name, i-1)
			}
		case !m.Legacy && len(m.Calls) > 0:
			results, refused := checkResults(ms, i, lenient)
			if refused != nil {
				return refused
			}
			i += results
		}
	}
	return nil
}

// checkResults compares the calls of a message with the tool messages directly after it, and returns their number.
func checkResults(ms []Message, at int, lenient bool) (int, *Error) {
	var calls, got []string
	for _, c := range ms[at].Calls {
		calls = append(calls, c.ID)
	}
	first := at + 1
	for j := first; j < len(ms) && ms[j].Role == "tool"; j++ {
		id, param := ms[j].CallID, fmt.Sprintf("messages.[%d].tool_call_id", j)
		switch k := slices.Index(got, id); {
		case k >= 0:
			return 0, invalid("", param,
				"Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, first+k, j)
		case !slices.Contains(calls, id):
			return 0, invalid("", param,
				"Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
		}
		got = append(got, id)
	}
	missing := slices.DeleteFunc(slices.Clone(calls), func(id string) bool { return slices.Contains(got, id) })
	if len(missing) > 0 {
		param := "messages"
		if end := first + len(got); end < len(ms) {
			param = fmt.Sprintf("messages.[%d].role", end)
		}
		return 0, invalid("", param,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
				"The following tool_call_ids did not have response messages: %s", strings.Join(missing, ", "))
	}
	if !lenient && !slices.Equal(calls, got) {
		return 0, invalid("", fmt.Sprintf("messages.[%d].tool_call_id", first),
			"Invalid parameter: tool messages must be in the order of the 'tool_calls' of messages[%d]: expected %s, but got %s instead.",
			at, strings.Join(calls, ", "), strings.Join(got, ", "))
	}
	return len(got), nil
}

// checkWindow returns the provider's error text, with the tokens of the request and of the window.
func (r *Request) checkWindow(window int) *Error {
	t := r.Tokens()
	need := t.Total()
	tooLong := need > window // without the answer
	if !tooLong {
		need += r.MaxTokens
	}
	if need <= window {
		return nil
	}
	parts, reduce := []string{fmt.Sprintf("%d in the messages", t.Messages)}, []string{"messages"}
	if t.Tools > 0 {
		parts, reduce = append(parts, fmt.Sprintf("%d in the functions", t.Tools)), append(reduce, "functions")
	}
	what := "your messages resulted in"
	if !tooLong {
		what = "you requested"
		parts, reduce = append(parts, fmt.Sprintf("%d in the completion", r.MaxTokens)), append(reduce, "completion")
	}
	detail := ""
	switch len(parts) {
	case 2:
		detail = " (" + parts[0] + ", " + parts[1] + ")"
	case 3:
		detail = " (" + enumerate(parts, "and") + ")"
	}
	return invalid("context_length_exceeded", "messages",
		"This model's maximum context length is %d tokens. However, %s %d tokens%s. Please reduce the length of the %s.",
		window, what, need, detail, enumerate(reduce, "or"))
}

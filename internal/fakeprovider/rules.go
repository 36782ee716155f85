package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

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
	window, ok := opts.models()[r.Model]
	if !ok {
		return &Error{
			Status: http.StatusNotFound, Code: "model_not_found",
			Message: "The model `" + r.Model + "` does not exist or you do not have access to it.",
		}
	}
	for i, m := range r.Messages {
		if err := m.check(fmt.Sprintf("messages[%d]", i), opts.Lenient); err != nil {
			return err
		}
	}
	if err := checkPairs(r.Messages); err != nil {
		return err
	}
	return r.checkWindow(window)
}

// partTypes holds the types of parts by the role of the message. Other roles have text only.
var partTypes = map[string][]string{
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal", "audio"},
}

// check checks one message without the others.
func (m Message) check(path string, lenient bool) error {
	for i, p := range m.Parts {
		if p.Type != "text" && !slices.Contains(partTypes[m.Role], p.Type) {
			return invalid("invalid_value", fmt.Sprintf("%s.content[%d]", path, i),
				"Invalid content part: '%s' is not allowed in messages with role '%s'.", p.Type, m.Role)
		}
	}
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
			at += ".function.arguments"
			return invalid("invalid_value", at,
				"Invalid '%s': expected a string with a JSON object, but got %q instead.", at, clip(c.Arguments))
		}
	}
	if lenient || len(m.Calls) > 0 || m.Role == "tool" {
		return nil
	}
	if slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Type == "text" && p.Text == "" }) {
		return emptyString(path + ".content")
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
func checkPairs(ms []Message) error {
	for i := 0; i < len(ms); i++ {
		if ms[i].Role == "tool" {
			return invalid("", fmt.Sprintf("messages.[%d].role", i), orphan)
		}
		results, err := checkResults(ms, i)
		if err != nil {
			return err
		}
		i += results
	}
	return nil
}

// checkResults compares the calls of a message with the tool messages directly after it, and returns their number.
func checkResults(ms []Message, at int) (int, error) {
	if len(ms[at].Calls) == 0 {
		return 0, nil
	}
	var calls, got []string
	for _, c := range ms[at].Calls {
		calls = append(calls, c.ID)
	}
	first := at + 1
	for j := first; j < len(ms) && ms[j].Role == "tool"; j++ {
		id, param := ms[j].CallID, fmt.Sprintf("messages.[%d].tool_call_id", j)
		k := slices.Index(got, id)
		switch {
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
	return len(got), nil
}

// checkWindow returns the provider's error text, with the tokens of the request and of the window.
func (r *Request) checkWindow(window int) error {
	messages, declarations := r.count()
	what, answer := "you requested", r.MaxTokens
	if messages+declarations > window {
		what, answer = "your messages resulted in", 0
	}
	need := messages + declarations + answer
	if need <= window {
		return nil
	}
	var parts, reduce []string
	add := func(tokens int, name string) {
		if tokens > 0 {
			parts = append(parts, fmt.Sprintf("%d in the %s", tokens, name))
			reduce = append(reduce, name)
		}
	}
	add(messages, "messages")
	add(declarations, "functions")
	add(answer, "completion")
	detail := ""
	switch len(parts) {
	case 2:
		detail = " (" + strings.Join(parts, ", ") + ")"
	case 3:
		detail = " (" + enumerate(parts, "and") + ")"
	}
	return invalid("context_length_exceeded", "messages",
		"This model's maximum context length is %d tokens. However, %s %d tokens%s. Please reduce the length of the %s.",
		window, what, need, detail, enumerate(reduce, "or"))
}

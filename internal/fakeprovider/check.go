package fakeprovider

import (
	"net/http"
	"strings"
)

// Check reports the first rule that a request breaks, as an [*Error]:
//
//   - the model is served (404);
//   - content is null only beside calls, a refusal or sound, and empty nowhere
//     but in a result;
//   - the arguments of a call are a JSON object, and the ids of one message differ;
//   - a message with calls is followed at once by one result for each, in the
//     order of the calls, and there is no other result;
//   - messages, declarations and the answer that is asked for fit the model's
//     window (context_length_exceeded).
//
// Some of it is waived by [Options.Lenient].
func (r *Request) Check(opts Options) error {
	window, ok := opts.models()[r.Model]
	if !ok {
		return &Error{
			Status: http.StatusNotFound, Code: "model_not_found",
			Message: "The model `" + r.Model + "` does not exist or you do not have access to it.",
		}
	}
	for i, m := range r.Messages {
		if err := m.check(i, opts.Lenient); err != nil {
			return err
		}
	}
	if err := checkPairs(r.Messages, opts.Lenient); err != nil {
		return err
	}
	return r.checkWindow(window)
}

func (m Message) check(i int, lenient bool) error {
	path := index("messages", i)
	if len(m.Parts) == 0 && len(m.Calls) == 0 {
		return invalid("", path+".content", "Invalid value for 'content': expected a string, got null.")
	}
	seen := make(map[string]bool, len(m.Calls))
	for k, c := range m.Calls {
		at := index(path+".tool_calls", k)
		if seen[c.ID] {
			return invalid("invalid_value", at+".id",
				"Invalid parameter: Duplicate value for 'id' of '%s' in 'tool_calls' of messages[%d].", c.ID, i)
		}
		seen[c.ID] = true
		if !lenient && !isObject(c.Arguments) {
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
	for _, p := range m.Parts {
		if p.Type == "text" && p.Text == "" {
			return emptyString(path + ".content")
		}
	}
	return nil
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// checkWindow words what the provider words: what the request came to, and of
// what.
func (r *Request) checkWindow(window int) error {
	t := r.Tokens()
	if t.Total()+r.MaxTokens <= window {
		return nil
	}
	const (
		start  = "This model's maximum context length is %d tokens. However, "
		advice = "Please reduce the length of the messages"
		code   = "context_length_exceeded"
	)
	switch {
	case t.Total() > window && t.Tools == 0:
		return invalid(code, "messages", start+"your messages resulted in %d tokens. "+advice+".", window, t.Total())
	case t.Total() > window:
		return invalid(code, "messages", start+"your messages resulted in %d tokens (%d in the messages, %d in the functions). "+
			advice+" or functions.", window, t.Total(), t.Messages, t.Tools)
	case t.Tools == 0:
		return invalid(code, "messages", start+"you requested %d tokens (%d in the messages, %d in the completion). "+
			advice+" or completion.", window, t.Total()+r.MaxTokens, t.Messages, r.MaxTokens)
	default:
		return invalid(code, "messages", start+
			"you requested %d tokens (%d in the messages, %d in the functions, and %d in the completion). "+advice+
			", functions, or completion.", window, t.Total()+r.MaxTokens, t.Messages, t.Tools, r.MaxTokens)
	}
}

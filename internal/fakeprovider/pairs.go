package fakeprovider

import (
	"fmt"
	"slices"
	"strings"
)

// The spelling is the provider's, and there are clients that look for it.
const orphan = "Invalid parameter: messages with role 'tool' must be a response to a " +
	"preceeding message with 'tool_calls'." //nolint:misspell // see above

// checkPairs reports calls without results, results without calls, and results
// in a wrong place.
func checkPairs(ms []Message, lenient bool) error {
	for i := 0; i < len(ms); {
		switch m := ms[i]; {
		case m.Role == "tool":
			return invalid("", fmt.Sprintf("messages.[%d].role", i),
				orphan)
		case m.Role == "function" && !lenient:
			return invalid("", fmt.Sprintf("messages.[%d].role", i),
				"Invalid parameter: messages with role 'function' must be a response to a preceding message with 'function_call'.")
		case m.Legacy && !lenient:
			if i+1 == len(ms) || ms[i+1].Role != "function" || ms[i+1].Name != m.Calls[0].Name {
				return invalid("", "messages",
					"An assistant message with 'function_call' must be followed by a function message of that name. "+
						"The call of '%s' in messages[%d] did not have one.", m.Calls[0].Name, i)
			}
			i += 2
		case m.Legacy || len(m.Calls) == 0:
			i++
		default:
			n, err := checkResults(ms, i, lenient)
			if err != nil {
				return err
			}
			i += 1 + n
		}
	}
	return nil
}

// checkResults compares the calls of a message with the tool messages directly
// after it, and returns how many these are.
func checkResults(ms []Message, at int, lenient bool) (int, error) {
	var open, got []string
	for _, c := range ms[at].Calls {
		open = append(open, c.ID)
	}
	calls, first := slices.Clone(open), at+1
	for j := first; j < len(ms) && ms[j].Role == "tool"; j++ {
		id := ms[j].CallID
		k := slices.Index(got, id)
		switch {
		case k >= 0:
			return 0, invalid("", fmt.Sprintf("messages.[%d].tool_call_id", j),
				"Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, first+k, j)
		case !slices.Contains(calls, id):
			return 0, invalid("", fmt.Sprintf("messages.[%d].tool_call_id", j),
				"Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
		}
		got = append(got, id)
		open = slices.DeleteFunc(open, func(o string) bool { return o == id })
	}
	if len(open) > 0 {
		param := "messages"
		if end := first + len(got); end < len(ms) {
			param = fmt.Sprintf("messages.[%d].role", end)
		}
		return 0, invalid("", param,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
				"The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	if !lenient && !slices.Equal(calls, got) {
		return 0, invalid("", fmt.Sprintf("messages.[%d].tool_call_id", first),
			"Invalid parameter: tool messages must be in the order of the 'tool_calls' of messages[%d]: expected %s, but got %s instead.",
			at, strings.Join(calls, ", "), strings.Join(got, ", "))
	}
	return len(got), nil
}

package fakeprovider

import (
	"context"
	"strings"
)

// Brain says what is answered to a valid request. It is called by several
// requests at the same time, must not change the request, and must return soon
// after ctx is done, which it is when the client is gone or the server closes.
type Brain func(ctx context.Context, r *Request) Reply

// Reply is an answer. It is given as it is: what it says is not cut to the
// request's max_tokens, and calls need not be of declared tools.
type Reply struct {
	Text      string
	Reasoning string // sent as reasoning_content, as DeepSeek and others do
	Calls     []Call
	Finish    string // "": stop, tool_calls or function_call, as it is
	Err       *Error // answered in place of all else
	Fault     Fault  // what goes wrong while it is sent
	After     int    // stream events that are sent before the fault; all, if there are fewer
}

// Fault is what can go wrong with an answer after its status was sent. An
// answer that is not streamed is then sent by half, whatever After says.
type Fault int

// The faults.
const (
	NoFault Fault = iota
	Cut           // the connection breaks
	Hang          // nothing more comes until the client is gone or the server closes; not even a status, if nothing came before
	Stop          // it ends in good order, but early: a stream without finish_reason and [DONE]
	Garble        // one event is not JSON, then the stream goes on
)

func (f Fault) String() string {
	if f < NoFault || f > Garble {
		return "unknown fault"
	}
	return [...]string{"none", "cut", "hang", "stop", "garble"}[f]
}

// Usage is what an answer is reported to have cost, in tokens.
type Usage struct {
	Prompt     int // of the request, by [Request.Tokens]
	Cached     int // of these, from the cache
	Completion int // of the answer
	Reasoning  int // of these, reasoning
}

// Tokens returns the tokens of an answer: a token for each four bytes of text,
// reasoning, names and arguments, each rounded up.
func (r Reply) Tokens() int {
	n := CountText(r.Text) + CountText(r.Reasoning)
	for _, c := range r.Calls {
		n += CountText(c.Name) + CountText(c.Arguments)
	}
	return n
}

func (r Reply) finish(legacy bool) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) == 0:
		return "stop"
	case legacy:
		return "function_call"
	default:
		return "tool_calls"
	}
}

// pieces splits a text as a model would send it: in runes, 16 bytes or more a
// piece, about 32 pieces at most.
func pieces(s string) []string {
	size := max(16, len(s)/32)
	var all []string
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if b.Len() >= size {
			all = append(all, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		all = append(all, b.String())
	}
	return all
}

package fakeprovider

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Responder returns the reply to a valid request. It is called by several requests at the same time, must not
// change the request, and must return soon after ctx is done. ctx is done when the client disconnects or the
// server closes.
type Responder func(ctx context.Context, r *Request) Reply

// Reply is an answer. It is sent as it is: it is not cut to the request's max_tokens, and its calls need not be
// of declared tools.
type Reply struct {
	Text      string
	Calls     []Call
	Reasoning string // reasoning_content; "": none, or with [Options.Bound] a sentence that occurs in no other answer
	Err       *Error // sent in place of everything else; in a stream with After, when that many events were sent
	Hang      bool   // the answer is not sent, or only its first events: the server waits until the client disconnects
	Cut       bool   // the connection breaks in the middle of an answer, or of an event of a stream
	After     int    // number of stream events before it hangs, breaks or fails
}

// Tokens returns the tokens of an answer: one for each four bytes of text, reasoning, names and arguments, each
// rounded up.
func (r Reply) Tokens() int {
	n := CountText(r.Text) + CountText(r.Reasoning)
	for _, c := range r.Calls {
		n += CountText(c.Name) + CountText(c.Arguments)
	}
	return n
}

// Text answers every request with this text.
func Text(text string) Responder {
	return func(context.Context, *Request) Reply { return Reply{Text: text} }
}

// Script gives one reply after the other, in the order in which requests arrive. A request after the last reply
// gets an error with status 500.
func Script(replies ...Reply) Responder {
	replies = slices.Clone(replies)
	var next atomic.Int64
	return func(context.Context, *Request) Reply {
		n := next.Add(1)
		if n > int64(len(replies)) {
			return brokenServer("request %d, and the script has %d replies", n, len(replies))
		}
		return replies[n-1]
	}
}

func brokenServer(format string, args ...any) Reply {
	return Reply{Err: &Error{Status: http.StatusInternalServerError, Message: fmt.Sprintf(format, args...)}}
}

// Recall answers with the newest match of a pattern in the messages: its first group, or all of it if it has no
// group. So the answer is right only if the fact is still in view. It searches texts, except those of the
// assistant, which may be guesses.
func Recall(pattern *regexp.Regexp) Responder {
	return func(_ context.Context, r *Request) Reply {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == "assistant" {
				continue
			}
			if all := pattern.FindAllStringSubmatch(m.Text(), -1); all != nil {
				newest := all[len(all)-1]
				return Reply{Text: newest[min(1, len(newest)-1)]}
			}
		}
		return Reply{Text: "I no longer see it."}
	}
}

// ToolLoop calls one tool again and again and then answers. It has no state between requests: it reads the number
// of calls so far from the IDs of its own calls in the messages, step_1, step_2 and so on. It starts again if the
// view has lost the newest of them, so count the requests. It may serve any number of conversations at a time.
type ToolLoop struct {
	Tool      string             // the tool to call
	Calls     int                // number of calls before the answer
	Parallel  int                // calls in one message; 0: 1
	Arguments func(n int) string // of call n, from 1 on; nil: {"n": n}
	Answer    Responder          // of a request that has all calls in it, or does not declare the tool; nil: Text("done")
}

const stepID = "step_"

// Responder returns the loop as a responder.
func (l ToolLoop) Responder() Responder {
	if l.Arguments == nil {
		l.Arguments = func(n int) string { return fmt.Sprintf(`{"n": %d}`, n) }
	}
	if l.Answer == nil {
		l.Answer = Text("done")
	}
	return func(ctx context.Context, r *Request) Reply {
		done := stepsIn(r)
		if done >= l.Calls || r.Tool(l.Tool) == nil {
			return l.Answer(ctx, r)
		}
		var reply Reply
		for n := done + 1; n <= min(done+max(l.Parallel, 1), l.Calls); n++ {
			reply.Calls = append(reply.Calls, Call{ID: stepID + strconv.Itoa(n), Name: l.Tool, Arguments: l.Arguments(n)})
		}
		return reply
	}
}

// stepsIn returns the highest number of a call in the messages.
func stepsIn(r *Request) int {
	highest := 0
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			if number, ok := strings.CutPrefix(c.ID, stepID); ok {
				n, _ := strconv.Atoi(number) // 0 if it is not a number
				highest = max(highest, n)
			}
		}
	}
	return highest
}

package fakeprovider

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Errand is a brain that calls one tool again and again and then answers. It
// keeps nothing between requests: how far it is it reads from the ids of its
// own calls in the messages, step_1, step_2 and so on. A view that loses the
// newest of them makes it begin again, so count the requests. Any number of
// conversations may be on the way at once. A function_call has no id: a request
// with functions gets one call at a time, and the calls in view are counted.
type Errand struct {
	Tool      string             // called; a request that does not declare it goes to Aside
	Calls     int                // before the answer
	Parallel  int                // calls in one message; 0: 1
	Arguments func(n int) string // of call n, from 1 on; nil: {"n": n}
	Text      string             // said along with each call; "": nothing
	Answer    Brain              // of the request that has all calls in it; nil: says "done"
	Aside     Brain              // of requests without the tool, such as a summariser's; nil: says "noted"
}

// Brain returns the brain.
func (e Errand) Brain() Brain {
	if e.Answer == nil {
		e.Answer = Say("done")
	}
	if e.Aside == nil {
		e.Aside = Say("noted")
	}
	return func(ctx context.Context, r *Request) Reply {
		done := steps(r)
		switch {
		case r.Tool(e.Tool) == nil:
			return e.Aside(ctx, r)
		case done >= e.Calls:
			return e.Answer(ctx, r)
		}
		reply := Reply{Text: e.Text}
		parallel := max(e.Parallel, 1)
		if r.Legacy {
			parallel = 1
		}
		for n := done + 1; n <= min(done+parallel, e.Calls); n++ {
			reply.Calls = append(reply.Calls, Call{ID: stepID + strconv.Itoa(n), Name: e.Tool, Arguments: e.arguments(n)})
		}
		return reply
	}
}

func (e Errand) arguments(n int) string {
	if e.Arguments != nil {
		return e.Arguments(n)
	}
	return fmt.Sprintf(`{"n": %d}`, n)
}

const stepID = "step_"

// steps returns the highest number of a call in the messages, or how many
// calls without an id there are.
func steps(r *Request) int {
	most, nameless := 0, 0
	for _, m := range r.Messages {
		if m.Legacy {
			nameless++
		}
		for _, c := range m.Calls {
			if number, ok := strings.CutPrefix(c.ID, stepID); ok {
				if n, err := strconv.Atoi(number); err == nil {
					most = max(most, n)
				}
			}
		}
	}
	return max(most, nameless)
}

package fakeprovider

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync/atomic"
)

// Say answers every request with this text.
func Say(text string) Brain {
	return func(context.Context, *Request) Reply { return Reply{Text: text} }
}

// Script gives one reply after the other, in the order in which requests come.
// Once they are used up it answers with status 500, and says so.
func Script(replies ...Reply) Brain {
	replies = slices.Clone(replies)
	var next atomic.Int64
	return func(context.Context, *Request) Reply {
		n := next.Add(1)
		if n > int64(len(replies)) {
			return Reply{Err: &Error{
				Status:  http.StatusInternalServerError,
				Message: fmt.Sprintf("request %d, and the script has %d replies", n, len(replies)),
			}}
		}
		return replies[n-1]
	}
}

// NotInView is what [Recall] answers when it finds nothing.
const NotInView = "I no longer see it."

// Recall answers with what a pattern finds in the messages: its first group,
// or all of it if it has none, at the newest place. So it is right only if the
// fact is still in view. It looks at texts, and not at those of the assistant,
// which may be its own guesses.
func Recall(pattern *regexp.Regexp) Brain {
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
		return Reply{Text: NotInView}
	}
}

// Checked asks brain only about requests that check finds right. The others are
// answered with status 422 and code check_failed. Both see what the client sent.
func Checked(brain Brain, check func(r *Request) error) Brain {
	return func(ctx context.Context, r *Request) Reply {
		if err := check(r); err != nil {
			return Reply{Err: &Error{Status: http.StatusUnprocessableEntity, Code: "check_failed", Message: err.Error()}}
		}
		return brain(ctx, r)
	}
}

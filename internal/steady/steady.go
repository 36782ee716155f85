// Package steady marks a list of messages that never changes in its memory. A chain then does not
// compare the messages with those of the last call, one by one. The adapters of this module compare the caller's own messages.
package steady

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

type key struct{}

// With returns a context for the call with a list whose messages are never written to, nor
// their parts, as long as anything refers to them. A longer list may begin in the same
// memory; it then has these messages. The pointer must stay valid.
func With(ctx context.Context, list *[]message.Message) context.Context {
	return context.WithValue(ctx, key{}, list)
}

// Has reports whether msgs are the first messages of the list of the context, in its
// memory.
func Has(ctx context.Context, msgs []message.Message) bool {
	list, _ := ctx.Value(key{}).(*[]message.Message)
	return list != nil && len(msgs) > 0 && len(msgs) <= len(*list) && &msgs[0] == &(*list)[0]
}

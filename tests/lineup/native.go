package lineup

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/native"
)

// provider compacts messages, and no model of another provider can read it: so what it covers is archived. The same messages
// give the same compaction.
type provider struct{}

// provided gives the calls of a middleware a provider that compacts, as package wire does.
func provided(mw middleware.Middleware, p provider) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		inner := mw(next)
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			return inner(native.With(ctx, p), req, emit)
		}
	}
}

// Readable implements [native.Compactor].
func (provider) Readable() bool { return false }

// Compact implements [native.Compactor]: the messages of the user stay, as OpenAI leaves them.
func (provider) Compact(_ context.Context, v *middleware.View, n int, _ string) (msgs []message.Message, err error) {
	all := v.Messages()[:n]
	for _, m := range all {
		if m.Role == message.RoleUser {
			msgs = append(msgs, m)
		}
	}
	content := message.IDs(all)[n-1].String()
	block := message.Assistant(message.Opaque{Kind: "compaction", Data: `{"type":"compaction","content":"` + content + `"}`})
	block.Hints.Pinned = true
	return append(msgs, block), nil
}

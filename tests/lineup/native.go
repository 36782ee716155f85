package lineup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/native"
)

// asked are options of native.
func asked(roll Roll) native.Options {
	return native.Options{
		Trigger:      when("compacting", roll),
		Keep:         roll("kept by the provider", 8),
		MinCalls:     roll("calls between compactions", 4),
		Instructions: []string{"", "Names alone."}[roll("instructions", 2)],
	}
}

// compactor is a provider in memory. The same messages and instructions give the same compaction.
type compactor struct {
	readable bool // as that of Anthropic; false: the messages of the user stay, as with OpenAI
	fails    bool
}

func provider(roll Roll) compactor {
	return compactor{readable: roll("readable", 2) == 1, fails: roll("a provider that fails", 8) == 7}
}

// compactedBy gives the calls of a middleware a provider that compacts, as package wire does.
func compactedBy(c compactor, mw middleware.Middleware) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		inner := mw(next)
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			return inner(native.With(ctx, c), req, emit)
		}
	}
}

// Readable implements [native.Compactor].
func (c compactor) Readable() bool { return c.readable }

// Compact implements [native.Compactor]. A readable compaction ends with the last line of the instructions.
func (c compactor) Compact(_ context.Context, v *middleware.View, n int, instructions string) (msgs []message.Message, err error) {
	if c.fails {
		return nil, errors.New("the provider is overloaded")
	}
	all := v.Messages()[message.Leading(v.Messages()):n]
	text := fmt.Sprintf("%d messages: %s", len(all), message.IDs(all)[len(all)-1])
	if c.readable {
		text += instructions[strings.LastIndexByte(instructions, '\n')+1:]
	}
	for _, m := range all {
		if !c.readable && m.Role == message.RoleUser {
			msgs = append(msgs, m)
		}
	}
	block := message.Assistant(message.Opaque{Kind: "compaction", Data: `{"type":"compaction","content":` + strconv.Quote(text) + `}`})
	return append(msgs, block), nil
}

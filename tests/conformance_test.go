package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

// The rules here hold for all views that middleware.Editing makes, and for all chains,
// whatever the middleware is. The rules that a middleware itself may break are in package
// middlewaretest.

// played is one answered call: what was passed, sent and reported.
type played struct {
	history, sent []message.Message
	meter         tokens.Meter
	events        []middleware.Event
}

// talks are conversations that need no repair by any provider's rules.
func talks() map[string][]message.Message {
	rich := middlewaretest.ReAct{Rounds: 9, Parallel: 2, Result: 500, Thought: 80, PerTurn: 3}.Messages()
	rounds := 0
	for i := range rich {
		switch m := &rich[i]; m.Role {
		case message.RoleAssistant:
			rounds++
			if rounds%2 == 0 {
				m.Parts = append([]message.Part{message.Thinking{Text: strings.Repeat("I think. ", 7), Signature: "sealed"}}, m.Parts...)
			}
		case message.RoleTool:
			m.Hints.Pinned = rounds == 2
			if r, ok := m.Parts[0].(message.ToolResult); ok && rounds == 4 {
				r.Text, r.Content = "", message.Media{Type: "image/png", Data: "\x89PNG\xff"}
				m.Parts = append(m.Parts, r)
			}
		case message.RoleSystem, message.RoleUser:
			m.Hints.Pinned = i > 20
		}
	}
	chat := []message.Message{message.System("You are brief."), message.System("Today is Monday.")}
	for i := range 12 {
		chat = append(chat, message.User(strings.Repeat(fmt.Sprintf("Question %d. ", i), 16)), message.Assistant(message.Text{Text: strings.Repeat(fmt.Sprintf("Answer %d. ", i), 28)}))
	}
	return map[string][]message.Message{
		"parallel calls":       message.Portable.Repair(rich).Messages,
		"one long task":        message.Portable.Repair(middlewaretest.ReAct{Rounds: 12, Thought: 100, Result: 600, Answered: true}.Messages()).Messages,
		"a chat without tools": message.Portable.Repair(append(chat, message.User("Last question: what did we say?"))).Messages,
	}
}

// play sends each prefix of a conversation through a middleware, with force and with less
// room than it needs.
func play(t *testing.T, mw middleware.Middleware, msgs []message.Message, force, tight bool) (calls []played) {
	t.Helper()
	full := tokens.Meter{Counter: tokens.Chars4}.Request(msgs, nil)
	var rec middlewaretest.Recorder
	seen := 0
	var now played
	model := middleware.Chain(rec.Middleware(), mw)(func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		now.sent = testkit.Clone(req.Messages)
		if v := req.View(); v != nil {
			now.meter = v.Meter()
		}
		return middlewaretest.Say("done")(ctx, req, emit)
	})
	for history := range testkit.Prefixes(msgs) {
		req := &middleware.Request{Messages: history, Model: "some-model", Budget: &middleware.Budget{Window: 1_000_000, Reserve: 1_000}}
		if tight {
			req.Budget = &middleware.Budget{Window: full * 2 / 3, Reserve: full / 20}
		}
		if force {
			req.Force = []string{"*"}
		}
		now = played{history: history}
		_, err := model(t.Context(), req, nil)
		now.events = rec.Events()[seen:]
		seen += len(now.events)
		if err != nil {
			require.True(t, tight && middleware.KindOf(err) != middleware.Unknown, "an error of a known kind: %v", err)
			continue
		}
		calls = append(calls, now)
	}
	return calls
}

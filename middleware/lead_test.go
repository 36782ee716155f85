package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// TestLeadThatChanges has system prompts that change from call to call. Lines of the client count for nothing; a prompt that
// changes in each call costs all thinking so far, and is reported once.
func TestLeadThatChanges(t *testing.T) {
	t.Parallel()
	const agent = "You are an agent. The time is %s, and you read logs. " + "Be brief."
	blocks := func(texts ...string) []message.Message {
		m := message.Message{Role: message.RoleSystem}
		for _, s := range texts {
			m.Parts = append(m.Parts, message.Text{Text: s})
		}
		return []message.Message{m}
	}
	billing := func(call int) string {
		return fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1.177; cc_entrypoint=cli; cch=%05x;", call*7919)
	}
	for name, c := range map[string]struct {
		lead   func(call int) []message.Message
		all    bool     // thinking is sent
		notice []string // what the event says; nil: there is none
	}{
		"a block of its own": {lead: func(call int) []message.Message { return blocks(billing(call), agent) }, all: true},
		"a first line": {lead: func(call int) []message.Message {
			return blocks(billing(call)+"\nX-Anthropic-Session: "+fmt.Sprint(call)+"\n"+agent, "More.")
		}, all: true},
		"a message of its own": {lead: func(call int) []message.Message { return append(blocks(billing(call)), blocks(agent)...) }, all: true},
		"changed once": {lead: func(call int) []message.Message {
			return blocks(fmt.Sprintf(agent, map[bool]string{true: "noon"}[call > 2]))
		}},
		"a time": {
			lead:   func(call int) []message.Message { return blocks(fmt.Sprintf(agent, fmt.Sprintf("12:%02d:59", call))) },
			notice: []string{`from "12:01:59," to "12:02:59,"`, "tokens of the call before", "the thinking of 2 answers"},
		},
		"not at the beginning": {
			lead:   func(call int) []message.Message { return blocks(agent + "\n" + billing(call)) },
			notice: []string{"cch="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard middlewaretest.Recorder
			var sent *middleware.Request
			model := middleware.Chain(heard.Middleware(), fit.New(fit.Options{}))(
				func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					sent = req
					return &middleware.Response{Message: message.Assistant(message.Text{Text: "ok"})}, nil
				})
			body := []message.Message{message.User("Which log has an error?")}
			for call := range 6 {
				before := len(heard.Events(middleware.Called))
				req := &middleware.Request{Model: "claude-opus-5-5", Messages: append(c.lead(call), body...), Tools: []message.ToolDef{{Name: "read"}}}
				_, err := model(t.Context(), req, nil)
				require.NoError(t, err)
				thinking := strings.Count(fmt.Sprint(sent.Messages), "hm, hm")
				if c.all {
					require.Equal(t, call, thinking, "call %d", call)
					require.Equal(t, req.Messages, sent.Messages, "the lines are sent")
				}
				if cache := heard.Events(middleware.Called)[before].Call.Cache; c.all && call > 0 {
					require.Empty(t, cache.Broken)
				}
				id := fmt.Sprint("c", call)
				body = append(body, message.Assistant(
					message.Thinking{Text: "hm, hm", Signature: "s"}, message.ToolCall{ID: id, Name: "read", Arguments: "{}"},
				), message.Result(id, "read", "ok"))
			}
			told := notices(heard.Events(), "the system prompt changes in each call")
			if c.notice == nil {
				require.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			for _, s := range c.notice {
				require.Contains(t, told[0].Why, s)
			}
		})
	}
}

// Claude up to 4.5 refuses a turn in whose middle thinking was switched on: an event names that.
func TestThinkingSwitchedOnInATurn(t *testing.T) {
	t.Parallel()
	var heard middlewaretest.Recorder
	refusal := errors.New("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`")
	model := middleware.Chain(heard.Middleware(), fit.New(fit.Options{}))(middlewaretest.Fail(refusal))
	_, err := model(t.Context(), &middleware.Request{Model: "claude-sonnet-4-5", Messages: []message.Message{
		message.User("Read."), message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"}), message.Result("a", "read", "ok"),
	}}, nil)
	require.ErrorIs(t, err, refusal)
	require.Len(t, notices(heard.Events(), "thinking was switched on in the middle of the turn"), 1)
}

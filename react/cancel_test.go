package react_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/react"
)

// scripted is an agent with all kinds of events: edits, pieces, calls that run
// side by side, wait for a place, fail and are denied.
func scripted() react.Agent {
	attempts := 0
	inner := wants("a", "b", "c", "d")
	return react.Agent{
		Model: middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: -1, ExcludeTools: []string{"a", "b", "c", "d"}}))(inner),
		Tools: []agent.Tool{
			gives("a", "1", 3*time.Second), gives("b", "2", time.Second), gives("c", "3", 2*time.Second),
			tool("d", func(ctx context.Context) (string, error) {
				attempts++
				if attempts < 2 {
					return "", errors.New("not yet")
				}
				return "4", ctx.Err()
			}),
		},
		Parallel: 2,
		Approve:  func(context.Context, message.ToolCall) error { return nil },
	}
}

func scriptedHistory() []message.Message {
	return []message.Message{
		message.System("be brief"), message.User("old"), message.Assistant(call("o", "old")),
		message.Result("o", "old", "a result that is long enough to be cleared by the first call"),
		message.Assistant(message.Text{Text: "fine"}), message.User("go"),
	}
}

const scriptedAnswer = "a=1 b=2 c=3 d=4"

func scriptedEvents(t *testing.T) []string {
	t.Helper()
	var events []string
	synctest.Test(t, func(t *testing.T) {
		tr := follow(t, scripted().Run(t.Context(), scriptedHistory()...))
		require.NoError(t, tr.err)
		require.Equal(t, scriptedAnswer, tr.end.Answer())
		events = lines(tr.events)
	})
	require.Greater(t, len(events), 20)
	require.Contains(t, events, "edit contextedit")
	return events
}

// A run that is cancelled at any of its events ends with a whole history, from
// which a new run comes to the same answer.
func TestCancelAtEachEvent(t *testing.T) {
	t.Parallel()
	events := scriptedEvents(t)
	why := errors.New("the user pressed stop")
	for i := range events {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			history := scriptedHistory()
			tr := follow(t, scripted().Run(ctx, history...), func(n int, _ react.Event) {
				if n == i {
					cancel(why)
				}
			})
			require.Equal(t, scriptedHistory(), history)
			name := fmt.Sprintf("cancelled at event %d, %s", i, events[i])
			if tr.end.Answer() == "" {
				require.ErrorIs(t, tr.err, context.Canceled, name)
				require.Equal(t, middleware.Canceled, middleware.KindOf(tr.err), name)
			} else {
				require.NoError(t, tr.err, name)
				require.GreaterOrEqual(t, i, len(events)-2, "%s: want no answer but when it is there", name)
			}
			results := 0
			for _, e := range tr.events {
				if res, ok := e.(react.Result); ok {
					results++
					if res.Took == 0 && res.Err != nil && res.Call.Name != "d" {
						require.ErrorIs(t, res.Err, context.Canceled)
						require.Contains(t, say(res.Message), "! cancelled ", name)
					}
				}
			}
			require.Equal(t, results, tr.end.ToolCalls, name)

			again := follow(t, scripted().Run(t.Context(), tr.end.History...))
			require.NoError(t, again.err, name)
			require.Equal(t, scriptedAnswer, again.end.Answer(), name)
			require.Equal(t, sayAll(tr.end.History), sayAll(again.end.History[:len(tr.end.History)]), name)
		})
	}
}

// A run whose reader leaves at any event stops, and what it had told is enough
// to go on from. The bubble of synctest finds goroutines that stay behind.
func TestLeaveAtEachEvent(t *testing.T) {
	t.Parallel()
	events := scriptedEvents(t)
	for i := range events {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			history := scriptedHistory()
			for e := range only(scripted().Run(t.Context(), history...)) {
				switch e := e.(type) {
				case react.Step:
					history = append(history, e.Message)
				case react.Result:
					history = append(history, e.Message)
				case react.Delta, react.Edit, react.Call, react.End:
				}
				n++
				if n > i {
					break
				}
			}
			require.Equal(t, i+1, n)
			again := follow(t, scripted().Run(t.Context(), history...))
			require.NoError(t, again.err)
			require.Equal(t, scriptedAnswer, again.end.Answer(), "left at event %d, %s", i, events[i])
		})
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("too late")
	cancel(why)
	user, calls := message.User("go"), message.Assistant(call("1", "a"), call("2", "b"))
	asked := false
	a := react.Agent{
		Model:   wants("a"),
		Tools:   []agent.Tool{gives("a", "1", 0), gives("b", "2", 0)},
		Approve: func(context.Context, message.ToolCall) error { asked = true; return nil },
	}
	for name, c := range map[string]struct {
		history, want []string
		msgs          []message.Message
		err           error
	}{
		"before the model":  {msgs: []message.Message{user}, want: []string{"user go"}, err: context.Canceled},
		"before the tools":  {msgs: []message.Message{user, calls}, want: []string{"user go", "assistant 1:a{} 2:b{}", "tool 1:a! cancelled before it ran: context canceled", "tool 2:b! cancelled before it ran: context canceled"}, err: context.Canceled},
		"between the tools": {msgs: []message.Message{user, calls, message.Result("2", "b", "2")}, want: []string{"user go", "assistant 1:a{} 2:b{}", "tool 2:b 2", "tool 1:a! cancelled before it ran: context canceled"}, err: context.Canceled},
		"behind the answer": {msgs: []message.Message{user, message.Assistant(message.Text{Text: "yes"})}, want: []string{"user go", "assistant yes"}},
	} {
		tr := follow(t, a.Run(ctx, c.msgs...))
		require.Equal(t, c.want, sayAll(tr.end.History), name)
		require.False(t, asked, "nobody is asked about what will not run")
		if c.err == nil {
			require.NoError(t, tr.err, name)
			continue
		}
		require.ErrorIs(t, tr.err, c.err, name)
		require.ErrorIs(t, tr.err, why, "the cause is told")
	}
}

package react_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// says returns a model that gives the answers one after the other, whatever it
// is asked.
func says(answers ...message.Message) middleware.Model {
	next := make(chan message.Message, len(answers))
	for _, m := range answers {
		next <- m
	}
	return func(ctx context.Context, _ *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		select {
		case m := <-next:
			return stream(ctx, m, emit)
		default:
			return nil, errors.New("the script is over")
		}
	}
}

// wants returns a model that looks at nothing but the messages: it calls each
// tool that has no good result since the newest user message, all of them at
// once, and then answers with the results.
func wants(tools ...string) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		known := map[string]string{}
		for _, m := range req.Messages {
			if m.Role == message.RoleUser {
				clear(known)
			}
			for res := range m.Results() {
				if !res.Error {
					known[res.Name] = res.Text
				}
			}
		}
		answer := message.Assistant(message.Thinking{Text: "what is missing?"})
		var text []string
		for _, name := range tools {
			if result, ok := known[name]; ok {
				text = append(text, name+"="+result)
			} else {
				answer.Parts = append(answer.Parts, call(fmt.Sprintf("%s-%d", name, len(req.Messages)), name))
			}
		}
		if !answer.HasCalls() {
			answer.Parts = append(answer.Parts, message.Text{Text: strings.Join(text, " ")})
		}
		return stream(ctx, answer, emit)
	}
}

// stream gives an answer in pieces, as long as the context allows.
func stream(ctx context.Context, m message.Message, emit middleware.Emit) (*middleware.Response, error) {
	calls := 0
	for _, p := range m.Parts {
		var d middleware.Delta
		switch p := p.(type) {
		case message.Text:
			d.Text = p.Text
		case message.Thinking:
			d.Thinking = p.Text
		case message.ToolCall:
			d.Call = &middleware.CallDelta{Index: calls, ID: p.ID, Name: p.Name, Arguments: p.Arguments}
			calls++
		case nil, message.Media, message.ToolResult, message.Opaque:
			continue
		}
		if err := emit(d); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	stop := middleware.StopEnd
	if calls > 0 {
		stop = middleware.StopTools
	}
	return &middleware.Response{Message: m, Usage: message.Usage{Input: 10, Output: 1}, Stop: stop}, nil
}

func call(id, name string) message.ToolCall {
	return message.ToolCall{ID: id, Name: name, Arguments: "{}"}
}

// tool returns a tool without arguments.
func tool(name string, fn func(context.Context) (string, error)) agent.Tool {
	return agent.NewTool(name, "", func(ctx context.Context, _ struct{}) (string, error) { return fn(ctx) })
}

// gives returns a tool that waits for a while, as its context allows, and gives
// a result.
func gives(name, result string, after time.Duration) agent.Tool {
	return tool(name, func(ctx context.Context) (string, error) {
		select {
		case <-time.After(after):
			return result, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

// transcript is what a run told.
type transcript struct {
	events []react.Event
	end    react.End
	err    error
}

// follow reads a run to its end and checks what holds for every run: the End
// comes last, it alone comes with an error, and its history is whole.
func follow(t *testing.T, seq iter.Seq2[react.Event, error], at ...func(i int, e react.Event)) transcript {
	t.Helper()
	var tr transcript
	ended := false
	for e, err := range seq {
		require.False(t, ended, "no event may follow the End, got %#v", e)
		require.NotNil(t, e)
		if end, ok := e.(react.End); ok {
			ended, tr.end, tr.err = true, end, err
		} else {
			require.NoError(t, err, "only the End comes with an error")
		}
		for _, fn := range at {
			fn(len(tr.events), e)
		}
		tr.events = append(tr.events, e)
	}
	require.True(t, ended, "the last event must be End")
	require.NoError(t, message.Check(tr.end.History), "the history must be whole")
	return tr
}

// only leaves out the errors, for runs that are not read to their end.
func only(seq iter.Seq2[react.Event, error]) iter.Seq[react.Event] {
	return func(yield func(react.Event) bool) {
		seq(func(e react.Event, _ error) bool { return yield(e) })
	}
}

// lines writes events, one a line, without times.
func lines(events []react.Event) []string {
	var out []string
	for _, e := range events {
		switch e := e.(type) {
		case react.Delta:
			switch {
			case e.Call != nil:
				out = append(out, fmt.Sprintf("delta call %d %s", e.Call.Index, e.Call.Name))
			case e.Thinking != "":
				out = append(out, "delta thinking "+e.Thinking)
			default:
				out = append(out, "delta "+e.Text)
			}
		case react.Edit:
			out = append(out, "edit "+e.By)
		case react.Step:
			out = append(out, fmt.Sprintf("step %d %s", e.N, e.Stop))
		case react.Call:
			out = append(out, "call "+e.Name)
		case react.Result:
			out = append(out, "result "+say(e.Message))
		case react.End:
			out = append(out, "end "+e.Answer())
		}
	}
	return out
}

// say writes a message in one line.
func say(m message.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			b.WriteString(" " + p.Text)
		case message.ToolCall:
			b.WriteString(" " + p.ID + ":" + p.Name + p.Arguments)
		case message.ToolResult:
			b.WriteString(" " + p.CallID + ":" + p.Name)
			if p.Error {
				b.WriteString("!")
			}
			b.WriteString(" " + p.Text)
		case nil, message.Thinking, message.Media, message.Opaque:
		}
	}
	return b.String()
}

func sayAll(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		out = append(out, say(m))
	}
	return out
}

package react_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

// raw is a tool that returns what it likes.
type raw func(ctx context.Context, arguments string) ([]message.Part, error)

func (raw) Definition() message.ToolDef { return message.ToolDef{Name: "raw"} }

func (f raw) Call(ctx context.Context, arguments string) ([]message.Part, error) {
	return f(ctx, arguments)
}

type badError struct{ text *string }

func (e badError) Error() string { return *e.text }

func TestToolResults(t *testing.T) {
	t.Parallel()
	parts := func(parts ...message.Part) raw {
		return func(context.Context, string) ([]message.Part, error) { return parts, nil }
	}
	fails := func(err error) raw {
		return func(context.Context, string) ([]message.Part, error) {
			return []message.Part{message.Text{Text: "dropped"}}, err
		}
	}
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		tool raw
		want string // of the message that stands in the history
		is   error  // what the event's error wraps; nil: not looked at
	}{
		"text":              {parts(message.Text{Text: "1"}), "c1:raw 1", nil},
		"nothing":           {parts(), "c1:raw ", nil},
		"nil part":          {parts(nil), "c1:raw! the tool returned a part of type <nil>, want text, media or opaque parts", nil},
		"a call":            {parts(message.Text{Text: "1"}, call("x", "y")), "c1:raw! the tool returned a part of type message.ToolCall, want text, media or opaque parts", nil},
		"error":             {fails(boom), "c1:raw! boom", boom},
		"no text":           {fails(errors.New("")), "c1:raw! the tool failed without a reason", nil},
		"error that panics": {fails(badError{}), "c1:raw! %!v(PANIC=Error method: runtime error: invalid memory address or nil pointer dereference)", badError{}},
		"panic error":       {func(context.Context, string) ([]message.Part, error) { panic(boom) }, "c1:raw! the tool panicked: boom", boom},
		"goexit": {
			func(context.Context, string) ([]message.Part, error) {
				runtime.Goexit()
				return nil, nil
			}, "c1:raw! the tool ended its goroutine and returned nothing", nil,
		},
	} {
		m, err := called(t, c.tool)
		require.Equal(t, "tool "+c.want, say(m), name)
		require.Equal(t, strings.Contains(c.want, "!"), err != nil, name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
		if p, ok := errors.AsType[*react.PanicError](err); ok {
			require.Contains(t, string(p.Stack), "act_test.go", "the host can find the place")
			require.Contains(t, p.Error(), "act_test.go", name)
		}
	}
	image, sealed := message.Media{Type: "image/png", Data: "png"}, message.Opaque{Kind: "k", Data: "d"}
	m, err := called(t, parts(message.Text{Text: "1"}, image, sealed))
	require.NoError(t, err)
	require.Equal(t, []message.Part{
		message.ToolResult{CallID: "c1", Name: "raw", Text: "1"}, message.ToolResult{CallID: "c1", Name: "raw", Content: image}, message.ToolResult{CallID: "c1", Name: "raw", Content: sealed},
	}, m.Parts, "a piece for each part")
}

// called returns the message with what a tool gives, and the error of the event that shows it.
func called(t *testing.T, tool raw) (m message.Message, err error) {
	t.Helper()
	a := react.Agent{
		Model: says(message.Assistant(call("c1", "raw")), message.Assistant(message.Text{Text: "done"})),
		Tools: []agent.Tool{tool},
	}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, "done", tr.end.Answer())
	for _, e := range tr.events {
		if res, ok := e.(react.Result); ok {
			require.Equal(t, tr.end.History[2], res.Message, "the event shows what stands in the history")
			err = res.Err
		}
	}
	return tr.end.History[2], err
}

func TestCallsThatAreNotRun(t *testing.T) {
	t.Parallel()
	asked := []string{}
	a := react.Agent{
		Model: says(
			message.Assistant(
				call("1", "a"), call("2", "nope"), message.ToolCall{ID: "3", Name: "a", Arguments: `{"b": `},
				call("4", "secret"), message.ToolCall{ID: "5", Name: "a", Arguments: `{"b": 1}`}, call("6", ""),
			),
			message.Assistant(message.Text{Text: "done"}),
		),
		Tools: []agent.Tool{gives("a", "1", 0), gives("secret", "42", 0)},
		Approve: func(_ context.Context, c message.ToolCall) error {
			asked = append(asked, c.ID)
			if c.Name == "secret" {
				return errors.New("not for you")
			}
			return nil
		},
		Parallel: 1,
	}
	tr := follow(t, a.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, []string{"1", "4", "5"}, asked, "in order, and only what could run")
	require.Equal(t, []string{
		`assistant 1:a{} 2:nope{} 3:a{"invalid_json":"{\"b\": "} 4:secret{} 5:a{"b": 1} 6:unnamed{}`,
		`tool 1:a 1`,
		`tool 2:nope! unknown tool "nope"; the tools are: a, secret`,
		`tool 3:a! invalid arguments: want a JSON object: unexpected end of JSON input`,
		`tool 4:secret! denied: not for you`,
		`tool 5:a! invalid arguments: "b" is unknown, want no fields`,
		`tool 6:unnamed! unknown tool "unnamed"; the tools are: a, secret`,
		`assistant done`,
	}, sayAll(tr.end.History[1:]))
	var ran []string
	for _, e := range tr.events {
		if c, ok := e.(react.Call); ok {
			ran = append(ran, c.ID)
		}
	}
	require.Equal(t, []string{"1", "5"}, ran, "a call that is not run has a result only")
	require.Equal(t, 6, tr.end.ToolCalls)

	none := react.Agent{Model: says(message.Assistant(call("1", "a")), message.Assistant(message.Text{Text: "done"}))}
	tr = follow(t, none.Run(t.Context(), message.User("go")))
	require.NoError(t, tr.err)
	require.Equal(t, `tool 1:a! unknown tool "a"; the tools are: none`, say(tr.end.History[2]))
}

// Arguments that were no JSON cannot run a tool by accident when the calls are
// run later, from a history.
func TestMalformedArgumentsAfterAResume(t *testing.T) {
	t.Parallel()
	a := react.Agent{
		Model: says(message.Assistant(message.ToolCall{ID: "1", Name: "a", Arguments: `{"b": `})),
		Tools: []agent.Tool{gives("a", "1", 0)},
	}
	var history []message.Message
	for e := range only(a.Run(t.Context(), message.User("go"))) {
		if e, ok := e.(react.Step); ok {
			history = []message.Message{message.User("go"), e.Message}
			break
		}
	}
	a.Model = says(message.Assistant(message.Text{Text: "done"}))
	tr := follow(t, a.Run(t.Context(), history...))
	require.NoError(t, tr.err)
	require.Equal(t, `tool 1:a! invalid arguments: "invalid_json" is unknown, want no fields`, say(tr.end.History[2]))
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		killed := tool("killed", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", errors.New("signal: killed")
		})
		stubborn := tool("stubborn", func(context.Context) (string, error) {
			<-time.After(time.Minute)
			return "late", nil
		})
		a := react.Agent{
			Model:       says(message.Assistant(call("1", "slow"), call("2", "killed"), call("3", "stubborn"), call("4", "fast")), message.Assistant(message.Text{Text: "done"})),
			Tools:       []agent.Tool{gives("slow", "1", time.Hour), killed, stubborn, gives("fast", "4", time.Second)},
			ToolTimeout: 5 * time.Second,
		}
		start := time.Now()
		tr := follow(t, a.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err)
		require.Equal(t, time.Minute, time.Since(start), "a tool that ignores its context is waited for")
		require.Equal(t, []string{
			"tool 1:slow! timed out after 5s: context deadline exceeded",
			"tool 2:killed! timed out after 5s: context deadline exceeded: signal: killed",
			"tool 3:stubborn late", // it has a result after all
			"tool 4:fast 4",
		}, sayAll(tr.end.History[2:6]))
		for _, e := range tr.events {
			if res, ok := e.(react.Result); ok && res.Call.ID == "1" {
				require.ErrorIs(t, res.Err, context.DeadlineExceeded)
				require.Equal(t, 5*time.Second, res.Took)
			}
		}
	})
}

func TestParallel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parallel, most int }{{0, 4}, {1, 1}, {3, 3}, {100, 10}} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				running += n
				most = max(most, running)
			}
			busy := tool("busy", func(context.Context) (string, error) {
				count(1)
				defer count(-1)
				<-time.After(time.Second)
				return "ok", nil
			})
			var calls []message.Part
			for i := range 10 {
				calls = append(calls, call(strings.Repeat("i", i+1), "busy"))
			}
			a := react.Agent{
				Model:    says(message.Assistant(calls...), message.Assistant(message.Text{Text: "done"})),
				Tools:    []agent.Tool{busy},
				Parallel: c.parallel,
			}
			tr := follow(t, a.Run(t.Context(), message.User("go")))
			require.NoError(t, tr.err)
			require.Equal(t, c.most, most, "Parallel is %d", c.parallel)
			for i, m := range tr.end.History[2:12] {
				require.Equal(t, "tool "+strings.Repeat("i", i+1)+":busy ok", say(m), "results stand in the order of the calls")
			}
		})
	}
}

func responds(resp *middleware.Response) middleware.Model {
	return func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return resp, nil
	}
}

func TestUselessAnswers(t *testing.T) {
	t.Parallel()
	text := message.Text{Text: "yes"}
	of := func(role message.Role, parts ...message.Part) *middleware.Response {
		return &middleware.Response{Message: message.Message{Role: role, Parts: parts}, Usage: message.Usage{Input: 7}}
	}
	for name, c := range map[string]struct {
		resp *middleware.Response
		want string
	}{
		"nothing at all": {nil, "neither an answer nor an error"},
		"of the user":    {of(message.RoleUser, text), `role "user", want "assistant"`},
		"no parts":       {of(message.RoleAssistant), "empty message"},
		"nil part":       {of(message.RoleAssistant, text, nil), "nil part"},
		"pointer":        {of(message.RoleAssistant, &message.Text{Text: "yes"}), "unknown part"},
		"tool result":    {of(message.RoleAssistant, text, message.ToolResult{CallID: "c"}), "misplaced part"},
	} {
		tr := follow(t, react.Agent{Model: responds(c.resp)}.Run(t.Context(), message.User("go")))
		require.EqualError(t, tr.err, "react: answer of the model: "+c.want, name)
		require.Equal(t, middleware.Invalid, middleware.KindOf(tr.err), name)
		require.Equal(t, []string{"user go"}, sayAll(tr.end.History), name)
		require.Zero(t, tr.end.Steps, name)
		if c.resp != nil {
			require.Equal(t, c.resp.Usage, tr.end.Usage, "it was paid for")
		}
	}
}

func TestAnswersArePutInOrder(t *testing.T) {
	t.Parallel()
	args := func(arguments string) message.ToolCall {
		return message.ToolCall{ID: "c", Name: "a", Arguments: arguments}
	}
	for name, c := range map[string]struct {
		parts []message.Part
		want  string
	}{
		"as it is":       {[]message.Part{message.Text{Text: "so:"}, args(` {"b": [1, 1e999, "\ud800"]}`)}, `assistant so: c:a {"b": [1, 1e999, "\ud800"]}`},
		"no arguments":   {[]message.Part{args("")}, "assistant c:a{}"},
		"cut off":        {[]message.Part{args(`{"b": "x`)}, `assistant c:a{"invalid_json":"{\"b\": \"x"}`},
		"prose":          {[]message.Part{args(`b=1`)}, `assistant c:a{"invalid_json":"b=1"}`},
		"duplicate ids":  {[]message.Part{call("c", "a"), call("c", "a"), call("d", "a"), call("c", "a")}, "assistant c:a{} call_1_2:a{} d:a{} call_1_4:a{}"},
		"ids in the way": {[]message.Part{call("", "a"), call("call_1_1", "a"), call("call_1_1x", "a"), call("call_1_1", "a")}, "assistant call_1_1xx:a{} call_1_1:a{} call_1_1x:a{} call_1_4:a{}"},
		"empty name":     {[]message.Part{call("c", "")}, "assistant c:unnamed{}"},
	} {
		answer := message.Assistant(c.parts...)
		before := testkit.Clone([]message.Message{answer})
		a := react.Agent{Model: says(answer, message.Assistant(message.Text{Text: "done"})), Tools: []agent.Tool{gives("a", "1", 0)}}
		tr := follow(t, a.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err, name)
		require.Equal(t, c.want, say(tr.end.History[1]), name)
		require.Equal(t, before[0], answer, "the model's own message must not change")
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	in, none := message.Usage{Input: 3, Output: 1}, message.Usage{}
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		response message.Usage
		message  *message.Usage
		want     message.Usage
		kept     *message.Usage
	}{
		"in the response": {in, nil, in, &in},
		"in the message":  {none, &in, in, &in},
		"in both":         {in, &message.Usage{Input: 2}, in, &message.Usage{Input: 2}},
		"nowhere":         {none, nil, none, nil},
	} {
		m := message.Assistant(message.Text{Text: "yes"})
		m.Usage, m.Time = c.message, then
		tr := follow(t, react.Agent{Model: responds(&middleware.Response{Message: m, Usage: c.response})}.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err)
		require.Equal(t, c.want, tr.end.Usage, name)
		require.Equal(t, c.kept, tr.end.History[1].Usage, name)
		require.Equal(t, then, tr.end.History[1].Time, "a time that the model gave stays")
	}
}

// Whatever arguments and ids a model comes up with, the history stays whole.
func FuzzAnswer(f *testing.F) {
	f.Add("c", "c", "a", `{}`, `{"b": `)
	f.Add("", "call_1_1", "", "null", "[1]")
	f.Add("call_1_2", "", "\xff", "\xff", "{\"\xff\": 1}")
	f.Fuzz(func(t *testing.T, id1, id2, name, args1, args2 string) {
		a := react.Agent{
			Model: says(
				message.Assistant(
					message.ToolCall{ID: id1, Name: name, Arguments: args1},
					message.ToolCall{ID: id2, Name: "a", Arguments: args2},
					message.ToolCall{ID: id1, Name: "a", Arguments: args2},
				),
				message.Assistant(message.Text{Text: "done"}),
			),
			Tools: []agent.Tool{gives("a", "1", 0)},
		}
		tr := follow(t, a.Run(t.Context(), message.User("go")))
		require.NoError(t, tr.err)
		require.Len(t, tr.end.History, 6)
		for c := range tr.end.History[1].Calls() {
			require.NotEmpty(t, c.ID)
			require.NotEmpty(t, c.Name)
		}
	})
}

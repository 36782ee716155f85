package native_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// provider is a compactor in memory. The same messages give the same compaction.
type provider struct {
	sealed  bool
	forgets bool // it does not write what the instructions want
	users   bool // the messages of the user stay, as OpenAI leaves them
	err     error
	asked   *int
}

func (p provider) Readable() bool { return !p.sealed }

func (p provider) Compact(_ context.Context, v *middleware.View, n int, instructions string) ([]message.Message, error) {
	if p.asked != nil {
		*p.asked++
	}
	ids := message.IDs(v.Messages()[:n])
	data := fmt.Sprintf(`{"type":"compaction","content":%q}`, fmt.Sprintf("%x %s", ids[n-1][:4], instructions))
	if p.forgets {
		data = `{"type":"compaction","content":"a summary"}`
	}
	m := message.Assistant(message.Opaque{Kind: "compaction", Data: data})
	m.Hints.Pinned = true
	var out []message.Message
	for _, m := range v.Messages()[:n] {
		if p.users && m.Role == message.RoleUser {
			out = append(out, m)
		}
	}
	return append(out, m), p.err
}

// with is a layer that gives calls a compactor, as package wire does.
func with(p provider) middleware.Middleware {
	return func(next middleware.Model) middleware.Model {
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			return next(native.With(ctx, p), req, emit)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	for name, mw := range map[string]func() middleware.Middleware{
		"a low trigger": func() middleware.Middleware {
			return middleware.Chain(with(provider{users: true}), native.New(native.Options{Trigger: low, Keep: 2}))
		},
		"sealed": func() middleware.Middleware {
			return middleware.Chain(with(provider{sealed: true, users: true}), native.New(native.Options{Trigger: low, Keep: 1, MinCalls: 2}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: mw, Histories: [][]message.Message{rounds(12), rounds(30)}}.Test(t)
		})
	}
}

// rounds is a history of so many rounds.
func rounds(n int) []message.Message {
	msgs := []message.Message{message.User("Read all files.")}
	for i := range n {
		id := fmt.Sprint("c", i)
		msgs = append(msgs,
			message.Assistant(message.ToolCall{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"%d"}`, i)}),
			message.Result(id, "read_file", fmt.Sprint(i, strings.Repeat(" a line of a file", 40))))
	}
	return msgs
}

// run applies a chain to a history, and returns the view and the events.
func run(t *testing.T, mw middleware.Middleware, history []message.Message, env middleware.Env) ([]message.Message, []middleware.Event) {
	t.Helper()
	out, events, err := middleware.Apply(t.Context(), middleware.With(env, mw), &middleware.Request{Messages: history, Model: "m"})
	require.NoError(t, err)
	return out.Messages, events
}

func TestFold(t *testing.T) {
	t.Parallel()
	history := append([]message.Message{message.System("Be brief.")}, rounds(20)...)
	low := trigger.Tokens(500)
	got, events := run(t, middleware.Chain(with(provider{}), native.New(native.Options{Trigger: low, Keep: 4, Instructions: "names"})), history, middleware.Env{})
	require.True(t, got[0].Equal(history[0]))
	require.True(t, message.Internals(inside.Key{}).IsCompaction(got[1]))
	require.Contains(t, got[1].Parts[0].(message.Opaque).Data, "names")
	require.Len(t, got, 6)
	require.True(t, got[2].Equal(history[len(history)-4]), "an answer is the first that is kept, and directly behind it")
	require.Equal(t, middleware.Edited, events[0].Kind)

	archive := store.NewMemory(0)
	got, events = run(t, middleware.Chain(with(provider{}), native.New(native.Options{Trigger: low, Keep: 4, Instructions: "names"})), history, middleware.Env{Archive: archive})
	text := got[1].Parts[0].(message.Opaque).Data
	require.Regexp(t, `names.*The provider has compacted 37 messages here.*recall [a-z]{12}\]"}$`, text, "the summary has the handle")
	require.NotContains(t, fmt.Sprint(events), "left out")
	kept, err := archive.Get(t.Context(), archived.In(text)[0])
	require.NoError(t, err)
	for _, m := range history[1:38] {
		for r := range m.Results() {
			require.Contains(t, kept.Data, r.Text, "what was compacted can be read")
		}
	}
	got, _ = run(t, middleware.Chain(with(provider{}), native.New(native.Options{Trigger: low, Keep: 4})), history, middleware.Env{Archive: archive})
	require.Contains(t, got[1].Parts[0].(message.Opaque).Data, "Write a summary by which the work can be continued")
	_, events = run(t, middleware.Chain(with(provider{forgets: true}), native.New(native.Options{Trigger: low})), history, middleware.Env{Archive: archive})
	require.Contains(t, events[0].String(), "has left out the handle")

	archive = store.NewMemory(0)
	got, _ = run(t, middleware.Chain(with(provider{sealed: true}), native.New(native.Options{Trigger: low, Keep: 3})), history, middleware.Env{Archive: archive})
	require.Regexp(t, `^\[The provider has compacted 37 messages here: recall [a-z]{12}\]$|^\[The provider has compacted 37 messages here\. To read it: recall [a-z]{12}\]$`, got[2].Text(), "our own record")
}

// Without a compactor, or after a failure, the view stays as it is and an event has the reason, for the next editor to fold.
func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	history := rounds(20)
	low := native.New(native.Options{Trigger: trigger.Tokens(500)})
	got, events := run(t, low, history, middleware.Env{})
	require.Len(t, got, len(history))
	require.Contains(t, events[0].String(), "no compaction on demand")
	got, events = run(t, middleware.Chain(with(provider{err: errors.New("beta not allowed")}), low), history, middleware.Env{})
	require.Len(t, got, len(history))
	require.Equal(t, middleware.Failed, events[0].Kind)
	require.ErrorContains(t, events[0].Err, "beta not allowed")
	asked := 0
	got, _ = run(t, middleware.Chain(with(provider{asked: &asked}), low), append(rounds(1), message.User("Go on.")), middleware.Env{})
	require.Len(t, got, 4)
	require.Zero(t, asked)
}

// What must stay as it is ends what is compacted, and another editor leaves a compaction alone.
func TestPinned(t *testing.T) {
	t.Parallel()
	history := rounds(20)
	history[21].Hints.Pinned = true
	mw := middleware.Chain(with(provider{}), native.New(native.Options{Trigger: trigger.Tokens(500), Keep: 2}))
	got, _ := run(t, mw, history, middleware.Env{})
	require.True(t, message.Internals(inside.Key{}).IsCompaction(got[0]))
	require.True(t, got[1].Equal(history[21]), "%v", got[1])
	var protection middleware.Protection
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		protection = v.Protected(0)
		f := middleware.FoldOf(0, 2, message.User("(gone)"))
		return &middleware.Plan{Edits: []middleware.Edit{f}}, nil
	}, middleware.Options{})
	again, events := run(t, middleware.Chain(mw, look), history, middleware.Env{})
	require.Equal(t, middleware.Protection{Whole: true}, protection)
	require.Len(t, again, len(got))
	require.Equal(t, middleware.Refused, events[1].Kind, "%v", events)
}

// TestSystemInside: a system message inside of the conversation, as Claude Code sends it, is compacted and put back, word for word, in
// each compaction. It stands behind a line of the user, since providers refuse it directly after an answer.
func TestSystemInside(t *testing.T) {
	t.Parallel()
	first, second := message.System("The sandbox is on."), message.System("The user is away.")
	h := rounds(30)
	h = slices.Concat(h[:1], []message.Message{first}, h[1:15], []message.Message{second}, h[15:], []message.Message{message.User("Go on.")}, rounds(3)[1:])
	archive := store.NewMemory(0)
	mw := middleware.Chain(with(provider{}), native.New(native.Options{Trigger: trigger.Tokens(500), Keep: 2}))
	env := middleware.Env{Archive: archive, Journal: journal.NewMemory(0)}
	for n, want := range map[int][]message.Message{14: {first}, 40: {first, second}, len(h): {first, second}} {
		got, events := run(t, mw, h[:n], env)
		require.Equal(t, middleware.Edited, events[0].Kind, "%v", events)
		require.True(t, message.Internals(inside.Key{}).IsCompaction(got[0]))
		require.Regexp(t, `^\[The provider has compacted \d+ messages here\. To read it: recall [a-z]{12}\]$`, got[1].Text())
		got = got[2:]
		require.Equal(t, want, got[:len(want)])
		require.Equal(t, message.RoleAssistant, got[len(want)].Role)
	}
}

// TestWall: if a message that must stay word for word leaves nothing to compact, the event names it.
func TestWall(t *testing.T) {
	t.Parallel()
	pinned := rounds(12)
	pinned[2].Hints.Pinned = true
	protected := rounds(12)
	between := slices.Concat(rounds(12)[:1], []message.Message{message.System("The sandbox is on.")}, rounds(12)[1:])
	for name, c := range map[string]struct {
		history []message.Message
		protect []string
		want    string
	}{
		"sealed":    {between, nil, "an answer and message 1 of system, which must stay word for word"},
		"pinned":    {pinned, nil, "an answer and message 2 of tool, which must stay word for word"},
		"protected": {protected, []string{"read_file"}, "an answer and message 1 of assistant, which must stay word for word"},
		"short":     {rounds(2), nil, "an answer and the newest 6 messages"},
	} {
		_, events := run(t, middleware.Chain(with(provider{sealed: name == "sealed"}), native.New(native.Options{Trigger: trigger.Tokens(50)})), c.history,
			middleware.Env{Protect: c.protect})
		require.NotEmpty(t, events, name)
		require.Equal(t, middleware.Skipped, events[0].Kind)
		require.Contains(t, events[0].Why, c.want)
	}
}

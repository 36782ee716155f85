package seeds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/tokens"
)

// compact is microcompact, with a counter that makes the numbers easy.
func compact(opts microcompact.Options) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4}, microcompact.New(opts))
}

// compacted returns what the model sees of a conversation.
func compacted(t *testing.T, h []message.Message, opts microcompact.Options) []message.Message {
	t.Helper()
	sent, events, err := middleware.Apply(t.Context(), compact(opts), &middleware.Request{Messages: h})
	require.NoError(t, err)
	for _, e := range events {
		require.NoError(t, e.Err)
	}
	require.NoError(t, message.Check(sent.Messages))
	return sent.Messages
}

// oneOld is a conversation of five rounds, of which the first, the only old one,
// has these payloads.
func oneOld(text, arguments, result string) []message.Message {
	h := []message.Message{message.System("You are helpful."), message.User("Look into it.")}
	for i := range 5 {
		id := fmt.Sprintf("c%d", i)
		h = append(h,
			message.Assistant(message.Text{Text: text}, message.ToolCall{ID: id, Name: "read", Arguments: arguments}),
			message.Result(id, "read", result))
	}
	return h
}

// texts returns the results of a conversation, in order.
func texts(msgs []message.Message) (all []string) {
	for _, m := range msgs {
		for r := range m.Results() {
			all = append(all, r.Text)
		}
	}
	return all
}

func TestB1(t *testing.T) {
	t.Parallel()
	old := func(text, arguments, result string, opts microcompact.Options) (string, string, string) {
		h := oneOld(text, arguments, result)
		view := compacted(t, h, opts)
		require.Equal(t, h[4:], view[4:], "the newest four rounds stay")
		call := view[2].Parts[1].(message.ToolCall)
		return view[2].Text(), call.Arguments, texts(view)[0]
	}
	// 200 characters, as arguments with a value of 192, and one more.
	x := func(n int) string { return strings.Repeat("x", n) }
	args := func(n int) string { return `{"a":"` + x(n-8) + `"}` }
	require.Len(t, args(200), 200)

	seed := microcompact.Limits{Results: 200, Arguments: 200, Text: 200}

	// Exactly 200 → untouched; 201 → replaced.
	text, arguments, result := old(x(200), args(200), x(200), microcompact.Options{Limit: seed})
	require.Equal(t, x(200), text)
	require.Equal(t, args(200), arguments)
	require.Equal(t, x(200), result)
	text, arguments, result = old(x(201), args(201), x(201), microcompact.Options{Limit: seed})
	require.Equal(t, "[truncated: 201 chars]", text)
	require.Equal(t, `{"a":"[truncated: 193 chars]"}`, arguments) //nolint:testifylint // byte for byte
	require.Equal(t, "[truncated: 201 chars]", result)

	// Lengths are Unicode code points.
	_, _, result = old("a", "{}", strings.Repeat("好", 200), microcompact.Options{})
	require.Equal(t, strings.Repeat("好", 200), result)
	_, _, result = old("a", "{}", strings.Repeat("好", 201), microcompact.Options{})
	require.Equal(t, "[truncated: 201 chars]", result)

	// Our default leaves arguments and text alone.
	text, arguments, result = old(x(5000), args(5000), x(5000), microcompact.Options{})
	require.Equal(t, x(5000), text)
	require.Equal(t, args(5000), arguments)
	require.Equal(t, "[truncated: 5000 chars]", result)

	// The same keys; values up to 60 code points stay. Still over the limit: only
	// the length.
	_, arguments, _ = old("a", fmt.Sprintf(`{"path":%q,"n":7,"content":%q}`, x(60), x(1000)), "r", microcompact.Options{Limit: seed})
	require.Equal(t, `{"path":"`+x(60)+`","n":7,"content":"[truncated: 1000 chars]"}`, arguments)
	wide := `{"a":"` + x(60) + `","b":"` + x(60) + `","c":"` + x(60) + `"}`
	_, arguments, _ = old("a", wide, "r", microcompact.Options{Limit: seed})
	require.Equal(t, fmt.Sprintf(`{"truncated": %d}`, len(wide)), arguments)
	require.Len(t, wide, 202)

	// Limit negative → off for that kind.
	off := microcompact.Limits{Results: -1, Arguments: -1, Text: 200}
	text, arguments, result = old(x(5000), args(5000), x(5000), microcompact.Options{Limit: off})
	require.Equal(t, "[truncated: 5000 chars]", text)
	require.Equal(t, args(5000), arguments)
	require.Equal(t, x(5000), result)
}

func TestB2(t *testing.T) {
	t.Parallel()
	var all []toolCall
	for i := range 6 {
		all = append(all, toolCall{tool: "read", named: "read", result: strings.Repeat(fmt.Sprint(i), 5000)})
	}
	h := conversation(all)
	for name, h := range map[string][]message.Message{"answered": h, "not answered yet": h[:len(h)-1]} {
		mw := compact(microcompact.Options{})
		sent, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)

		// 6 rounds of 5000-character results → first two replaced; message count,
		// ids, names unchanged.
		require.Len(t, events, 1, name)
		require.Equal(t, 2, events[0].Detail.(microcompact.Report).Results)
		require.Len(t, sent.Messages, len(h))
		for i, m := range h {
			want := m
			if i == 3 || i == 5 {
				r := m.Parts[0].(message.ToolResult)
				r.Text = "[truncated: 5000 chars]"
				want.Parts = []message.Part{r}
			}
			require.Equal(t, want, sent.Messages[i], "%s: message %d", name, i)
		}

		// Running twice changes nothing more: the same call, and the view as history.
		again, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
		require.Empty(t, events)
		require.Equal(t, sent.Messages, again.Messages)
		require.Equal(t, sent.Messages, compacted(t, sent.Messages, microcompact.Options{}))
	}

	// Two messages or fewer: untouched.
	two := h[2:4]
	require.Equal(t, two, compacted(t, append([]message.Message{}, two...), microcompact.Options{KeepRounds: -1}))
}

func TestB3(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	var all []toolCall
	for _, tool := range []string{"read", "Skill", "db_query", "read", "read", "read", "read"} {
		all = append(all, toolCall{tool: tool, named: tool, result: long})
	}
	h := conversation(all)

	// A protected result stays: the caller's, and always that of "Skill".
	const gone = "[truncated: 5000 chars]"
	require.Equal(t, []string{gone, long, gone}, texts(compacted(t, h, microcompact.Options{}))[:3])
	require.Equal(t, []string{gone, long, long}, texts(compacted(t, h, microcompact.Options{Protect: []string{"db_query"}}))[:3])

	// The name in the call protects as well as that in the result.
	for i := range all {
		all[i].named = ""
	}
	require.Equal(t, []string{gone, long, long}, texts(compacted(t, conversation(all), microcompact.Options{Protect: []string{"db_query"}}))[:3])
	for i := range all {
		all[i].named, all[i].tool = all[i].tool, "run"
	}
	require.Equal(t, []string{gone, long, long}, texts(compacted(t, conversation(all), microcompact.Options{Protect: []string{"db_query"}}))[:3])
}

// TestBMedia has media and artifacts in old results: each is replaced, the text next to them is
// kept if it is within the limit.
func TestBMedia(t *testing.T) {
	t.Parallel()
	h := oneOld("I look.", "{}", "see the image")
	h[3].Parts = append(h[3].Parts,
		message.ToolResult{CallID: "c0", Name: "read", Content: message.Media{Type: "image/png", Data: strings.Repeat("x", 5000)}},
		message.ToolResult{CallID: "c0", Name: "read", Content: message.Opaque{Kind: "artifact", Data: strings.Repeat("x", 5000)}})
	view := compacted(t, h, microcompact.Options{})
	require.Equal(t, h[4:], view[4:])
	require.Len(t, view[3].Parts, 3)
	require.Equal(t, h[3].Parts[0], view[3].Parts[0], "the text is within the limit")
	for _, p := range view[3].Parts[1:] {
		require.Equal(t, message.ToolResult{CallID: "c0", Name: "read", Text: "[truncated: 1 attachment]"}, p)
	}
}

func TestB4(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	h := []message.Message{message.User("Look into it.")}
	for i := range 5 {
		var calls []message.Part
		var results []message.Message
		for k := range 3 {
			id := fmt.Sprintf("c%d-%d", i, k)
			calls = append(calls, message.ToolCall{ID: id, Name: "read", Arguments: "{}"})
			results = append(results, message.Result(id, "read", long))
		}
		h = append(append(h, message.Assistant(calls...)), results...)
	}
	// One message with 3 parallel calls is one round: of five, one is old.
	const gone = "[truncated: 5000 chars]"
	got := texts(compacted(t, h, microcompact.Options{}))
	require.Equal(t, []string{gone, gone, gone, long, long, long, long, long, long, long, long, long, long, long, long}, got)
}

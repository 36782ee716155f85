package message_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// Short forms for the tables.
func call(id string) message.Part {
	return message.ToolCall{ID: id, Name: "tool", Arguments: `{"n":1}`}
}

func piece(id string) message.Part { return message.ToolResult{CallID: id, Text: "result " + id} }

func tool(parts ...message.Part) message.Message {
	return message.Message{Role: message.RoleTool, Parts: parts}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	type violations = []message.Violation
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	tests := []struct {
		name string
		in   []message.Message
		want violations
	}{
		// What is in order.
		{"no messages", nil, nil},
		{"a round", []message.Message{user, message.Assistant(call("a")), tool(piece("a")), say}, nil},
		{"parallel calls, one message", []message.Message{message.Assistant(call("a"), call("b")), tool(piece("a"), piece("b"))}, nil},
		{"results in another order", []message.Message{message.Assistant(call("a"), call("b")), tool(piece("b")), tool(piece("a"))}, nil},
		{"pieces of two results in turn", []message.Message{message.Assistant(call("a"), call("b")), tool(piece("a"), piece("b"), piece("a"), piece("b"))}, nil},
		{"the id comes again in a later round", []message.Message{message.Assistant(call("a")), tool(piece("a")), message.Assistant(call("a")), tool(piece("a"))}, nil},
		{"an empty id is an id", []message.Message{message.Assistant(call("")), tool(piece(""))}, nil},
		{"thinking alone", []message.Message{message.Assistant(message.Thinking{Signature: "s"})}, nil},

		// Calls and results that do not belong together.
		{"unanswered at the end", []message.Message{user, message.Assistant(call("a"))}, violations{{message.UnansweredCall, 1, "a"}}},
		{"unanswered in the middle", []message.Message{message.Assistant(call("a")), user, say}, violations{{message.UnansweredCall, 0, "a"}}},
		{"a tool message first", []message.Message{tool(piece("a")), user}, violations{{message.OrphanedResult, 0, "a"}}},
		{
			"an orphan in pieces counts once, though mixed",
			[]message.Message{tool(piece("a"), piece("b"), piece("a"))},
			violations{{message.OrphanedResult, 0, "a"}, {message.OrphanedResult, 0, "b"}},
		},
		{
			"the result stands behind another assistant message",
			[]message.Message{message.Assistant(call("a")), say, tool(piece("a"))},
			violations{{message.UnansweredCall, 0, "a"}, {message.OrphanedResult, 2, "a"}},
		},
		{"a user between", []message.Message{message.Assistant(call("a")), user, tool(piece("a"))}, violations{{message.DisplacedResult, 2, "a"}}},
		{
			"the second of two is displaced",
			[]message.Message{message.Assistant(call("a"), call("b")), tool(piece("a")), user, tool(piece("b"), piece("b"))},
			violations{{message.DisplacedResult, 3, "b"}},
		},
		{
			"two calls of one id",
			[]message.Message{message.Assistant(call("a"), call("a"), call("a")), tool(piece("a"))},
			violations{
				{message.DuplicateCall, 0, "a"},
				{message.DuplicateCall, 0, "a"},
				{message.UnansweredCall, 0, "a"},
				{message.UnansweredCall, 0, "a"},
			},
		},
		{
			"two calls of one id, each with its result",
			[]message.Message{message.Assistant(call("a"), call("b"), call("a")), tool(piece("a"), piece("a"), piece("b"), piece("a"))},
			violations{{message.DuplicateCall, 0, "a"}},
		},
		{
			"two calls of one id, three results",
			[]message.Message{message.Assistant(call("a"), call("a")), tool(piece("a")), tool(piece("a")), tool(piece("a"))},
			violations{{message.DuplicateCall, 0, "a"}, {message.DuplicateResult, 3, "a"}},
		},
		{
			"two results of one call, in two messages",
			[]message.Message{message.Assistant(call("a")), tool(piece("a")), tool(piece("a"), piece("a"))},
			violations{{message.DuplicateResult, 2, "a"}},
		},

		// What a message shows by itself.
		{"no parts", []message.Message{{Role: message.RoleUser}}, violations{{message.EmptyMessage, 0, ""}}},
		{"white space", []message.Message{message.User(" \n\t\u00a0")}, violations{{message.EmptyMessage, 0, ""}}},
		{"an empty text beside another", []message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Text{}, message.Text{Text: "x"}}}}, nil},
		{
			"a nil part alone",
			[]message.Message{{Role: message.RoleUser, Parts: []message.Part{nil}}},
			violations{{message.NilPart, 0, ""}, {message.EmptyMessage, 0, ""}},
		},
		{
			"a pointer to a part",
			[]message.Message{{Role: message.RoleUser, Parts: []message.Part{&message.Text{Text: "x"}, (*message.Media)(nil)}}},
			violations{{message.UnknownPart, 0, ""}, {message.UnknownPart, 0, ""}, {message.EmptyMessage, 0, ""}},
		},
		{
			"a part around a part",
			[]message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "x"}, struct{ message.Part }{message.Text{Text: "y"}}}}},
			violations{{message.UnknownPart, 0, ""}},
		},
		{"a call of the user", []message.Message{{Role: message.RoleUser, Parts: []message.Part{call("a")}}}, violations{{message.MisplacedPart, 0, "a"}}},
		{
			"a result of the assistant", // and so none of the tool
			[]message.Message{message.Assistant(call("a"), piece("a"))},
			violations{{message.UnansweredCall, 0, "a"}, {message.MisplacedPart, 0, "a"}},
		},
		{
			"a call inside a tool message",
			[]message.Message{message.Assistant(call("a")), tool(piece("a"), call("b"))},
			violations{{message.MisplacedPart, 1, "b"}},
		},
		{"unknown role", []message.Message{{Role: "developer", Parts: []message.Part{message.Text{Text: "x"}}}}, violations{{message.UnknownRole, 0, ""}}},
		{
			"everything of a message at one place, in the order of the messages",
			[]message.Message{{Role: "x"}, message.Assistant(call("a"), message.ToolCall{ID: "b"}), tool(piece("c"))},
			violations{
				{message.UnknownRole, 0, ""},
				{message.EmptyMessage, 0, ""},
				{message.UnansweredCall, 1, "a"},
				{message.UnansweredCall, 1, "b"},
				{message.BadArguments, 1, "b"},
				{message.OrphanedResult, 2, "c"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := message.Rules(0).Violations(tt.in)
			require.Equal(t, tt.want, got)
			requireSameAnswer(t, tt.in, got)
		})
	}
}

func TestContentOfResults(t *testing.T) {
	t.Parallel()
	misplaced := []message.Violation{{Rule: message.MisplacedPart, At: 1, CallID: "a"}}
	tests := []struct {
		name    string
		content message.Part
		want    []message.Violation
	}{
		{"none", nil, nil},
		{"opaque", message.Opaque{Kind: "artifact"}, nil},
		{"text", message.Text{Text: "x"}, misplaced},
		{"result", piece("b"), misplaced},
		{"result with an image", message.ToolResult{CallID: "a", Content: message.Media{}}, misplaced},
		{"pointer", &message.Media{}, []message.Violation{{Rule: message.UnknownPart, At: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{message.Assistant(call("a")), tool(message.ToolResult{CallID: "a", Content: tt.content})}
			require.Equal(t, tt.want, message.Rules(0).Violations(h))
		})
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for arguments, bad := range map[string]bool{
		`{}`:                                false,
		" \t\r\n{\"a\":[1,{\"b\":null}]}\n": false,
		`{"a":1,"a":2}`:                     false,
		"":                                  true,
		" ":                                 true,
		`null`:                              true,
		`[]`:                                true,
		`{`:                                 true,
		`{"a":1} and then`:                  true,
		"\ufeff{}":                          true,
		"\u00a0{}":                          true,
		`{"a":NaN}`:                         true,
		"{\"a\":\"\x00\"}":                  true,
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): true, // deeper than encoding/json goes
	} {
		h := []message.Message{message.Assistant(message.ToolCall{ID: "a", Name: "tool", Arguments: arguments}), tool(piece("a"))}
		var want []message.Violation
		if bad {
			want = []message.Violation{{Rule: message.BadArguments, At: 0, CallID: "a"}}
		}
		require.Equal(t, want, message.Rules(0).Violations(h), "arguments %.40q", arguments)
	}
}

func TestInvalidErrorText(t *testing.T) {
	t.Parallel()
	orphans := tool(piece("x\n"), piece("y"))
	h := []message.Message{message.Assistant(call("a"), call("b")), message.User(""), orphans}
	require.Len(t, message.Rules(0).Violations(h), 5)
	require.EqualError(t, message.Check(h), `message: message 0: unanswered call "a"; message 0: unanswered call "b"; message 1: empty message; and 2 more`)
	require.EqualError(t, message.Check([]message.Message{orphans}), `message: message 0: orphaned result "x\n"; message 0: orphaned result "y"`)
}

// requireSameAnswer checks that Violations is Pairing and Content together, in
// the order of the messages, and that Check says the same.
func requireSameAnswer(t require.TestingT, h []message.Message, got []message.Violation) {
	both := message.Pairing(h)
	for i := range h {
		both = append(both, message.Content(h, i)...)
	}
	require.ElementsMatch(t, both, got, "Violations is not Pairing and Content together")
	for i, v := range got {
		require.True(t, v.At >= 0 && v.At < len(h), "violation %v outside of the history", v)
		require.True(t, i == 0 || got[i-1].At <= v.At, "violations %v out of order", got)
	}
	err := message.Check(h)
	if len(got) == 0 {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, got[0].String())
	require.Equal(t, got, message.Rules(0).Violations(h), "the same each time")
}

// FuzzCheck checks lists of messages that may be anything: the bytes say which
// roles and parts follow one another, so that a changed byte is another broken
// conversation.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][]byte{
		nil,
		{0, 1, 0, 2, 4, 4, 3, 2, 5}, // calls and results
		{3, 1, 5, 3, 1, 5, 2, 2, 4, 4, 1, 1, 0, 3, 1, 5},     // orphans, twins, a user between
		{2, 1, 68, 3, 3, 5, 21, 5, 4, 1, 200, 0, 0, 2, 1, 8}, // arguments, pieces, an unknown role, nothing
		{0, 1, 9, 2, 3, 12, 10, 4, 3, 2, 11, 5},              // not UTF-8
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		h := scripted(script)
		got := message.Rules(0).Violations(h)
		requireSameAnswer(t, h, got)
		require.Equal(t, got, message.Rules(0).Violations(h), "not a pure function")
		covered := 0
		for _, u := range message.Units(h) {
			covered += u.Len()
		}
		require.Equal(t, len(h), covered)
		require.Len(t, message.IDs(h), len(h))
	})
}

// scripted makes messages of bytes: of each message the role, the number of
// parts, and for each part its type and id.
func scripted(script []byte) []message.Message {
	next := func() int {
		if len(script) == 0 {
			return 0
		}
		b := script[0]
		script = script[1:]
		return int(b)
	}
	roles := []message.Role{message.RoleUser, message.RoleSystem, message.RoleAssistant, message.RoleTool, "developer"}
	var h []message.Message
	for len(script) > 0 {
		m := message.Message{Role: roles[next()%len(roles)]}
		for range next() % 6 {
			b := next()
			kinds := []message.Part{
				nil,
				message.Text{Text: " "},
				message.Text{Text: "x"},
				message.Media{},
				call(string(rune('a' + b/16%4))), piece(string(rune('a' + b/16%4))),
				message.ToolCall{ID: "a", Arguments: string(script[:min(b/16, len(script))])},
				message.ToolResult{CallID: "b", Content: piece("a")},
				&message.Text{},
				message.Text{Text: "x\xff"},
				call("\xfe"), piece("\xfe"),
				message.Thinking{Text: "\xff", Signature: string(rune('a' + b/16%2))},
			}
			m.Parts = append(m.Parts, kinds[b%16%len(kinds)])
		}
		h = append(h, m)
	}
	return h
}

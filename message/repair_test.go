package message_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

// everyRules are the rules that the properties are checked for.
func everyRules() []message.Rules {
	return []message.Rules{
		0, message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral, message.Portable,
		message.Anthropic | message.InPlace, message.Anthropic | message.Bedrock | message.InPlace, message.Anthropic | message.InPlace | message.Prefill,
		message.Anthropic | message.Prefill, message.Portable | message.Prefill,
		message.OpenAI | message.Bedrock, message.OpenAI | message.OneText, message.Portable | message.OneText, message.Mistral | message.Prefill, message.Mistral | message.Anthropic, message.Gemini | message.Unconfirmed,
		message.Chat, message.Chat | message.OneSystem | message.ThinkingCalls, message.Messages, message.Anthropic | message.InPlace | message.SystemFirst,
		message.Portable | message.OneText | message.OneSystem | message.Plain,
		message.OpenAI | message.AsSent, message.OpenAIResponses | message.AsSent, message.Anthropic | message.InPlace | message.AsSent, message.Gemini | message.AsSent,
	}
}

// broken generates conversations in which calls and results nearly match, and
// everything else that a provider may refuse.
func broken() *rapid.Generator[[]message.Message] {
	part := rapid.Custom(func(t *rapid.T) message.Part {
		id := rapid.SampledFrom([]string{"a", "b", "c", "", "a b", strings.Repeat("x", 50)}).Draw(t, "id")
		return rapid.SampledFrom([]message.Part{
			nil,
			message.Text{Text: " "},
			message.Text{Text: "text"},
			message.Thinking{Text: "thinking", Signature: "sig"},
			message.Media{Type: "image/png", URL: "u"},
			message.Opaque{Kind: "k", Data: "d"},
			message.ToolCall{ID: id, Name: "tool", Arguments: "{}"},
			message.ToolCall{ID: id, Name: "to ol", Arguments: "nil"},
			message.ToolResult{CallID: id, Text: "result"},
			message.ToolResult{CallID: id},
			message.ToolResult{CallID: id, Content: message.Media{Type: "image/png", Data: "x"}},
			message.ToolResult{CallID: id, Content: message.Text{Text: "inner"}},
			message.ToolResult{CallID: id, Content: &message.Opaque{}},
			&message.Text{Text: "pointed at"},
			(*message.Media)(nil),
			struct{ message.Part }{message.Text{Text: "wrapped"}},
		}).Draw(t, "part")
	})
	msg := rapid.Custom(func(t *rapid.T) message.Message {
		role := rapid.SampledFrom([]message.Role{
			message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleAssistant, message.RoleTool, message.RoleTool, "developer", "",
		}).Draw(t, "role")
		m := message.Message{Role: role, Parts: rapid.SliceOfN(part, 0, 4).Draw(t, "parts")}
		m.Name = rapid.SampledFrom([]string{"", "", "", "ann"}).Draw(t, "name")
		m.Hints.Pinned = rapid.IntRange(0, 9).Draw(t, "pinned") == 0
		return m
	})
	return rapid.Custom(func(t *rapid.T) []message.Message {
		h := rapid.OneOf(valid(), rapid.SliceOfN(msg, 0, 8), rapid.SliceOfN(anyMessage(), 0, 5)).Draw(t, "history")
		h = slices.Clone(h)
		for range rapid.IntRange(0, 4).Draw(t, "damages") {
			if len(h) < 2 {
				break
			}
			i := rapid.IntRange(0, len(h)-2).Draw(t, "where")
			switch rapid.IntRange(0, 3).Draw(t, "damage") {
			case 0:
				h[i], h[i+1] = h[i+1], h[i]
			case 1:
				h = slices.Delete(h, i, i+1)
			case 2:
				h = slices.Insert(h, i, h[i])
			default:
				h = slices.Insert(h, i, msg.Draw(t, "foreign"))
			}
		}
		return h
	})
}

// requireRepair checks what holds of every repair.
func requireRepair(t require.TestingT, r message.Rules, h []message.Message) {
	before := show(h)
	wrong := r.Check(h)
	repaired := r.Repair(h)
	got, fixes := repaired.Messages, repaired.Fixes
	require.Equal(t, before, show(h), "%v: a repair wrote into its input", r)
	require.NoError(t, r.Check(got), "%v: the repaired list is not valid, after %v", r, fixes)
	if wrong == nil {
		require.Nil(t, r.Repair(h).From, "%v: nothing was wrong, so each message is at its own index", r)
		require.Empty(t, fixes, "%v: a valid list needs no fix", r)
		require.Equal(t, before, show(got), "%v: a valid list was changed", r)
		if len(h) > 0 {
			require.Same(t, &h[0], &got[0], "%v: a valid list was copied", r)
		}
		return
	}
	require.NotEmpty(t, fixes, "%v: a repair without a fix", r)
	for _, f := range fixes {
		require.True(t, f.At >= 0 && f.At < len(h), "%v: fix %v is outside of the list", r, f)
		require.NotEmpty(t, f.Done, "%v: fix %v does not say what was done", r, f)
		require.True(t, r.Demand(f.Rule) || f.Rule == message.DisplacedResult || f.Rule == message.EmptyMessage, "%v: fix %v is of a rule that nobody demands", r, f)
	}
	again := r.Repair(got)
	require.Empty(t, again.Fixes, "%v: a repaired list needs no fix", r)
	require.Equal(t, show(got), show(again.Messages), "%v: a second repair changed the list", r)
	same := r.Repair(h).Messages
	require.Equal(t, show(got), show(same), "%v: two repairs of one list differ", r)
	requireNothingLost(t, r, h, got, fixes)
	requireFrom(t, h, r.Repair(h))
}

// requireNothingLost checks that what can be seen of the messages is still
// there, or that a fix of the message says that it is not.
func requireNothingLost(t require.TestingT, r message.Rules, before, after []message.Message, fixes []message.Fix) {
	var all strings.Builder
	for _, m := range after {
		for _, p := range m.Parts {
			fmt.Fprintf(&all, "%+v\n", p)
		}
	}
	for i, m := range before {
		for _, p := range m.Parts {
			text, ok := p.(message.Text)
			if !ok {
				if res, isResult := p.(message.ToolResult); isResult && res.Content == nil {
					text.Text = res.Text
				}
			}
			text.Text = strings.ToValidUTF8(text.Text, "\ufffd")
			if strings.TrimSpace(text.Text) == "" || strings.Contains(all.String(), text.Text) {
				continue
			}
			require.True(t, slices.ContainsFunc(fixes, func(f message.Fix) bool { return f.At == i }),
				"%v: %q of message %d is gone, and no fix says so: %v", r, text.Text, i, fixes)
			require.False(t, ok, "%v: the text %q of message %d is gone", r, text.Text, i)
		}
	}
}

// show tells a list with all its types, pointers by their values.
func show(h []message.Message) string {
	var b strings.Builder
	for _, m := range h {
		fmt.Fprintf(&b, "%s %q %+v %v\n", m.Role, m.Name, m.Hints, m.Usage)
		for _, p := range m.Parts {
			fmt.Fprintf(&b, "\t%#v\n", p)
		}
	}
	return b.String()
}

func TestRepairOfAnything(t *testing.T) {
	t.Parallel()
	for _, r := range everyRules() {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				requireRepair(t, r, broken().Draw(t, "history"))
			})
		})
	}
}

func FuzzRepair(f *testing.F) {
	for _, seed := range [][]byte{
		nil,
		{0, 1, 0, 2, 4, 4, 3, 2, 5},
		{3, 1, 5, 3, 1, 5, 2, 2, 4, 4, 1, 1, 0, 3, 1, 5},
		{2, 1, 68, 3, 3, 5, 21, 5, 4, 1, 200, 0, 0, 2, 1, 8},
		{2, 2, 4, 20, 3, 2, 21, 5, 2, 1, 2, 2, 1, 4},
		{0, 1, 9, 2, 3, 12, 10, 4, 3, 2, 11, 5, 2, 1, 10, 3, 1, 11, 3, 1, 11}, // not UTF-8
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		h := scripted(script)
		for _, r := range everyRules() {
			requireRepair(t, r, h)
		}
	})
}

// TestRepairGrows checks that a conversation that goes on keeps its repaired
// beginning, so that a provider's cache holds: the ids that are derived do not
// depend on what comes later.
func TestRepairGrows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	h := []message.Message{
		message.User("go on"),
		message.Assistant(call(long), call(long)), tool(piece(long), piece(long)),
		message.Assistant(call(long)), tool(piece(long)),
	}
	repaired := message.Portable.Repair(h)
	short, fixes := repaired.Messages, repaired.Fixes
	require.Len(t, fixes, 3)
	grown := message.Portable.Repair(append(slices.Clone(h), message.Assistant(call(long)), tool(piece(long)))).Messages
	require.Equal(t, short, grown[:len(short)])
	seen := map[string]bool{}
	for _, m := range grown {
		for c := range m.Calls() {
			require.False(t, seen[c.ID], "id %q twice", c.ID)
			require.LessOrEqual(t, len(c.ID), 40)
			seen[c.ID] = true
		}
	}
}

// TestRepairOfRounds checks what becomes of calls and results that do not
// belong together.
func TestRepairOfRounds(t *testing.T) {
	t.Parallel()
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	none := func(id string) message.Message {
		return tool(message.ToolResult{CallID: id, Name: "tool", Text: "no result: the call was interrupted", Error: true})
	}
	pinned := tool(piece("a"))
	pinned.Hints.Pinned = true
	toldPinned := message.User("(another result of call \"a\")\nresult a")
	toldPinned.Hints.Pinned = true
	const twin = "call_bf1464ffe356cd15cd97d521" // ids that are derived stay the same for ever
	second := renamed(tool(piece("a")), twin)
	tests := []struct {
		name string
		in   []message.Message
		want []message.Message
		fix  []string
	}{
		{
			"unanswered, in the middle of others",
			[]message.Message{user, message.Assistant(call("a"), call("b")), tool(piece("b")), say},
			[]message.Message{user, message.Assistant(call("a"), call("b")), tool(piece("b")), none("a"), say},
			[]string{`message 1: unanswered call "a": got an error result: no result: the call was interrupted`},
		},
		{
			"behind a user",
			[]message.Message{user, message.Assistant(call("a")), user, tool(piece("a"))},
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), user},
			[]string{`message 3: displaced result "a": moved up to its call`},
		},
		{
			"behind another assistant message",
			[]message.Message{user, message.Assistant(call("a")), say, tool(piece("a"))},
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), say},
			[]string{`message 3: orphaned result "a": moved up to its call, which had no result`},
		},
		{
			"without a call",
			[]message.Message{user, tool(piece("a"), message.ToolResult{CallID: "a", Name: "draw", Content: message.Media{URL: "u"}, Error: true})},
			[]message.Message{user, {Role: message.RoleUser, Parts: []message.Part{
				message.Text{Text: "(result of an unknown call \"a\")\nresult a"},
				message.Text{Text: "(result of an unknown call \"a\" of tool draw, an error)"},
				message.Media{URL: "u"},
			}}},
			[]string{`message 1: orphaned result "a": became a user text`},
		},
		{
			"twice",
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), tool(piece("a"), piece("a"))},
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a"))},
			[]string{`message 3: duplicate result "a": removed, the first result is kept`},
		},
		{
			"twice, and pinned",
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), pinned},
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), toldPinned},
			[]string{`message 3: duplicate result "a": became a user text, since it is pinned`},
		},
		{
			"two calls of one id, two results",
			[]message.Message{user, message.Assistant(call("a"), call("a")), tool(piece("a")), tool(piece("a"))},
			[]message.Message{
				user,
				message.Assistant(call("a"), message.ToolCall{ID: twin, Name: "tool", Arguments: `{"n":1}`}), tool(piece("a")), second,
			},
			[]string{fmt.Sprintf(`message 1: duplicate call "a": the call became %q`, twin)},
		},
		{
			"tool messages without results, which not every provider minds",
			[]message.Message{
				tool(message.Text{Text: "x"}),
				message.Assistant(call("a"), call("b")), tool(piece("a")), tool(message.Text{Text: "y"}), tool(piece("b")), user,
				tool(message.Text{Text: "z"}), message.Assistant(),
			},
			[]message.Message{
				tool(message.Text{Text: "x"}),
				message.Assistant(call("a"), call("b")), tool(piece("a")), tool(message.Text{Text: "y"}), tool(piece("b")), user,
				tool(message.Text{Text: "z"}),
			},
			[]string{`message 7: empty message: removed`},
		},
		{
			"a result of the user", // as in lists that were written for Anthropic
			[]message.Message{user, message.Assistant(call("a")), {Role: message.RoleUser, Parts: []message.Part{piece("a"), message.Text{Text: "x"}}}},
			[]message.Message{user, message.Assistant(call("a")), tool(piece("a")), message.User("x")},
			[]string{
				`message 2: misplaced part "a": the result moved to a tool message`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			repaired := message.Rules(0).Repair(tt.in)
			got, fixes := repaired.Messages, repaired.Fixes
			require.Equal(t, tt.want, got)
			var texts []string
			for _, f := range fixes {
				texts = append(texts, f.String())
			}
			require.Equal(t, tt.fix, texts)
		})
	}
}

func TestRepairedJSON(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"":      `{}`,
		"null":  `{}`,
		`{"a":`: `{"invalid_arguments":"{\"a\":"}`,
		`[1]`:   `{"invalid_arguments":"[1]"}`,
		"\xff":  `{"invalid_arguments":"\ufffd"}`,
	} {
		h := []message.Message{message.Assistant(message.ToolCall{ID: "a", Name: "tool", Arguments: arguments}), tool(piece("a"))}
		repaired := message.Rules(0).Repair(h)
		got, fixes := repaired.Messages, repaired.Fixes
		require.Len(t, fixes, 1)
		for c := range got[0].Calls() {
			require.Equal(t, want, c.Arguments)
			require.True(t, json.Valid([]byte(c.Arguments)))
		}
	}
}

// A result behind answers in a row is accepted by Messages, and stays there if something else is repaired.
func TestRepairLeavesJoinedAnswers(t *testing.T) {
	t.Parallel()
	call := message.Assistant(message.ToolCall{ID: "a", Name: "read", Arguments: "{}"})
	text := func(text string) message.Message { return message.Assistant(message.Text{Text: text}) }
	result := message.Result("a", "read", "one")
	for name, c := range map[string]struct {
		middle []message.Message
		stays  bool
	}{
		"nothing is wrong there": {[]message.Message{text("I read it.")}, true},
		"several":                {[]message.Message{text("I read it."), text("It is long.")}, true},
		"an orphan":              {[]message.Message{text("I read it."), message.Result("z", "read", "two")}, false},
	} {
		h := slices.Concat([]message.Message{message.User("Read."), call}, c.middle, []message.Message{result, text("Done."), message.User("")})
		got := (message.Anthropic | message.AsSent).Repair(h)
		require.NoError(t, (message.Anthropic | message.AsSent).Check(got.Messages), name)
		moved := slices.ContainsFunc(got.Fixes, func(f message.Fix) bool { return f.CallID == "a" })
		require.Equal(t, c.stays, !moved, "%s: %v", name, got.Fixes)
	}
}

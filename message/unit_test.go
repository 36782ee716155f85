package message_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

func TestUnits(t *testing.T) {
	t.Parallel()
	one := func(i int) message.Unit { return message.Unit{Run: message.Run{First: i, Last: i}} }
	round := func(first, last int) message.Unit {
		return message.Unit{Run: message.Run{First: first, Last: last}, Round: true}
	}
	user, say := message.User("go on"), message.Assistant(message.Text{Text: "done"})
	tests := []struct {
		name string
		in   []message.Message
		want []message.Unit
	}{
		{"no messages", nil, []message.Unit{}},
		{"a round", []message.Message{user, message.Assistant(call("a")), tool(piece("a")), say}, []message.Unit{one(0), round(1, 2), one(3)}},
		{
			"rounds in a row, with the same ids",
			[]message.Message{message.Assistant(call("a")), tool(piece("a")), message.Assistant(call("a")), tool(piece("a"))},
			[]message.Unit{round(0, 1), round(2, 3)},
		},
		{"calls without results at the end", []message.Message{user, message.Assistant(call("a"), call("b"))}, []message.Unit{one(0), round(1, 1)}},
		{
			"a user between call and result is part of the round",
			[]message.Message{message.Assistant(call("a")), user, tool(piece("a")), user},
			[]message.Unit{round(0, 2), one(3)},
		},
		{
			"a user behind half of the results",
			[]message.Message{message.Assistant(call("a"), call("b")), tool(piece("a")), user, message.System("s"), tool(piece("b"))},
			[]message.Unit{round(0, 4)},
		},
		{
			"a user while a result is missing is not",
			[]message.Message{message.Assistant(call("a"), call("b")), tool(piece("a")), user, say},
			[]message.Unit{round(0, 1), one(2), one(3)},
		},
		{"an orphan alone", []message.Message{tool(piece("a")), user}, []message.Unit{one(0), one(1)}},
		{
			"an orphan between the results of a round",
			[]message.Message{message.Assistant(call("a"), call("b")), tool(piece("a")), tool(piece("x")), tool(piece("b"))},
			[]message.Unit{round(0, 3)},
		},
		{
			"a message of an orphan and a result",
			[]message.Message{message.Assistant(call("a")), tool(piece("x"), piece("a"))},
			[]message.Unit{round(0, 1)},
		},
		{
			"a result behind an answer without calls is that of the open call",
			[]message.Message{message.Assistant(call("a")), say, tool(piece("a")), say, tool(piece("a"))},
			[]message.Unit{round(0, 2), one(3), one(4)},
		},
		{
			"a result behind other calls is an orphan",
			[]message.Message{message.Assistant(call("a")), message.Assistant(call("b")), tool(piece("a"))},
			[]message.Unit{round(0, 0), round(1, 1), one(2)},
		},
		{
			"a second result of a call belongs to the round",
			[]message.Message{message.Assistant(call("a")), tool(piece("a")), tool(piece("a"))},
			[]message.Unit{round(0, 2)},
		},
		{
			"a call of the user makes no round",
			[]message.Message{{Role: message.RoleUser, Parts: []message.Part{call("a")}}, tool(piece("a"))},
			[]message.Unit{one(0), one(1)},
		},
		{
			"a result of the user answers nothing",
			[]message.Message{message.Assistant(call("a")), {Role: message.RoleUser, Parts: []message.Part{piece("a")}}},
			[]message.Unit{round(0, 0), one(1)},
		},
		{"empty messages and nil parts", []message.Message{{}, {Role: message.RoleAssistant, Parts: []message.Part{nil}}}, []message.Unit{one(0), one(1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, message.Units(tt.in))
		})
	}
}

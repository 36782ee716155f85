package trim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trim"
)

// byAge gives all units the same score.
func byAge(*middleware.View) func(message.Unit) float64 {
	return func(message.Unit) float64 { return 0 }
}

// raised returns the first positions of the units that ByUse raises.
func raised(t *testing.T, h ...message.Message) []int {
	t.Helper()
	found := []int{}
	_, _, err := middleware.Apply(t.Context(), middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		score := trim.ByUse(v) //nolint:contextcheck // it needs none
		for _, u := range message.Units(v.Messages()) {
			if score(u) > 0 {
				found = append(found, u.First)
			}
		}
		return nil, nil
	}, middleware.Options{}), &middleware.Request{Messages: h})
	require.NoError(t, err)
	return found
}

func TestByUse(t *testing.T) {
	t.Parallel()
	call := func(id, arguments string) message.Message {
		return message.Assistant(message.ToolCall{ID: id, Name: "read_file", Arguments: arguments})
	}
	answer := func(text string) message.Message { return message.Assistant(message.Text{Text: text}) }
	long := strings.Repeat("nothing of interest, ", 4000)
	for name, tt := range map[string]struct {
		h    []message.Message
		want []int
	}{
		"nothing": {nil, []int{}},
		"a result that a call uses": {
			[]message.Message{call("a", "{}"), message.Result("a", "ls", "There is cmd/main.go."), call("b", `{"path":"cmd/main.go"}`)}, []int{0},
		},
		"arguments that a call uses again": {
			[]message.Message{call("a", `{"id":"OI5L9G"}`), message.Result("a", "get", "ok"), call("b", `{"id":"OI5L9G"}`)}, []int{0},
		},
		"what the user says, and the assistant later": {[]message.Message{message.User("Look at order 48151623."), answer("It is 48151623, then.")}, []int{0}},
		"what the assistant says, and the user later": {[]message.Message{answer("Call parseHeader."), message.User("parseHeader, really?")}, []int{0}},
		"an earlier use does not count":               {[]message.Message{call("b", `{"path":"cmd/main.go"}`), answer("There is cmd/main.go.")}, []int{0}},
		"a result that says it again does not count":  {[]message.Message{answer("There is cmd/main.go."), call("b", `{}`), message.Result("b", "ls", "cmd/main.go")}, []int{}},
		"keys of JSON do not count":                   {[]message.Message{call("a", `{"file_path":"x"}`), message.Result("a", "ls", ""), call("b", `{"file_path":"y"}`)}, []int{}},
		"ordinary words do not count":                 {[]message.Message{answer("It is well-known: the build fails at 10:30."), answer("It is well-known: the build fails at 10:30.")}, []int{}},
		"the end of a sentence is no part of it":      {[]message.Message{answer("Is it in #main.go?"), answer("Yes, main.go.")}, []int{0}},
		"Chinese around it":                           {[]message.Message{answer("订单号是A1234吗"), answer("是A1234")}, []int{0}},
		"the system does not count":                   {[]message.Message{answer("Use AB-1234."), message.System("AB-1234 is secret.")}, []int{}},
		"the beginning of a long text":                {[]message.Message{answer("AB-1234 " + long), answer("AB-1234")}, []int{0}},
		"the end of it":                               {[]message.Message{answer(long + "AB-1234"), answer("AB-1234")}, []int{0}},
		"not its middle":                              {[]message.Message{answer(long + "AB-1234" + long), answer("AB-1234")}, []int{}},
		"other parts": {
			[]message.Message{
				message.Assistant(message.Thinking{Text: "AB-1234"}, message.Opaque{Kind: "x", Data: "AB-1234"}),
				message.Assistant(message.Thinking{Text: "AB-1234"}, message.Text{Text: "AB-1235"}), answer("AB-1234"),
			}, []int{},
		},
	} {
		require.Equal(t, tt.want, raised(t, tt.h...), name)
	}
}

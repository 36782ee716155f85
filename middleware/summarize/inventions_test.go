package summarize_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// failing is a history whose tests fail.
func failing() []message.Message {
	return append([]message.Message{
		message.User("Fix shop/refund; the limit is 4,711 EUR."),
		message.Assistant(message.ToolCall{ID: "t", Name: "run", Arguments: `{"command": "go test ./refund/..."}`}),
		message.Result("t", "run", "--- FAIL: TestRefund\nrefund.go:41: got 17.79\n"+strings.Repeat("a line of the log\n", 100)+"exit code 1"),
	}, history(8)...)
}

const honest = "The limit is 4711 EUR. `go test ./refund/...` failed: TestRefund got 17.79."

// found returns the items of all attempts.
func found(events []middleware.Event) (items [][]string) {
	for _, e := range events {
		if r, ok := e.Detail.(summarize.Report); ok && e.Kind == summarize.Attempted {
			items = append(items, r.Inventions)
		}
	}
	return items
}

func texts(all ...string) *middlewaretest.Scripted {
	var answers []middleware.Response
	for _, a := range all {
		answers = append(answers, says(a))
	}
	return writers(answers...)
}

// Sentences with something that the record does not have are removed, or the model is asked again, or they stay.
func TestInventions(t *testing.T) {
	t.Parallel()
	const invented = " The tests of refund passed. See cache/evict.go."
	items := []string{"The tests of refund passed", "cache/evict.go"}
	for _, c := range []struct {
		do      string
		answers []string
		want    string
		items   [][]string
	}{
		{"", []string{honest}, honest, [][]string{nil}},
		{"", []string{honest + invented}, honest, [][]string{items}},
		{"remove", []string{honest + invented}, honest, [][]string{items}},
		{"report", []string{honest + invented}, honest + invented, [][]string{items}},
		{"reject", []string{honest + invented, honest}, honest, [][]string{items, nil}},
		{"reject", []string{honest + invented}, honest, [][]string{items, items, items}},
		{"", []string{"It is 9,999 EUR. See x_y.go.", honest}, honest, [][]string{{"9,999 EUR", "x_y.go"}, nil}},
	} {
		small, h := texts(c.answers...), failing()
		view, events := fold(t, summarize.New(summarize.By(small.Model, summarize.Ask{Sections: []string{}}), summarize.Options{Inventions: c.do}), h)
		text := summaryIn(t, view, h).Text()
		require.Contains(t, text, "\n"+c.want+"\n", "%q", c.do)
		require.Equal(t, c.items, found(events), "%q: %v", c.do, events)
		require.Len(t, small.Requests(), len(c.items), "%q", c.do)
		if len(c.items) == 1 && c.items[0] != nil {
			require.NotContains(t, events[1].String(), "evict", "the text of the event has nothing of the conversation")
			if c.do != "reject" {
				require.Contains(t, events[1].String(), ": 2 items")
			}
		}
		for i, req := range small.Requests() {
			named := strings.Contains(req.Messages[1].Text(), `leave them out, or write what it has instead: "`)
			require.Equal(t, i > 0, named, "the list of items is in each request but the first")
		}
	}
}

// What an earlier fold has covered supports the next summary, also the outcome of a command.
func TestInventionsAfterTwoFolds(t *testing.T) {
	t.Parallel()
	small := texts("It began.", honest+" All refund tests passed. The id is X-91.")
	mw := summarize.New(summarize.By(small.Model, summarize.Ask{Sections: []string{}}), summarize.Options{})
	h := failing()
	_, _ = fold(t, mw, h)
	longer := slices.Concat(h, history(8)[1:])
	view, events := fold(t, mw, longer)
	require.Contains(t, summaryIn(t, view, longer).Text(), "\n"+honest+"\n")
	require.Equal(t, []string{"All refund tests passed", "X-91"}, found(events)[len(found(events))-1])
}

package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/report"
)

// TestLive watches a chain: calls appear when they are made, and the newest is followed until another one is chosen.
func TestLive(t *testing.T) {
	b := newTab(t, 1180, 1000, false)
	live, err := report.Listen(t.Context(), report.Options{Texts: true, Calls: 8})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, live.Close()) })
	chain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 2, Digest: -1}))
	model := live.Watch(chain)(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd}, nil
	})
	h := []message.Message{message.User("Read </script> the files.")}
	round := func() {
		_, err := model(t.Context(), &middleware.Request{Messages: h, Conversation: "ann"}, nil)
		require.NoError(t, err)
		id := fmt.Sprint("c", len(h))
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}), message.Result(id, "read", order(len(h))))
	}
	shows := func(head string) {
		t.Helper()
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](fmt.Sprintf(`$("call-h").textContent === %q`, head)))
		require.NoError(t, err, head)
	}
	b.do(chromedp.Navigate(live.URL()))
	require.Contains(t, eval[string](b, `$("waiting").textContent`), "No call has been made yet")
	round()
	shows("Call 1 of 1")
	for range 5 {
		round()
	}
	shows("Call 6 of 6")
	require.Equal(t, "cleared 3", eval[string](b, `document.querySelector("#filter .cleared").textContent`))
	eval[any](b, `choose({call: 2})`)
	round()
	shows("Call 3 of 7")
	for range 3 { // ten calls in all, of which eight are kept
		round()
	}
	shows("Call 1 of 8")
	require.Equal(t, eval[int](b, `view(7).filter(x => x.fate === 1).length`), 7)
	b.shot("live")
	require.Empty(t, b.seen())
}

package issues

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// Thinking that the framing does not count was said to free its tokens, so a
// plan that frees nothing was made and refused on each call.
func TestThinkingThatCountsNothing(t *testing.T) {
	t.Parallel()
	framing := tokens.DefaultFraming()
	framing.ThinkingFree = true
	chain := middleware.With(middleware.Env{Framing: framing},
		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), ClearThinking: true}))
	h := []message.Message{
		message.User("why?"),
		message.Assistant(message.Thinking{Text: strings.Repeat("hm ", 400)}, message.Text{Text: "because"}),
		message.User("and now?"),
	}
	req, events := apply(t, chain, h)
	require.Empty(t, events)
	require.Equal(t, h, req.Messages)
}

package issues

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// A tool of the caller that has the name recall was taken for ours where its argument
// passed for a handle, as the word "intelligence" does. Its result was cleared with the
// placeholder "[cleared: recall intelligence]", and kept nowhere.
func TestForeignToolNamedRecall(t *testing.T) {
	t.Parallel()
	result := strings.Repeat("The agency knows nothing about it. ", 300)
	editors := map[string]middleware.Middleware{
		"contextedit":  contextedit.New(contextedit.Options{Trigger: trigger.Tokens(1), Keep: 1}),
		"microcompact": microcompact.New(microcompact.Options{KeepRounds: 1}),
		"fit":          fit.New(fit.Options{}),
	}
	for name, editor := range editors {
		for _, arguments := range []string{
			`{"query":"intelligence"}`, `{"handle":"intelligence"}`, `{"__arg1":"intelligence"}`,
			`{"handle":"intelligence","depth":"2"}`,
		} {
			t.Run(name+arguments, func(t *testing.T) {
				t.Parallel()
				archive := store.NewMemory(0)
				history := more([]message.Message{
					message.User("Who knows about it?"),
					message.Assistant(message.ToolCall{ID: "r", Name: store.RecallTool, Arguments: arguments}),
					message.Result("r", store.RecallTool, result),
				}, 12)
				chain := middleware.With(middleware.Env{Archive: archive}, editor)
				sent, _, err := middleware.Apply(t.Context(), chain,
					&middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 2500}})
				require.NoError(t, err)
				left, ok := sent.Messages[2].Parts[0].(message.ToolResult)
				require.True(t, ok)
				require.NotEqual(t, result, left.Text, "the result is cleared, or this test shows nothing")
				handles := store.HandlesIn(left.Text)
				require.Len(t, handles, 1, "%s", left.Text)
				kept, err := archive.Get(t.Context(), handles[0])
				require.NoError(t, err, "%s", left.Text)
				require.Equal(t, result, kept.Data)
			})
		}
	}
}

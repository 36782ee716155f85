package tests

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestProvidersCompaction: what a provider has made of earlier messages is neither
// edited, nor folded, nor left out, by whatever middleware.
func TestProvidersCompaction(t *testing.T) {
	t.Parallel()
	compacted := message.Assistant(
		message.Opaque{Kind: "compaction", Data: `{"type":"compaction","encrypted_content":"` + strings.Repeat("x", 400) + `"}`},
		message.Text{Text: "Go on."},
	)
	history := []message.Message{message.System("You help."), message.User("Look at all files."), compacted}
	for i := range 12 {
		id := string(rune('a' + i))
		history = append(history,
			message.Assistant(message.Text{Text: "Next."}, message.ToolCall{ID: id, Name: "read", Arguments: `{}`}),
			message.Result(id, "read", strings.Repeat("a line of file "+id+"\n", 60)),
		)
	}
	history = append(history, message.Assistant(message.Text{Text: "All seen."}), message.User("And now?"))
	now := trigger.Messages(1)
	everything := func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(2, v.Len()-2, message.User("[gone]"))}}, nil
	}
	for name, mw := range map[string]middleware.Middleware{
		"contextedit":  contextedit.New(contextedit.Options{Trigger: now, Keep: -1, ClearThinking: true, ClearToolInputs: true}),
		"microcompact": microcompact.New(microcompact.Options{KeepRounds: 1, Limit: microcompact.Limits{Results: 1, Text: 1}}),
		"trim":         trim.New(trim.Options{Trigger: now, TargetTokens: 10, PreserveStart: -1, PreserveEnd: 1, MinMessages: 1}),
		"summarize":    summarize.New(summarize.ByRules(), summarize.Options{Trigger: now, Keep: 1}),
		"fit":          fit.New(fit.Options{}),
		"any editor":   middleware.Editing("everything", everything, middleware.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: 700}}
			sent, events, err := middleware.Apply(t.Context(), mw, req)
			require.NoError(t, err)
			require.NotEmpty(t, events)
			kept := false
			for _, m := range sent.Messages {
				n := len(compacted.Parts) // a repair may join it with the next
				kept = kept || len(m.Parts) >= n && m.Role == compacted.Role && slices.Equal(m.Parts[:n], compacted.Parts)
			}
			require.True(t, kept, "%v\n%v", events, sent.Messages)
		})
	}
}

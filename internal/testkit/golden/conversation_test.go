package golden_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
)

func TestParseReadsWhatFormatWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[ -~«»×\n]{0,12}`),
			rapid.Map(rapid.StringMatching(`[a-z .»\n]{1,6}`), func(s string) string { return strings.Repeat(s, 50) }),
		)
		id := rapid.StringMatching(`[a-z0-9]{0,3}`)
		want := []message.Message{
			message.System(text.Draw(r, "system")),
			{Role: message.RoleUser, Hints: message.Hints{Pinned: rapid.Bool().Draw(r, "pinned")}, Parts: []message.Part{
				message.Media{Type: "image/png", Name: id.Draw(r, "name"), Data: text.Draw(r, "data")},
			}},
			{Role: message.RoleUser, Hints: message.Hints{Memory: rapid.Bool().Draw(r, "memory"), Priority: message.Priority(rapid.IntRange(0, 4).Draw(r, "priority"))}},
			message.Assistant(
				message.Thinking{Text: text.Draw(r, "thinking"), Signature: id.Draw(r, "seal")}, message.Text{Text: text.Draw(r, "text")},
				message.ToolCall{ID: id.Draw(r, "id"), Name: id.Draw(r, "name"), Arguments: text.Draw(r, "arguments")},
			),
			{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: id.Draw(r, "id"), Name: id.Draw(r, "name"), Text: text.Draw(r, "result"), Error: rapid.Bool().Draw(r, "error")},
				message.ToolResult{Content: message.Media{Type: "image/png", Data: text.Draw(r, "image")}},
				message.ToolResult{Content: message.Opaque{Kind: "artifact", Data: text.Draw(r, "artifact")}},
			}},
		}
		got, ends, err := golden.Parse(golden.Format(want))
		require.NoError(r, err, "%s", golden.Format(want))
		require.Equal(r, want, got, "%s", golden.Format(want))
		require.Equal(r, []int{5}, ends, "the model is called at the end")
	})
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  call c1 read {}":                 "a part before the first message",
		"hello there":                       "want “role: text”",
		"user [expensive]: hello":           "want pinned, memory, low, normal, high or critical",
		"user: hello\n  say hello":          "want call, result,",
		"user: \"hello":                     "is not a quoted text",
		"user: «.»×99999999999999999999999": "number of repetitions",
	} {
		_, _, err := golden.Parse(text)
		require.ErrorContains(t, err, want, "%s", text)
	}
}

package transcript_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[ -~«»×\n]{0,12}`),
			rapid.Map(rapid.StringMatching(`[a-z .»\n]{1,6}`), func(s string) string { return strings.Repeat(s, 50) }),
		)
		id := rapid.StringMatching(`[a-z0-9]{0,3}`)
		want := []message.Message{
			message.System(text.Draw(r, "system")),
			{Role: message.RoleUser, Hints: message.Hints{
				Pinned:   rapid.Bool().Draw(r, "pinned"),
				Priority: message.Priority(rapid.IntRange(0, 4).Draw(r, "priority")),
			}},
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
		got, ends, err := transcript.Parse(transcript.Format(want))
		require.NoError(r, err)
		require.Equal(r, want, got, "%s", transcript.Format(want))
		require.Equal(r, []int{4}, ends)
	})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	msgs, ends, err := transcript.Parse("user: one\n===\nassistant: two\n\nuser: three\n===\n===\nassistant: four\n")
	require.NoError(t, err)
	require.Len(t, msgs, 4)
	require.Equal(t, []int{1, 3, 3, 4}, ends)
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  text: a":                         "transcript: line 1: a part before the first message:   text: a",
		"user: a\nno role":                  "transcript: line 2: want “role: text”, got \"no role\"",
		"user [dear]: a":                    "transcript: line 1: [dear] is no hint, want pinned or one of [critical high low normal]",
		"user:\n  picture c1 a: x":          "transcript: line 2: want call, result, error, image, artifact, text or thinking, got \"picture c1 a: x\"",
		"user: \"a":                         "transcript: line 1: \"a: invalid syntax",
		"user: «a»×99999999999999999999999": "transcript: line 1: «a»×99999999999999999999999: want at most 1048576 times",
	} {
		_, _, err := transcript.Parse(text)
		require.EqualError(t, err, want, "%q", text)
	}
}

func TestFormatOfWhatItHasNot(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { transcript.Format([]message.Message{message.Assistant(message.Opaque{Kind: "x"})}) })
}

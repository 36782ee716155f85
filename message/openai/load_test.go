package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
)

// TestLoad checks that what a message weighs is at least what it takes here,
// and near to it.
func TestLoad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := writable(t)
		written, err := openai.New(m)
		require.NoError(t, err, "%v", m)
		got, is := payload.Of(&m).Bytes, len(written.String())
		require.GreaterOrEqual(t, got, is, "%s", written)
		const frame = 140 // of a message, and of a part
		most := is + is/10 + frame*(1+len(m.Parts))
		if onlyTexts(m) {
			require.LessOrEqual(t, got, most, "%s", written)
		}
		require.GreaterOrEqual(t, payload.Bound(&m).Bytes, got)
	})
}

// writable draws a message that the format can say.
func writable(t *rapid.T) message.Message {
	text := func(name string) string {
		s := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"", "plain", "\"quoted\"\n\t\\", "<a href='x'>&</a>", "\x00\x01\x7f", "\u2028", "你好，世界", "👩‍💻 é", strings.Repeat("many words ", 50)}),
		).Draw(t, name)
		return strings.ToValidUTF8(s, "?")
	}
	media := func() message.Part {
		return rapid.SampledFrom([]message.Part{
			message.Media{Type: "image/png", Data: text("data")},
			message.Media{Type: "image/*", URL: "https://example.com/" + text("url")},
			message.Media{Type: "audio/wav", Data: text("data")},
			message.Media{Type: "application/pdf", Data: text("data"), Name: text("name")},
			message.Opaque{Kind: "hologram", Data: `{"type":"hologram","x":[1,2,3]}`},
		}).Draw(t, "media")
	}
	m := message.Message{Role: rapid.SampledFrom([]message.Role{message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool}).Draw(t, "role")}
	if m.Role == message.RoleTool {
		r := message.ToolResult{CallID: "call_1", Name: "tool", Error: rapid.Bool().Draw(t, "error")}
		for range rapid.IntRange(1, 3).Draw(t, "pieces") {
			piece := r
			if rapid.Bool().Draw(t, "with media") {
				piece.Content = media()
			} else {
				piece.Text = text("result")
			}
			m.Parts = append(m.Parts, piece)
		}
		return m
	}
	m.Name = text("name")
	if m.Role == message.RoleAssistant && rapid.Bool().Draw(t, "thinking") {
		m.Parts = append(m.Parts, message.Thinking{Text: "x" + text("thinking")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			m.Parts = append(m.Parts, media())
		} else {
			m.Parts = append(m.Parts, message.Text{Text: text("text")})
		}
	}
	if m.Role == message.RoleAssistant {
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			m.Parts = append(m.Parts, message.ToolCall{ID: text("id"), Name: text("tool"), Arguments: text("arguments")})
		}
	}
	return m
}

func onlyTexts(m message.Message) bool {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text, message.Thinking, message.ToolCall:
		case message.ToolResult:
			if p.Content != nil {
				return false
			}
		case message.Media, message.Opaque:
			return false
		}
	}
	return true
}

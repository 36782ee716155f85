package tokens_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

func TestChars4(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                        0,
		"a":                       1,
		"abc":                     1,
		"abcd":                    1,
		"abcde":                   2,
		"abcdefgh":                2,
		"hello world":             3,
		"\x00":                    1,
		"é":                       1, // two bytes
		"你":                       1, // three
		"你好":                      2, // six
		"你好,世界":                   4, // thirteen
		"\xff\xff\xff\xff\xff":    2,
		strings.Repeat("x", 4000): 1000,
		strings.Repeat("x", 4001): 1001,
		strings.Repeat("字", 4000): 3000,
	} {
		require.Equal(t, want, tokens.Chars4.Count(text), "%.40q", text)
	}
}

// letters counts a token a byte, so that the tables below show what is counted.
type letters struct{}

func (letters) Count(text string) int { return len(text) }

func TestPart(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		name string
		part message.Part
		want int
	}{
		{"nil", nil, 0},
		{"empty text", message.Text{}, 0},
		{"text", message.Text{Text: "12345"}, 5},
		{"thinking, without its signature", message.Thinking{Text: "1234", Signature: big}, 4},
		{"thinking without its text, by its signature", message.Thinking{Signature: big}, 3 << 16},
		{"the same, rounded up", message.Thinking{Signature: "12345678901234567"}, 4},
		{"empty thinking", message.Thinking{}, 0},
		{"call: id, name and arguments", message.ToolCall{ID: "c1", Name: "read", Arguments: `{"a":1}`}, 2 + 4 + 7},
		{"result: id and text, not the name", message.ToolResult{CallID: "c1", Name: "read", Text: "12345", Error: true}, 2 + 5},
		{"opaque: by its length", message.Opaque{Kind: "kind", Data: "12345"}, 2},
		{"media by their number, not by bytes", message.Media{Type: "image/png", Data: big}, 1600},
		{"media elsewhere", message.Media{URL: "data:" + big, Name: big}, 1600},
		{"empty media", message.Media{}, 1600},
		{"a result with media", message.ToolResult{CallID: "c1", Content: message.Media{Data: big}}, 2 + 1600},
		{"a result with text and opaque", message.ToolResult{CallID: "c1", Text: "12", Content: message.Opaque{Data: "345"}}, 2 + 2 + 1},
		{"a pointer is no part", &message.Text{Text: "12345"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tokens.Meter{Counter: letters{}}.Part(tt.part))
		})
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		m    message.Message
		want int
	}{
		{"nothing is a frame", message.Message{}, 4},
		{"text", message.User("12345"), 4 + 5},
		{"name", message.Message{Role: message.RoleUser, Name: "ann", Parts: []message.Part{message.Text{Text: "1"}}}, 4 + 3 + 1},
		{"the role is in the frame", message.Message{Role: "a role of any length"}, 4},
		{"a system prompt", message.System("1234567"), 4 + 7},
		{
			"parallel calls",
			message.Assistant(message.Text{Text: "12"}, message.ToolCall{ID: "a", Name: "b", Arguments: "{}"}, message.ToolCall{ID: "c", Name: "d", Arguments: "{ }"}),
			4 + 2 + 4 + 5,
		},
		{
			"a result in pieces: the id with each",
			message.Message{Role: message.RoleTool, Parts: []message.Part{message.ToolResult{CallID: "c1", Text: "123"}, message.ToolResult{CallID: "c1", Text: "4"}}},
			4 + 5 + 3,
		},
		{"nil parts", message.Assistant(nil, message.Text{Text: "1"}, nil), 4 + 1},
		{"remarks of the host are not sent", message.Message{Usage: &message.Usage{Input: 1000}, Hints: message.Hints{Pinned: true}}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tokens.Meter{Counter: letters{}}.Message(tt.m))
		})
	}
}

// TestRequestIsASum checks that nothing is counted that cannot be told to one
// message or one tool.
func TestRequestIsASum(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, 40, -1)
	messages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
		return message.Message{
			Role: message.RoleAssistant, Name: text.Draw(t, "name"),
			Parts: []message.Part{
				message.Text{Text: text.Draw(t, "text")},
				message.ToolCall{ID: text.Draw(t, "id"), Arguments: text.Draw(t, "arguments")},
				message.ToolResult{Text: text.Draw(t, "result"), Content: message.Media{Data: text.Draw(t, "data")}},
			},
		}
	}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		h := messages.Draw(t, "history")
		tools := []message.ToolDef{{Name: text.Draw(t, "tool"), Description: text.Draw(t, "description"), Parameters: text.Draw(t, "schema")}, {}}
		c := tokens.Chars4
		meter := tokens.Meter{Counter: c}
		want := tokens.DefaultFraming().PerRequest + meter.Tools(tools[:1]) + meter.Tools(tools[1:])
		for i, m := range h {
			parts := tokens.DefaultFraming().PerMessage + c.Count(m.Name)
			for _, p := range m.Parts {
				parts += meter.Part(p)
			}
			require.Equal(t, parts, meter.Message(m), "message %d", i)
			want += parts
		}
		require.Equal(t, want, tokens.Meter{Counter: c}.Request(h, tools))
		require.Equal(t, want, tokens.Meter{Counter: c}.Request(h[:len(h)/2], tools)+tokens.Meter{Counter: c}.Request(h[len(h)/2:], nil)-tokens.DefaultFraming().PerRequest)
	})
}

func TestCountersKeepTheContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]tokens.Counter{"Chars4": tokens.Chars4, "Memo": tokens.Memo(letters{})} {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
			n := c.Count(text)
			require.GreaterOrEqual(t, n, 0, name)
			require.Equal(t, n, c.Count(strings.Clone(text)), name)
			require.Equal(t, text == "", n == 0, name)
			require.LessOrEqual(t, math.Abs(float64(c.Count(text+text)-2*n)), 1.0, name)
		})
	}
}

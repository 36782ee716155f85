package langchaingo

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// foreignPart is a part of a type that langchaingo does not have.
type foreignPart struct {
	llms.ContentPart

	Mark string
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "a", "b", "<&>", "\xff", "\ufffd", "你好", "\u2028", "\"\\\n\x00", "😀", "{}", `{"a":1}`, `{"__arg1":"a"}`, ` {"__arg1": "a", "b": [1, {"c": "}"}]}`, "[1]", "1"}),
		rapid.String(),
	)
}

func anyForeignPart(t *rapid.T, depth int) llms.ContentPart {
	s := func(name string) string { return anyText().Draw(t, name) }
	switch rapid.IntRange(0, 6).Draw(t, "type of part") {
	case 0:
		return llms.TextContent{Text: s("text")}
	case 1:
		return llms.ImageURLContent{URL: s("url"), Detail: s("detail")}
	case 2:
		return llms.BinaryContent{MIMEType: s("mime"), Data: []byte(s("data"))}
	case 3:
		return llms.ToolCall{ID: s("id"), Type: s("type"), FunctionCall: &llms.FunctionCall{Name: s("name"), Arguments: s("arguments")}}
	case 4:
		return llms.ToolCallResponse{ToolCallID: s("id"), Name: s("name"), Content: s("content")}
	case 5:
		if depth > 0 {
			return llms.CachedContent{ContentPart: anyForeignPart(t, depth-1), CacheControl: &llms.CacheControl{Type: s("cache")}}
		}
	}
	return foreignPart{llms.TextContent{Text: s("text")}, s("mark")}
}

func anyForeign() *rapid.Generator[llms.MessageContent] {
	return rapid.Custom(func(t *rapid.T) llms.MessageContent {
		m := llms.MessageContent{Role: rapid.SampledFrom([]llms.ChatMessageType{
			llms.ChatMessageTypeSystem, llms.ChatMessageTypeHuman, llms.ChatMessageTypeAI,
			llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction, llms.ChatMessageTypeGeneric, "robot", "user",
		}).Draw(t, "role")}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			m.Parts = append(m.Parts, anyForeignPart(t, 2))
		}
		return m
	})
}

func isSame(f llms.MessageContent, m *message.Message) bool {
	is, _ := codec{}.Same(f, m)
	return is
}

func TestSameIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := codec{}
		before := []message.Message{message.Assistant(message.ToolCall{ID: "a", Name: "b", Arguments: "{}"})}
		one, two := anyForeign().Draw(t, "one"), anyForeign().Draw(t, "two")
		m, err := c.Import(one, before)
		require.NoError(t, err)
		require.True(t, isSame(one, &m), "a message is the same as what it was imported as: %+v", m)
		again, err := c.Import(two, before)
		require.NoError(t, err)
		if isSame(two, &m) && !renamed(two, m) {
			require.True(t, m.Equal(again), "what is the same is imported as the same")
		}
		if reflect.DeepEqual(m.Parts, again.Parts) && m.Role == again.Role {
			require.True(t, isSame(two, &m) || renamed(one, again), "what is imported as the same is the same")
		}
	})
}

// renamed reports whether a result has no name of its own: then it depends on
// what stands before.
func renamed(f llms.MessageContent, m message.Message) bool {
	for i, p := range f.Parts {
		for {
			cached, ok := p.(llms.CachedContent)
			if !ok {
				break
			}
			p = cached.ContentPart
		}
		if r, ok := p.(llms.ToolCallResponse); ok && i < len(m.Parts) {
			if ours, ok := m.Parts[i].(message.ToolResult); ok && r.Name != ours.Name {
				return true
			}
		}
	}
	return false
}

func TestUntouchedGoesOutAsItCame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := codec{}
		f := anyForeign().Draw(t, "message")
		was, err := json.Marshal(f.Parts)
		require.NoError(t, err)
		m, err := c.Import(f, nil)
		require.NoError(t, err)
		out, err := c.Export(&m, &foreign.Origin[llms.MessageContent]{Foreign: f, Message: &m})
		require.NoError(t, err)
		require.Equal(t, f.Role, out.Role)
		require.Len(t, out.Parts, len(f.Parts))
		restored := false
		for i := range f.Parts {
			restored = restored || isRestored(f.Parts[i], m.Parts[i])
		}
		if !restored && len(f.Parts) > 0 {
			require.Same(t, &f.Parts[0], &out.Parts[0], "the very slice")
		}
		for i := range f.Parts {
			if !isRestored(f.Parts[i], m.Parts[i]) {
				require.Equal(t, f.Parts[i], out.Parts[i])
			}
		}
		again, err := c.Import(out, nil)
		require.NoError(t, err)
		require.True(t, again.Equal(m), "mended, it says what was imported")
		now, err := json.Marshal(f.Parts)
		require.NoError(t, err)
		require.Equal(t, was, now, "what comes in is not written to")
	})
}

func TestEditsThatAddAndRemove(t *testing.T) {
	t.Parallel()
	image := llms.ImageURLContent{URL: "u", Detail: "low"}
	cached := llms.WithCacheControl(llms.TextContent{Text: "b"}, &llms.CacheControl{Type: "ephemeral"})
	from := func(parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeGeneric, Parts: parts}
	}
	text := func(s string) message.Part { return message.Text{Text: s} }
	for name, c := range map[string]struct {
		was  llms.MessageContent
		now  []message.Part
		want []llms.ContentPart
	}{
		"the first is gone":      {from(llms.TextContent{Text: "a"}, image, cached), []message.Part{message.Media{URL: "u"}, text("b")}, []llms.ContentPart{image, cached}},
		"the last is new":        {from(llms.TextContent{Text: "a"}), []message.Part{text("a"), text("c"), message.Media{Data: "d"}}, []llms.ContentPart{llms.TextContent{Text: "a"}, llms.TextContent{Text: "c"}, llms.BinaryContent{Data: []byte("d")}}},
		"an image became text":   {from(image), []message.Part{text("[image]")}, []llms.ContentPart{llms.TextContent{Text: "[image]"}}},
		"a marked text, shorter": {from(cached), []message.Part{text("")}, []llms.ContentPart{llms.WithCacheControl(llms.TextContent{}, cached.CacheControl)}},
		"thinking is not sent":   {from(cached), []message.Part{message.Thinking{Text: "hm"}, text("b")}, []llms.ContentPart{cached}},
		"another call": {
			from(llms.ToolCall{ID: "1", Type: "t", FunctionCall: &llms.FunctionCall{Name: "look", Arguments: "{}"}}),
			[]message.Part{message.ToolCall{ID: "2", Name: "look", Arguments: "{}"}},
			[]llms.ContentPart{llms.ToolCall{ID: "2", Type: "function", FunctionCall: &llms.FunctionCall{Name: "look", Arguments: "{}"}}},
		},
	} {
		cd := codec{}
		m, err := cd.Import(c.was, nil)
		require.NoError(t, err, name)
		origin := &foreign.Origin[llms.MessageContent]{Foreign: c.was, Message: &m, Edited: true}
		out, err := cd.Export(&message.Message{Role: m.Role, Parts: c.now}, origin)
		require.NoError(t, err, name)
		require.Equal(t, c.want, out.Parts, name)
		require.Equal(t, llms.ChatMessageTypeGeneric, out.Role, name)
		_, err = cd.Export(&message.Message{Role: m.Role, Parts: []message.Part{text("a"), message.Opaque{Kind: "k"}}}, origin)
		require.EqualError(t, err, `part 1: opaque content of kind "k" has no place in a message of langchaingo`, name)
	}
}

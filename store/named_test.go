package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

var image = message.Media{Type: "image/png", Data: "\x89PNG", Name: "a plan.png"}

func TestNameOfParts(t *testing.T) {
	t.Parallel()
	pieces := func(parts ...message.Part) (all []message.Part) {
		for _, p := range parts {
			res := message.ToolResult{CallID: "c1", Name: "look"}
			if text, ok := p.(message.Text); ok {
				res.Text = text.Text
			} else {
				res.Content = p
			}
			all = append(all, res)
		}
		return all
	}
	imageHandle := store.HandleOf("", store.Content{Type: image.Type, Data: image.Data}).String()
	for name, c := range map[string]struct {
		parts []message.Part
		want  store.Content
	}{
		"text":                    {[]message.Part{message.Text{Text: "a\r\n\x00"}}, store.Content{Data: "a\r\n\x00"}},
		"thinking":                {[]message.Part{message.Thinking{Text: "hm", Signature: "s"}}, store.Content{Data: "hm"}},
		"call":                    {[]message.Part{message.ToolCall{ID: "c1", Name: "write", Arguments: `{"a": 1}`}}, store.Content{Data: `{"a": 1}`}},
		"opaque":                  {[]message.Part{message.Opaque{Kind: "search", Data: `{"q": 1}`}}, store.Content{Data: `{"q": 1}`}},
		"nothing":                 {nil, store.Content{}},
		"result":                  {pieces(message.Text{Text: "42"}), store.Content{Data: "42"}},
		"result that is an image": {pieces(image), store.Content{Type: "image/png", Data: "\x89PNG"}},
		"image":                   {[]message.Part{image}, store.Content{Type: "image/png", Data: "\x89PNG"}},
		"image elsewhere": {
			[]message.Part{message.Media{Type: "image/png", URL: "https://example.com/a.png"}},
			store.Content{Data: "[image/png: https://example.com/a.png]"},
		},
		"texts": {[]message.Part{message.Text{Text: "a"}, message.Text{Text: "b"}}, store.Content{Data: "a\n\nb"}},
		"result of several pieces": {
			pieces(message.Text{Text: "before"}, image, message.Opaque{Kind: "k", Data: "d"}, message.Text{Text: "behind"}),
			store.Content{Data: "[result look]\n\nbefore\n\n[image/png a plan.png, 4 bytes: recall " + imageHandle + "]\n\n[k]\nd\n\nbehind"},
		},
		"result with a text beside its image": {
			[]message.Part{message.ToolResult{CallID: "c1", Name: "look", Text: "as asked", Content: image}},
			store.Content{Data: "[result look]\n\nas asked\n\n[image/png a plan.png, 4 bytes: recall " + imageHandle + "]"},
		},
		"two results": {
			[]message.Part{message.ToolResult{CallID: "c1", Text: "a"}, message.ToolResult{CallID: "c2", Name: "b", Text: "no", Error: true}},
			store.Content{Data: "[result]\n\na\n\n[error b]\n\nno"},
		},
	} {
		s := store.NewMemory(0)
		contents, err := store.Internals(inside.Key{}).Name(s, message.Message{Parts: c.parts})
		require.NoError(t, err, name)
		h := putAll(t, s, contents)
		got, err := s.Get(t.Context(), h)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		again, err := store.Internals(inside.Key{}).Name(s, message.Message{Parts: c.parts})
		require.NoError(t, err, name)
		require.Equal(t, h, putAll(t, s, again), name)
	}
}

// What stands in a transcript can be read as well, down to the bytes of a
// picture.
func TestNameOfMessages(t *testing.T) {
	t.Parallel()
	s := store.NewMemory(0)
	contents, err := store.Internals(inside.Key{}).Name(s, []message.Message{
		{Role: message.RoleUser, Name: "ann", Parts: []message.Part{message.Text{Text: "look"}, image}},
		message.Assistant(
			message.Thinking{Text: "hm"}, message.Thinking{Signature: "sealed"},
			message.ToolCall{ID: "c1", Name: "look", Arguments: `{"at": "plan"}`},
		),
		message.Result("c1", "look", "a house"),
	}...)
	require.NoError(t, err)
	require.Len(t, contents, 2)
	c, err := s.Get(t.Context(), putAll(t, s, contents))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(c.Data, "recall ")
	handle, _, _ := strings.Cut(rest, "]")
	require.Equal(t, strings.Join([]string{
		"[user] ann", "look", "[image/png a plan.png, 4 bytes: recall " + handle + "]",
		"[assistant]", "[thinking]\nhm", "[calls look]\n{\"at\": \"plan\"}",
		"[tool]", "[result look]", "a house",
	}, "\n\n"), c.Data)
	parsed, err := store.ParseHandle(handle)
	require.NoError(t, err)
	c, err = s.Get(t.Context(), parsed)
	require.NoError(t, err)
	require.Equal(t, store.Content{Type: image.Type, Data: image.Data}, c)
}

// putAll puts contents and returns the handle of the last.
func putAll(t require.TestingT, s store.Store, contents []store.Named) store.Handle {
	require.NoError(t, s.Put(context.Background(), message.ID{}, contents))
	return contents[len(contents)-1].Handle
}

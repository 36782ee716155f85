package contextedit_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// requireRecallable checks that the handle in the place of each cleared result,
// and of each cleared input, gives back what was there, by the store and by the
// tool of the model. It returns how many are cleared.
func requireRecallable(t require.TestingT, s store.Store, history, view []message.Message) (cleared int) {
	fresh := store.NewMemory(0)
	for i, m := range history {
		for call := range m.Calls() {
			for _, p := range view[i].Parts {
				if now, ok := p.(message.ToolCall); ok && now.ID == call.ID && now.Arguments != call.Arguments {
					requireUnder(t, s, now.Arguments, store.Content{Data: call.Arguments})
					cleared++
				}
			}
		}
		for _, id := range callIDs(view[i]) {
			was, is := pieces(m, id), pieces(view[i], id)
			if slices.Equal(was, is) || asksForContent(history[:i], id) {
				continue
			}
			parts := make([]message.Part, len(was))
			for k := range was {
				parts[k] = was[k]
			}
			contents, err := store.Internals(inside.Key{}).Name(fresh, message.Message{Parts: parts})
			require.NoError(t, err)
			want := contents[len(contents)-1].Content
			for _, piece := range is {
				require.Nil(t, piece.Content)
				requireUnder(t, s, piece.Text, want)
			}
			cleared++
		}
	}
	return cleared
}

// requireUnder checks what is to be had by the handle that a text names.
func requireUnder(t require.TestingT, s store.Store, text string, want store.Content) {
	named := archived.In(text)
	require.Len(t, named, 1, "%q names a handle", text)
	got, err := s.Get(context.Background(), named[0])
	require.NoError(t, err)
	require.Equal(t, want, got)
	arguments, err := json.Marshal(map[string]string{"handle": named[0].String()})
	require.NoError(t, err)
	parts, err := agent.Recall(s, agent.RecallOptions{Limit: 1 << 20, Media: true}).Call(context.Background(), string(arguments))
	require.NoError(t, err)
	require.Len(t, parts, 1)
	switch p := parts[0].(type) {
	case message.Text:
		if want.Data == "" {
			want.Data = "[the content is empty]" // a tool has to say something
		}
		require.Equal(t, want.Data, p.Text)
	case message.Media:
		require.Equal(t, want, store.Content{Type: p.Type, Data: p.Data})
	case message.Thinking, message.ToolCall, message.ToolResult, message.Opaque:
		require.Fail(t, "unexpected part", "%T", p)
	}
}

func callIDs(m message.Message) (ids []string) {
	for r := range m.Results() {
		if !slices.Contains(ids, r.CallID) {
			ids = append(ids, r.CallID)
		}
	}
	return ids
}

// asksForContent reports whether the newest call of this id is one of the tool
// recall.
func asksForContent(history []message.Message, id string) bool {
	for _, m := range slices.Backward(history) {
		for call := range m.Calls() {
			if call.ID == id {
				return call.Name == store.RecallTool
			}
		}
	}
	return false
}

// TestAnythingClearedIsRecallable plays random conversations message by message.
func TestAnythingClearedIsRecallable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		opts := anyOptions().Draw(r, "options")
		h := anyHistory().Draw(r, "history")
		sure := rapid.Bool().Draw(r, "surely clears")
		if sure {
			opts, h = surelyClears(opts, h)
		}
		archive := store.NewMemory(0)
		mw := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, contextedit.New(opts))
		recallable := 0
		for n := rapid.IntRange(0, len(h)).Draw(r, "first call"); n <= len(h); n++ {
			sent, events, err := middleware.Apply(r.Context(), mw, &middleware.Request{Messages: h[:n]})
			require.NoError(r, err)
			for _, e := range events {
				require.NotContains(r, []middleware.EventKind{middleware.Failed, middleware.Refused}, e.Kind, "%v", e)
			}
			recallable = requireRecallable(r, archive, h[:n], sent.Messages)
		}
		if sure {
			require.Positive(r, recallable, "what is cleared can be recalled")
		}
	})
}

// What is cleared is archived as the tool gave it, and not as some other editor
// has left it.
func TestArchivedAsGiven(t *testing.T) {
	t.Parallel()
	archive := store.NewMemory(0)
	cut := middleware.Editing("cut", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		var edits []middleware.Edit
		for i, m := range v.Messages() {
			if m.Role != message.RoleTool || v.Span(i).Edit != nil {
				continue
			}
			r, _ := m.Parts[0].(message.ToolResult)
			r.Text = r.Text[:len(r.Text)/2]
			edits = append(edits, middleware.RewriteOf(i, r))
		}
		return &middleware.Plan{Edits: edits}, nil
	}, middleware.Options{})
	mw := middleware.With(middleware.Env{Archive: archive}, cut, contextedit.New(contextedit.Options{Trigger: always{}, Keep: -1}))
	h := rounds(6, 400)
	sent, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	last := len(h) - 1
	require.Equal(t, 5, requireRecallable(t, archive, h[:last], sent.Messages[:last]))
}

// always is a trigger.
type always struct{}

func (always) Met(*middleware.View, func() *middleware.Plan) (met bool, why string, err error) {
	return true, "always", nil
}

package tests

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	keys "github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/message/openai"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/sqlstore" // opens SQLite
)

// latin1 is a text that is not UTF-8, of about n bytes.
func latin1(n int) string {
	return strings.Repeat("caf\xe9 is closed, see /var/log/caf\xe9.log\n", n/40)
}

// TestBadTextAndEditors takes a conversation whose texts are not UTF-8 through each editor, with a journal and an archive in a
// database. Each request can be written as JSON, no edit fails, another process sends the same bytes, entries of the journal are
// undamaged, and the archive has the original bytes.
func TestBadTextAndEditors(t *testing.T) {
	t.Parallel()
	writes := func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
		if _, err := new(openai.Conversation).Body(req.Messages, req.Tools); err != nil {
			t.Errorf("a summary is asked for with a text that JSON cannot have: %v", err)
		}
		return &middleware.Response{Stop: middleware.StopEnd, Message: message.Assistant(message.Text{
			Text: "Goal: logs.\nCurrent state: none.\nDecisions and reasons: none.\nErrors and repairs: none.\nNext steps: logs.",
		})}, nil
	}
	folding := summarize.Options{Trigger: trigger.Messages(8), Keep: 3}
	sections := summarize.Ask{Retries: -1}
	editors := map[string]middleware.Middleware{
		"contextedit":         contextedit.New(contextedit.Options{Trigger: trigger.Messages(6), Keep: 1, ClearToolInputs: true, Digest: 40}),
		"microcompact":        microcompact.New(microcompact.Options{KeepRounds: 1, Limit: microcompact.Limits{Results: 200, Arguments: 40, Text: 400}, FreshShare: -1}),
		"new results":         microcompact.New(microcompact.Options{FreshShare: 0.02}),
		"trim":                trim.New(trim.Options{Trigger: trigger.Messages(8), TargetTokens: 800}),
		"by rules":            summarize.New(summarize.ByRules(), folding),
		"by a model":          summarize.New(summarize.By(writes, sections), folding),
		"in the conversation": summarize.New(summarize.InConversation(writes, sections), folding),
		"custom": summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Messages(8), Keep: 3, Strategy: summarize.Strategy{
			Custom: func(_ context.Context, f *summarize.Fold) ([]message.Message, error) {
				return []message.Message{message.User("It began with: " + f.First)}, nil
			},
		}}),
	}
	for name, editor := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireBadTextEdited(t, editor)
		})
	}
}

func requireBadTextEdited(t *testing.T, editor middleware.Middleware) {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "laconic.db")
	var sent, again []message.Message
	send := func(to *[]message.Message) middleware.Model {
		return func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
			*to = req.Messages
			_, err := (&openai.Conversation{Model: req.Model}).Body(req.Messages, req.Tools)
			return &middleware.Response{Stop: middleware.StopEnd, Message: message.Assistant(message.Text{Text: "ok"})}, err
		}
	}
	edits, bad := 0, []string(nil)
	observe := middleware.Observe(func(_ context.Context, e middleware.Event) {
		switch e.Kind {
		case middleware.Edited:
			edits++
		case middleware.Failed, middleware.Missed, middleware.Misconfigured:
			bad = append(bad, e.String())
		default:
		}
	})
	open := func(to *[]message.Message) (*engine.Engine, middleware.Model) {
		e, err := engine.Open(t.Context(), url, engine.Options{})
		require.NoError(t, err)
		env := middleware.Env{Journal: e.Journal(), Archive: e.Archive("s"), Scope: "s"}
		return e, middleware.Chain(observe, middleware.With(env, editor, fit.New(fit.Options{})))(send(to))
	}
	call := func(model middleware.Model, h []message.Message) message.Message {
		resp, err := model(t.Context(), &middleware.Request{Model: "gpt-4.1-mini", Messages: h, Budget: &middleware.Budget{Window: 30_000}}, nil)
		require.NoError(t, err)
		return resp.Message
	}
	e, model := open(&sent)
	h := []message.Message{message.User("Why is the caf\xe9 closed?")}
	for turn := range 6 {
		id := fmt.Sprintf("c%d\xe9", turn)
		h = append(h,
			message.Assistant(message.ToolCall{ID: id, Name: "read_log", Arguments: `{"path":"caf` + "\xe9" + strings.Repeat(" and more", 20) + `"}`}),
			message.Result(id, "read_log", latin1(4000)))
		answer := call(model, h)
		h = append(h, answer, message.User(fmt.Sprintf("And caf\xe9 number %d? %s", turn, latin1(500))))
	}
	call(model, h)
	require.Positive(t, edits, "%q", bad)
	require.Empty(t, bad)
	require.Positive(t, requireArchived(t, e, sent))
	found, err := e.Journal().Find(t.Context(), "s", message.IDs(h)[0], message.IDs(h))
	require.NoError(t, err)
	require.NoError(t, found.Skipped)
	require.NotEmpty(t, found.Entries)
	for i := range found.Entries {
		require.NoError(t, journal.Internals(keys.Key{}).Check(&found.Entries[i]))
	}
	require.NoError(t, e.Close())

	edits = 0
	e, model = open(&again)
	defer e.Close() //nolint:errcheck // the file goes
	call(model, h)
	require.Equal(t, sent, again, "another process finds the edits")
	require.Zero(t, edits)
	require.Empty(t, bad)

	require.NoError(t, e.Delete(t.Context(), "s"))
	for range 2 { // the edits end, or are made again
		h = append(h, message.Assistant(message.Text{Text: "ok"}), message.User("And now?"))
		call(model, h)
	}
	require.Contains(t, strings.Join(bad, "\n"), "lead nowhere")
	requireArchived(t, e, again)
}

// requireArchived checks that each handle leads to bytes of the history, and returns the number of handles.
func requireArchived(t *testing.T, e *engine.Engine, sent []message.Message) (handles int) {
	t.Helper()
	for _, m := range sent {
		for _, p := range m.Parts {
			for _, handle := range archived.In(fmt.Sprintf("%+v", p)) {
				c, err := e.Archive("s").Get(t.Context(), handle)
				require.NoError(t, err)
				require.Contains(t, c.Data, "caf\xe9", "the archive has the bytes of the history")
				handles++
			}
		}
	}
	return handles
}

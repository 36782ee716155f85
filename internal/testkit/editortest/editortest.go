// Package editortest replays the golden conversations of an editing middleware, and has the parts that the
// benchmarks of these middlewares share. It is for tests only.
package editortest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Editor is an editing middleware as a golden conversation asks for it.
type Editor struct {
	Chain []middleware.Middleware
	Items func(detail any) int                           // what an edit counts
	Check func(t *testing.T, c Call)                     // what else must hold for each call
	Show  func(msgs []message.Message) []message.Message // how the file shows the view; nil: as it is
	Again []middleware.EventKind                         // events that the same call may report once more
}

// Call is a call of the model that was not an error.
type Call struct {
	History []message.Message
	Sent    *middleware.Request
}

// Each makes a middleware of each text with options.
func Each(options []string, parse func(text string) middleware.Middleware) (mws []middleware.Middleware) {
	for _, text := range options {
		mws = append(mws, parse(text))
	}
	return mws
}

// RequireRewritten checks a view of rewritten messages: it breaks no rule that the history keeps, and it differs in the
// content of results, in arguments of calls, and in the parts that left shortens, or removes if it returns nil. A result in several
// pieces may become one.
func RequireRewritten(t require.TestingT, history, view []message.Message, left func(m message.Message, p message.Part) message.Part) {
	require.Subset(t, message.Rules(0).Violations(history), message.Rules(0).Violations(view), "a rule is broken that was not")
	require.Len(t, view, len(history))
	for i, m := range history {
		require.Equal(t, skeleton(m, left), skeleton(view[i], left), "message %d has lost more than what may go", i)
	}
}

// skeleton returns what must be left of a message.
func skeleton(m message.Message, left func(m message.Message, p message.Part) message.Part) message.Message {
	var parts []message.Part
	for _, p := range m.Parts {
		switch q := p.(type) {
		case message.ToolCall:
			q.Arguments = ""
			p = q
		case message.ToolResult:
			q.Text, q.Content = "", nil
			p = q
			if len(parts) > 0 && parts[len(parts)-1] == p {
				continue
			}
		case message.Text, message.Thinking, message.Media, message.Opaque:
			p = left(m, p)
			if p == nil {
				continue
			}
		}
		parts = append(parts, p)
	}
	m.Parts = parts
	return m
}

// Run replays the conversations in testdata. Each has a section with the options,
// in the words of a chain file, one for each middleware of the chain; one with the
// request, if there is more to it than messages; the history; and what is expected:
// what happened in each call, and what the model saw in the last one. The caller's
// history must not change, and the same call once more must give the same view.
func Run(t *testing.T, editor func(t *testing.T, options []string) Editor) {
	t.Helper()
	golden.Test(t, func(t *testing.T, c golden.Case) (edits, out string) {
		t.Helper()
		return editor(t, c.Sections("options")).replay(t, c)
	})
}

func (e Editor) replay(t *testing.T, c golden.Case) (edits, out string) {
	t.Helper()
	env := middleware.Env{Counter: tokens.Chars4}
	if strings.Contains(c.Section("request"), "archive: memory\n") {
		env.Archive = store.NewMemory(0)
		_, err := store.Keep(t.Context(), env.Archive, store.Content{Data: "a"}) // what a file recalls, by the handle reocvrpknqqn
		require.NoError(t, err)
	}
	chain := middleware.With(env, e.Chain...)
	h, ends, err := golden.Parse(c.Section("in"))
	require.NoError(t, err)
	var log strings.Builder
	for n, end := range ends {
		req := request(t, c.Section("request"))
		req.Messages = h[:end]
		changed := testkit.Freeze(req)
		sent, events, err := middleware.Apply(t.Context(), chain, req)
		require.NoError(t, changed(), "the caller's history was changed")
		for _, event := range events {
			fmt.Fprintf(&log, "call %d: %s: %s\n", n+1, event.Kind, event)
			if event.Kind == middleware.Edited {
				log.WriteString(e.edit(event, message.Leading(h)))
			}
		}
		if err != nil {
			fmt.Fprintf(&log, "call %d: error: %s: %v\n", n+1, middleware.KindOf(err), err)
			out = ""
			continue
		}
		e.Check(t, Call{History: h[:end], Sent: sent})
		if env.Archive != nil {
			given := fmt.Sprint(h[:end])
			for _, handle := range archived.In(fmt.Sprint(sent.Messages)) {
				_, err := env.Archive.Get(t.Context(), handle)
				require.True(t, err == nil || strings.Contains(given, handle.String()), "%s leads to what was removed: %v", handle, err)
			}
		}
		e.requireSettled(t, chain, req, sent)
		shown := sent.Messages
		if e.Show != nil {
			shown = e.Show(shown)
		}
		out = golden.Format(shown)
	}
	return log.String(), out
}

// edit returns a line with what an edit has done.
func (e Editor) edit(event middleware.Event, lead int) string {
	rewritten, gone := "", ""
	for _, r := range event.Edits {
		if r.Kind == journal.Fold {
			for _, run := range r.Runs {
				gone += fmt.Sprintf(" %d-%d", lead+run.First, lead+run.Last)
			}
			continue
		}
		rewritten += fmt.Sprintf(" %d", lead+r.Runs[0].First)
	}
	line := fmt.Sprintf("  %d items, first changed message %d, calls since the edit before %d",
		e.Items(event.Detail), event.First, event.Calls)
	if gone != "" {
		return line + ", gone:" + gone + "\n"
	}
	return line + ", rewritten:" + rewritten + "\n"
}

// requireSettled checks that the same call again gives the same view, without another edit.
func (e Editor) requireSettled(t *testing.T, chain middleware.Middleware, req, sent *middleware.Request) {
	t.Helper()
	again, events, err := middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	require.Equal(t, golden.Format(sent.Messages), golden.Format(again.Messages), "the same call gives another view")
	for _, event := range events {
		require.True(t, slices.Contains(e.Again, event.Kind), "the same call once more: %v", event)
	}
}

func request(t *testing.T, text string) *middleware.Request {
	t.Helper()
	req := &middleware.Request{}
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "window":
			req.Budget = &middleware.Budget{Window: golden.Number(t, value)}
		case "model":
			req.Model = value
		case "archive": // of the chain
			require.Equal(t, "memory", value)
		case "force":
			req.Force = strings.Fields(value)
		case "tool":
			text, err := golden.ParseText(value)
			require.NoError(t, err)
			req.Tools = append(req.Tools, message.ToolDef{Name: "tool", Description: text})
		default:
			require.Fail(t, "unknown field of the request", key)
		}
	})
	return req
}

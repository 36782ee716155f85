package issues

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// moody counts with a function.
type moody func(text string) int

func (m moody) Count(text string) int { return m(text) }

// A panic of the counter reached the caller, and a negative count made sizes wrong.
func TestCounterThatFails(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func() int{
		"panicked":    func() int { panic("no vocabulary") },
		"returned -7": func() int { return -7 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := true
			counter := moody(func(text string) int {
				if fails && strings.HasPrefix(text, "x") {
					return wrong()
				}
				return len(text)
			})
			h := rounds(6)
			want := tokens.Estimate{}.Count(h[2].Parts[0].(message.ToolResult).Text)
			chain := middleware.With(middleware.Env{Counter: counter}, clearing(1))
			for call := range 2 {
				req, events := apply(t, chain, h)
				var failed []middleware.Event
				for _, e := range events {
					if e.Kind == middleware.Failed {
						failed = append(failed, e)
					}
				}
				if call == 0 {
					require.Len(t, failed, 1, "one event for all texts")
					require.ErrorContains(t, failed[0].Err, name)
					require.Contains(t, failed[0].Why, "estimate")
					require.Equal(t, "middleware", failed[0].By)
				} else {
					require.Empty(t, failed, "nothing new was counted")
				}
				last := req.View().Len() - 1
				require.Equal(t, want+len("c11")+tokens.DefaultFraming().PerMessage, req.View().TokensOf(last), "the text is estimated, its ID is counted")
				require.Equal(t, call+1, edited(req), "the editors work")
			}
			fails = false
			_, events := apply(t, chain, append(h, message.User("next")))
			require.Equal(t, []middleware.EventKind{middleware.Edited}, kinds(events))
		})
	}
}

// A counter may fail where only an editor counts, in a draft, and in the chain of a model that is never called.
func TestCounterFailsLate(t *testing.T) {
	t.Parallel()
	fails := true
	counter := moody(func(text string) int {
		if fails && text == "draft" {
			panic("draft")
		}
		return len(text)
	})
	counts := middleware.Editing("counts", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		v.Meter().Counter.Count("draft")
		return nil, nil
	}, middleware.Options{})
	chain := middleware.With(middleware.Env{Counter: counter}, counts)
	d, err := middleware.Draft(t.Context(), chain, &middleware.Request{Messages: rounds(1)})
	require.NoError(t, err)
	require.Equal(t, []middleware.EventKind{middleware.Failed}, kinds(d.Events))
	_, events := apply(t, chain, rounds(1))
	require.Equal(t, []middleware.EventKind{middleware.Failed}, kinds(events), "a draft takes no event from a call")
	_, events = apply(t, chain, rounds(1))
	require.Empty(t, events)
}

// silent is a journal that panics.
type silent struct{ journal.Journal }

func (silent) Find(context.Context, string, message.ID, []message.ID) (journal.Found, error) {
	panic("read")
}

func (silent) Put(context.Context, string, []journal.Write) (journal.Entry, error) { panic("write") }

// A panic of the journal reached the caller.
func TestJournalThatPanics(t *testing.T) {
	t.Parallel()
	req, events := apply(t, middleware.With(middleware.Env{Journal: silent{}}, clearing(1)), rounds(3))
	require.Equal(t, []middleware.EventKind{middleware.Failed, middleware.Edited, middleware.Failed}, kinds(events))
	require.ErrorContains(t, events[0].Err, "journal panicked: read")
	require.ErrorContains(t, events[2].Err, "journal panicked: write")
	require.Equal(t, 1, edited(req))
}

// full is a journal that stores nothing.
type full struct{ journal.Journal }

func (full) Put(context.Context, string, []journal.Write) (journal.Entry, error) {
	return journal.Entry{}, errors.New("full")
}

// In a fork whose newest round was edited, the edit did not hold at first, and then was applied without an event.
func TestForkIntoAnEdit(t *testing.T) {
	t.Parallel()
	fold := planning("fold", func(v *middleware.View) []middleware.Edit {
		if v.Len() < 7 {
			return nil
		}
		return []middleware.Edit{{Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 4}}, Messages: []message.Message{message.User("summary")}}}
	})
	interrupted := append(rounds(2), message.User("Stop. What do you know?")) // edits are also kept before this question
	for name, c := range map[string]struct {
		journal journal.Journal
		editor  middleware.Middleware
		history []message.Message
		fork    int // number of messages; the last one is in the edit
	}{
		"a rewrite in memory only":         {full{journal.NewMemory(0)}, clearing(1), rounds(2), 3},
		"a fold in memory only":            {full{journal.NewMemory(0)}, fold, rounds(3), 5},
		"a rewrite kept before a question": {journal.NewMemory(0), clearing(2), more(interrupted, 1), 5},
		"a fold kept before a question":    {journal.NewMemory(0), fold, more(interrupted, 1), 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits atomic.Bool
			edits.Store(true)
			chain := middleware.With(middleware.Env{Journal: c.journal}, func(next middleware.Model) middleware.Model {
				editor, none := c.editor(next), idle()(next)
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					if edits.Load() {
						return editor(ctx, req, emit)
					}
					return none(ctx, req, emit)
				}
			})
			req, _ := apply(t, chain, c.history)
			require.NotZero(t, edited(req))
			edits.Store(false)
			h := slices.Clip(c.history[:c.fork])
			fork, events := apply(t, chain, h)
			require.Empty(t, events)
			require.True(t, h[c.fork-1].Equal(fork.Messages[len(fork.Messages)-1]), "no model has answered it here")
			for step := range 3 {
				h = append(h, message.Assistant(message.Text{Text: "ok"}), message.User("more"))
				next, events := apply(t, chain, h)
				events = slices.DeleteFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Failed }) // the journal's
				if step == 0 {
					require.False(t, slices.EqualFunc(fork.Messages, next.Messages[:min(len(fork.Messages), len(next.Messages))], message.Message.Equal))
					require.Equal(t, []middleware.EventKind{middleware.Notice}, kinds(events), "the edit holds again")
					require.Contains(t, events[0].Why, "hold again")
				} else {
					require.Empty(t, events, "step %d", step)
					require.True(t, slices.EqualFunc(fork.Messages, next.Messages[:len(fork.Messages)], message.Message.Equal))
				}
				fork = next
			}
		})
	}
}

// A tool message without a result became a user message, and no fix said
// so, if something else was repaired and nobody minded the message.
func TestRepairLeavesWhatNobodyMinds(t *testing.T) {
	t.Parallel()
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: "not JSON"}),
		message.Result("c", "tool", "done"),
		{Role: message.RoleTool, Parts: []message.Part{message.Opaque{Kind: "note", Data: "kept"}}},
	}
	repaired := message.Rules(0).Repair(h)
	got, fixes := repaired.Messages, repaired.Fixes
	require.Len(t, fixes, 1, "the arguments are what is wrong")
	require.Equal(t, h[2:], got[2:], "nothing changes that no fix names")
}

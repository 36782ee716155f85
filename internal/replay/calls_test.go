package replay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/calls"
	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// requireViews replays a conversation, and puts each prompt together from the history and the changes so far.
func requireViews(t *testing.T, talk *Conversation, chain Chain) {
	t.Helper()
	var sent [][]message.Message
	spy := chain
	spy.New = func(env middleware.Env, side middleware.Model) middleware.Middleware {
		return middleware.Chain(chain.New(env, side), func(next middleware.Model) middleware.Model {
			return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
				sent = append(sent, req.Messages)
				return next(ctx, req, emit)
			}
		})
	}
	results, err := Run(t.Context(), []*Conversation{talk}, []Chain{spy}, Options{Parallel: 1})
	require.NoError(t, err)
	r := results[0]
	now := map[int]calls.Change{}
	var whole []int
	for at, m := range talk.Messages {
		if m.Role == message.RoleAssistant {
			whole = append(whole, at)
		}
	}
	sum, freed, edits := 0, 0, 0
	require.Len(t, sent, len(r.Talks[0].Calls))
	for k, c := range r.Talks[0].Calls {
		sum += c.Sent
		require.LessOrEqual(t, c.Read+c.Written, c.Sent)
		for _, e := range c.Events {
			freed += e.Freed
		}
		for _, change := range c.Changes {
			now[change.At] = change
			if change.Fate != calls.Sent {
				require.GreaterOrEqual(t, change.Event, 0, "%s, call %d: message %d is not as it was, by no event", chain.Name, k, change.At)
			}
		}
		edits += c.Edits()
		view := append([]message.Message{}, now[-1].Messages...)
		for at, m := range talk.Messages[:whole[k]] {
			if now[at].Fate == calls.Sent {
				view = append(view, m)
			}
			view = append(view, now[at].Messages...)
		}
		require.Len(t, view, len(sent[k]), "%s, call %d", chain.Name, k)
		for i := range view {
			require.True(t, view[i].Equal(sent[k][i]), "%s, call %d, message %d", chain.Name, k, i)
		}
	}
	require.Equal(t, []int{r.Tokens.Sum, r.Freed, r.Edits}, []int{sum, freed, edits}, "%s: the sums of the calls are those of the result", chain.Name)
}

// TestChangesGiveThePrompts checks the baselines with made and recorded conversations.
func TestChangesGiveThePrompts(t *testing.T) {
	t.Parallel()
	for _, chain := range Baselines() {
		requireViews(t, working(60), chain)
	}
	recorded.Files(t) // skips the rest without recordings
	n := 0
	for line := range recorded.Lines(t, "conversations.jsonl.gz") {
		n++
		if n%soak.Nth(36, 12) != 0 || testing.Short() {
			continue
		}
		c, err := conversation(line)
		require.NoError(t, err)
		for _, chain := range Baselines() {
			requireViews(t, c, chain)
		}
	}
}

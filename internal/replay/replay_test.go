package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/calls"
	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// working returns a conversation of an agent that reads n files, each of which has a fact.
func working(n int) *Conversation {
	c := &Conversation{ID: fmt.Sprintf("reads %d files", n), Messages: []message.Message{message.System("You work."), message.User("Read all files.")}}
	for i := range n {
		id, name := fmt.Sprintf("call%05d", i), fmt.Sprintf("dir/file%d.go", i)
		call := message.ToolCall{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":%q}`, name)}
		c.Messages = append(c.Messages, message.Assistant(call),
			message.Result(id, "read_file", fmt.Sprintf("order #W%d00\n", i)+strings.Repeat("some lines of a file ", 40)))
	}
	c.Messages = append(c.Messages, message.Assistant(message.Text{Text: "done"}))
	return c
}

func TestKept(t *testing.T) {
	t.Parallel()
	c := working(8)
	last := len(c.Messages) - 1
	again := message.ToolCall{ID: "again", Name: "read_file", Arguments: `{"path":"dir/file0.go"}`}
	write := message.ToolCall{ID: "write", Name: "write_file", Arguments: `{"path":"new.go","text":"dir/file1.go"}`}
	c.Messages = append(c.Messages[:last], message.Assistant(again, write),
		message.Result("again", "read_file", "x"), message.Result("write", "write_file", "ok"), message.Assistant(message.Text{Text: "done"}))
	c.Facts = []Fact{
		{Text: "#W000", Hard: true, At: 4},    // in the newest result
		{Text: "#W000", Hard: true, At: last}, // cleared
		{Text: "#W700", Hard: true, At: last}, // kept
		{Text: "dir/file0.go", At: last},      // its result is cleared, but the call remains
	}
	keep := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 2, Digest: -1})
	late := contextedit.New(contextedit.Options{Trigger: trigger.Messages(1000), Keep: 2, Digest: -1})
	drop := trim.New(trim.Options{Trigger: trigger.Messages(1000), Strategy: "oldest", TargetTokens: 1000})
	chains := []Chain{baseline("keep", keep), baseline("late", late), baseline("drop", drop)}
	results, err := Run(t.Context(), []*Conversation{c}, chains, Options{})
	require.NoError(t, err)
	brief, err := Run(t.Context(), []*Conversation{c}, chains, Options{Brief: true})
	require.NoError(t, err)
	for i := range results {
		require.Equal(t, results[i].Cost, brief[i].Cost)
		require.Equal(t, results[i].Talks[0].Costs, brief[i].Talks[0].Costs)
		require.Equal(t, results[i].Talks[0].Hard, brief[i].Talks[0].Hard)
		require.Empty(t, brief[i].Talks[0].Calls)
	}
	require.Equal(t, Ratio{N: 2, Of: 3}, brief[0].Talks[0].Hard)
	cleared := results[0]
	require.Equal(t, &Share{All: 0.75, Hard: 2.0 / 3}, cleared.Facts)
	require.Equal(t, &Share{All: 1, Hard: 1}, cleared.Reached, "the archive has the cleared result")
	require.Equal(t, &Share{All: 0.75, Hard: 2.0 / 3}, cleared.Forced)
	require.Equal(t, &Ratio{N: 1, Of: 1}, cleared.Repeated, "the first file is read again, and its result is cleared")
	require.Equal(t, &Ratio{N: 9, Of: 9}, cleared.Named, "calls are not cleared")
	require.Equal(t, &Ratio{N: 1, Of: 1}, cleared.Changed)
	require.Positive(t, cleared.Edits)
	require.Positive(t, cleared.Freed)
	require.Less(t, cleared.Cost["K0"], 1.0)
	require.Zero(t, cleared.Violations)

	require.Equal(t, &Share{All: 1, Hard: 1}, results[1].Facts, "nothing is cleared")
	require.Equal(t, &Share{All: 0.75, Hard: 2.0 / 3}, results[1].Forced, "it would be, if all were cleared at the call")
	require.Equal(t, &Ratio{N: 0, Of: 1}, results[1].Repeated)
	require.InDelta(t, 1, results[1].Cost["K9"], 1e-12)
	require.Less(t, results[2].Forced.All, 0.75, "with the removed messages, the calls are gone")
}

// TestViolations checks that a prompt counts that a chain has broken, and not one that was broken before.
func TestViolations(t *testing.T) {
	t.Parallel()
	breaks := seeing(Chain{Name: "breaks", New: none}, func(_ middleware.Env, r *middleware.Request) {
		if n := len(r.Messages); n > 3 { // a result without its call
			r.Messages = slices.Delete(slices.Clone(r.Messages), n-2, n-1)
		}
	})
	c := working(3)
	results, err := Run(t.Context(), []*Conversation{c}, []Chain{breaks}, Options{})
	require.NoError(t, err)
	require.Equal(t, 3, results[0].Invalid["OpenAI"])
	require.Equal(t, 3*len(providers), results[0].Violations)

	c = working(3)
	c.Messages = append(c.Messages[:2], c.Messages[3:]...) // the first result has lost its call
	results, err = Run(t.Context(), []*Conversation{c}, []Chain{breaks}, Options{})
	require.NoError(t, err)
	require.Zero(t, results[0].Violations, "no provider accepts the recording")
}

func TestIrreducible(t *testing.T) {
	t.Parallel()
	c := working(2)
	c.Messages[1] = message.User(strings.Repeat("a long question ", 2000))
	results, err := Run(t.Context(), []*Conversation{c}, []Chain{baseline("fit", fit.New(fit.Options{}))}, Options{Window: 1000})
	require.NoError(t, err)
	require.Equal(t, 3, results[0].Irreducible)
	require.Zero(t, results[0].Calls)
}

// TestSummaries checks that the requests of a model that writes summaries cost.
func TestSummaries(t *testing.T) {
	t.Parallel()
	sum := func(name string, of func(middleware.Model, summarize.Ask) summarize.Writer) Chain {
		return Chain{Name: name, New: func(env middleware.Env, side middleware.Model) middleware.Middleware {
			return middleware.With(env, summarize.New(of(side, summarize.Ask{}), summarize.Options{Trigger: trigger.Messages(20)}))
		}}
	}
	rules := baseline("rules", summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Messages(20)}))
	results, err := Run(t.Context(), []*Conversation{working(20)}, []Chain{rules, sum("record", summarize.By), sum("live", summarize.InConversation)}, Options{})
	require.NoError(t, err)
	for _, class := range Classes() {
		require.Zero(t, results[0].Summaries[class.Name])
		require.Positive(t, results[1].Summaries[class.Name])
		require.Less(t, results[1].Summaries[class.Name], results[1].Cost[class.Name])
	}
	require.Less(t, results[2].Summaries["K49"], results[1].Summaries["K49"], "in the conversation, most of it is read from the cache")
	require.Equal(t, results[1].Edits, results[0].Edits)
}

// TestClock checks the times that a chain sees.
func TestClock(t *testing.T) {
	t.Parallel()
	var clock []time.Time
	var messages []bool
	chain := seeing(Chain{Name: "clock", New: none}, func(env middleware.Env, r *middleware.Request) {
		clock = append(clock, env.Clock())
		messages = append(messages, !r.Messages[0].Time.IsZero())
	})
	run := func(c *Conversation, o Options) *Result {
		clock, messages = nil, nil
		results, err := Run(t.Context(), []*Conversation{c}, []Chain{chain}, o)
		require.NoError(t, err)
		return results[0]
	}
	run(working(2), Options{})
	require.Equal(t, []bool{false, false, false}, messages, "without times, the cache is warm")
	require.Equal(t, []time.Duration{time.Second, time.Second}, []time.Duration{clock[1].Sub(clock[0]), clock[2].Sub(clock[1])})

	cold := run(working(2), Options{Gap: time.Hour, TTL: time.Minute})
	require.Equal(t, []bool{true, true, true}, messages)
	require.Equal(t, time.Hour, clock[1].Sub(clock[0]), "an assumed gap")
	require.Zero(t, cold.CacheHit)

	c := working(2)
	c.Messages[1].Time = epoch
	c.Messages[3].Time = epoch.Add(10 * time.Second)
	c.Messages[5].Time = epoch.Add(100 * time.Second)
	recorded := run(c, Options{Gap: time.Hour, TTL: time.Minute})
	require.Equal(t, []time.Time{epoch, epoch.Add(10 * time.Second), epoch.Add(100 * time.Second)}, clock, "recorded times count")
	require.Positive(t, recorded.CacheHit)
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	talks := []*Conversation{working(2), {ID: "no answer", Messages: []message.Message{message.User("x")}}, working(3)}
	results, err := Run(t.Context(), talks, []Chain{baseline("none")}, Options{})
	require.NoError(t, err)
	require.Equal(t, 2, results[0].Conversations, "a conversation without an answer is left out")
	require.Equal(t, 7, results[0].Calls)

	silent := Chain{Name: "silent", New: func(middleware.Env, middleware.Model) middleware.Middleware {
		return func(middleware.Model) middleware.Model { return testkit.Give(middleware.Response{}) }
	}}
	_, err = Run(t.Context(), talks, []Chain{silent}, Options{})
	require.ErrorIs(t, err, errUnsent)
	require.ErrorContains(t, err, `chain "silent", conversation "reads`)

	_, err = Run(t.Context(), []*Conversation{{ID: "a", Messages: talks[0].Messages, Facts: []Fact{{Text: "x", At: 1}}}}, nil, Options{})
	require.ErrorContains(t, err, "want the index of an answer")
	_, err = Run(t.Context(), talks, nil, Options{Block: -1})
	require.ErrorContains(t, err, "a negative option")

	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	var done []int
	_, err = Run(ctx, talks, []Chain{baseline("none"), baseline("again")}, Options{Parallel: 1, Progress: func(n, of int) {
		done = append(done, n)
		require.Equal(t, 0, of%2, "twice the tokens of all prompts")
		require.Less(t, n, of)
		if n > of/2 {
			cancel(stop)
		}
	}})
	require.ErrorIs(t, err, stop)
	require.Zero(t, done[0], "called before the first conversation")
	require.Len(t, slices.Compact(slices.Clone(done)), len(done), "each call tells of more work: %v", done)
}

// requireViews replays a conversation, and puts each prompt together from the history and the changes so far.
func requireViews(t *testing.T, talk *Conversation, chain Chain) {
	t.Helper()
	var sent [][]message.Message
	spy := seeing(chain, func(_ middleware.Env, r *middleware.Request) { sent = append(sent, r.Messages) })
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

// TestChangesGiveThePrompts checks the baselines.
func TestChangesGiveThePrompts(t *testing.T) {
	t.Parallel()
	for _, chain := range Baselines() {
		requireViews(t, working(60), chain)
	}
}

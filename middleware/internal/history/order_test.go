package history_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/history"
)

// round is an answer with calls a, b, c, …, and their results in some order.
func round(n int, order ...int) []message.Message {
	parts := []message.Part{}
	for i := range order {
		parts = append(parts, message.ToolCall{ID: fmt.Sprint(n, "-", i), Name: "read", Arguments: "{}"})
	}
	msgs := []message.Message{message.Assistant(parts...)}
	for _, i := range order {
		msgs = append(msgs, message.Result(fmt.Sprint(n, "-", i), "read", fmt.Sprint("page ", i)))
	}
	return msgs
}

func TestOrderOfResults(t *testing.T) {
	t.Parallel()
	question := message.User("Why?")
	same := func(msgs ...message.Message) [2][]message.Message { return [2][]message.Message{msgs, msgs} }
	twice := message.Assistant(message.ToolCall{ID: "a", Name: "x", Arguments: "{}"}, message.ToolCall{ID: "a", Name: "y", Arguments: "{}"})
	for name, c := range map[string][2][]message.Message{
		"one round":            {slices.Concat([]message.Message{question}, round(1, 2, 0, 1)), slices.Concat([]message.Message{question}, round(1, 0, 1, 2))},
		"the second round":     {slices.Concat(round(1, 0, 1), round(2, 1, 0)), slices.Concat(round(1, 0, 1), round(2, 0, 1))},
		"a result is missing":  {round(1, 2, 1, 0)[:3], slices.Concat(round(1, 0, 1, 2)[:1], round(1, 0, 1, 2)[2:])},
		"in order":             same(round(1, 0, 1, 2)...),
		"one call ID twice":    same(twice, message.Result("a", "y", "2"), message.Result("a", "x", "1")),
		"a result of no call":  same(append(round(1, 1, 0), message.Result("z", "read", "?"))...),
		"a result twice":       same(append(round(1, 1, 0), message.Result("1-1", "read", "again"))...),
		"after another text":   same(round(1, 0)[0], question, round(1, 0)[1]),
		"results without call": same(round(1, 1, 0)[1:]...),
	} {
		var cache history.Cache[int]
		given := slices.Clone(c[0])
		track, _ := follow(t, &cache, given)
		require.Equal(t, c[0], given, "%s: the caller's messages are not moved", name)
		require.Equal(t, c[1], bodyOf(track), name)
		require.Equal(t, message.IDs(c[1]), track.IDs, name)
		require.Equal(t, c[1], track.Ordered(given), name)
	}
}

// TestOrderDoesNotMatter follows a run whose results come in any order, and again in another one,
// as a framework that builds the history anew.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var cache history.Cache[int]
		var passed, want []message.Message
		shared := make([]message.Message, 0, 400)
		add := func(msgs, ordered []message.Message) {
			passed, want = append(passed, msgs...), append(want, ordered...)
			shared = append(shared, msgs...)
		}
		add([]message.Message{message.User("Why?")}, []message.Message{message.User("Why?")})
		var latest *history.Track[int]
		for n := range rapid.IntRange(1, 8).Draw(t, "rounds") {
			sorted := []int{0, 1, 2, 3}[:rapid.IntRange(1, 4).Draw(t, "calls")]
			order := rapid.Permutation(sorted).Draw(t, "order")
			all := round(n, order...)
			for _, k := range []int{rapid.IntRange(1, len(all)).Draw(t, "arrived"), len(all)} {
				given := history.Given{Body: append(slices.Clone(passed), all[:k]...)}
				if rapid.Bool().Draw(t, "steady") {
					given = history.Given{Body: append(shared[:len(passed):cap(shared)], all[:k]...), Steady: true}
				}
				latest, _ = followGiven(t, &cache, given)
				cache.Publish(latest)
			}
			add(all, round(n, sorted...))
			require.Equal(t, want, bodyOf(latest))
			require.Equal(t, message.IDs(want), latest.IDs)
		}
		again, ch := follow(t, &cache, want)
		require.Equal(t, latest.IDs, again.IDs)
		require.Equal(t, len(want), ch.Common, "all is known")
		require.True(t, ch.Grown && !ch.Copied)
		fresh, _ := follow(t, new(history.Cache[int]), passed)
		require.Equal(t, fresh.IDs, again.IDs, "as of a process that was restarted")
		require.Equal(t, fresh.Tokens, again.Tokens)
		require.Equal(t, fresh.Bounded, again.Bounded)

		pinned := slices.Clone(passed)
		pinned[rapid.IntRange(0, len(pinned)-1).Draw(t, "pinned")].Hints.Pinned = true
		pinned = append(pinned, message.User("And now?"))
		later, _ := follow(t, &cache, pinned)
		fresh, _ = follow(t, new(history.Cache[int]), pinned)
		require.Equal(t, bodyOf(fresh), bodyOf(later))
		require.Equal(t, fresh.Whole, later.Whole, "the pin that was set later is seen")
		require.Equal(t, fresh.WholeCount, later.WholeCount)

		for range 4 { // a retry, and a fork, in the middle of a round too
			cut := passed[:rapid.IntRange(1, len(passed)).Draw(t, "cut")]
			for _, body := range [][]message.Message{cut, append(slices.Clone(cut), message.User("Another way."))} {
				branch, _ := follow(t, &cache, body)
				cache.Publish(branch)
				fresh, _ := follow(t, new(history.Cache[int]), body)
				require.Equal(t, bodyOf(fresh), bodyOf(branch))
				require.Equal(t, fresh.IDs, branch.IDs)
				require.Equal(t, fresh.Tokens, branch.Tokens)
			}
		}
	})
}

// TestNotesOfOldMessages changes notes of the host on old messages from call to call, with results in any
// order. The track has those of the list that was passed, as one that knows no earlier call.
func TestNotesOfOldMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var cache history.Cache[int]
		body := []message.Message{message.User("Why?")}
		for n := range rapid.IntRange(1, 8).Draw(t, "rounds") {
			sorted := []int{0, 1, 2}[:rapid.IntRange(1, 3).Draw(t, "calls")]
			body = append(slices.Clone(body), round(n, rapid.Permutation(sorted).Draw(t, "order")...)...)
			for range rapid.IntRange(0, 2).Draw(t, "notes") {
				m := &body[rapid.IntRange(0, len(body)-1).Draw(t, "at")]
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					m.Hints.Pinned = !m.Hints.Pinned
				case 1:
					m.Hints.Priority = message.PriorityCritical
				case 2:
					m.Time = time.Unix(int64(n), 0)
				case 3:
					m.Usage = &message.Usage{Input: n}
				}
			}
			track, _ := follow(t, &cache, body)
			cache.Publish(track)
			fresh, _ := follow(t, new(history.Cache[int]), body)
			require.Equal(t, bodyOf(fresh), bodyOf(track))
			require.Equal(t, fresh.Whole, track.Whole)
			require.Equal(t, fresh.WholeCount, track.WholeCount)
			require.Equal(t, fresh.Ordered(body), track.Ordered(body))
		}
	})
}

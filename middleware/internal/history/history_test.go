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
	"github.com/laconic-go/laconic/tokens"
)

func follow(t require.TestingT, c *history.Cache[int], body []message.Message) (*history.Track[int], history.Change) {
	return followGiven(t, c, history.Given{Body: body})
}

func followGiven(t require.TestingT, c *history.Cache[int], given history.Given) (*history.Track[int], history.Change) {
	meter := tokens.Meter{Counter: tokens.Chars4, Framing: tokens.DefaultFraming()}
	track, ch, err := c.Follow(given, meter, func() int { return 7 })
	require.NoError(t, err)
	return track, ch
}

func bodyOf(track *history.Track[int]) []message.Message {
	return track.AppendMessages(nil, message.Run{Last: len(track.Body) - 1})
}

func texts(n int, what string) (msgs []message.Message) {
	for i := range n {
		msgs = append(msgs, message.User(fmt.Sprintf("%s %d", what, i)))
	}
	return msgs
}

func TestFollow(t *testing.T) {
	t.Parallel()
	body := texts(10, "message")
	changed := slices.Clone(body)
	changed[7] = message.User("another")
	pinned := slices.Clone(body)
	pinned[3].Hints.Pinned = true
	for name, c := range map[string]struct {
		body []message.Message
		want history.Change
	}{
		"the same":            {body[:8], history.Change{Common: 8, Grown: true}},
		"grown":               {body, history.Change{Common: 8, Grown: true}},
		"shorter":             {body[:6], history.Change{Common: 6, Copied: true}},
		"much shorter":        {body[:2], history.Change{Common: 2, Copied: true, Unlike: true}},
		"forked":              {changed, history.Change{Common: 7, Copied: true}},
		"a hint changed":      {pinned[:8], history.Change{Common: 8, Grown: true, Noted: true, Copied: true}},
		"another one":         {texts(8, "other"), history.Change{Grown: true}},
		"first ones left out": {body[2:8], history.Change{Grown: true}},
	} {
		var cache history.Cache[int]
		first, _ := follow(t, &cache, body[:8])
		cache.Publish(first.With(1))
		got, ch := follow(t, &cache, c.body)
		ch.NewLead = false
		if c.want.Common == 0 {
			require.Equal(t, 7, got.State, "%s: a state of its own", name)
			ch.Copied = false // nothing was there before
		} else {
			require.Equal(t, 1, got.State, "%s: the state goes with the history", name)
		}
		require.Equal(t, c.want, ch, name)
		require.Equal(t, message.IDs(c.body), got.IDs, name)
		require.Len(t, got.Tokens, len(c.body), name)
		require.Equal(t, name == "a hint changed", got.WholeCount == 1, name)
	}
}

// A history whose rounds all have their results in another order is found by its first message.
func TestFollowReordered(t *testing.T) {
	t.Parallel()
	var cache history.Cache[int]
	body := []message.Message{
		message.User("Read."), message.Assistant(message.ToolCall{ID: "a", Name: "f"}, message.ToolCall{ID: "b", Name: "f"}),
		message.Result("a", "f", "1"), message.Result("b", "f", "2"), message.Assistant(message.ToolCall{ID: "c", Name: "f"}, message.ToolCall{ID: "d", Name: "f"}),
		message.Result("c", "f", "3"), message.Result("d", "f", "4"),
	}
	first, _ := follow(t, &cache, body)
	cache.Publish(first.With(1))
	body[2], body[3], body[5], body[6] = body[3], body[2], body[6], body[5]
	got, ch := follow(t, &cache, body)
	require.Equal(t, 1, got.State)
	require.Equal(t, 7, ch.Common)
	require.Equal(t, first.IDs, got.IDs)
	require.True(t, ch.Grown && !ch.Copied)
}

// A history that is sent again is found behind many branches of it that end as it does.
func TestFollowBehindBranches(t *testing.T) {
	t.Parallel()
	var cache history.Cache[int]
	body := texts(20, "message")
	first, _ := follow(t, &cache, body)
	cache.Publish(first.With(1))
	for i := range 12 {
		branch := append(slices.Clone(body), texts(i+1, "more")...)
		branch[10] = message.User(fmt.Sprintf("branch %d", i))
		track, _ := follow(t, &cache, branch)
		cache.Publish(track.With(2))
	}
	got, ch := follow(t, &cache, body)
	require.Equal(t, 1, got.State)
	require.Equal(t, 20, ch.Common)
}

func TestFollowRefusesUnknownParts(t *testing.T) {
	t.Parallel()
	var cache history.Cache[int]
	body := append(texts(2, "message"), message.Message{Role: message.RoleUser, Parts: []message.Part{message.Text{Text: "a"}, nil}})
	_, _, err := cache.Follow(history.Given{Lead: []message.Message{message.System("s")}, Body: body}, tokens.Meter{Counter: tokens.Chars4}, func() int { return 0 })
	require.ErrorContains(t, err, "message 3: part 1 is <nil>")
}

// requireSame checks that a track is as of a process that has seen nothing else.
func requireSame(t require.TestingT, fresh, track *history.Track[int]) {
	require.Equal(t, bodyOf(fresh), bodyOf(track))
	require.Equal(t, fresh.IDs, track.IDs)
	require.Equal(t, []any{fresh.Tokens, fresh.Sum, fresh.Wide}, []any{track.Tokens, track.Sum, track.Wide})
	require.Equal(t, []any{fresh.Whole, fresh.WholeCount, fresh.Bounded}, []any{track.Whole, track.WholeCount, track.Bounded})
}

// TestTracks follows a conversation as programs pass it: it grows by texts, and by rounds whose results arrive in any order,
// it is retried, forked and taken back, and notes of old messages change. Each track is as of a process that has seen
// nothing else; tracks share memory, and none of them ever changes, whatever grows from it.
func TestTracks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var cache history.Cache[int]
		type seen struct {
			track, fresh *history.Track[int] // fresh: of a cache that has seen nothing else
			body         []message.Message
		}
		var all []seen
		body := texts(3, "start")
		shared := append(make([]message.Message, 0, 400), body...) // grows in place, as the memory of an adapter
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			body = slices.Clone(body)
			switch rapid.IntRange(0, 6).Draw(t, "change") {
			case 0:
				what := rapid.SampledFrom([]string{"step", "文字文字文字文字"}).Draw(t, "what")
				body = append(body, texts(rapid.IntRange(0, 4).Draw(t, "more"), fmt.Sprint(what, step))...)
			case 1, 2:
				calls := []int{0, 1, 2, 3}[:rapid.IntRange(1, 4).Draw(t, "calls")]
				arrived := round(step, rapid.Permutation(calls).Draw(t, "order")...)
				body = append(body, arrived[:rapid.IntRange(1, len(arrived)).Draw(t, "arrived")]...)
			case 3:
				if len(all) > 0 {
					body = slices.Clone(all[rapid.IntRange(0, len(all)-1).Draw(t, "back to")].body)
				}
			case 4:
				body[at] = message.User(fmt.Sprint("changed in step ", step))
			case 5: // a retry
				body = body[:at+1]
			case 6: // only notes differ
				m := &body[at]
				m.Hints.Pinned, m.Usage, m.Time = !m.Hints.Pinned, &message.Usage{Input: step}, time.Unix(int64(step), 0)
			}
			given := history.Given{Body: body}
			if n := len(shared); len(body) >= n && history.Same(shared, body[:n]) {
				shared = append(shared, body[n:]...)
				if rapid.Bool().Draw(t, "steady") {
					given = history.Given{Body: shared, Steady: true}
				}
			}
			track, _ := followGiven(t, &cache, given)
			cache.Publish(track)
			fresh, _ := follow(t, new(history.Cache[int]), body)
			all = append(all, seen{track, fresh, slices.Clone(body)})
			for _, s := range all {
				require.Len(t, s.track.Body, len(s.body))
				requireSame(t, s.fresh, s.track)
				require.Equal(t, s.fresh.Ordered(s.body), s.track.Ordered(s.body))
			}
		}
	})
}

// TestMessagesThatAreAlmostEqual differs from the message before in one thing, where no probe looks.
func TestMessagesThatAreAlmostEqual(t *testing.T) {
	t.Parallel()
	body := texts(8, "message")
	for name, change := range map[string]func(m *message.Message){
		"role":            func(m *message.Message) { m.Role = message.RoleAssistant },
		"author":          func(m *message.Message) { m.Name = "Ada" },
		"number of parts": func(m *message.Message) { m.Parts = append(slices.Clone(m.Parts), message.Text{Text: "more"}) },
		"fewer parts":     func(m *message.Message) { m.Parts = nil },
	} {
		var cache history.Cache[int]
		first, _ := follow(t, &cache, body)
		cache.Publish(first)
		other := slices.Clone(body)
		change(&other[2])
		track, ch := follow(t, &cache, other)
		require.Equal(t, 2, ch.Common, name)
		require.Equal(t, message.IDs(other), track.IDs, name)
	}
}

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
		requireSame(t, fresh, again)

		pinned := slices.Clone(passed)
		pinned[rapid.IntRange(0, len(pinned)-1).Draw(t, "pinned")].Hints.Pinned = true
		pinned = append(pinned, message.User("And now?"))
		later, _ := follow(t, &cache, pinned)
		fresh, _ = follow(t, new(history.Cache[int]), pinned)
		requireSame(t, fresh, later) // the pin that was set later is seen

		for range 4 { // a retry, and a fork, in the middle of a round too
			cut := passed[:rapid.IntRange(1, len(passed)).Draw(t, "cut")]
			for _, body := range [][]message.Message{cut, append(slices.Clone(cut), message.User("Another way."))} {
				branch, _ := follow(t, &cache, body)
				cache.Publish(branch)
				fresh, _ := follow(t, new(history.Cache[int]), body)
				requireSame(t, fresh, branch)
			}
		}
	})
}

package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// slowCounter stands for an exact counter. It adds up how many bytes it had to
// look at, which is what such a counter costs.
type slowCounter struct{ bytes atomic.Int64 }

func (s *slowCounter) Count(text string) int {
	s.bytes.Add(int64(len(text)))
	return (len(text) + 3) / 4
}

// longRun is a conversation of 500 turns and about 212,000 tokens. No text in
// it comes twice.
func longRun() (turns [][]message.Message) {
	fill := func(n int, format string, args ...any) string {
		text := fmt.Sprintf(format, args...)
		return text + strings.Repeat(" "+text, max(0, n-len(text))/(len(text)+1))
	}
	for i := range 500 {
		turn := []message.Message{message.User(fill(120, "Question %d: what changed in module %d?", i, i%17))}
		if i%5 != 0 {
			id := fmt.Sprintf("call_%d", i)
			turn = append(turn,
				message.Assistant(message.ToolCall{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"pkg/m%d.go"}`, i)}),
				message.Result(id, "read_file", fill(1600, "line %d of m%d.go", i, i)))
		}
		turns = append(turns, append(turn, message.Assistant(message.Text{Text: fill(200, "Answer %d: it was renamed.", i)})))
	}
	return turns
}

// rebuilt returns equal messages in other memory.
func rebuilt(h []message.Message) []message.Message {
	out := make([]message.Message, len(h))
	for i, m := range h {
		m.Name = strings.Clone(m.Name)
		parts := make([]message.Part, len(m.Parts))
		for k, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				parts[k] = message.Text{Text: strings.Clone(p.Text)}
			case message.ToolCall:
				parts[k] = message.ToolCall{ID: strings.Clone(p.ID), Name: strings.Clone(p.Name), Arguments: strings.Clone(p.Arguments)}
			case message.ToolResult:
				p.Text = strings.Clone(p.Text)
				parts[k] = p
			case message.Thinking, message.Media, message.Opaque:
				parts[k] = p
			}
		}
		m.Parts = parts
		out[i] = m
	}
	return out
}

// TestEachTextIsCountedOnce counts a long conversation at every turn, as each
// model call does, and asks how much of it the counter saw.
func TestEachTextIsCountedOnce(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	turns := longRun()
	var all []message.Message
	for _, turn := range turns {
		all = append(all, turn...)
	}
	var once slowCounter
	total := tokens.Meter{Counter: &once}.Request(all, nil)
	require.InDelta(t, 212_000, total, 10_000, "the size of the conversation")

	byChain := func(opts contextedit.Options) func(tokens.Counter) func([]message.Message) {
		return func(c tokens.Counter) func([]message.Message) {
			mw := middleware.With(middleware.Env{Counter: c}, contextedit.New(opts))
			return func(h []message.Message) {
				_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
				require.NoError(t, err)
			}
		}
	}
	ways := []struct {
		name string
		by   func(tokens.Counter) func([]message.Message)
	}{
		{"an idle chain", byChain(contextedit.Options{Trigger: trigger.Tokens(10_000_000)})},
		{"a chain that clears", byChain(contextedit.Options{Trigger: trigger.Tokens(50_000), ClearAtLeast: 5000})},
		{"tokens.Memo", func(c tokens.Counter) func([]message.Message) {
			m := tokens.Meter{Counter: tokens.Memo(c)}
			return func(h []message.Message) { m.Request(h, nil) }
		}},
	}
	for _, way := range ways {
		for _, again := range []bool{false, true} {
			var c slowCounter
			count := way.by(&c)
			var h []message.Message
			for i, turn := range turns {
				h = append(h, turn...)
				if again && i%25 == 0 {
					h = rebuilt(h)
				}
				count(h)
			}
			require.LessOrEqual(t, 10*c.bytes.Load(), 13*once.bytes.Load(),
				"%s, messages rebuilt: %t: %d bytes counted, once each is %d", way.name, again, c.bytes.Load(), once.bytes.Load())
			require.GreaterOrEqual(t, 10*c.bytes.Load(), 9*once.bytes.Load(), "%s: all is counted", way.name)
		}
	}
}

// TestCountsFollowTheContent changes messages in place, as callers do whose own
// messages are mutable: the count is that of what is there now, and what has not
// changed is not counted again.
func TestCountsFollowTheContent(t *testing.T) {
	t.Parallel()
	turns := longRun()[:50]
	var once, c slowCounter
	for _, turn := range turns {
		tokens.Meter{Counter: &once}.Request(turn, nil) // as it is before the changes
	}
	seen := 0
	look := middleware.Editing("look", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		seen = v.Size().Tokens
		return nil, nil
	}, middleware.Options{})
	mw := middleware.With(middleware.Env{Counter: &c}, look)
	var h []message.Message
	for i, turn := range turns {
		h = append(h, turn...)
		h[len(h)/2].Parts[0] = message.Text{Text: fmt.Sprintf("changed at turn %d", i)}
		_, _, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
		require.NoError(t, err)
		require.Equal(t, tokens.Meter{Counter: tokens.Chars4}.Request(h, nil), seen, "turn %d", i)
	}
	require.LessOrEqual(t, 10*c.bytes.Load(), 13*once.bytes.Load(), "%d bytes counted, once each is %d", c.bytes.Load(), once.bytes.Load())
}

// TestSoakCounter counts texts of 100 MB, among them those that are one piece,
// in memory that does not depend on their length.
func TestSoakCounter(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	soakUntil(t)
	const size = 100_000_000
	r := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, size)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	for name, c := range map[string]*bpe.Counter{"o200k_base": bpe.Encoding("o200k_base"), "cl100k_base": bpe.Encoding("cl100k_base")} {
		for _, unit := range []string{"a", " ", "\n", "-", "中", "word ", "\x00", string(letters)} {
			text := strings.Repeat(unit, size/len(unit))
			thousand := c.Count(text[:len(text)/1000/12*12])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := c.Count(text)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%s: %.6q…: bytes allocated", name, text)
			require.InEpsilon(t, thousand*1000, n, 0.01, "%s: %.6q…: tokens are as dense as in a thousandth of the text", name, text)
		}
	}
}

package microcompact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// scraps are what results are made of.
var scraps = []string{
	"A-1001", "#W2378156", "yusuf_rossi_9620", "$54.04", "2024-05-15", "ann@example.com", "/srv/data/orders.csv", "error: not found\n", "{", "}", `"id": "A-7",`,
	"订单号：W12", "\n", "word", "go on", "[cleared: recall vvreubswsdub]", "[truncated: 300 chars; some facts: B-2]", "recall", `"vvreubswsdub"`, "]", "; ", "\x00", "\xff", "\u202e",
}

// rounds generates rounds of one, two or three calls, some results in pieces.
func rounds() *rapid.Generator[[]message.Message] {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40), func(s []string) string { return strings.Join(s, " ") })
	return rapid.Custom(func(t *rapid.T) []message.Message {
		h := []message.Message{message.User("Where is #W2378156?")}
		for i := range rapid.IntRange(1, 8).Draw(t, "rounds") {
			call := message.Message{Role: message.RoleAssistant}
			results := message.Message{Role: message.RoleTool}
			for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("c%d_%d", i, k)
				call.Parts = append(call.Parts, message.ToolCall{ID: id, Name: "read", Arguments: fmt.Sprintf(`{"of":%q}`, text.Draw(t, "arguments"))})
				for range rapid.IntRange(1, 2).Draw(t, "pieces") {
					results.Parts = append(results.Parts, message.ToolResult{CallID: id, Name: "read", Text: text.Draw(t, "result")})
				}
			}
			h = append(h, call, results)
		}
		return append(h, message.Assistant(message.Text{Text: "Done."}))
	})
}

// lineOf returns the facts in a placeholder.
func lineOf(text string) string {
	_, line, _ := strings.Cut(text, "some facts: ")
	return strings.TrimSuffix(line, "]")
}

// requireLines checks the facts that a view has in place of results that went. It
// returns how many lines there are.
func requireLines(t require.TestingT, most int, by tokens.Counter, history, view []message.Message) (lines int) {
	meter := tokens.Meter{Counter: by}
	for i, m := range view {
		for r := range m.Results() {
			was := results(history[i], r.CallID)
			if slices.Contains(was, r) {
				continue
			}
			before, given := 0, ""
			for _, p := range was {
				before += meter.Part(p)
				given += p.Text + "\n"
			}
			require.Less(t, meter.Part(r), before, "a placeholder takes as much as what it stands for: %q", r.Text)
			line := lineOf(r.Text)
			require.LessOrEqual(t, by.Count(line), most, "a line is longer than the option says: %q", line)
			require.Empty(t, archived.In(line), "a line names no handle: %q", line)
			for w := range strings.SplitSeq(line, " ") {
				require.Contains(t, given, strings.TrimRight(w, ",;:"), "line %q", line)
			}
			if line != "" {
				lines++
			}
		}
	}
	return lines
}

func results(m message.Message, callID string) (found []message.ToolResult) {
	for r := range m.Results() {
		if r.CallID == callID {
			found = append(found, r)
		}
	}
	return found
}

// TestLines plays random conversations message by message, each call in a process
// of its own that has the same journal, and compares with one that goes on.
func TestLines(t *testing.T) {
	t.Parallel()
	total := 0
	rapid.Check(t, func(r *rapid.T) {
		opts := microcompact.Options{
			KeepRounds: rapid.SampledFrom([]int{-1, 1, 2}).Draw(r, "keep rounds"),
			Limit:      microcompact.Limits{Results: rapid.IntRange(20, 200).Draw(r, "results"), Arguments: rapid.SampledFrom([]int{0, 60}).Draw(r, "arguments")},
			Batch:      microcompact.Batch{Tokens: rapid.SampledFrom([]int{0, 0, 50, 200}).Draw(r, "batch")},
			Digest:     rapid.IntRange(1, 60).Draw(r, "digest"),
		}
		counter := rapid.SampledFrom([]tokens.Counter{tokens.Estimate{}, tokens.Chars4, tokens.Cautious}).Draw(r, "counter")
		env := middleware.Env{Scope: "s", Journal: journal.NewMemory(0), Counter: counter}
		if rapid.Bool().Draw(r, "archive") {
			env.Archive = store.NewMemory(0)
		}
		alone := env
		alone.Journal = journal.NewMemory(0)
		one := middleware.With(alone, microcompact.New(opts))
		h := rounds().Draw(r, "history")
		before := []message.Message{}
		for n := 1; n <= len(h); n++ {
			req := &middleware.Request{Messages: h[:n]}
			sent, events, err := middleware.Apply(r.Context(), middleware.With(env, microcompact.New(opts)), req)
			require.NoError(r, err)
			same, _, err := middleware.Apply(r.Context(), one, req)
			require.NoError(r, err)
			require.Equal(r, same.Messages, sent.Messages, "another process makes another view of %d messages", n)
			edited := slices.IndexFunc(events, func(e middleware.Event) bool { return e.Kind == middleware.Edited })
			switch {
			case edited < 0:
				require.Equal(r, before, sent.Messages[:len(before)], "the view changes without an edit")
			default:
				require.GreaterOrEqual(r, events[edited].Before-events[edited].After, max(1, opts.Batch.Tokens), "a batch is freed with the lines in place")
			}
			requireSound(r, h[:n], sent.Messages)
			if env.Archive != nil {
				requireRecallable(r, env.Archive, h[:n], sent.Messages)
			}
			total += requireLines(r, opts.Digest, counter, h[:n], sent.Messages)
			before = sent.Messages
		}
	})
	require.Positive(t, total, "no result left a line")
}

// What was reduced to head and tail leaves the facts of what the model has seen, and not
// those of the mark in its middle.
func TestLinesOfWhatWasShortenedAtBirth(t *testing.T) {
	t.Parallel()
	text := "order: W-1001\n" + strings.Repeat("nothing of use here\n", 1000) + "secret: W-2002\n" + strings.Repeat("nothing of use here\n", 1000) + "invoice: W-3003\n"
	h := []message.Message{message.User("Read it."), message.Assistant(message.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}), message.Result("c1", "read", text)}
	chain := microcompact.New(microcompact.Options{KeepRounds: -1, Digest: 40})
	for range 2 {
		sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 8000}})
		require.NoError(t, err)
		if len(h) == 3 {
			require.Contains(t, textOf(sent.Messages[2].Parts[0]), "[truncated here: ")
			h = append(h, message.Assistant(message.Text{Text: "I have."}))
			continue
		}
		require.Equal(t, "[truncated: 40045 chars; some facts: order: W-1001; invoice: W-3003]", textOf(sent.Messages[2].Parts[0]))
	}
}

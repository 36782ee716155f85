package modelwriter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize/internal/modelwriter"
	"github.com/laconic-go/laconic/models"
)

// live is a conversation under way, of which the middle is to be folded.
func live(rounds int) (*middleware.Request, []message.Message) {
	msgs := portable(middlewaretest.ReAct{Rounds: rounds, Thought: 60}.Messages())
	return &middleware.Request{
		Messages: msgs,
		Tools:    []message.ToolDef{{Name: "read_file", Description: "reads a file", Parameters: `{"type":"object"}`}},
		Model:    "big", Params: "options of the run",
	}, msgs[2 : len(msgs)-4]
}

// portable gives the calls ids that every provider takes.
func portable(msgs []message.Message) []message.Message {
	msgs = message.Portable.Repair(msgs).Messages
	return msgs
}

func TestSuffix(t *testing.T) {
	t.Parallel()
	main, model := script(say(good))
	main.Name = ""
	req, part := live(12)
	s, err := ask(t.Context(), modelwriter.Request{Folded: part, Live: req, Writer: main})
	require.NoError(t, err)
	require.Equal(t, modelwriter.Suffix, s.Attempts[0].Mode, "the model of the live conversation alone")
	sent := model.Requests()[0]
	require.NoError(t, testkit.Same(req.Messages, sent.Messages[:len(req.Messages)]), "the cached prefix is as it was")
	require.Equal(t, req.Tools, sent.Tools, "the tools belong to the prefix")
	require.Equal(t, "big", sent.Model)
	require.Nil(t, sent.Params, "options of the run are not passed on")
	require.NoError(t, message.Portable.Check(sent.Messages))
	require.Contains(t, sent.Messages[len(sent.Messages)-1].Text(), "call no tools")
	require.Nil(t, sent.View())
}

func TestSuffixEnds(t *testing.T) {
	t.Parallel()
	call := message.Assistant(message.ToolCall{ID: "open", Name: "read_file", Arguments: "{}"})
	for name, c := range map[string]struct {
		end  []message.Message
		keep int // messages of the end that stay
	}{
		"results":       {nil, 0},
		"user":          {[]message.Message{message.Assistant(message.Text{Text: "Done."}), message.User("And now?")}, 2},
		"answer":        {[]message.Message{message.Assistant(message.Text{Text: "Done."})}, 1},
		"open call":     {[]message.Message{call}, 0},
		"half answered": {[]message.Message{message.Assistant(append(call.Parts, message.ToolCall{ID: "b", Name: "read_file", Arguments: "{}"})...), message.Result("open", "read_file", "x")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			main, model := script(say(good))
			req, part := live(12)
			whole := len(req.Messages)
			req.Messages = append(req.Messages, c.end...)
			before := testkit.Clone(req.Messages)
			_, err := ask(t.Context(), modelwriter.Request{Folded: part, Live: req, Writer: main})
			require.NoError(t, err)
			sent := model.Requests()[0]
			require.NoError(t, message.Portable.Check(sent.Messages), "every provider takes it")
			require.NoError(t, testkit.Same(before, req.Messages), "the live request stays as it was")
			for i := range whole + c.keep {
				m, is := before[i], sent.Messages[i]
				require.Equal(t, m.Parts, is.Parts[:len(m.Parts)], "message %d is the beginning of what is sent", i)
			}
		})
	}
}

func TestSuffixFails(t *testing.T) {
	t.Parallel()
	req, part := live(12)
	denied := middlewaretest.Fail(&middleware.Error{Kind: middleware.Denied, Err: errors.New("no")})
	for name, answer := range map[string]middleware.Model{
		"calls a tool":    middlewaretest.Call("read_file", "{}"),
		"answers instead": say("The compiler is too old."),
	} {
		t.Run(name, func(t *testing.T) {
			main, model := script(answer, say(good))
			s, err := ask(t.Context(), modelwriter.Request{Folded: part, Live: req, Writer: main})
			require.NoError(t, err)
			require.Len(t, s.Attempts, 2)
			require.Equal(t, modelwriter.Fresh, s.Attempts[1].Mode, "then with a record, which is shorter")
			require.Contains(t, model.Requests()[1].Messages[1].Text(), "An earlier attempt was of no use", "more strictly")
		})
	}
	main, model := script(denied)
	_, err := ask(t.Context(), modelwriter.Request{Folded: part, Live: req, Writer: main})
	require.Equal(t, middleware.Denied, middleware.KindOf(err), "%v", err)
	require.Len(t, model.Requests(), 1, "the same model would deny again")
}

// TestLimitsOfTheModel shows that what the table knows of a model is kept.
func TestLimitsOfTheModel(t *testing.T) {
	t.Parallel()
	var seen []*middleware.Request
	author := modelwriter.Author{Model: windowed(10_000, &seen), Known: models.Model{Window: 200_000, Input: 10_000, Output: 600}, Retries: -1, Params: func(limit int) any { return limit }}
	_, err := ask(t.Context(), modelwriter.Request{Folded: folded(400), Writer: author})
	require.NoError(t, err)
	require.Greater(t, len(seen), 4)
	for i, req := range seen {
		require.Equal(t, 600, req.Params, "request %d: an answer has no more than the model can write", i)
		require.Equal(t, middleware.Budget{Window: 200_000, Reserve: 600}, *req.Budget)
	}
}

// An author is told to write fewer tokens than are taken, and no more than half of
// what the summary replaces.
func TestLengthThatIsAskedFor(t *testing.T) {
	t.Parallel()
	meter := modelwriter.Request{}.Meter
	for name, c := range map[string]struct{ rounds, limit int }{"a short part": {3, 10_000}, "a long one": {60, 400}} {
		author, model := script(say(good))
		part := folded(c.rounds)
		replaced := 0
		for _, m := range part {
			replaced += meter.Message(m)
		}
		_, err := ask(t.Context(), modelwriter.Request{Folded: part, Writer: author, MaxTokens: c.limit})
		require.NoError(t, err, name)
		want := min(c.limit*3/4, replaced/2) * 70 / 100 // words of English
		require.Contains(t, model.Requests()[0].Messages[1].Text(), fmt.Sprintf("Write at most %d words.", want), "%s of %d tokens", name, replaced)
	}
}

func TestEarlier(t *testing.T) {
	t.Parallel()
	author, model := script(say(good))
	_, err := ask(t.Context(), modelwriter.Request{Folded: folded(6), Earlier: "It was Tuesday.", Writer: author})
	require.NoError(t, err)
	text := model.Requests()[0].Messages[1].Text()
	require.Contains(t, text, "<record>\n[earlier summary]\n\tIt was Tuesday.\n[1 user]")
	require.Contains(t, text, "Bring it up to date")

	// In pieces, it stands beside the notes, where it is brought up to date.
	var seen []*middleware.Request
	_, err = ask(t.Context(), modelwriter.Request{
		Folded: folded(60), Earlier: "It was Tuesday.", Writer: modelwriter.Author{Model: windowed(4000, &seen), Window: 4000},
	})
	require.NoError(t, err)
	for i, req := range seen {
		require.Equal(t, i == len(seen)-1, strings.Contains(req.Messages[1].Text(), "It was Tuesday."), "request %d of %d", i, len(seen))
	}

	// An earlier summary alone is a record.
	author, model = script(say("It was Tuesday."))
	_, err = ask(t.Context(), modelwriter.Request{Earlier: "It was Tuesday. " + paths(50), Writer: inAFewWords(author)})
	require.NoError(t, err)
	require.Contains(t, model.Requests()[0].Messages[1].Text(), "<record>\n[earlier summary]\n\tIt was Tuesday.")

	// One that is too long for that is part of the record.
	seen = nil
	_, err = ask(t.Context(), modelwriter.Request{
		Folded: folded(6), Earlier: strings.Repeat("It was Tuesday. ", 2000) + "The end.", Parallel: 1,
		Writer: modelwriter.Author{Model: windowed(4000, &seen), Window: 4000},
	})
	require.NoError(t, err)
	all := ""
	for _, req := range seen {
		all += req.Messages[1].Text()
	}
	require.GreaterOrEqual(t, strings.Count(all, "Tuesday"), 2000, "all of it was shown")
	require.Contains(t, all, "The end.")
}

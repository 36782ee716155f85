package scribe_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/scribe"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
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
	msgs, _ = message.Portable.Repair(msgs)
	return msgs
}

func TestSuffix(t *testing.T) {
	t.Parallel()
	main, model := script(say(good))
	main.Name = ""
	req, part := live(12)
	s, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Live: req, Main: main})
	require.NoError(t, err)
	require.Equal(t, scribe.Suffix, s.Attempts[0].Mode, "one model, a warm cache, no prices: as the live call")
	sent := model.Requests()[0]
	require.NoError(t, middlewaretest.Same(req.Messages, sent.Messages[:len(req.Messages)]), "the cached prefix is as it was")
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
			before := middlewaretest.Clone(req.Messages)
			_, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Live: req, Main: main, Mode: scribe.Suffix})
			require.NoError(t, err)
			sent := model.Requests()[0]
			require.NoError(t, message.Portable.Check(sent.Messages), "every provider takes it")
			require.NoError(t, middlewaretest.Same(before, req.Messages), "the live request stays as it was")
			for i := range whole + c.keep {
				m, is := before[i], sent.Messages[i]
				require.Equal(t, m.Parts, is.Parts[:len(m.Parts)], "message %d is the beginning of what is sent", i)
			}
		})
	}
}

// TestSuffixOfWhatIsBroken shows that a history which some providers would not
// take stays as it is: the one that it is sent to does.
func TestSuffixOfWhatIsBroken(t *testing.T) {
	t.Parallel()
	main, model := script(say(good))
	req, part := live(12)
	req.Messages = append([]message.Message{message.Assistant(message.Text{Text: "Hello."})}, req.Messages...)
	require.Error(t, message.Portable.Check(req.Messages))
	s, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Live: req, Main: main})
	require.NoError(t, err)
	require.Equal(t, scribe.Suffix, s.Attempts[0].Mode)
	require.NoError(t, middlewaretest.Same(req.Messages, model.Requests()[0].Messages[:len(req.Messages)]))
}

func TestSuffixIsNotPossible(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *scribe.Brief){
		"folded is not in the live call":      func(b *scribe.Brief) { b.Folded = append(folded(1), b.Folded...) },
		"the earlier summary is not in there": func(b *scribe.Brief) { b.Earlier = "What was before." },
		"no live call":                        func(b *scribe.Brief) { b.Live = nil },
		"too long":                            func(b *scribe.Brief) { b.Main.Window = b.Meter.Request(b.Live.Messages, b.Live.Tools) + 1000 },
		"longer than a prompt may be":         func(b *scribe.Brief) { b.Main.Known.Input = 3000 },
		"set to fresh":                        func(b *scribe.Brief) { b.Mode = scribe.Fresh },
	} {
		t.Run(name, func(t *testing.T) {
			main, _ := script(say(good))
			req, part := live(30)
			b := scribe.Brief{Folded: part, Live: req, Main: main, Mode: scribe.Suffix}
			change(&b)
			b.Writer, _ = script(say(good))
			s, err := scribe.Write(t.Context(), b)
			require.NoError(t, err)
			require.Equal(t, scribe.Fresh, s.Attempts[0].Mode, "a record is always possible")
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
		"is denied":       denied,
	} {
		t.Run(name, func(t *testing.T) {
			main, _ := script(answer)
			small, model := script(say(good))
			main.Name = "big"
			s, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Live: req, Main: main, Writer: small, Mode: scribe.Suffix})
			require.NoError(t, err)
			require.Len(t, s.Attempts, 2)
			require.Equal(t, scribe.Fresh, s.Attempts[1].Mode, "then with a record, which is shorter")
			strict := strings.Contains(model.Requests()[0].Messages[1].Text(), "An earlier attempt was of no use")
			require.Equal(t, name != "is denied", strict, "more strictly, if there was an answer")
		})
	}
	main, model := script(denied)
	_, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Live: req, Main: main, Mode: scribe.Suffix})
	require.Equal(t, middleware.Denied, middleware.KindOf(err), "%v", err)
	require.Len(t, model.Requests(), 1, "the same model would deny again")
}

func TestModeByCost(t *testing.T) {
	t.Parallel()
	rates := func(in, read, write, out float64) models.Price {
		usd := func(f float64) models.Rate { return models.Rate(f * models.USD) }
		return models.Price{Rates: models.Rates{Input: usd(in), CacheRead: usd(read), CacheWrite: usd(write), Output: usd(out)}}
	}
	big := rates(3, 0.3, 3.75, 15)
	req, part := live(60)
	short := part[:12]
	for name, c := range map[string]struct {
		main, small models.Price
		cold, own   bool
		least       int // tokens that the cache takes
		window      int // of the writer
		folded      []message.Message
		earlier     int // words of the summary before
		want        scribe.Mode
	}{
		"too short for the cache":                    {main: big, small: big, own: true, folded: short, least: 1_000_000, want: scribe.Fresh},
		"long enough for it":                         {main: big, small: big, own: true, folded: short, least: 1_024, want: scribe.Suffix},
		"a cheap writer that reads at once":          {main: big, small: rates(0.3, 0, 0, 6), own: true, folded: part, want: scribe.Fresh},
		"the same, in many pieces":                   {main: big, small: rates(0.3, 0, 0, 6), own: true, window: 4_000, folded: part, want: scribe.Suffix},
		"warm, one model":                            {main: big, folded: part, want: scribe.Suffix},
		"warm, a writer of the same price":           {main: big, small: big, own: true, folded: part, want: scribe.Suffix},
		"cold":                                       {main: big, small: big, own: true, folded: short, cold: true, want: scribe.Fresh},
		"a writer at a fiftieth":                     {main: big, small: rates(0.06, 0, 0, 0.3), own: true, folded: part, want: scribe.Fresh},
		"a short part of a long one, a cheap writer": {main: big, small: rates(0.6, 0, 0, 3), own: true, folded: short, want: scribe.Fresh},
		"the same, with a long summary before":       {main: big, small: rates(0.6, 0, 0, 3), own: true, folded: short, earlier: 50_000, want: scribe.Suffix},
		"a cheap writer that charges for its cache":  {main: big, small: rates(0.6, 0, 60, 3), own: true, folded: short, want: scribe.Suffix},
		"a writer of unknown price was named":        {main: big, own: true, folded: part, want: scribe.Fresh},
		"one model of unknown price":                 {folded: part, want: scribe.Suffix},
		"one model of unknown price, cold":           {folded: part, cold: true, want: scribe.Fresh},
		"cheap cached reads, cold":                   {main: rates(3, 0.01, 3, 15), folded: short, cold: true, want: scribe.Fresh},
	} {
		t.Run(name, func(t *testing.T) {
			main, _ := script(say(good))
			main.Name, main.Known.Price, main.Known.Cache.Min = "big", c.main, c.least
			b := scribe.Brief{Folded: c.folded, Live: req, Main: main, Cold: c.cold}
			if c.earlier > 0 {
				b.Earlier = strings.Repeat("summary ", c.earlier)
				own := *req
				own.Messages = append([]message.Message{message.User(b.Earlier)}, req.Messages...)
				b.Live = &own
			}
			if c.own {
				b.Writer, _ = script(say(good))
				b.Writer.Known.Price, b.Writer.Window = c.small, c.window
			}
			s, err := scribe.Write(t.Context(), b)
			require.NoError(t, err)
			require.Equal(t, c.want, s.Attempts[0].Mode)
			require.Equal(t, c.main.Known() && (!c.own || c.small.Known() || c.want == scribe.Suffix), s.Priced)
			if s.Priced {
				require.Positive(t, s.Cost)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	req, part := live(12)
	for name, c := range map[string]struct {
		brief scribe.Brief
		want  any
	}{
		"none":             {scribe.Brief{}, nil},
		"those of the run": {scribe.Brief{PassOptions: true}, "options of the run"},
		"of its own":       {scribe.Brief{MaxTokens: 500, Params: func(limit int) any { return limit }}, 2024},
	} {
		for _, mode := range []scribe.Mode{scribe.Suffix, scribe.Fresh} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				main, model := script(say(good))
				main.Window = 100_000
				b := c.brief
				b.Folded, b.Live, b.Main, b.Mode = part, req, main, mode
				_, err := scribe.Write(t.Context(), b)
				require.NoError(t, err)
				sent := model.Requests()[0]
				require.Equal(t, c.want, sent.Params)
				require.Equal(t, 100_000, sent.Budget.Window)
				require.GreaterOrEqual(t, sent.Budget.Reserve, 2*500+1024, "room for the answer, with headroom")
				require.Nil(t, sent.Force)
			})
		}
	}
}

// TestLimitsOfTheModel shows that what the table knows of a model is kept.
func TestLimitsOfTheModel(t *testing.T) {
	t.Parallel()
	var seen []*middleware.Request
	author := scribe.Author{Model: windowed(10_000, &seen), Known: models.Model{Window: 200_000, Input: 10_000, Output: 600}}
	_, err := scribe.Write(t.Context(), scribe.Brief{Folded: folded(400), Writer: author, Retries: -1, Params: func(limit int) any { return limit }})
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
	meter := scribe.Brief{}.Meter
	for name, c := range map[string]struct{ rounds, limit int }{"a short part": {3, 10_000}, "a long one": {60, 400}} {
		author, model := script(say(good))
		part := folded(c.rounds)
		replaced := 0
		for _, m := range part {
			replaced += meter.Message(m)
		}
		_, err := scribe.Write(t.Context(), scribe.Brief{Folded: part, Writer: author, MaxTokens: c.limit, Sections: []string{}})
		require.NoError(t, err, name)
		want := min(c.limit*3/4, replaced/2) * 70 / 100 // words of English
		require.Contains(t, model.Requests()[0].Messages[1].Text(), fmt.Sprintf("Write at most %d words.", want), "%s of %d tokens", name, replaced)
	}
}

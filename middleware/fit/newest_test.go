package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

func chars4() middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(fit.Options{Rules: message.Gemini}))
}

// newestRound is a history that ends with results of calls made at once.
func newestRound(results ...message.ToolResult) []message.Message {
	calls := message.Message{Role: message.RoleAssistant}
	msgs := []message.Message{message.User("go"), {}}
	for _, r := range results {
		if last := msgs[len(msgs)-1]; last.Role == message.RoleTool && last.Parts[0].(message.ToolResult).CallID == r.CallID {
			last.Parts = append(last.Parts, r)
			msgs[len(msgs)-1] = last
			continue
		}
		calls.Parts = append(calls.Parts, message.ToolCall{ID: r.CallID, Name: r.Name, Arguments: "{}"})
		msgs = append(msgs, message.Message{Role: message.RoleTool, Parts: []message.Part{r}})
	}
	msgs[1] = calls
	return msgs
}

// tiny is a file that is smaller than the note that would stand for it.
var tiny = message.Media{Type: "text/plain", Data: "tiny"}

// TestNewestResults has newest results of texts and media in any mix: they are
// sent, or as little as may be left of them is too much. Through windows that get
// smaller the same chain comes to the same end.
func TestNewestResults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var results []message.ToolResult
		for k := range rapid.IntRange(1, 4).Draw(r, "calls") {
			for range rapid.IntRange(1, 3).Draw(r, "pieces") {
				results = append(results, drawResult(r, fmt.Sprintf("c%d", k)))
			}
		}
		h := newestRound(results...)
		meter := tokens.Meter{Counter: tokens.Chars4}
		whole, least := meter.Request(h, nil), meter.Request(leastOf(meter, h), nil)
		chain := chars4()
		window := rapid.IntRange(least, whole).Draw(r, "window")
		for {
			sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
			if window < least {
				require.Equal(r, middleware.Irreducible, middleware.KindOf(err), "%d tokens must stay, the window is %d: %v", least, window, err)
				return
			}
			require.NoError(r, err, "%d tokens of %d must stay, the window is %d: %v", least, whole, window, events)
			require.LessOrEqual(r, meter.Request(sent.Messages, nil), window)
			window -= 1 + rapid.IntRange(0, whole/2).Draw(r, "smaller by")
			if window < 1 {
				return
			}
		}
	})
}

// drawResult returns a result with a text, media, both or none.
func drawResult(r *rapid.T, id string) message.ToolResult {
	res := message.ToolResult{CallID: id, Name: "tool"}
	units := []string{"word ", "line of a log\n", "日志", "x", "(a.png: left out of the request)\n"}
	if n := rapid.SampledFrom([]int{0, 1, 2, 30, 400}).Draw(r, "length"); n > 0 {
		res.Text = strings.Repeat(rapid.SampledFrom(units).Draw(r, "unit"), n) + rapid.SampledFrom([]string{"", "end"}).Draw(r, "end")
	}
	media := []message.Part{
		nil, nil, tiny,
		message.Media{Type: "text/plain", Data: strings.Repeat("tiny ", 15)},
		message.Media{Type: "image/png", Data: "x"},
		message.Media{Type: "application/pdf", Data: "%PDF-1.7", Name: "a\nb.pdf"},
		message.Media{Type: "application/pdf", Data: "%PDF-1.7", Name: strings.Repeat("long ", 20)},
		message.Media{Type: "image/jpeg", URL: "https://example.org/a.jpg", Name: "a.jpg"},
	}
	res.Content = rapid.SampledFrom(media).Draw(r, "media")
	return res
}

// leastOf returns messages with as little as fit may leave of newest results: the
// beginning of each text; and of media only what is no larger than its note.
func leastOf(meter tokens.Meter, msgs []message.Message) []message.Message {
	cut := func(text string) string {
		n := 3
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		if n+len("…") >= len(text) {
			return text
		}
		return text[:n] + "…"
	}
	var out []message.Message
	for _, m := range msgs {
		n := m
		n.Parts = nil
		for _, p := range m.Parts {
			res, ok := p.(message.ToolResult)
			if !ok {
				n.Parts = append(n.Parts, p)
				continue
			}
			without := res
			without.Content = nil
			if media, ok := res.Content.(message.Media); ok {
				without.Text = strings.TrimPrefix(res.Text+"\n("+nameOf(media)+": left out of the request)", "\n")
			}
			if meter.Part(without) < meter.Part(res) || res.Content == nil {
				res = without
			}
			res.Text = cut(res.Text)
			n.Parts = append(n.Parts, res)
		}
		out = append(out, n)
	}
	return out
}

func nameOf(m message.Media) string {
	if m.Name == "" || len(m.Name) > 60 || strings.Contains(m.Name, "\n") {
		return m.Type
	}
	return m.Name
}

// TestNoTextIsCutForRoomThatStaysFree has pinned results with pictures. Texts are not cut to nothing as long as
// placeholders without handles, or the removal of a picture, free much more than is missing.
func TestNoTextIsCutForRoomThatStaysFree(t *testing.T) {
	t.Parallel()
	picture := message.Media{Type: "image/png", Data: "x"}
	result := func(id string, tokens int) message.ToolResult {
		return message.ToolResult{CallID: id, Name: "tool", Text: strings.Repeat(id+". ", tokens)}
	}
	pictured := func(id string, tokens int) message.ToolResult {
		r := result(id, tokens)
		r.Content = picture
		return r
	}
	pin := func(msgs []message.Message, at ...int) []message.Message {
		for _, i := range at {
			msgs[i].Hints.Pinned = true
		}
		return msgs
	}
	for name, h := range map[string][]message.Message{
		"handles have no room": append(
			pin(newestRound(pictured("r1", 230), result("r2", 269), result("r3", 66), result("r4", 250)), 2),
			newestRound(result("r5", 239), result("r6", 107), result("r7", 137), result("r8", 258))[1:]...),
		"little besides what is pinned": pin(newestRound(
			result("r1", 206), result("r2", 192), result("r3", 156), pictured("r4", 30), result("r5", 242)), 3, 5),
		"a picture of the newest round": pin(newestRound(
			pictured("r1", 90), result("r2", 80), pictured("r3", 70), result("r4", 60)), 2),
	} {
		meter := tokens.Meter{Counter: tokens.Chars4}
		for window := 1800; window < meter.Request(h, nil); window += 7 {
			chain := middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: store.NewMemory(0)}, fit.New(fit.Options{Rules: message.OpenAI}))
			sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
			if err != nil {
				require.Equal(t, middleware.Irreducible, middleware.KindOf(err), "%s: %v", name, err)
				continue
			}
			cut := 0
			for _, m := range sent.Messages {
				for r := range m.Results() {
					if strings.HasSuffix(r.Text, "…") {
						cut++
					}
				}
			}
			free := window - meter.Request(sent.Messages, nil)
			require.True(t, cut == 0 || free < 60*cut, "%s: %d texts are cut to nothing, and %d tokens of %d are free: %v", name, cut, free, window, events)
		}
	}
}

// TestFoldAroundTheNewestRound has an editor that folds around the newest round,
// which is kept in its product. It can be shortened there as it could be in its own
// place, again and again, and nothing else can be done to it.
func TestFoldAroundTheNewestRound(t *testing.T) {
	t.Parallel()
	folds := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < 5 || v.Span(0).Edit != nil {
			return nil, nil
		}
		product := []message.Message{v.At(0), message.User("[1 left out]")}
		for i := 2; i < v.Len(); i++ {
			product = append(product, v.At(i))
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(0, v.Len()-1, product...)}}, nil
	}, middleware.Options{})
	log := strings.Repeat("line of a log\n", 300)
	h := []message.Message{
		message.User("go"),
		message.Assistant(message.Text{Text: log[:200]}),
		message.User("go on"),
		message.Assistant(message.ToolCall{ID: "c", Name: "tool", Arguments: `{"path":"a.log"}`}),
		message.Result("c", "tool", log),
	}
	clears := middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		i := v.Len() - 1
		require.Equal(t, middleware.Protection{Newest: true}, v.Protected(i), "the result is still that of the newest round")
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(i, message.ToolResult{CallID: "c", Name: "tool", Text: "[cleared]"})}}, nil
	}, middleware.Options{PauseAfter: -1})
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, folds, fit.New(fit.Options{Rules: message.OpenAI}), clears)
	for _, window := range []int{400, 300, 200, 150, 150} {
		sent, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
		require.NoError(t, err, "window %d: %v", window, events)
		require.LessOrEqual(t, (tokens.Meter{Counter: tokens.Chars4}).Request(sent.Messages, nil), window)
		require.Equal(t, middleware.Refused, events[len(events)-1].Kind, "it is not cleared: %v", events)
		n := len(sent.Messages)
		require.True(t, h[3].Equal(sent.Messages[n-2]), "the call is kept")
		require.Contains(t, sent.Messages[n-1].Parts[0].(message.ToolResult).Text, "characters left out")
	}
}

// orders is a conversation of rounds; each result has a number of its own.
func orders(rounds int) []message.Message {
	h := []message.Message{message.User("Refund all orders.")}
	for i := range rounds {
		id := fmt.Sprint("c", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "order", Arguments: `{"page": 1}`}),
			message.Result(id, "order", fmt.Sprintf(`{"order_id": "#W%d", "note": %q}`, 23780+i, strings.Repeat("on its way ", 40))))
	}
	return h
}

// sendWith returns what is sent of a history in a window.
func sendWith(t *testing.T, chain middleware.Middleware, h []message.Message, window int) ([]message.Message, error) {
	t.Helper()
	sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: window}})
	if err != nil {
		return nil, err
	}
	require.LessOrEqual(t, tokens.Meter{Counter: tokens.Chars4}.Request(sent.Messages, nil), window, "what is sent fits")
	return sent.Messages, nil
}

// withFacts counts placeholders that have the number of their order, and all.
func withFacts(msgs []message.Message) (some, all int) {
	for _, m := range msgs {
		for r := range m.Results() {
			if strings.HasPrefix(r.Text, "[cleared") {
				all++
				if strings.Contains(r.Text, "some facts: order_id: #W") {
					some++
				}
			}
		}
	}
	return some, all
}

func fitting(archive store.Store, digest int) middleware.Middleware {
	return middleware.With(middleware.Env{Counter: tokens.Chars4, Archive: archive}, fit.New(fit.Options{Rules: message.OpenAI, Digest: digest}))
}

// TestFactsStay shows that cleared results leave facts: by default only if there is an archive.
func TestFactsStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		archive store.Store
		digest  int
		want    bool
	}{
		{"by default, with an archive", store.NewMemory(0), 0, true},
		{"by default, without an archive", nil, 0, false},
		{"with an option, without an archive", nil, 20, true},
		{"without facts", store.NewMemory(0), -1, false},
		{"no room in the line", store.NewMemory(0), 1, false},
	} {
		sent, err := sendWith(t, fitting(c.archive, c.digest), orders(30), 2500)
		require.NoError(t, err)
		some, all := withFacts(sent)
		require.Greater(t, all, 5, c.name)
		if c.want {
			require.Equal(t, all, some, "each has facts: %s", c.name)
			require.Zero(t, notes(sent))
		} else {
			require.Zero(t, some, c.name)
		}
	}
}

// TestFactsGiveWay shows that facts take only room that nothing else needs: no call fails and no message is left out
// because of them, and those of old results are removed before messages are.
func TestFactsGiveWay(t *testing.T) {
	t.Parallel()
	h := orders(30)
	mixed := 0
	for window := 200; window < 4500; window += 50 {
		bare, errBare := sendWith(t, fitting(store.NewMemory(0), -1), h, window)
		sent, err := sendWith(t, fitting(store.NewMemory(0), 0), h, window)
		require.Equal(t, errBare == nil, err == nil, "window %d: %v", window, err)
		require.Len(t, sent, len(bare), "window %d: the same messages are left", window)

		grows := fitting(store.NewMemory(0), 0)
		for n := 1; n <= len(h); n += 2 {
			if sent, err = sendWith(t, grows, h[:n:n], window); err != nil {
				break
			}
			again, err := sendWith(t, grows, h[:n:n], window)
			require.NoError(t, err)
			require.Equal(t, sent, again, "a repeated call sends the same")
			some, all := withFacts(sent)
			if some > 0 && some < all {
				mixed++
			}
		}
	}
	require.Greater(t, mixed, 10, "views in which only old placeholders are bare")
}

package tests

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
	"github.com/laconic-go/laconic/tokens"
)

// choosing is the page that the pictures are on, in each of its languages.
var choosing = []string{"../docs/choosing.md", "../docs/choosing.zh-CN.md"}

// drawn is one message of the conversation in the pictures.
type drawn struct {
	label  string
	tokens int // about, of what makes it long
	make   func(text string) message.Message
}

// drawnConversation is a conversation of each kind of message that a middleware
// treats in its own way.
func drawnConversation() []drawn {
	calls := 0
	call := func(tool string) func(string) message.Message {
		return func(text string) message.Message {
			calls++
			return message.Assistant(message.ToolCall{ID: fmt.Sprint("c", calls), Name: tool, Arguments: fmt.Sprintf(`{"text":%q}`, text)})
		}
	}
	result := func(tool string) func(string) message.Message {
		return func(text string) message.Message { return message.Result(fmt.Sprint("c", calls), tool, text) }
	}
	answer := func(text string) message.Message { return message.Assistant(message.Text{Text: text}) }
	return []drawn{
		{"system", 300, message.System},
		{"user       the task", 200, message.User},
		{"assistant  calls read", 50, call("read")},
		{"tool       a file", 1000, result("read")},
		{"assistant  calls search", 50, call("search")},
		{"tool       hits", 800, result("search")},
		{"assistant  an answer", 400, answer},
		{"user       a question", 150, message.User},
		{"assistant  calls write", 700, call("write")},
		{"tool       written", 50, result("write")},
		{"assistant  calls test", 50, call("test")},
		{"tool       failures", 900, result("test")},
		{"assistant  calls logs", 50, call("logs")},
		{"tool       a log, new", 2400, result("logs")},
	}
}

// pictures are what each middleware is shown to do: it acts once, on the whole
// conversation, with the window of the page.
func pictures() []struct {
	name  string
	chain []middleware.Middleware
} {
	now := trigger.Messages(1)
	clears := contextedit.New(contextedit.Options{Trigger: now, Keep: 2})
	shortens := microcompact.New(microcompact.Options{KeepRounds: 2})
	removes := trim.New(trim.Options{Trigger: now, TargetTokens: 5000, PreserveStart: 2, PreserveEnd: 4})
	folds := summarize.New(summarize.ByRules(), summarize.Options{Trigger: now, Keep: 6})
	fits := fit.New(fit.Options{})
	return []struct {
		name  string
		chain []middleware.Middleware
	}{
		{"history", nil},
		{"contextedit", []middleware.Middleware{clears}},
		{"microcompact", []middleware.Middleware{shortens}},
		{"trim", []middleware.Middleware{removes}},
		{"summarize", []middleware.Middleware{folds}},
		{"fit", []middleware.Middleware{fits}},
	}
}

const (
	drawnWindow  = 6000
	drawnReserve = 1000
	tokensADot   = 200
)

// TestChoosing draws the pictures of docs/choosing.md from what the middlewares do,
// and makes sure that each chain file on the page can be used.
func TestChoosing(t *testing.T) {
	t.Parallel()
	picture := draw(t)
	for _, page := range choosing {
		shows(t, page, "picture", picture)
		for i, text := range chainFilesOn(t, page) {
			_, err := chainfile.Parse(fmt.Sprintf("%s, chain %d", filepath.Base(page), i+1), []byte(text))
			require.NoError(t, err)
		}
	}
}

// draw shows how many tokens each message has in the view of each middleware.
func draw(t *testing.T) string {
	t.Helper()
	conversation := drawnConversation()
	history := make([]message.Message, len(conversation))
	for i, d := range conversation {
		history[i] = d.make(strings.TrimSuffix(strings.Repeat("some more of a line\n", d.tokens/5), "\n"))
	}
	meter := tokens.Meter{Counter: tokens.Chars4}
	var columns [][]string
	widest := 0
	for _, p := range pictures() {
		env := middleware.Env{Counter: tokens.Chars4}
		req := &middleware.Request{Messages: history, Budget: &middleware.Budget{Window: drawnWindow, Reserve: drawnReserve}}
		sent, _, err := middleware.Apply(t.Context(), middleware.With(env, p.chain...), req)
		require.NoError(t, err)
		column := make([]string, len(history))
		for i := range sent.Messages {
			at := i
			if v := sent.View(); v != nil {
				at = v.Span(i).Last
			}
			column[at] = bar(meter.Message(sent.Messages[i]), sent.Messages[i].Equal(history[at]))
		}
		for i := range column {
			column[i] = cmp.Or(column[i], "·")
			widest = max(widest, len([]rune(column[i])))
		}
		total := thousands(meter.Request(sent.Messages, nil))
		columns = append(columns, slices.Concat([]string{p.name}, column, []string{total}))
	}
	var b strings.Builder
	for row := range columns[0] {
		label := "tokens"
		switch {
		case row == 0:
			label = ""
		case row <= len(conversation):
			label = conversation[row-1].label
		}
		line := fmt.Sprintf("%-25s", label)
		for _, c := range columns {
			line += c[row] + strings.Repeat(" ", widest+2-len([]rune(c[row])))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// bar has a block for each 200 tokens, at least half of one. What is not as it was is shaded.
func bar(n int, whole bool) string {
	halves := max(1, (2*n+tokensADot/2)/tokensADot)
	block, half := "█", "▌"
	if !whole {
		block, half = "▒", "▒"
	}
	return strings.Repeat(block, halves/2) + strings.Repeat(half, halves%2)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// paid is a conversation with a round of the tool pay, of that many characters, and then
// rounds of the tool read of 2,400 characters. named is the tool name of its result.
func paid(chars, reads int, named string) []message.Message {
	h := []message.Message{
		message.System("You are an agent."), message.User("Pay the bill, then read the files."),
		message.Assistant(message.ToolCall{ID: "pay", Name: "pay", Arguments: `{"bill":"` + strings.Repeat("B-17 ", 50) + `"}`}),
		message.Result("pay", named, "receipt 4711 "+strings.Repeat("paid ", chars/5)),
	}
	for i := range reads {
		id := fmt.Sprint("r", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}),
			message.Result(id, "read", strings.Repeat(fmt.Sprintf("line of file %d\n", i), 150)))
	}
	return h
}

// sentBy returns what a chain sends of each beginning of a conversation that ends with a result.
func sentBy(t *testing.T, chain middleware.Middleware, h []message.Message, window int) (sent *middleware.Request, events []middleware.Event) {
	t.Helper()
	for i := range h {
		if h[i].Role != message.RoleTool {
			continue
		}
		req, found, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h[:i+1], Budget: &middleware.Budget{Window: window}})
		require.NoError(t, err)
		sent, events = req, append(events, found...)
	}
	return sent, events
}

// TestProtectedTools takes a call and its result, which are the oldest of a conversation,
// through each editor: they are sent as they were. Without protection they are not.
func TestProtectedTools(t *testing.T) {
	t.Parallel()
	chars := middleware.Env{Counter: tokens.Chars4}
	protecting := chars
	protecting.Protect = []string{"other", "pay"}
	full := trigger.Tokens(2500)
	for name, edits := range map[string]func() middleware.Middleware{
		"contextedit": func() middleware.Middleware {
			return contextedit.New(contextedit.Options{Trigger: full, Keep: 2, ClearToolInputs: true})
		},
		"microcompact": func() middleware.Middleware {
			return microcompact.New(microcompact.Options{KeepRounds: 2, Limit: microcompact.Limits{Results: 100, Arguments: 50}, FreshShare: 0.05})
		},
		"trim": func() middleware.Middleware { return trim.New(trim.Options{Trigger: full, PreserveStart: -1}) },
		"summarize": func() middleware.Middleware {
			return summarize.New(summarize.ByRules(), summarize.Options{Trigger: full, KeepRounds: 1})
		},
		"fit": func() middleware.Middleware { return middleware.Chain() },
	} {
		for _, named := range []string{"pay", ""} {
			h := paid(3000, 7, named)
			sent, events := sentBy(t, middleware.With(protecting, edits(), fit.New(fit.Options{})), h, 3600)
			require.Equal(t, h[:4], sent.Messages[:4], "%s: %v", name, events)
			require.Contains(t, fmt.Sprint(events), name+": ", "it edits other messages")
			for _, e := range events {
				require.NotContains(t, e.Why, "must stay", "%v", e)
			}
			sent, _ = sentBy(t, middleware.With(chars, edits(), fit.New(fit.Options{})), h, 3600)
			require.NotEqual(t, h[2:4], sent.Messages[2:min(4, len(sent.Messages))], "%s without protection", name)
		}
	}
}

// TestProtectedToolsAsLastResort has results of a protected tool that are larger than the
// window: fit cuts them, after all others are gone, and says so. The rest is an error.
func TestProtectedToolsAsLastResort(t *testing.T) {
	t.Parallel()
	chain := func() middleware.Middleware {
		return middleware.With(middleware.Env{Counter: tokens.Chars4, Protect: []string{"pay"}}, fit.New(fit.Options{}))
	}
	warned := func(events []middleware.Event) bool {
		return slices.ContainsFunc(events, func(e middleware.Event) bool {
			return e.Kind == middleware.Notice && strings.Contains(e.Why, "protected tools are shortened")
		})
	}
	budget := &middleware.Budget{Window: 3600}

	h := paid(12_000, 7, "") // 3,000 tokens
	req, events, err := middleware.Apply(t.Context(), chain(), &middleware.Request{Messages: h, Budget: budget})
	require.NoError(t, err)
	require.False(t, warned(events), "cutting the newest result is enough")
	require.Contains(t, req.Messages, h[3])

	h = paid(20_000, 7, "") // 5,000 tokens
	req, events, err = middleware.Apply(t.Context(), chain(), &middleware.Request{Messages: h, Budget: budget})
	require.NoError(t, err)
	require.True(t, warned(events), "%v", events)
	at := slices.IndexFunc(req.Messages, func(m message.Message) bool { return m.Role == message.RoleTool })
	cut := req.Messages[at].Parts[0].(message.ToolResult)
	require.Equal(t, "pay", cut.CallID)
	require.Contains(t, cut.Text, "receipt 4711")
	require.Contains(t, cut.Text, "characters left out")
	require.Greater(t, len(cut.Text), 3600, "it has a good part of the room")

	var many []message.Message
	for range 80 {
		many = append(many, paid(1000, 0, "")[2:]...)
	}
	h = slices.Concat(h[:2], many, h[4:])
	_, _, err = middleware.Apply(t.Context(), chain(), &middleware.Request{Messages: h, Budget: &middleware.Budget{Window: 800}})
	require.Equal(t, middleware.Irreducible, middleware.KindOf(err))
	require.ErrorContains(t, err, "protected tools ")
	require.ErrorContains(t, err, "protect fewer tools")
}

// TestEditorsMustSpareProtectedTools has editors that do not know of protection.
func TestEditorsMustSpareProtectedTools(t *testing.T) {
	t.Parallel()
	h := paid(500, 2, "")
	parallel := message.Message{Role: message.RoleTool, Parts: []message.Part{
		h[3].Parts[0], message.ToolResult{CallID: "read", Name: "read", Text: strings.Repeat("line\n", 50)},
	}}
	both := slices.Clone(h)
	both[2].Parts = append(slices.Clone(both[2].Parts), message.ToolCall{ID: "read", Name: "read", Arguments: "{}"})
	both[3] = parallel
	short := func(at, k int) func(v *middleware.View) middleware.Edit {
		return func(v *middleware.View) middleware.Edit {
			parts := slices.Clone(v.At(at).Parts)
			if r, ok := parts[k].(message.ToolResult); ok {
				r.Text = "-"
				parts[k] = r
			}
			if c, ok := parts[k].(message.ToolCall); ok {
				c.Arguments = "{}"
				parts[k] = c
			}
			return middleware.RewriteOf(at, parts...)
		}
	}
	for name, tt := range map[string]struct {
		history []message.Message
		edit    func(v *middleware.View) middleware.Edit
		refused string
	}{
		"its result":             {h, short(3, 0), "message 3: calls and results of a protected tool must stay as they are"},
		"its arguments":          {h, short(2, 0), "message 2: calls and results"},
		"its round":              {h, func(*middleware.View) middleware.Edit { return middleware.FoldOf(2, 5, message.User("-")) }, "message 2: the fold would remove"},
		"another result":         {h, short(5, 0), ""},
		"another round":          {h, func(*middleware.View) middleware.Edit { return middleware.FoldOf(4, 5, message.User("-")) }, ""},
		"another result with it": {both, short(3, 1), ""},
		"it with another result": {both, short(3, 0), "message 3: calls and results"},
	} {
		mw := middleware.With(middleware.Env{Protect: []string{"pay"}}, middleware.Editing("bold",
			func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
				return &middleware.Plan{Edits: []middleware.Edit{tt.edit(v)}}, nil
			}, middleware.Options{}))
		_, events, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: tt.history})
		require.NoError(t, err)
		require.Len(t, events, 1)
		if tt.refused == "" {
			require.Equal(t, middleware.Edited, events[0].Kind, "%s: %v", name, events)
			continue
		}
		require.Equal(t, middleware.Refused, events[0].Kind, "%s: %v", name, events)
		require.Contains(t, events[0].Why, tt.refused, name)
	}
	require.PanicsWithValue(t, "middleware: With: the entry Protect[1] is empty, want the name of a tool", func() {
		middleware.With(middleware.Env{Protect: []string{"pay", ""}}, fit.New(fit.Options{}))
	})
	require.Panics(t, func() {
		editor := func(context.Context, *middleware.View) (*middleware.Plan, error) { return nil, nil }
		middleware.Editing("x", editor, middleware.Options{Protect: []string{""}})
	})
}

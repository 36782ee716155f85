package tests

import (
	"cmp"
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

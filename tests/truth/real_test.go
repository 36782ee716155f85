package truth_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/tokens"
)

// realMessages returns what recorded people have typed, each once, without the longest pastes: so the views are small.
func realMessages(tb testing.TB) (all []string) {
	const longest = 2000 // bytes
	tb.Helper()
	seen := map[string]bool{}
	for line := range recorded.Lines(tb, recordings) {
		var c recorded.Conversation
		require.NoError(tb, json.Unmarshal(line, &c))
		if !strings.HasPrefix(c.ID, "cc-") && !strings.HasPrefix(c.ID, "pi-") {
			continue
		}
		for _, m := range c.History() {
			if said := m.Text(); m.Role == message.RoleUser && said != "" && len(said) <= longest && !seen[said] {
				seen[said] = true
				all = append(all, said)
			}
		}
	}
	return all
}

// realTalk returns a talk of real messages with others at even places.
func realTalk(typed []string, n, from int, others []string) (h []message.Message) {
	h = []message.Message{message.System("You are a coding agent."), message.User("Hello!"), message.Assistant(message.Text{Text: "Hello."})}
	answers := []string{"Done.", "I changed it, and the tests pass."}
	k := 0
	for i := range n {
		said := typed[(from+i*7)%len(typed)]
		if k < len(others) && i >= (2*k+1)*n/(2*len(others)) {
			said = others[k]
			k++
		}
		h = append(h, message.User(said), message.Assistant(message.Text{Text: answers[i%2]}))
	}
	return append(h, message.User("Bye!"))
}

// viewIn returns the text of the view of a talk: by default, or if it has at most a part of the history, in percent.
func viewIn(tb testing.TB, h []message.Message, percent int) string {
	tb.Helper()
	o := summarize.Options{}
	if percent > 0 {
		o = folding(h, tokens.Meter{}.Request(h, nil)*percent/100)
	}
	sent, _, err := middleware.Apply(tb.Context(), summarize.New(summarize.ByRules(), o), &middleware.Request{Messages: h, Force: []string{"summarize"}})
	require.NoError(tb, err)
	return joined(sent.Messages)
}

// TestRealTalks measures short orders and corrections between messages of recorded people.
func TestRealTalks(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	if !recorded.Exists(recordings) || testing.Short() {
		t.Skip("measured with recordings, without -short")
	}
	typed := realMessages(t)
	_, lines := sections(t, "orders.real.txt")
	const each, pairsOf = 12, 4
	var p report
	add := func(name, view, text string) {
		p.add(name, order{text: text, held: isHeld(text)}, strings.Contains(view, text))
	}
	for first := 0; first < len(lines["orders"]); first += each * every(2) {
		batch := lines["orders"][first:min(first+each, len(lines["orders"]))]
		for k := range 3 {
			short, long := realTalk(typed, 80, 31*first+k*211, batch), realTalk(typed, 300, 31*first+k*211, batch)
			a, b, c := viewIn(t, short, 0), viewIn(t, short, 25), viewIn(t, long, 0)
			for _, o := range batch {
				add("in talks of 80 real messages", a, o)
				add("in talks of 80 real messages, view of 25 %", b, o)
				add("in talks of 300 real messages", c, o)
			}
		}
	}
	for first := 0; first < len(lines["corrections"]); first += pairsOf {
		var said, now []string
		for _, l := range lines["corrections"][first:min(first+pairsOf, len(lines["corrections"]))] {
			old, fresh, _ := strings.Cut(l, " | ")
			said, now = append(said, old), append(now, fresh)
		}
		for k := range 3 {
			view := viewIn(t, realTalk(typed, 80, 17*first+k*211, append(said, now...)), 25)
			for _, o := range now {
				add("that correct others, in talks of 80 real messages, view of 25 %", view, o)
			}
		}
	}
	t.Log(p.lost())
	t.Log("\n" + p.table())
	p.atLeast(t, 85)
	p.rows(t)
}

// Package truth_test measures what of the user's words remains in the view, and
// compares with the tables of docs/truth.md.
package truth_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

const rounds = 5 // of compaction; after each, the conversation goes on for four turns

var shares = []int{10, 20, 30} // percent of the history that each view may have

// writer is a way to make a history smaller.
type writer struct {
	name string
	make func(history []message.Message, budget int) middleware.Middleware
}

var writers = []writer{
	{"summarize by rules", func(h []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.ByRules(), folding(h, budget))
	}},
	{"the same, `QuoteTokens` by default", func(_ []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.ByRules(), summarize.Options{Trigger: trigger.Tokens(budget), Keep: 1})
	}},
	{"summarize by a bad model", func(h []message.Message, budget int) middleware.Middleware {
		return summarize.New(summarize.By(bad, summarize.Ask{Sections: []string{}}), folding(h, budget))
	}},
}

const (
	rules     = 0 // in writers
	byDefault = 1
	badModel  = 2
)

// bad is a model that forgets what the user said, and tells something else.
func bad(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
	return &middleware.Response{Message: message.Assistant(message.Text{Text: "They talked about a log."}), Stop: middleware.StopEnd}, nil
}

// folding gives the user's words two thirds of what a view has left: the rest of a
// summary is words, facts, a heading and a last line.
func folding(h []message.Message, budget int) summarize.Options {
	const question, frame = 40, 60
	left := max(60, budget-tokens.Meter{}.Request(h[:2], nil)-question-frame)
	return summarize.Options{
		Trigger: trigger.Tokens(budget), Keep: 1,
		QuoteTokens: left * 2 / 3, SummaryTokens: left / 6, FactTokens: left / 6,
	}
}

// observed is an order in the views after the rounds.
type observed struct {
	placed

	writer int // in writers
	share  int // percent
	kept   [rounds]bool
}

// compact runs the rounds and returns the text of each view.
func compact(tb testing.TB, w int, c *conversation, share int) (views [rounds]string) {
	tb.Helper()
	defer func(h []message.Message, n int) { c.history, c.n = h, n }(slices.Clip(c.history), c.n)
	budget := tokens.Meter{}.Request(c.history, nil) * share / 100
	chain := writers[w].make(c.history, budget)
	for round := range rounds {
		c.history = append(c.history, message.User(c.next()))
		sent, _, err := middleware.Apply(tb.Context(), chain, &middleware.Request{Messages: c.history})
		require.NoError(tb, err)
		for _, m := range sent.Messages {
			views[round] += m.Text() + "\n"
		}
		if w != byDefault {
			require.LessOrEqual(tb, tokens.Meter{}.Request(sent.Messages, nil), budget, "tokens of the view")
		}
		c.history = append(c.history, message.Assistant(message.Text{Text: c.answers[0]}))
		for range 3 {
			c.turn(c.next())
		}
	}
	return views
}

// has reports whether a view has an order, perhaps without its last point.
func has(view string, o order) bool {
	return strings.Contains(view, strings.TrimRight(o.text, ".。!！"))
}

// measureOrders observes each order at each position, or a sample of them.
func measureOrders(tb testing.TB) (all []observed) {
	tb.Helper()
	for _, lang := range []string{"en", "zh"} {
		os := orders(tb, lang)
		for first := 0; first < len(os); first += every(4) * len(slots) {
			for turned := range slots {
				if turned > 0 && !isWhole() {
					break
				}
				batch := make([]order, len(slots))
				for i := range batch {
					batch[i] = os[(first+(i+turned)%len(slots))%len(os)]
				}
				c, ps := withOrders(tb, batch, first+turned, (first+turned)%2 == 1)
				for w := range writers {
					for _, share := range shares {
						if w > byDefault && turned > 0 || w == byDefault && share != shares[0] {
							continue
						}
						views := compact(tb, w, c, share)
						for _, p := range ps {
							o := observed{placed: p, writer: w, share: share}
							for r := range views {
								o.kept[r] = has(views[r], p.order)
							}
							all = append(all, o)
						}
					}
				}
			}
		}
	}
	return all
}

// pair is two sentences in the views after the rounds.
type pair struct {
	held  bool
	share int

	first, second [rounds]bool
}

// measurePairs observes pairs of sentences: the second one follows in the same message, or
// some turns later.
func measurePairs(tb testing.TB, name string, apart bool) (all []pair) {
	tb.Helper()
	const each = 2 // pairs in a conversation
	ps := pairs(tb, name)
	for i := 0; i < len(ps); i += each {
		batch := ps[i:min(i+each, len(ps))]
		c := newConversation(tb, ps[i][0].lang, i)
		c.turn(c.next())
		for turn := range 18 {
			k, at := turn/8, turn%8
			switch framed := i%4 == 0; {
			case k < len(batch) && at == 2 && apart:
				c.turn(c.in(framed, batch[k][0]))
			case k < len(batch) && at == 2:
				c.turn(c.in(framed, batch[k][:]...))
			case k < len(batch) && at == 6 && apart:
				c.turn(c.in(framed, batch[k][1]))
			default:
				c.turn(c.next())
			}
		}
		for _, share := range shares {
			views := compact(tb, rules, c, share)
			for _, p := range batch {
				seen := pair{held: p[0].held, share: share}
				for r, v := range views {
					seen.first[r], seen.second[r] = has(v, p[0]), has(v, p[1])
				}
				all = append(all, seen)
			}
		}
	}
	return all
}

// plainLanguages are those of orders.plain.txt.
var plainLanguages = []string{"en", "zh", "ja", "es", "de", "fr"}

// plainOrders returns orders that no single word gives away, in one language or in all, each next to those of others.
func plainOrders(tb testing.TB, langs ...string) (os []order) {
	tb.Helper()
	_, lines := sections(tb, "orders.plain.txt")
	for i := range lines["en"] {
		for _, lang := range langs {
			if i < len(lines[lang]) {
				os = append(os, order{lang: lang, text: lines[lang][i], held: isHeld(lines[lang][i])})
			}
		}
	}
	return os
}

// varied returns the materials of pastes.txtar, each as two halves.
func varied(tb testing.TB) (halves [][2]string) {
	tb.Helper()
	archive, err := txtar.ParseFile("testdata/pastes.txtar")
	require.NoError(tb, err)
	for _, f := range archive.Files {
		lines := strings.SplitAfter(string(f.Data), "\n")
		half := len(lines) / 2
		halves = append(halves, [2]string{strings.Join(lines[:half], ""), strings.Join(lines[half:], "")})
	}
	return halves
}

// variedPastes adds orders in the middle of material whose sentences are all different: in a line of their own, and as a paragraph.
func (p *report) variedPastes(tb testing.TB) {
	tb.Helper()
	halves := varied(tb)
	for i, o := range sample(plainOrders(tb, plainLanguages...)) {
		for k, half := range halves {
			if (i+k)%3 > 0 { // each order in three materials, each material with a third of the orders
				continue
			}
			before, after := half[0], half[1]
			switch i % 4 { // twice as long, with another text around it, or both
			case 1:
				before, after = before+after, before+after
			case 2:
				other := halves[(k+5)%len(halves)]
				before, after = other[0]+before, after+other[1]
			case 3:
				first, last := halves[(k+2)%len(halves)], halves[(k+5)%len(halves)]
				before, after = first[0]+first[1]+before, after+last[0]+last[1]
			}
			p.add("in the middle of varied text, in a line", o, isKept(tb, "See below.\n\n"+before+o.text+"\n"+after, o, i))
			p.add("in the middle of varied text, as a paragraph", o, isKept(tb, "See below.\n\n"+strings.TrimSpace(before)+"\n\n"+o.text+"\n\n"+strings.TrimSpace(after), o, i))
			t := talkOf(tb, "en", i, dense)
			t.said[ofUser/3] = "See below.\n\n" + before + o.text + "\n" + after
			p.add("in the middle of varied text, in a dense talk", o, t.has(tb, o.text))
		}
	}
}

// has reports whether a text remains after a fold of the talk with the defaults.
func (t long) has(tb testing.TB, text string) bool {
	tb.Helper()
	h := []message.Message{message.System("You help customers.")}
	for i, said := range t.said {
		h = append(h, message.User(said), message.Assistant(message.Text{Text: t.answers[i%2]}))
	}
	return strings.Contains(folded(tb, append(h, message.User("Bye!"))), text)
}

// docstrings adds orders between pasted functions, on a line of their own with three quotes around them.
func (p *report) docstrings(tb testing.TB) {
	tb.Helper()
	code := strings.Repeat("def load(rows, limit=40):\n    total = sum(r.amount for r in rows[:limit])\n    return total / max(1, len(rows))\n\n", 12)
	for i, o := range sample(plainOrders(tb, plainLanguages...)) {
		for _, quote := range []string{`"""`, `'''`} {
			p.add("in a docstring of pasted code", o, isKept(tb, "Here is the file:\n\n"+code+"def save(rows):\n    "+quote+o.text+quote+"\n"+code, o, i))
		}
	}
}

// handedOver adds orders in talks of which the view of each of five folds is the history of the next one, each with five more
// messages of the user.
func (p *report) handedOver(tb testing.TB) {
	tb.Helper()
	const folds, each = 5, 5
	halves := varied(tb)
	for i, o := range sample(plainOrders(tb, plainLanguages...)) {
		lang := "en"
		if o.lang == "zh" {
			lang = "zh"
		}
		for _, pastes := range []bool{false, true} {
			t := talkOf(tb, lang, 7*i, short)
			at := i % (folds * each / 2)
			h := []message.Message{message.System("You help customers."), message.User("Hello!"), message.Assistant(message.Text{Text: t.answers[0]})}
			whole := h
			name := "in talks of 25 short messages, each view the next history"
			if pastes {
				name = "in talks of 25 messages with long pastes, each view the next history"
			}
			for fold := range folds {
				for k := range each {
					n := fold*each + k
					said := t.said[n]
					if n == at {
						said += " " + o.text
						if pastes {
							said = o.text + "\n\n" + halves[i%len(halves)][0] + halves[i%len(halves)][1]
						}
					} else if pastes && k == 2 {
						half := halves[(i+fold+1)%len(halves)]
						said += "\n\n" + half[0] + half[1]
					}
					more := []message.Message{message.User(said), message.Assistant(message.Text{Text: t.answers[n%2]})}
					h, whole = append(h, more...), append(whole, more...)
				}
				h = viewOf(tb, h, summarize.Options{})
			}
			p.add(name, o, strings.Contains(joined(h), o.text))
			require.Contains(tb, folded(tb, whole), o.text, "one fold of the whole history")
			require.Regexp(tb, fmt.Sprintf(`\((%[1]d messages compacted|已压缩 %[1]d 条消息)`, len(whole)-len(h)+1), joined(h), "the last line counts the messages of all folds")
		}
	}
}

// viewOf returns the view after a fold by rules.
func viewOf(tb testing.TB, h []message.Message, o summarize.Options) []message.Message {
	tb.Helper()
	sent, _, err := middleware.Apply(tb.Context(), summarize.New(summarize.ByRules(), o), &middleware.Request{Messages: h, Force: []string{"summarize"}})
	require.NoError(tb, err)
	return sent.Messages
}

func joined(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// TestPlainOrders measures orders that no single word gives away.
func TestPlainOrders(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	if testing.Short() {
		t.Skip("many folds: run without -short")
	}
	var p report
	for _, lang := range plainLanguages {
		for i, o := range sample(plainOrders(t, lang)) {
			for _, at := range []int{ofUser / 4, ofUser / 2, ofUser * 4 / 5} {
				p.add("without a word that gives them away, in talks of 80 dense messages", o, talkOf(t, lang, i, dense).keeps(t, map[int]string{at: o.text})[at])
			}
		}
	}
	p.variedPastes(t)
	p.docstrings(t)
	p.handedOver(t)
	t.Log(p.lost())
	p.atLeast(t, 90)
	p.rows(t)
}

package truth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/summarize"
)

// inventions returns what the check finds in a text that a writer tells of a history. It returns
// false if the text is not accepted for another reason, as one that looks like an apology.
func inventions(tb testing.TB, h []message.Message, text string) (items []string, ok bool) {
	tb.Helper()
	w := summarize.ByFunc(func(context.Context, *summarize.Fold) (string, error) { return text, nil })
	chain := summarize.New(w, summarize.Options{Keep: 1, Inventions: "report"})
	_, events, err := middleware.Apply(tb.Context(), chain, &middleware.Request{Messages: h, Force: []string{"summarize"}})
	require.NoError(tb, err)
	for _, e := range events {
		if e.Kind == summarize.Attempted {
			return e.Detail.(summarize.Report).Inventions, e.Err == nil
		}
	}
	return nil, false
}

// wordsOf returns the words of a summary, without its heading and the facts.
func wordsOf(summary string) string {
	_, rest, _ := strings.Cut(summary, "\n")
	words, _, _ := strings.Cut(rest, "\n[")
	return words
}

// told is a sentence of a summary that says what the user said.
func told(lang, text string) string {
	return map[string]string{"en": "The user said early on: ", "zh": "用户一开始说："}[lang] + text
}

// altered returns a text with another number, and whether it has one of three digits or more. Small
// whole numbers are not checked, since models count.
func altered(text string) (string, bool) {
	const digits = "0123456789"
	for from := 0; from < len(text); from++ {
		n := len(text[from:]) - len(strings.TrimLeft(text[from:], digits))
		if n >= 3 {
			return text[:from] + string('1'+(text[from]-'0'+3)%9) + text[from+1:], true
		}
		from += n
	}
	return text, false
}

// check counts a text that is accepted, and whether something is found in it.
func (s *share) check(tb testing.TB, h []message.Message, text string) {
	tb.Helper()
	if items, ok := inventions(tb, h, text); ok {
		s.add(items != nil)
	}
}

// TestInventions measures false alarms of the check of inventions, and what it finds.
func TestInventions(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	var quoted, changed, byRules share
	for _, lang := range []string{"en", "zh"} {
		os := orders(t, lang)
		for first := 0; first < len(os); first += every(4) * len(slots) {
			batch := make([]order, len(slots))
			for i := range batch {
				batch[i] = os[(first+i)%len(os)]
			}
			c, ps := withOrders(t, batch, first, false)
			c.history = append(c.history, message.User(c.next()))
			h := c.history
			for _, p := range ps[:min(len(ps), len(os)-first)] {
				quoted.check(t, h, told(lang, p.text))
				if text, ok := altered(p.text); ok {
					changed.check(t, h, told(lang, text))
				}
			}
			chain := summarize.New(summarize.ByRules(), summarize.Options{Keep: 1})
			sent, _, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: h, Force: []string{"summarize"}})
			require.NoError(t, err)
			byRules.check(t, h, wordsOf(sent.Messages[2].Text()))
		}
	}
	require.LessOrEqual(t, max(quoted.percent(), byRules.percent()), 2.0, "false alarms, in percent")
	require.Equal(t, changed.all, changed.kept, "orders with another number that are found")
	t.Logf("true orders: %v, words by rules: %v, orders with another number: %v", &quoted, &byRules, &changed)
}

package summarize_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
)

func TestValidateWriter(t *testing.T) {
	t.Parallel()
	model := middlewaretest.Say(good)
	write := func(context.Context, *summarize.Fold) (string, error) { return "All is well.", nil }
	by, within := summarize.By(model, summarize.Ask{}), summarize.InConversation(model, summarize.Ask{})
	numbered := summarize.Ask{Sections: []string{"1. Done", "2."}}
	for _, c := range []struct {
		w     summarize.Writer
		wrong string
	}{
		{summarize.By(nil, summarize.Ask{}), "By has no model, want one, or ByRules"},
		{summarize.InConversation(nil, summarize.Ask{}), "InConversation has no model, want one, or ByRules"},
		{summarize.ByFunc(nil), "ByFunc has no function, want one, or ByRules"},
		{summarize.By(model, numbered), `heading 1 of Sections is "2.", want a heading with letters`},
		{summarize.InConversation(model, numbered), `heading 1 of Sections is "2.", want a heading with letters`},
		{
			summarize.By(model, summarize.Ask{PassParams: true, Params: func(int) any { return nil }}),
			"both Params and PassParams are given, want one of them",
		},
		{summarize.Cheaper(summarize.ByRules(), within), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(by, summarize.ByRules()), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(by, by), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(within, within), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(by, summarize.ByFunc(write)), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(summarize.Cheaper(by, within), within), "Cheaper is not of one By and one InConversation"},
		{summarize.Cheaper(summarize.By(nil, summarize.Ask{}), summarize.InConversation(nil, summarize.Ask{})), "InConversation has no model"},
	} {
		require.ErrorContains(t, c.w.Validate(), c.wrong)
		require.PanicsWithValue(t, "summarize: "+c.w.Validate().Error(), func() { summarize.New(c.w, summarize.Options{}) })
	}
	for name, w := range map[string]summarize.Writer{
		"rules":                             {},
		"function":                          summarize.ByFunc(write),
		"model":                             by,
		"model gpt-5-mini":                  summarize.By(model, summarize.Ask{Model: "gpt-5-mini"}),
		"conversation":                      within,
		"cheaper of model and conversation": summarize.Cheaper(within, by),
	} {
		require.NoError(t, w.Validate(), name)
		require.NotPanics(t, func() { summarize.New(w, summarize.Options{}) })
	}
}

// What the caller does with the sections afterwards changes no writer.
func TestWriterKeepsItsSections(t *testing.T) {
	t.Parallel()
	sections := []string{"Done"}
	small := writer("Done: it was read.")
	w := summarize.By(small.Model, summarize.Ask{Sections: sections})
	sections[0] = "Left"
	h := history(8)
	view, _ := fold(t, summarize.New(w, summarize.Options{}), h)
	require.Contains(t, summaryIn(t, view, h).Text(), "Done: it was read.")
}

// In the conversation, however cold its cache and whatever it costs, it is asked there,
// and the table knows it by the name that the writer gives, else by that of its
// requests.
func TestInConversationByName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "gpt-5-mini"} {
		big := writer(good)
		h := history(8)
		h[0].Parts = append(h[0].Parts, message.Text{Text: strings.Repeat("a long system prompt ", 2000)})
		_, events := fold(t, summarize.New(summarize.InConversation(big.Model, summarize.Ask{Model: name}), summarize.Options{}), h)
		require.Len(t, big.Requests(), 1)
		req := big.Requests()[0]
		require.Len(t, req.Messages, len(h)+1, "in the conversation, though a record would cost less")
		if name == "" {
			require.Equal(t, "claude-sonnet-4-5", req.Model)
		} else {
			require.Equal(t, name, req.Model)
		}
		require.Positive(t, costOf(events, summarize.Summarized))
	}
}

// Each of two is asked in its own way, with options of its own: they may be of two
// providers.
func TestCheaperAsksEachInItsWay(t *testing.T) {
	t.Parallel()
	type options struct{ of string }
	params := func(of string) func(int) any { return func(int) any { return options{of} } }
	big, small := writer("No section."), writer("Open: all of it.")
	w := summarize.Cheaper(
		summarize.InConversation(big.Model, summarize.Ask{Task: "Write the log.", Sections: []string{"Log"}, Params: params("big")}),
		summarize.By(small.Model, summarize.Ask{Task: "Write what is open.", Sections: []string{"Open"}, Params: params("small")}),
	)
	h := history(8)
	view, events := fold(t, summarize.New(w, summarize.Options{}), h)
	require.Equal(t, []string{"malformed"}, reasons(events))
	require.Contains(t, summaryIn(t, view, h).Text(), "Open: all of it.")
	require.Len(t, big.Requests(), 1)
	require.Equal(t, options{"big"}, big.Requests()[0].Params)
	require.Contains(t, big.Requests()[0].Messages[len(h)].Text(), "Write the log.")
	require.Equal(t, options{"small"}, small.Requests()[0].Params)
	require.Contains(t, small.Requests()[0].Messages[1].Text(), "Write what is open.")
}

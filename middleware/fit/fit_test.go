package fit_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/internal/testkit/golden"
	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/tokens"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	cases := map[string]fit.Options{
		"defaults":     {},
		"openai":       {Rules: message.OpenAI},
		"responses":    {Rules: message.OpenAIResponses},
		"anthropic":    {Rules: message.Anthropic},
		"gemini":       {Rules: message.Gemini},
		"bedrock":      {Rules: message.Bedrock},
		"mistral":      {Rules: message.Mistral},
		"just fits":    {Target: 1},
		"much at once": {Target: 0.5},
		"other words":  {Placeholder: "-", Note: "(some is missing)"},
		"no retry":     {NoRetry: true},
	}
	for name, opts := range soak.Some(race.Some(cases, "defaults", "anthropic"), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			middlewaretest.Suite{New: func() middleware.Middleware { return fit.New(opts) }, Repairs: true}.Test(t)
		})
	}
}

// TestGolden replays the conversations in testdata. Each has a section with the
// request, one with the options if they are not the defaults, the history, and
// what is expected: what happened in each call, and what the model saw in the
// last one.
func TestGolden(t *testing.T) {
	t.Parallel()
	golden.Test(t, replay)
}

// replay calls the model at the places that the file names, through one chain.
func replay(t *testing.T, c golden.Case) (edits, out string) {
	t.Helper()
	opts := parseOptions(t, c.Section("options"))
	chain := middleware.With(middleware.Env{Counter: tokens.Chars4}, fit.New(opts))
	h, ends, err := golden.Parse(c.Section("in"))
	require.NoError(t, err)
	var log strings.Builder
	for n, end := range ends {
		req := parseRequest(t, c.Section("request"))
		req.Messages = h[:end]
		before := golden.Format(h)
		sent, events, err := middleware.Apply(t.Context(), chain, req)
		require.Equal(t, before, golden.Format(h), "the caller's history was changed")
		logEvents(&log, n+1, message.Leading(h), events)
		if err != nil {
			fmt.Fprintf(&log, "call %d: error of kind %s: %v\n", n+1, middleware.KindOf(err), err)
			out = ""
			continue
		}
		requireFits(t, opts, sent)
		requireSettled(t, chain, req, sent)
		out = golden.Format(sent.Messages)
	}
	return log.String(), out
}

func logEvents(b *strings.Builder, call, lead int, events []middleware.Event) {
	for _, e := range events {
		fmt.Fprintf(b, "call %d: %s: %s\n", call, e.Kind, e)
		for _, r := range e.Edits {
			fmt.Fprintf(b, "  %s", r.Kind)
			for _, run := range r.Runs {
				fmt.Fprintf(b, " %d", lead+run.First)
				if run.Len() > 1 {
					fmt.Fprintf(b, "-%d", lead+run.Last)
				}
			}
			b.WriteString("\n")
		}
	}
}

// requireFits checks the guarantee.
func requireFits(t require.TestingT, opts fit.Options, sent *middleware.Request) {
	require.NoError(t, opts.Rules.Check(sent.Messages), "what is sent is valid")
	if b, ok := sent.View().Budget(); ok {
		require.LessOrEqual(t, sent.View().Size().Tokens, b.Room(), "what is sent fits")
	}
}

// requireSettled checks that the same call again gives the same view, without
// another edit.
func requireSettled(t *testing.T, chain middleware.Middleware, req, sent *middleware.Request) {
	t.Helper()
	again, events, err := middleware.Apply(t.Context(), chain, req)
	require.NoError(t, err)
	require.Equal(t, golden.Format(sent.Messages), golden.Format(again.Messages), "the same call gives another view")
	require.Empty(t, events, "the same call reports nothing")
}

var rules = map[string]message.Rules{
	"OpenAI": message.OpenAI, "OpenAIResponses": message.OpenAIResponses, "Anthropic": message.Anthropic,
	"Gemini": message.Gemini, "Bedrock": message.Bedrock, "Mistral": message.Mistral, "Portable": message.Portable,
}

func parseOptions(t *testing.T, text string) fit.Options {
	t.Helper()
	var o fit.Options
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "rules":
			require.Contains(t, rules, value)
			o.Rules = rules[value]
		case "target":
			share, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err)
			o.Target = share
		case "limits":
			o.Limits = parseLimits(t, value)
		case "placeholder":
			o.Placeholder = value
		case "note":
			o.Note = value
		default:
			require.Fail(t, "unknown option", key)
		}
	})
	return o
}

// parseLimits reads “images 3, bytes 2000”.
func parseLimits(t *testing.T, text string) (l message.Limits) {
	t.Helper()
	fields := map[string]*int{
		"bytes": &l.Bytes, "images": &l.Images, "media": &l.Media, "documents": &l.Documents, "image_bytes": &l.ImageBytes,
		"image_side": &l.ImageSide, "many_images": &l.ManyImages, "many_side": &l.ManySide,
	}
	for limit := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(limit, " ")
		require.Contains(t, fields, name)
		*fields[name] = golden.Number(t, value)
	}
	return l
}

func parseRequest(t *testing.T, text string) *middleware.Request {
	t.Helper()
	req := &middleware.Request{Budget: &middleware.Budget{}}
	golden.Settings(t, text, func(key, value string) {
		switch key {
		case "window":
			req.Budget.Window = golden.Number(t, value)
		case "reserve":
			req.Budget.Reserve = golden.Number(t, value)
		case "model":
			req.Model = value
		case "tool":
			text, err := golden.ParseText(value)
			require.NoError(t, err)
			req.Tools = append(req.Tools, message.ToolDef{Name: "tool", Description: text})
		default:
			require.Fail(t, "unknown field of the request", key)
		}
	})
	if req.Budget.Window == 0 {
		req.Budget = nil
	}
	return req
}

// An ID that an answer has brought is valid for its server; one that came from elsewhere is renamed until then.
func TestIDsOfAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, model, foreign, own string }{
		"Mistral":                  {"chat", "mistral-large-latest", "call_0123456789", "call_9876543210"},
		"Mistral without a format": {"", "mistral-large-latest", "call_0123456789", "call_9876543210"},
		"Messages of others":       {"messages", "kimi-k3", "functions.read#0", "functions.read:1"},
		"Messages":                 {"messages", "claude-opus-5", "functions.read#0", "toolu:1"},
		"OpenAI":                   {"chat", "gpt-4.1", "a-very-long-identifier-of-another-provider", "an-identifier-that-our-own-server-has-made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []message.Message
			answer := message.Assistant(message.ToolCall{ID: c.own, Name: "read", Arguments: "{}"})
			model := middleware.With(middleware.Env{}, fit.New(fit.Options{}))(
				func(_ context.Context, req *middleware.Request, _ middleware.Emit) (*middleware.Response, error) {
					sent = req.Messages
					return &middleware.Response{Message: answer}, nil
				})
			ask := func(h ...message.Message) {
				_, err := model(t.Context(), &middleware.Request{Format: c.format, Model: c.model, Messages: h}, nil)
				require.NoError(t, err)
			}
			h := []message.Message{
				message.User("Read both."), message.Assistant(message.ToolCall{ID: c.foreign, Name: "read", Arguments: "{}"}),
				message.Result(c.foreign, "read", "one"),
			}
			ask(h...)
			require.False(t, sent[1].Equal(h[1]), "an ID that this server would refuse is renamed")
			h = append(h, answer, message.Result(c.own, "read", "two"))
			ask(h...)
			require.Equal(t, h, sent, "after an answer with such an ID, all are as they came")
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts fit.Options
		want string
	}{
		"negative target":    {fit.Options{Target: -0.1}, "want a Target of more than 0 and at most 1, as a share of the room, or 0 for 0.9, got -0.1"},
		"target above one":   {fit.Options{Target: 1.1}, ", got 1.1"},
		"target is no share": {fit.Options{Target: math.NaN()}, ", got NaN"},
		"blank placeholder":  {fit.Options{Placeholder: " \n"}, "Placeholder is blank, which providers reject, want a text that can be seen"},
		"blank note":         {fit.Options{Note: "\t"}, "Note is blank"},
		"several":            {fit.Options{Target: 2, Note: " "}, "or 0 for 0.9, got 2\nNote is blank"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.opts.Validate()
			require.ErrorContains(t, err, c.want)
			require.PanicsWithValue(t, "fit: "+err.Error(), func() { fit.New(c.opts) })
		})
	}
	for name, opts := range map[string]fit.Options{
		"zero": {},
		"all":  {Rules: message.Portable | message.Prefill, Limits: message.Limits{Images: -1}, Target: 1, Placeholder: "-", Note: "-", NoRetry: true},
	} {
		require.NoError(t, opts.Validate(), name)
	}
}

// TestRulesOfTheModel sends what only some accept, by a format and the name of a model.
func TestRulesOfTheModel(t *testing.T) {
	t.Parallel()
	const long = "this.id-has-more-than-sixty-four-characters-and-a-dot-which-most-of-them-reject"
	newClaude, oldClaude := message.Anthropic|message.InPlace, message.Anthropic|message.Prefill|message.SystemFirst
	for _, c := range []struct {
		format, model string
		want          message.Rules
	}{
		{"", "gpt-4o", message.OpenAI},
		{"", "deepseek-chat", message.Chat | message.OneText},
		{"", "claude-sonnet-4-5", oldClaude},
		{"", "gemini-2.5-pro", message.Gemini},
		{"", "mistral-large-2411", message.Mistral},
		{"", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", oldClaude | message.Bedrock},
		{"", "amazon.nova-pro-v1:0", message.Bedrock},
		{"", "", message.Chat},
		{"chat", "gpt-4o", message.OpenAI},
		{"chat", "gemini-2.5-pro", message.Chat},
		{"chat", "qwen3:8b", message.Chat | message.OneSystem},
		{"chat", "deepseek-v4-pro", message.Chat | message.OneText | message.ThinkingCalls},
		{"ollama", "qwen3:8b", message.Chat},
		{"responses", "gpt-4o", message.OpenAIResponses},
		{"messages", "claude-opus-4-6", newClaude | message.SystemFirst},
		{"messages", "claude-opus-4-8", newClaude},
		{"messages", "kimi-k2.5", message.Messages},
		{"gemini", "gemini-9-ultra", message.Gemini},
	} {
		t.Run(c.format+" "+c.model, func(t *testing.T) {
			t.Parallel()
			h := []message.Message{
				message.System("You are brief."),
				message.Assistant(message.ToolCall{ID: long, Name: "a tool", Arguments: "{}"}),
				message.Result(long, "a tool", " "),
				message.System("It is late."),
				message.Assistant(message.Text{Text: "So."}, message.Thinking{Text: "hm"}, message.Text{Text: "Yes."}),
				message.Assistant(message.ToolCall{ID: "x", Name: "tool", Arguments: "{}"}),
				message.Result("x", "tool", "one"),
				message.Assistant(message.Text{Text: "The end."}),
			}
			script := middlewaretest.Script(middlewaretest.Say("ok"))
			_, err := fit.New(fit.Options{})(script.Model)(t.Context(), &middleware.Request{
				Messages: h, Model: c.model, Format: c.format, Tools: tools, Budget: &middleware.Budget{Window: 100_000},
			}, nil)
			require.NoError(t, err)
			if c.format != "" {
				c.want |= message.AsSent
			}
			valid := c.want.Repair(h).Messages
			require.NoError(t, testkit.Same(valid, script.Requests()[0].Messages), "want the rules of %v", c.want)
		})
	}
}

// TestToolsAreDeclared has a request without tools whose history has calls.
func TestToolsAreDeclared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model string
		rules message.Rules
		tools []message.ToolDef
		want  []string
	}{
		"Anthropic":           {model: "claude-sonnet-4-5", want: []string{"read_log"}},
		"Bedrock":             {rules: message.Bedrock, want: []string{"read_log"}},
		"OpenAI":              {model: "gpt-4o"},
		"not known":           {model: "mine"},
		"there are some":      {rules: message.Bedrock, tools: []message.ToolDef{{Name: "other"}}, want: []string{"other"}},
		"by options, of both": {rules: message.Bedrock | message.OpenAI, want: []string{"read_log"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorder middlewaretest.Recorder
			script := middlewaretest.Script(middlewaretest.Say("one"), middlewaretest.Say("two"))
			model := middleware.Chain(recorder.Middleware(), fit.New(fit.Options{Rules: c.rules}))(script.Model)
			for range 2 {
				_, err := model(t.Context(), &middleware.Request{
					Messages: readsLogs(2), Tools: c.tools, Model: c.model, Budget: &middleware.Budget{Window: 128_000},
				}, nil)
				require.NoError(t, err)
			}
			for _, req := range script.Requests() {
				var names []string
				for _, tool := range req.Tools {
					names = append(names, tool.Name)
				}
				require.Equal(t, c.want, names)
			}
			if c.tools == nil && c.want != nil {
				require.Len(t, recorder.Events(middleware.Repaired), 1, "it is reported once")
			} else {
				require.Empty(t, recorder.Events(middleware.Repaired))
			}
		})
	}
}

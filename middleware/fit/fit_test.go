package fit_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// brief writes how many messages there are, and the words of the one before.
func brief(_ context.Context, f *summarize.Fold) (string, error) {
	return fmt.Sprintf("Read %d messages; before: %d summaries.", len(f.Messages), len(f.Earlier)), nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(500)
	cases := map[string]summarize.Options{
		"defaults":       {},
		"a low trigger":  {Trigger: low},
		"nothing kept":   {Trigger: low, Keep: -1},
		"rounds kept":    {Trigger: low, KeepRounds: 2},
		"turns kept":     {Trigger: low, KeepTurns: 1},
		"tokens kept":    {Trigger: low, KeepTokens: 300},
		"a soft trigger": {Trigger: trigger.Tokens(900), Soft: low, Keep: 2},
		"prepared": {Trigger: trigger.Tokens(900), Soft: low, Keep: 2, Background: func(task func(context.Context)) bool {
			task(t.Context())
			return true
		}},
		"a reserve":           {Reserve: 999_500, Keep: 2},
		"by system messages":  {Trigger: low, Keep: 2, Strategy: summarize.WholeBySystem()},
		"the last alone":      {Trigger: low, Keep: 2, Strategy: summarize.OnlyLast(3)},
		"the youngest alone":  {Trigger: low, Keep: 2, Strategy: summarize.Since(time.Unix(0, 0))},
		"in chunks":           {Trigger: low, Keep: 2, Strategy: summarize.Chunks(4)},
		"by rules":            {Trigger: low, Keep: 2, Strategy: summarize.Rules()},
		"no ledger":           {Trigger: low, Keep: 2, LedgerTokens: -1},
		"of the system":       {Trigger: low, Keep: 2, Role: message.RoleSystem},
		"in Chinese":          {Trigger: low, Keep: 2, Language: summarize.Chinese},
		"with another header": {Trigger: low, Keep: 2, Header: "What was:"},
		"not on each call":    {Trigger: low, Keep: 2, MinCalls: 3},
		"strict":              {Trigger: low, Keep: 2, Strict: true},
		"without fallback":    {Trigger: low, Keep: 2, NoFallback: true},
		"custom": {Trigger: low, Keep: 2, Strategy: summarize.Custom(func(_ context.Context, f *summarize.Fold) ([]message.Message, error) {
			return []message.Message{message.User(fmt.Sprintf("%d messages were here.", len(f.Messages)))}, nil
		})},
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts.Summarizer = brief
			middlewaretest.Test(t, func() middleware.Middleware { return summarize.New(nil, opts) })
		})
	}
}

// TestConformanceOfBadSummarizers has the summary written by somebody who cannot.
func TestConformanceOfBadSummarizers(t *testing.T) {
	t.Parallel()
	summarizers := map[string]summarize.Summarizer{
		"nobody":  nil,
		"failing": func(context.Context, *summarize.Fold) (string, error) { return "", errors.New("no words today") },
		"endless": func(_ context.Context, f *summarize.Fold) (string, error) {
			return strings.Repeat("words ", 10*f.Tokens), nil
		},
		"silent":   func(context.Context, *summarize.Fold) (string, error) { return " \n", nil },
		"panicked": func(context.Context, *summarize.Fold) (string, error) { panic("no words") },
	}
	ways := map[string]summarize.Options{
		"with rules":       {Keep: 2},
		"without fallback": {Keep: 2, NoFallback: true},
		"in chunks":        {Keep: 2, Strategy: summarize.Chunks(4)},
	}
	for name, s := range summarizers {
		for how, opts := range ways {
			if how != "with rules" && name != "failing" && name != "panicked" {
				continue // what is not taken is as if it had failed
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				own := opts
				own.Trigger, own.Summarizer = trigger.Tokens(500), s
				middlewaretest.Test(t, func() middleware.Middleware { return summarize.New(nil, own) })
			})
		}
	}
}

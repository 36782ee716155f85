package summarize

import "github.com/laconic-go/laconic/middleware/trigger"

// Development returns options for small contexts: a fold is advised at 5,000
// tokens and made at 8,000, 2,000 of the window stay free for the answer, the
// newest 4 messages stay, and the summary has at most 400 tokens. The profile is meant
// for [ByRules].
func Development() Options { return profile(5_000, 8_000, 2_000, 4, 400) }

// Production returns options for agents in use, likewise for [ByRules]: a fold is
// advised at 15,000 tokens and made at 20,000, 4,000 of the window stay free, the
// newest 6 messages stay, and the summary has at most 800 tokens.
func Production() Options { return profile(15_000, 20_000, 4_000, 6, 800) }

// Large returns options for large contexts: a fold is advised at 25,000 tokens and
// made at 30,000, 6,000 of the window stay free, the newest 10 messages stay, and
// the summary has at most 1,200 tokens. It is meant for a model, with rules where
// that fails.
func Large() Options { return profile(25_000, 30_000, 6_000, 10, 1_200) }

func profile(soft, hard, reserve, keep, summary int) Options {
	return Options{
		Soft:          trigger.Tokens(soft),
		Trigger:       trigger.Tokens(hard),
		Reserve:       reserve,
		Keep:          keep,
		SummaryTokens: summary,
	}
}

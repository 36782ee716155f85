package models_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/models"
)

func TestThinkingOf(t *testing.T) {
	t.Parallel()
	const (
		free, bound, turn    = "free", "bound", "turn"
		calls, refused       = "calls", "refused"
		bedrock, longProfile = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.", "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic."
	)
	for name, want := range map[string]string{
		// Claude in the table, by its name and by variants.
		"claude-fable-5-1": bound, "claude-fable-5-2": bound, "claude-mythos-5-1": bound, "claude-mythos-5-2": bound,
		"claude-opus-5-5": bound, "claude-sonnet-5-5": bound, "claude-haiku-5-5": bound,
		"Claude-Opus-5.5": bound, "anthropic/claude-sonnet-5.5": bound, "claude-haiku-5-5@20261007": bound,
		"us.anthropic.claude-opus-5-5-20260901-v1:0": bound, bedrock + "claude-fable-5-1": bound, "anthropic/claude-fable-5.2:beta": bound,
		"claude-fable-5": free, "claude-mythos-5": free, "claude-opus-5": free, "claude-sonnet-5-20260301": free, "claude-opus-4-8": free,
		"claude-opus-4-7": free, "claude-opus-4-6": free, "claude-sonnet-4.6": free, "global.anthropic.claude-opus-4-6-v1": free,
		"claude-opus-4-5": turn, "claude-haiku-4-5-20251001": turn, "claude-sonnet-4-5@20250929": turn, "claude-opus-4-1": turn,
		"claude-opus-4-20250514": turn, "claude-sonnet-4-0": turn, "claude-3-7-sonnet": turn, "anthropic/claude-3.7-sonnet:thinking": turn,
		"claude-3-5-sonnet-20241022": turn, "claude-3-5-sonnet-v2@20241022": turn, "claude-3-opus-latest": turn,

		// Claude that is not in the table: by version, and a date is no version.
		"claude-opus-5-7": bound, "claude-opus-5-7@20270101": bound, "claude-opus-6": bound, "anthropic/claude-sonnet-6": bound,
		"us.anthropic.claude-opus-6-20270101-v1:0": bound, longProfile + "claude-haiku-6-20270301-v1:0": bound, "anthropic.claude-opus-6-v1": bound,
		"claude-6-sonnet": bound, "claude-6.1-sonnet-20270505": bound, "claude-opus-10": bound, "claude-fable-5-10": bound, "CLAUDE-OPUS-6": bound,
		"claude-fable-5-1-thinking": bound, "claude-opus-5-5[1m]": bound, "claude-sonnet-5.5-fast": bound, "anthropic--claude-5.5-sonnet": bound,
		"databricks-claude-opus-5-5": bound, "projects/p/locations/us/publishers/anthropic/models/claude-opus-6@20270101": bound,
		"claude-saga-6": bound, "claude6-opus": bound,
		"claude-opus-5[1m]": free, "claude-haiku-5": free, "claude-opus-5-20270101": free, "claude-opus-5-2026-10-07": free, "claude-5-opus": free,
		"claude-sonnet-4-7": free, "claude-haiku-4.9": free, "claude-opus-4-10": free, "claude-sonnet-4-6-thinking": free,
		"claude-opus-4-5-thinking": turn, "claude-4": turn, "claude-4.5-sonnet": turn, "anthropic--claude-4-sonnet": turn,
		"claude-opus-4-20290909-v9:0": turn, "claude-3-5-sonnet[1m]": turn, "anthropic.claude-3-sonnet-20240229-v1:0:28k": turn,
		"claude-instant-1.2": turn, "claude-2.1": turn,
		// An alias without a version is the newest model of its kind.
		"claude-opus-latest": bound, "~anthropic/claude-sonnet-latest": bound, "claude-haiku": bound,
		"claude-mythos-preview": free, "claude": free, "claude-code": free, "anthropic.claude-v2:1": free, "anthropic.claude-v2": free,

		// DeepSeek.
		"deepseek-flash": calls, "deepseek-v4-flash": calls, "deepseek-v4.1-flash": calls, "deepseek-v4-pro": calls, "deepseek/deepseek-v4-pro:free": calls,
		"deepseek-v4": calls, "deepseek-v4-flash-0731": calls, "deepseek-v4-ultra": calls, "deepseek-v5": calls, "deepseek-v5.2-exp": calls, "deepseek-v10": calls,
		"deepseek-ai/DeepSeek-V4-Pro": calls, "accounts/fireworks/models/deepseek-v4p1": calls, "deepseek.v4-v1:0": calls, "us.deepseek.deepseek-v4-v1:0": calls,
		"deepseek-v4:cloud": calls, "deepseek-v4-pro-maas": calls, "deepseek-pro": calls, "deepseek-flash-thinking": calls,
		"deepseek-reasoner": calls, "openrouter/deepseek/deepseek-reasoner": calls, "deepseek-reasoner-beta": calls,
		"deepseek-r1": refused, "deepseek-r1-0528": refused, "eu.deepseek.r1-v1:0": refused, "deepseek-r1:7b": refused, "deepseek/deepseek-r1:free": refused,
		"deepseek-r1-distill-qwen-32b": refused, "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B": refused, "tngtech/deepseek-r1t2-chimera": refused,
		"deepseek-chat": free, "deepseek-v3": free, "deepseek-v3.2": free, "deepseek-v3.2-speciale": free, "deepseek-v3-0324": free, "deepseek-v2.5": free,
		"deepseek-coder-v2": free, "deepseek": free, "deepseek-r2": free, "deepseek-v": free, "deepseek-vl2": free,

		// Kimi.
		"kimi-k2-thinking": calls, "kimi-k2-0905": calls, "kimi-k2-0711-preview": calls, "kimi-k2.5": calls, "moonshotai/Kimi-K2.5": calls, "kimi-k2.6": calls,
		"kimi-k2.7-code": calls, "kimi-k3": calls, "kimi-k3.1-pro": calls, "kimi-k3.1-pro-highspeed": calls,
		"kimi-k2": calls, "kimi-k2-thinking-turbo": calls, "kimi-k2-turbo-preview": calls, "moonshotai.kimi-k2.5": calls, "moonshot.kimi-k2-thinking": calls,
		"accounts/fireworks/models/kimi-k2p5": calls, "kimi-k2.5:cloud": calls, "@cf/moonshotai/kimi-k2.5": calls, "kimi-k4": calls, "kimi-k3-20270101": calls,
		"kimi-for-coding": calls, "kimi-coding/kimi-for-coding": calls,
		"moonshot-v1-128k": free, "moonshot-v1-256k": free, "kimi-latest": free, "kimi-k1.5": free, "kimi-linear-48b-a3b": free, "kimi": free,

		// Gemini.
		"gemini-3.8-flash": turn, "gemini-3.1-pro-preview": turn, "gemini-3-pro-preview": turn, "gemini-3-flash-preview": turn, "gemini-3.1-flash-lite": turn,
		"models/gemini-3-pro-preview": turn, "google/gemini-3.7-flash:free": turn, "gemini-4-argon": turn, "gemini-3-pro-image": turn, "gemini-10-pro": turn,
		"publishers/google/models/gemini-4-pro": turn, "gemini-flash-latest": turn, "gemini-pro-latest": turn,
		"gemini-2.5-pro": free, "gemini-2.5-flash-preview-09-2025": free, "gemini-2.0-flash-thinking-exp-01-21": free, "gemini-exp-1206": free, "gemini-1.5-pro": free,
		"gemini-pro": free, "gemini-embedding-001": free, "gemini": free,

		// Others, and nasty ones.
		"gpt-5.6": free, "o3": free, "glm-5.2": free, "qwen3-max": free, "minimax-m3": free, "grok-4": free, "house-model": free,
		"claudette-6": free, "myclaude-opus-6": free, "deepseeker-v4": free, "kimiko-k2": free, "claude/gpt-4o": free, "claude-opus-6/": free,
		"": free, " ": free, "/": free, "-": free, "claude-": free, "claude--": free, "\xff": free, "claude-\xff-6": bound, "claude-opus-６": bound,
		strings.Repeat("a", 300) + "/claude-opus-6": free,
	} {
		require.Equal(t, want, models.Default().ThinkingOf(name), "%q", name)
	}
}

// TestThinkingOfRows: what the table says is what names say, so a row that is left
// out of a table of one's own changes nothing.
func TestThinkingOfRows(t *testing.T) {
	t.Parallel()
	var empty models.Table
	for m := range models.Default().All() {
		require.Equal(t, cmp.Or(m.Thinking, "free"), models.Default().ThinkingOf(m.Name), "%s: the row", m.Name)
		require.Equal(t, cmp.Or(m.Thinking, "free"), empty.ThinkingOf(m.Name), "%s: the name alone", m.Name)
	}
}

// TestThinkingOfOwn: own rows are asked first, and a row without a value is judged by
// its name.
func TestThinkingOfOwn(t *testing.T) {
	t.Parallel()
	deployment, _ := models.Default().Lookup("claude-opus-5-5")
	deployment.Name = "prod-chat"
	table, err := models.Default().With(
		deployment,
		models.Model{Name: "house-model", Thinking: "calls"},
		models.Model{Name: "claude-opus-6", Window: 2_000_000},
		models.Model{Name: "openrouter/anthropic/claude-opus-5.5", Thinking: "turn"},
	)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"prod-chat": "bound", "azure/prod-chat": "bound",
		"house-model": "calls", "house-model:free": "calls",
		"claude-opus-6":                        "bound",
		"openrouter/anthropic/claude-opus-5.5": "turn", "anthropic/claude-opus-5.5": "bound",
	} {
		require.Equal(t, want, table.ThinkingOf(name), "%q", name)
	}
}

func BenchmarkThinkingOf(b *testing.B) {
	table := models.Default()
	for name, model := range map[string]string{
		"exact":   "claude-sonnet-5-5",
		"bedrock": "us.anthropic.claude-opus-5-5-20260901-v1:0",
		"newer":   "us.anthropic.claude-opus-6-20270101-v1:0",
		"unknown": "my-very-own-house-model",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.ThinkingOf(model)
			}
		})
	}
}

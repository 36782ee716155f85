package models_test

import (
	"cmp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/models"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{ // to the name of the row; "" unknown
		// Names as they are, in any case and spelling.
		"gpt-4o": "gpt-4o", "GPT-4o": "gpt-4o", "gpt-5.1": "gpt-5.1", "claude-sonnet-4.5": "claude-sonnet-4-5",
		"MiniMax-M2.5": "minimax-m2.5", "glm-4-6": "glm-4.6", "gpt-oss:20b": "gpt-oss-20b",

		// Dates, months, counters, channels.
		"gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-2024-05-13": "gpt-4o-2024-05-13", "gpt-4-0613": "gpt-4", "gpt-4-32k-0613": "gpt-4-32k",
		"claude-sonnet-4-5-20250929": "claude-sonnet-4-5", "claude-opus-4-20250514": "claude-opus-4", "claude-3-5-sonnet-latest": "claude-3-5-sonnet",
		"gpt-4-turbo-preview": "gpt-4-turbo", "gpt-4-1106-preview": "gpt-4-1106-preview", "gpt-4-0125-preview": "gpt-4-0125-preview",
		"gpt-5-chat-latest": "gpt-5-chat", "o1-2024-12-17": "o1", "o1-preview-2024-09-12": "o1-preview", "o3-mini-2025-01-31": "o3-mini",
		"gemini-2.5-pro-preview-05-06": "gemini-2.5-pro", "gemini-2.5-flash-lite-preview-09-2025": "gemini-2.5-flash-lite",
		"gemini-2.0-flash-001": "gemini-2.0-flash", "gemini-2.0-flash-exp": "gemini-2.0-flash", "kimi-k2-0905-preview": "kimi-k2-0905",
		"kimi-k2-0711-preview": "kimi-k2-0711", "grok-4-0709": "grok-4", "doubao-seed-1-6-250615": "doubao-seed-1.6",
		"doubao-1-5-pro-32k-250115": "doubao-1.5-pro-32k", "qwen-plus-2025-07-28": "qwen-plus", "qwen3-max-preview": "qwen3-max",
		"deepseek-v3-0324": "deepseek-v3", "deepseek-r1-0528": "deepseek-r1", "mistral-large-2411": "mistral-large-2411",

		// What hosts put in front.
		"anthropic/claude-sonnet-4-5": "claude-sonnet-4-5", "models/gemini-2.5-pro": "gemini-2.5-pro",
		"publishers/google/models/gemini-2.5-flash": "gemini-2.5-flash", "openrouter/deepseek/deepseek-r1": "deepseek-r1",
		"azure/gpt-4o-mini": "gpt-4o-mini", "moonshotai/kimi-k2.5": "kimi-k2.5", "meta-llama/Meta-Llama-3.1-8B-Instruct": "meta-llama-3.1",
		"Qwen/Qwen3-Coder-480B-A35B-Instruct": "qwen3-coder-480b-a35b", "z-ai/glm-5.2": "glm-5.2", "/gpt-4o": "gpt-4o", "a//gpt-4o": "gpt-4o",

		// Azure, Bedrock, Vertex.
		"gpt-35-turbo": "gpt-35-turbo", "gpt-35-turbo-0125": "gpt-35-turbo", "gpt-35-turbo-0613": "gpt-35-turbo-0613",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":                                       "claude-sonnet-4-5",
		"anthropic.claude-3-5-sonnet-20241022-v2:0":                                          "claude-3-5-sonnet",
		"global.anthropic.claude-opus-4-6-v1":                                                "claude-opus-4-6",
		"anthropic.claude-haiku-5-5":                                                         "claude-haiku-5-5",
		"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0": "claude-3-haiku",
		"meta.llama3-1-70b-instruct-v1:0":                                                    "llama3.1",
		"eu.deepseek.r1-v1:0":                                                                "deepseek-r1",
		"openai.gpt-oss-120b-1:0":                                                            "gpt-oss-120b",
		"claude-sonnet-4-5@20250929":                                                         "claude-sonnet-4-5",
		"claude-3-5-sonnet-v2@20241022":                                                      "claude-3-5-sonnet",
		"gemini-2.5-pro@latest":                                                              "gemini-2.5-pro",

		// Fine-tuned models, tags, sizes.
		"ft:gpt-4o:acme::a1b2": "gpt-4o", "ft:gpt-4o-mini-2024-07-18:acme:mail:a1b2:ckpt-step-8": "gpt-4o-mini", "openai/ft:gpt-4.1:acme::x": "gpt-4.1",
		"openrouter/deepseek/deepseek-r1:free": "deepseek-r1", "anthropic/claude-3.7-sonnet:thinking": "claude-3-7-sonnet",
		"qwen2.5:7b": "qwen2.5", "qwen2.5-coder:32b-instruct-q4_K_M": "qwen2.5-coder", "qwen3:30b-a3b": "qwen3", "llama3.1:8b": "llama3.1",
		"ollama/llama3.3:latest": "llama3.3", "qwen3-235b-a22b": "qwen3", "Qwen3-235B-A22B-Instruct-2507": "qwen3-235b-a22b-instruct-2507",
		"llama-4-maverick-17b-128e-instruct": "llama-4-maverick", "gpt-oss:latest": "gpt-oss",

		// No false friends.
		"gpt-4-vision-preview": "", "gpt-4-1106-vision-preview": "", "gpt-4o-audio-preview": "", "gpt-4o-realtime-preview-2024-12-17": "",
		"gpt-3.5-turbo-instruct": "", "gpt-4o-mini-tts": "", "gpt-4o-transcribe": "", "gpt-5-search-api": "", "gpt-7": "", "gpt-": "", "gpt": "", "o9": "",
		"my-gpt-4o-clone": "", "gpt-4o-clone": "", "gpt-4ox": "", "xgpt-4o": "", "not-gpt-4o": "", "gpt-4o-2024-13-45": "", "gpt-4o-1": "",
		"claude-opus-4-9": "", "anthropic.claude-opus-4-9": "", "anthropic.claude-opus-4-9-v1:0": "", "claude-4": "", "claude": "", "claude-instant-1.2": "",
		"claude-3-5-sonnet[1m]": "", "anthropic.claude-3-sonnet-20240229-v1:0:28k": "", "openai/gpt-3.5-turbo:extended": "",
		"gemini-2.5-flash-image": "", "gemini-2.5-pro-tts": "", "gemini-9-pro": "", "text-embedding-3-small": "", "mistral-large-2407": "",
		"deepseek-r1-distill-qwen-32b": "", "deepseek-r1-0528-qwen3-8b": "", "moonshot-v1-256k": "", "qwen4": "", "grok-4-heavy": "",
		"gpt-4o@acme": "", "gpt-4o-v2": "", "claude-sonnet-4-5-v1": "", "ep-20250101120000-abcde": "", "amazon.nova-pro-v1:0": "", "us.gpt-4o": "", "evil.gpt-4o": "",

		// Nasty ones.
		"": "", " ": "", "/": "", "//": "", ":": "", "::": "", "@": "", ".": "", "-": "", "ft:": "", "ft::": "", "ft:ft:gpt-4o:x": "", "gpt-4o/": "",
		" gpt-4o": "", "gpt-4o\n": "", "gpt-4o\x00": "", "\xff\xfe": "", "gpt-4o\xff": "", "\xff/gpt-4o": "gpt-4o", "通义千问": "", "ｇｐｔ-4o": "",
		"\u212Aimi-k2.5": "", // a Kelvin sign is no k
	} {
		m, ok := models.Default().Lookup(name)
		require.Equal(t, want != "", ok, "%q: want %q, got %q", name, want, m.Name)
		require.Equal(t, want, m.Name, "%q", name)
	}
}

func TestLookupHuge(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"a", "/", ":", ".", "-0613", "gpt-4o/", "us.", "\xff", "中"} {
		name := strings.Repeat(part, 1<<20/len(part))
		for _, n := range []string{name, "gpt-4o-" + name, name + "/gpt-4o", name[:250]} {
			require.NotPanics(t, func() { models.Default().Lookup(n) })
		}
		_, ok := models.Default().Lookup(name + "/gpt-4o")
		require.False(t, ok, "no model has a name of a megabyte")
	}
}

// TestLookupPrice: what means another price has none.
func TestLookupPrice(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{
		"gpt-4o":                                 true,
		"gpt-4o-2024-08-06":                      true,
		"azure/gpt-4o":                           true,
		"ft:gpt-4o:acme::a1b2":                   false,
		"google/gemini-2.5-pro:free":             false,
		"anthropic/claude-3.7-sonnet:thinking":   true,
		"claude-sonnet-4-5@20250929":             true,
		"anthropic.claude-3-haiku-20240307-v1:0": true,
		"qwen2.5:7b":                             false,
		"glm-5.2:cloud":                          false,
	} {
		m, ok := models.Default().Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, known, m.Price.Known(), name)
		require.Positive(t, m.Window, name)
	}
}

func TestLookupConcurrent(t *testing.T) {
	t.Parallel()
	table := models.Default()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for m := range table.All() {
				_, ok := table.Lookup("vendor/" + m.Name + "-latest")
				if !ok {
					t.Errorf("vendor/%s-latest: not found", m.Name)
				}
			}
			if _, err := table.With(models.Model{Name: "gpt-4o"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestLookupLaws draws variants of known names: they are found as the row that
// they are made of, or as one that shares more of the name.
func TestLookupLaws(t *testing.T) {
	t.Parallel()
	var names []string
	for m := range models.Default().All() {
		names = append(names, m.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom(names).Draw(t, "name")
		prefix := rapid.SampledFrom([]string{"", "acme/", "openrouter/acme/", "models/"}).Draw(t, "prefix")
		suffix := rapid.SampledFrom([]string{"", "-2026-01-02", "-20260102", "-latest", ":free", "@20260102", ":thinking"}).Draw(t, "suffix")
		m, ok := models.Default().Lookup(prefix + base + suffix)
		require.True(t, ok, "%s%s%s", prefix, base, suffix)
		again, ok := models.Default().Lookup(m.Name)
		require.True(t, ok)
		require.Equal(t, m.Name, again.Name, "the name of a result is its own name")
		want, _ := models.Default().Lookup(base)
		if m.Name != base {
			require.Contains(t, m.Name, base, "only a longer name wins over the base")
		} else if suffix != ":free" {
			require.Equal(t, want, m)
		}
	})
}

func FuzzLookup(f *testing.F) {
	for _, s := range []string{
		"gpt-4o-2024-08-06", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:gpt-4o:a:b:c", "qwen2.5:7b-instruct-q4_K_M",
		"a/b/c@001", "\xff:", "-0613-0613", "openai.gpt-oss-120b-1:0", "us.anthropic.claude-opus-6-20270101-v1:0", "claude-claude-5-5",
		"deepseek-v4", "deepseek-deepseekr1", "kimi-k2p5", "kimi-k", "gemini-4-argon", "claude-v", "Gemini-LATEST",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		thinking := models.Default().ThinkingOf(name)
		require.Contains(t, []string{"free", "bound", "turn", "calls", "refused"}, thinking)
		if len(name) <= 250 { // longer ones may become too long to be names
			require.Equal(t, thinking, models.Default().ThinkingOf("host/"+name), "what a host puts in front is ignored")
		}
		m, ok := models.Default().Lookup(name)
		if m.Thinking != "" {
			require.Equal(t, m.Thinking, thinking, "a row is asked first")
		}
		twice, okTwice := models.Default().Lookup(name)
		require.Equal(t, ok, okTwice)
		require.Equal(t, m, twice)
		if !ok {
			require.Zero(t, m, "what is unknown has no values")
			return
		}
		own, ok := models.Default().Lookup(m.Name)
		require.True(t, ok)
		if !m.Price.Known() {
			own.Price = models.Price{}
		}
		require.Equal(t, own, m, "a variant is the row of its name, but for the price")
	})
}

func BenchmarkLookup(b *testing.B) {
	table := models.Default()
	for name, model := range map[string]string{
		"exact":   "claude-sonnet-4-5",
		"dated":   "gpt-4o-2024-08-06",
		"bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		"unknown": "my-very-own-house-model",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Lookup(model)
			}
		})
	}
}

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

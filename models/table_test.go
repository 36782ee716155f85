package models_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

func TestDefaultRows(t *testing.T) {
	t.Parallel()
	rows := slices.Collect(models.Default().All())
	require.Greater(t, len(rows), 150)
	require.Len(t, rows, models.Default().Len())
	for _, m := range rows {
		require.NoError(t, m.Validate())
		require.NotEmpty(t, m.Provider, "%s: a row says whose model it is", m.Name)
		require.NotEmpty(t, m.Source, "%s: a row says where it comes from", m.Name)
		require.NotEmpty(t, m.Date, "%s: a row says when its source was read", m.Name)
		require.NotEmpty(t, m.Family, "%s: a row names its family", m.Name)
		if m.Price.Known() {
			require.GreaterOrEqual(t, m.Price.Output, m.Price.Input, "%s: no provider sells answers cheaper than prompts: look at the columns", m.Name)
		}
		got, ok := models.Default().Lookup(m.Name)
		require.True(t, ok, "%s: a row is found by its name", m.Name)
		require.Equal(t, m, got, "%s: a row is found by its name and not another", m.Name)
		got, ok = models.Default().Lookup(strings.ToUpper(m.Name))
		require.True(t, ok, "%s: a row is found in any case", m.Name)
		require.Equal(t, m, got)
	}
}

// TestDefaultFacts spells some rows out, so that a slip of a column or of an @
// line is seen.
func TestDefaultFacts(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	for name, want := range map[string]models.Model{
		"gpt-5.6": {
			Window: 1_050_000, Input: 922_000, Output: 128_000, Encoding: "o200k_base", Family: "gpt",
			Price: models.Price{
				Rates: models.Rates{Input: 5 * usd, CacheRead: 0.5 * usd, CacheWrite: 6.25 * usd, Output: 30 * usd},
				Long:  [3]models.Rates{{Above: 272_000, Input: 10 * usd, CacheRead: 1 * usd, CacheWrite: 12.5 * usd, Output: 45 * usd}},
			},
		},
		"gpt-4": {
			Window: 8192, Output: 8192, Encoding: "cl100k_base", Family: "gpt",
			Price: models.Price{Rates: models.Rates{Input: 30 * usd, Output: 60 * usd}},
		},
		"claude-fable-5-1": {
			Window: 1_000_000, Output: 128_000, Family: "claude-4.7",
			Price: models.Price{Rates: models.Rates{Input: 10 * usd, CacheRead: 0.25 * usd, CacheWrite: 12.5 * usd, CacheWriteLong: 20 * usd, Output: 50 * usd}},
		},
		"deepseek-v4-flash": {
			Window: 1_000_000, Output: 384_000, Family: "deepseek",
			Price: models.Price{Rates: models.Rates{Input: 0.3 * usd, CacheRead: 0.006 * usd, Output: 1.2 * usd}},
		},
		"qwen3": {Window: 131_072, Family: "qwen"},
	} {
		m, ok := models.Default().Lookup(name)
		require.True(t, ok, name)
		got := models.Model{Window: m.Window, Input: m.Input, Output: m.Output, Encoding: m.Encoding, Family: m.Family, Price: m.Price}
		require.Equal(t, want, got, name)
	}
	m, _ := models.Default().Lookup("claude-haiku-4-5")
	require.Equal(t, 4096, m.Cache.Min)
	require.Equal(t, "5m0s 1h0m0s", m.Cache.TTL.String()+" "+m.Cache.LongTTL.String())
	require.Equal(t, 4, m.Cache.Breakpoints)
	require.False(t, m.Cache.Auto)
}

func TestWith(t *testing.T) {
	t.Parallel()
	base := models.Default()
	before := slices.Collect(base.All())

	own, ok := base.Lookup("gpt-4o")
	require.True(t, ok)
	own.Window = 64_000
	house := models.Model{Name: "house-model", Window: 32_768}
	route := models.Model{Name: "openrouter/deepseek/deepseek-r1", Window: 64_000}
	next, err := base.With(own, house, route)
	require.NoError(t, err)
	route.Provider, route.Thinking = "deepseek", "refused" // by its family

	require.Equal(t, base.Len()+2, next.Len(), "gpt-4o takes the place of the old row, two rows are new")
	for name, want := range map[string]models.Model{
		"gpt-4o":                               own,
		"GPT-4o-2024-08-06":                    own,
		"house-model":                          house,
		"azure/House-Model":                    house,
		"openrouter/deepseek/deepseek-r1":      route,
		"openrouter/deepseek/deepseek-r1:free": route,
	} {
		got, ok := next.Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
	require.Equal(t, before, slices.Collect(base.All()), "the old table stays as it was")
	_, ok = base.Lookup("house-model")
	require.False(t, ok, "the old table does not learn new names")

	same, err := next.With(models.Model{Name: "gpt-4.o", Window: 1})
	require.NoError(t, err)
	require.Equal(t, next.Len()+1, same.Len(), "gpt-4.o is a name of its own")
	same, err = next.With(models.Model{Name: "claude-sonnet-4.5", Window: 1})
	require.NoError(t, err)
	require.Equal(t, next.Len(), same.Len(), "claude-sonnet-4.5 is another spelling of claude-sonnet-4-5")
	got, _ := same.Lookup("claude-sonnet-4-5-20250929")
	require.Equal(t, 1, got.Window)
}

func TestCost(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	claude := models.Price{Rates: models.Rates{Input: 3 * usd, CacheRead: 0.30 * usd, CacheWrite: 3.75 * usd, CacheWriteLong: 6 * usd, Output: 15 * usd}}
	plain := models.Price{Rates: models.Rates{Input: 1 * usd, Output: 2 * usd}}
	tiered := plain
	tiered.Long = [3]models.Rates{
		{Above: 100, Input: 2 * usd, CacheRead: 1 * usd, Output: 3 * usd},
		{Above: 200, Input: 4 * usd, Output: 6 * usd},
	}
	for name, c := range map[string]struct {
		price models.Price
		usage message.Usage
		want  string // "" no cost
	}{
		"input and output":     {claude, message.Usage{Input: 1_000_000, Output: 1000}, "$3.015"},
		"write":                {claude, message.Usage{Input: 1000, CacheRead: 400, CacheWrite: 600}, "$0.00237"},
		"long write":           {claude, message.Usage{Input: 1000, CacheWrite: 600, CacheWriteLong: 500}, "$0.004575"},
		"more long than all":   {claude, message.Usage{Input: 1000, CacheWrite: 600, CacheWriteLong: 601}, ""},
		"no discount":          {plain, message.Usage{Input: 1000, CacheRead: 500, CacheWrite: 500}, "$0.001"},
		"at the threshold":     {tiered, message.Usage{Input: 100, Output: 10}, "$0.00012"},
		"above it, all tokens": {tiered, message.Usage{Input: 101, CacheRead: 1, Output: 10}, "$0.000231"},
		"above the second":     {tiered, message.Usage{Input: 201, CacheRead: 1, Output: 10}, "$0.000864"},
		"unknown price":        {models.Price{}, message.Usage{Input: 1}, ""},
		"more read than input": {claude, message.Usage{Input: 1, CacheRead: 2}, ""},
		"negative input":       {claude, message.Usage{Input: -1}, ""},
		"no int64":             {claude, message.Usage{Input: math.MaxInt, Output: math.MaxInt}, ""},
		"negative price":       {models.Price{Rates: models.Rates{Input: 1, CacheRead: -1, Output: 1}}, message.Usage{Input: 1, CacheRead: 1}, ""},
	} {
		if c.usage.Input == math.MaxInt && strconv.IntSize == 32 {
			continue // each number of tokens has a price
		}
		got, ok := c.price.Cost(c.usage)
		require.Equal(t, c.want != "", ok, name)
		if ok {
			require.Equal(t, c.want, got.String(), name)
		} else {
			require.Zero(t, got, name)
		}
	}
}

func TestCostString(t *testing.T) {
	t.Parallel()
	for c, want := range map[models.Cost]string{
		0:                  "$0.00",
		1:                  "$0.000000000001",
		-15e11:             "-$1.50",
		2e12:               "$2.00",
		math.MaxInt64:      "$9223372.036854775807",
		math.MinInt64:      "-$9223372.036854775808",
		123_456_700_000_00: "$12.34567",
	} {
		require.Equal(t, want, c.String())
		data, err := json.Marshal(c)
		require.NoError(t, err)
		var back models.Cost
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, c, back, "%s", data)
	}
	data, err := json.Marshal(map[string]models.Cost{"a": 123_456_700_000_00, "b": -2e12})
	require.NoError(t, err)
	require.Equal(t, `{"a":12.34567,"b":-2}`, string(data))
	for _, bad := range []string{`"$1"`, `1e-13`, `1e99999999`, `9223372.036854775808`, `1/3`, `true`, `0x1p-9`} {
		require.Error(t, new(models.Cost).UnmarshalJSON([]byte(bad)), bad)
	}
}

// TestOf: whose model it is, where its system messages may stand, and whether it continues an answer.
func TestOf(t *testing.T) {
	t.Parallel()
	type of struct {
		provider, system string
		noPrefill        bool
	}
	var (
		anthropic, front     = of{"anthropic", "", true}, of{"anthropic", "front", false}
		google, gemma        = of{"google", "", false}, of{"google", "one", false}
		openai, alibaba      = of{"openai", "", false}, of{"alibaba", "", false}
		deepseek, moonshot   = of{"deepseek", "", false}, of{"moonshot", "", false}
		zhipu, xai, meta     = of{"zhipu", "", false}, of{"xai", "", false}, of{"meta", "", false}
		mistral, minimax     = of{"mistral", "", false}, of{"minimax", "", false}
		qwen, glm4, llama    = of{"alibaba", "one", false}, of{"zhipu", "one", false}, of{"meta", "one", false}
		openMistral, gptOSS  = of{"mistral", "one", false}, of{"openai", "one", false}
		newGemini, nova, not = of{"google", "", true}, of{"amazon", "", false}, of{}
	)
	for name, want := range map[string]of{
		// Next year's names.
		"gemini-5-x": newGemini, "gemini-4-argon": newGemini, "gpt-7-sol": openai, "claude-opus-7": anthropic, "claude-sonnet-6-1": anthropic,
		"deepseek-v6": deepseek, "kimi-k5": moonshot, "qwen5-max": alibaba, "qwen4-27b": qwen, "glm-7": zhipu, "grok-9": xai, "mistral-huge-1": mistral,
		"muse-aria-2": meta, "llama-6-100b": llama, "gemma5:12b": gemma, "minimax-m9": minimax, "amazon.nova-2-lite-v1:0": nova, "o7-mini": openai,

		// What hosts add.
		"models/gemini-5-x": newGemini, "publishers/google/models/gemini-5-x": newGemini, "us.anthropic.claude-opus-7-20280101-v1:0": anthropic,
		"openrouter/anthropic/claude-opus-7:nitro": anthropic, "anthropic/claude-opus-7": anthropic, "claude-opus-7@20280101": anthropic,
		"openai/gpt-7:free": openai, "gpt-7-latest": openai, "prod-gpt-7-sol": openai, "team_gpt4o": openai, "qwen.qwen4-32b-v1:0": qwen,
		"us.deepseek.deepseek-v6-v1:0": deepseek, "accounts/fireworks/models/qwen4-30b": qwen, "mistral.devstral-3-123b": openMistral,

		// Claude by version.
		"claude-opus-4-5": front, "claude-sonnet-4-5@20250929": front, "claude-3-7-sonnet": front, "databricks-claude-sonnet-4": front,
		"claude-opus-4-6": {"anthropic", "front", true}, "claude-opus-4-7": {"anthropic", "front", true}, "claude-opus-4-8": anthropic,
		"claude-sonnet-5": anthropic, "claude": {"anthropic", "", false}, "claude-code": {"anthropic", "", false},

		// Gemini by version.
		"gemini-2.5-flash": google, "gemini-3.5-flash": google, "gemini-3.1-pro": google, "gemini-3.5-flash-lite": newGemini, "gemini-3.6-flash": newGemini,
		"gemini-flash-latest": newGemini, "gemini-pro-latest": google,

		// Open weights, which templates serve, and names of providers' own services.
		"qwen3.8-27b": qwen, "qwen3": qwen, "qwen3:8b": qwen, "Qwen/Qwen3-Coder-480B-A35B-Instruct": qwen, "qwen3-coder-next": qwen, "qwen2.5-coder:7b": qwen,
		"qwq-32b": qwen, "qwen3.8-max": alibaba, "qwen3-coder-plus": alibaba, "qwen-plus": alibaba, "qwen3.5-flash": alibaba, "qwen-vl-max": alibaba,
		"glm-4.6": glm4, "zai-org/GLM-4.5-Air": glm4, "glm-4-plus": zhipu, "glm-5.3": zhipu, "llama3.1": llama, "meta.llama3-1-70b-instruct-v1:0": llama,
		"gpt-oss:20b": gptOSS, "openai.gpt-oss-120b-1:0": gptOSS, "mistral-nemo": openMistral, "mistral:7b": openMistral, "mixtral-8x7b": openMistral,
		"mistral-large-4": mistral, "codestral-latest": mistral, "devstral-medium": mistral,

		// The first word counts.
		"deepseek-r1-distill-qwen-32b": deepseek, "Qwen3-14B-Claude-4.5-Opus-Distill": qwen, "openai/qwen4-32b": qwen,

		// A word that is part of another one, or of other models.
		"claudette-6": not, "mygemini-5": not, "codellama-7b": not, "ollama": not, "groq": not, "gpt-neo-20b": not, "gpt": not, "gpt-j-6b": not, "marco-o1": not,
		"deepgram-nova-3": not, "supernova-lite": not, "muse": not, "kimiko": not, "claude/house-model": not, "house-model": not, "": not, "/": not, "claude-opus-7/": not,
		strings.Repeat("a", 300) + "/claude-opus-7": not,
	} {
		m := models.Default().Of(name)
		require.Equal(t, want, of{m.Provider, m.System, m.NoPrefill}, "%q", name)
	}
}

// TestOfWindow: a family has a window only where all models of the kind have the same.
func TestOfWindow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"gemini-3-pro": 1_048_576, "gemini-3.1-flash-lite-preview-06-17": 1_048_576, "gemini-2.5-pro-exp-03-25": 1_048_576,
		"gemini-2.5-flash-image": 0, "gemini-3-pro-image-preview": 0, "gemini-2.5-flash-preview-tts": 0, "gemini-5-pro": 0, "gemini-embedding-001": 0,
		"claude-opus-7": 0, "gpt-7": 0, "qwen4": 0,
	} {
		m := models.Default().Of(name)
		require.Equal(t, want, m.Window, name)
		require.Zero(t, m.Reserve(65_536)*m.Input, "%s: the answer has a limit of its own", name)
	}
}

func TestReserve(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"gpt-5":            128_000, // prompts have at most 272,000
		"claude-opus-5-5":  10_000,
		"gemini-4-argon":   10_000,
		"gemini-2.5-flash": 0, // the answer has a limit of its own
	} {
		require.Equal(t, want, models.Default().Of(name).Reserve(10_000), name)
	}
}

// TestOfOwn: own rows are asked first, and what they leave out is what the family of their name says.
func TestOfOwn(t *testing.T) {
	t.Parallel()
	deployment, _ := models.Default().Lookup("claude-opus-5-5")
	deployment.Name = "prod-chat"
	table, err := new(models.Table).With(
		deployment,
		models.Model{Name: "house-model", Thinking: "calls", System: "one"},
		models.Model{Name: "claude-opus-6", Window: 2_000_000},
		models.Model{Name: "openrouter/anthropic/claude-opus-5.5", Thinking: "turn"},
	)
	require.NoError(t, err)
	for name, want := range map[string]models.Model{
		"azure/prod-chat":                      {Provider: "anthropic", Window: 1_000_000, Thinking: "bound", NoPrefill: true},
		"house-model:free":                     {Thinking: "calls", System: "one"},
		"claude-opus-6":                        {Provider: "anthropic", Window: 2_000_000, Thinking: "bound", NoPrefill: true},
		"openrouter/anthropic/claude-opus-5.5": {Provider: "anthropic", Thinking: "turn", NoPrefill: true},
		"anthropic/claude-opus-5.5":            {Provider: "anthropic", Thinking: "bound", NoPrefill: true},
	} {
		m := table.Of(name)
		require.Equal(t, want, models.Model{
			Provider: m.Provider, Window: m.Window, Thinking: m.Thinking, System: m.System, NoPrefill: m.NoPrefill,
		}, "%q", name)
	}
}

func TestOfThinking(t *testing.T) {
	t.Parallel()
	const (
		free, bound, turn    = "", "bound", "turn"
		calls, refused       = "calls", "refused"
		bedrock, longProfile = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.", "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic."
	)
	for name, want := range map[string]string{
		// Claude in the table, by its name and by variants.
		"claude-opus-5-5": bound, "claude-sonnet-5-5": bound, "claude-haiku-5-5": bound,
		"Claude-Opus-5.5": bound, "anthropic/claude-sonnet-5.5": bound, "claude-haiku-5-5@20261007": bound,
		"us.anthropic.claude-opus-5-5-20260901-v1:0": bound, bedrock + "claude-fable-5-1": bound, "anthropic/claude-fable-5.2:beta": bound,
		"claude-fable-5": free, "claude-mythos-5": free, "claude-opus-5": free, "claude-sonnet-5-20260301": free, "claude-opus-4-8": free,
		"claude-opus-4-5": turn, "claude-haiku-4-5-20251001": turn, "claude-sonnet-4-5@20250929": turn, "claude-opus-4-1": turn,

		// Claude that is not in the table: by version, and a date is no version.
		"claude-opus-5-7": bound, "claude-opus-5-7@20270101": bound, "claude-opus-6": bound, "anthropic/claude-sonnet-6": bound,
		"us.anthropic.claude-opus-6-20270101-v1:0": bound, longProfile + "claude-haiku-6-20270301-v1:0": bound, "anthropic.claude-opus-6-v1": bound,
		"claude-fable-5-1-thinking": bound, "claude-opus-5-5[1m]": bound, "claude-sonnet-5.5-fast": bound, "anthropic--claude-5.5-sonnet": bound,
		"claude-saga-6": bound, "claude6-opus": bound,
		"claude-opus-5[1m]": free, "claude-haiku-5": free, "claude-opus-5-20270101": free, "claude-opus-5-2026-10-07": free, "claude-5-opus": free,
		"claude-opus-4-5-thinking": turn, "claude-4": turn, "claude-4.5-sonnet": turn, "anthropic--claude-4-sonnet": turn,
		// An alias without a version is the newest model of its kind.
		"claude-opus-latest": bound, "~anthropic/claude-sonnet-latest": bound, "claude-haiku": bound,
		"claude-mythos-preview": free, "claude": free, "claude-code": free, "anthropic.claude-v2:1": free, "anthropic.claude-v2": free,

		// DeepSeek.
		"deepseek-flash": calls, "deepseek-v4-flash": calls, "deepseek-v4.1-flash": calls, "deepseek-v4-pro": calls, "deepseek/deepseek-v4-pro:free": calls,
		"deepseek-v4": calls, "deepseek-v4-flash-0731": calls, "deepseek-v4-ultra": calls, "deepseek-v5": calls, "deepseek-v5.2-exp": calls, "deepseek-v10": calls,
		"deepseek-ai/DeepSeek-V4-Pro": calls, "accounts/fireworks/models/deepseek-v4p1": calls, "deepseek.v4-v1:0": calls, "us.deepseek.deepseek-v4-v1:0": calls,
		"deepseek-r1": refused, "deepseek-r1-0528": refused, "eu.deepseek.r1-v1:0": refused, "deepseek-r1:7b": refused, "deepseek/deepseek-r1:free": refused,
		"deepseek-chat": free, "deepseek-v3": free, "deepseek-v3.2": free, "deepseek-v3.2-speciale": free, "deepseek-v3-0324": free, "deepseek-v2.5": free,
		"deepseek-coder-v2": free, "deepseek": free, "deepseek-r2": free, "deepseek-v": free, "deepseek-vl2": free,

		// Kimi.
		"kimi-k2-thinking": calls, "kimi-k2-0905": calls, "kimi-k2-0711-preview": calls, "kimi-k2.5": calls, "moonshotai/Kimi-K2.5": calls, "kimi-k2.6": calls,
		"accounts/fireworks/models/kimi-k2p5": calls, "kimi-k2.5:cloud": calls, "@cf/moonshotai/kimi-k2.5": calls, "kimi-k4": calls, "kimi-k3-20270101": calls,
		"kimi-for-coding": calls, "kimi-coding/kimi-for-coding": calls,
		"moonshot-v1-128k": free, "moonshot-v1-256k": free, "kimi-latest": free, "kimi-k1.5": free, "kimi-linear-48b-a3b": free, "kimi": free,

		// Gemini.
		"gemini-3.8-flash": turn, "gemini-3.1-pro-preview": turn, "gemini-3-pro-preview": turn, "gemini-3-flash-preview": turn, "gemini-3.1-flash-lite": turn,
		"models/gemini-3-pro-preview": turn, "google/gemini-3.7-flash:free": turn, "gemini-4-argon": turn, "gemini-3-pro-image": turn, "gemini-10-pro": turn,
		"gemini-2.5-pro": free, "gemini-2.5-flash-preview-09-2025": free, "gemini-2.0-flash-thinking-exp-01-21": free, "gemini-exp-1206": free, "gemini-1.5-pro": free,

		// Others, and nasty ones.
		"gpt-5.6": free, "o3": free, "glm-5.2": free, "qwen3-max": free, "minimax-m3": free, "grok-4": free, "house-model": free,
		"claudette-6": free, "myclaude-opus-6": free, "deepseeker-v4": free, "kimiko-k2": free, "claude/gpt-4o": free, "claude-opus-6/": free,
		"": free, " ": free, "/": free, "-": free, "claude-": free, "claude--": free, "\xff": free, "claude-\xff-6": bound, "claude-opus-６": bound,
		strings.Repeat("a", 300) + "/claude-opus-6": free,
	} {
		require.Equal(t, want, models.Default().Of(name).Thinking, "%q", name)
	}
}

package models_test

import (
	"testing"
	"time"

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
		"gemini-2.5-pro-preview-05-06": "gemini-2.5-pro", "gemini-2.5-flash-lite-preview-09-2025": "gemini-2.5-flash-lite",
		"gemini-2.0-flash-001": "gemini-2.0-flash", "gemini-2.0-flash-exp": "gemini-2.0-flash", "kimi-k2-0905-preview": "kimi-k2-0905",
		"kimi-k2-0711-preview": "kimi-k2-0711", "grok-4-0709": "grok-4", "doubao-seed-1-6-250615": "doubao-seed-1.6",
		"deepseek-v3-0324": "deepseek-v3", "deepseek-r1-0528": "deepseek-r1", "mistral-large-2411": "mistral-large-2411",

		// What hosts put in front.
		"anthropic/claude-sonnet-4-5": "claude-sonnet-4-5", "models/gemini-2.5-pro": "gemini-2.5-pro",
		"publishers/google/models/gemini-2.5-flash": "gemini-2.5-flash", "openrouter/deepseek/deepseek-r1": "deepseek-r1",
		"Qwen/Qwen3-Coder-480B-A35B-Instruct": "qwen3-coder-480b-a35b", "z-ai/glm-5.2": "glm-5.2", "/gpt-4o": "gpt-4o", "a//gpt-4o": "gpt-4o",

		// Azure, Bedrock, Vertex.
		"gpt-35-turbo": "gpt-35-turbo", "gpt-35-turbo-0125": "gpt-35-turbo", "gpt-35-turbo-0613": "gpt-35-turbo-0613",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":                                       "claude-sonnet-4-5",
		"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0": "claude-3-haiku",
		"meta.llama3-1-70b-instruct-v1:0":                                                    "llama3.1",
		"openai.gpt-oss-120b-1:0":                                                            "gpt-oss-120b",
		"claude-sonnet-4-5@20250929":                                                         "claude-sonnet-4-5",
		"claude-3-5-sonnet-v2@20241022":                                                      "claude-3-5-sonnet",
		"gemini-2.5-pro@latest":                                                              "gemini-2.5-pro",

		// Fine-tuned models, tags, sizes.
		"ft:gpt-4o:acme::a1b2": "gpt-4o", "ft:gpt-4o-mini-2024-07-18:acme:mail:a1b2:ckpt-step-8": "gpt-4o-mini", "openai/ft:gpt-4.1:acme::x": "gpt-4.1",
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
		of := models.Default().Of(name)
		if len(name) <= 250 { // longer ones may become too long to be names
			require.Equal(t, of, models.Default().Of("host/"+name), "what a host puts in front is ignored")
		}
		m, ok := models.Default().Lookup(name)
		if ok {
			require.Equal(t, m, of, "a row is asked first")
		}
		require.Equal(t, ok, of.Name != "")
		require.True(t, ok || !of.Price.Known(), "a family has no price")
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

func TestParse(t *testing.T) {
	t.Parallel()
	const usd = models.USD
	rows, err := models.Parse(`
# a comment
@provider acme
@source   https://acme.example/pricing, read by hand  # why
@date     2026-11-21
@encoding o200k_base
@family   acme 1.1
@cache    auto min=1024 step=128 ttl=5m long=1h marks=4 lookback=20
acme-1    200000 150000 8192 | 3 0.30 3.75 6 15
 >128000                     | 6 0.60 7.50 12 22.5
acme-one  = acme-1
@encoding -
@cache    -
acme-2    - - - | - - - - -
@provider other
other-1   1 - 1 | 0.000001 - - - 1000000
`)
	require.NoError(t, err)
	first := models.Model{
		Name: "acme-1", Provider: "acme", Window: 200_000, Input: 150_000, Output: 8192, Encoding: "o200k_base", Family: "acme", Ratio: 1.1,
		Price: models.Price{
			Rates: models.Rates{Input: 3 * usd, CacheRead: 0.3 * usd, CacheWrite: 3.75 * usd, CacheWriteLong: 6 * usd, Output: 15 * usd},
			Long: [3]models.Rates{{
				Above: 128_000,
				Input: 6 * usd, CacheRead: 0.6 * usd, CacheWrite: 7.5 * usd, CacheWriteLong: 12 * usd, Output: 22.5 * usd,
			}},
		},
		Cache:  models.Cache{Auto: true, Min: 1024, Step: 128, TTL: 5 * time.Minute, LongTTL: time.Hour, Breakpoints: 4, Lookback: 20},
		Source: "https://acme.example/pricing, read by hand", Date: "2026-11-21",
	}
	second := first
	second.Name = "acme-one"
	require.Equal(t, []models.Model{
		first, second,
		{Name: "acme-2", Provider: "acme", Family: "acme", Ratio: 1.1, Source: first.Source, Date: first.Date},
		{Name: "other-1", Provider: "other", Window: 1, Output: 1, Price: models.Price{Rates: models.Rates{Input: 1, Output: 1_000_000 * usd}}},
	}, rows)

	rows, err = models.Parse("")
	require.NoError(t, err)
	require.Empty(t, rows)
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const other = ": must be an @ line, a row below @provider, rates of long prompts below a row, or another name"
	for text, want := range map[string]string{
		"a 1 1 1 | - - - - -":                              `models: line 1: a` + other,
		"@vendor x":                                        `models: line 1: "@vendor": must be @provider, @source, @date, @encoding, @family or @cache`,
		"@provider":                                        `models: line 1: @provider has no value`,
		"@family a b":                                      `models: line 1: strconv.ParseFloat: parsing "b": invalid syntax`,
		"@cache size=5":                                    `models: line 1: @cache size=5: must be auto, min, step, ttl, long, marks or lookback`,
		"@cache ttl=5":                                     `models: line 1: time: missing unit in duration "5"`,
		"@provider p\na 1 1 | - - - - -":                   `models: line 2: a` + other,
		"@provider p\na 1 1 1 - - - - -":                   `models: line 2: a` + other,
		"@provider p\na 1k 1 1 | - - - - -":                `models: line 2: "1k": must be a whole number above 0, or -`,
		"@provider p\na 1 1 0 | - - - - -":                 `models: line 2: "0": must be a whole number above 0, or -`,
		"@provider p\na 1 1 9999999999 | - - - - -":        `models: line 2: "9999999999": must be a whole number above 0, or -`,
		"@provider p\na 1 1 1 | 1 - - - 0.1234567":         `models: line 2: "0.1234567": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 0 - - - 1":                 `models: line 2: "0": must be dollars with at most 6 decimals, or -`,
		"@provider p\na 1 1 1 | 1 - - - 1e3":               `models: line 2: "1e3": must be dollars with at most 6 decimals, or -`,
		">5 | 1 1 1 1 1":                                   `models: line 1: >5` + other,
		"@provider p\na 9 - - | 1 - - - 1\n>5 1":           `models: line 3: >5` + other,
		"@provider p\na 9 - - | 1 - - - 1\n>x | 1 - - - 1": `models: line 3: "x": must be a whole number above 0, or -`,
		"@provider p\nb = a":                               `models: line 2: b: no row above is called a`,
		"@provider p\na 9 - - | 1 - - - 1\n" + tiers:       `models: line 6: >4: a row has at most 3 rates of long prompts`,
	} {
		rows, err := models.Parse(text)
		require.EqualError(t, err, want, text)
		require.Nil(t, rows, text)
	}
}

const tiers = ">1 | 1 - - - 1\n>2 | 1 - - - 1\n>3 | 1 - - - 1\n>4 | 1 - - - 1"

func FuzzParse(f *testing.F) {
	f.Add("@provider p\n@cache auto min=1\na 9 - 3 | 1 - 2.5 - 1\n >5 | 1 - - - 1\nb = a")
	f.Add("@provider p\na 9 - 3 | 1 - - - 1\nb - - - | - - - - -")
	f.Add("@provider 0\na - 1 - | - - - - -")
	f.Add("@family x 1.5\n@date 2026-11-21 # c\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := models.Parse(text)
		if err != nil {
			require.Nil(t, rows)
			return
		}
		again, err := models.Parse(text)
		require.NoError(t, err)
		require.Equal(t, rows, again)
		table, err := models.Default().With(rows...)
		if err != nil {
			return // rows may be well written and still wrong
		}
		for _, m := range rows {
			got, ok := table.Lookup(m.Name)
			require.True(t, ok)
			require.Equal(t, m, got)
		}
	})
}

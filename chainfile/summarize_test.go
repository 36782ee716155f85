package chainfile

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trim"
)

// TestSummarizeOptions compares each key with the option that it stands for.
func TestSummarizeOptions(t *testing.T) {
	t.Parallel()
	reads(t, summarizeKeys, map[string]summarize.Options{
		"reserve: 4000":             {Reserve: 4000},
		"keep: none":                {Keep: -1},
		"keep_rounds: 1":            {KeepRounds: 1},
		"keep_turns: 2":             {KeepTurns: 2},
		"keep_tokens: 3":            {KeepTokens: 3},
		"preserve_memory: true":     {PreserveMemory: true},
		"strategy: whole":           {Strategy: summarize.Strategy{}},
		"strategy: whole_by_system": {Strategy: summarize.Strategy{BySystem: true}},
		"strategy: structured":      {Strategy: summarize.Strategy{Structured: true}},
		"strategy: {only_last: 20}": {Strategy: summarize.Strategy{OnlyLast: 20}},
		"strategy: {chunks: 10}":    {Strategy: summarize.Strategy{Chunks: 10}},
		"summary_tokens: 800":       {SummaryTokens: 800},
		"fact_tokens: none":         {FactTokens: -1},
		"inventions: reject":        {Inventions: "reject"},
		"role: system":              {Role: message.RoleSystem},
		"language: zh":              {Language: "zh"},
		"header: 【历史摘要】":            {Header: "【历史摘要】"},
		"no_fallback: true":         {NoFallback: true},
		"parallel: 2":               {Parallel: 2},
		"timeout: 90s":              {Timeout: 90 * time.Second},
		"min_calls: 3":              {MinCalls: 3},
		"strict: true":              {Strict: true},
		"strategy: {facts: [{keyword: a, description: b, many: true}]}": {
			Strategy: summarize.Strategy{Facts: []summarize.Concept{{Keyword: "a", Description: "b", Many: true}}},
		},
		`strategy: {since: "2026-01-31T08:00:00Z"}`: {Strategy: summarize.Strategy{Since: time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)}},
	})
	reads(t, func(a *summarize.Ask) []key { return writerKeys(nil, a)[1:] }, map[string]summarize.Ask{
		"model: gpt-5-mini":         {Model: "gpt-5-mini"},
		"task: List what was done.": {Task: "List what was done."},
		"sections: [Done, Open]":    {Sections: []string{"Done", "Open"}},
		"sections: []":              {Sections: []string{}},
		"retries: none":             {Retries: -1},
		"pass_params: true":         {PassParams: true},
	})
}

func TestSummarizeErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"by: robots":                          `by is "robots", want rules or model`,
		"strategy: most":                      `strategy is "most", want whole, whole_by_system,`,
		"strategy: rules":                     `strategy is "rules", which is a writer, want by: rules, and here whole, whole_by_system,`,
		"by: rules, model: gpt-5-mini":        `model is for a model that writes, and here rules do, want by: model in the same entry, or leave the key out`,
		"task: Be brief.":                     `task is for a model that writes`,
		"timeout: 90s":                        `timeout is for a model that writes`,
		"no_fallback: true":                   `no_fallback is for a model that writes`,
		"strategy: {chunks: 0}":               `strategy.chunks is 0, want a whole number, 1 or more`,
		"strategy: {chunks: 2, only_last: 2}": `strategy is a map, want one strategy, as whole,`,
		"strategy: {facts: []}":               `strategy.facts is a list, want a list of concepts,`,
		"strategy: {since: yesterday}":        `strategy.since is the text "yesterday", want a time,`,
		"role: tool":                          `role is "tool", want user, system or assistant`,
		"mode: fresh":                         `mode is no key here`,
		"timeout: -5s":                        `timeout is the text "-5s", want a time span above 0`,
		"header: ' '":                         `header cannot be: the header is blank, want a visible text`,
		"by: model, sections: ['1.']":         `sections cannot be: heading 0 of sections is "1.", want a heading with letters`,
	} {
		_, err := Parse("c", []byte("chain: [{use: summarize, "+in+"}]"))
		require.ErrorContains(t, err, want, in)
	}
}

// By model, the summaries come from the model that the program sets.
func TestSummarizer(t *testing.T) {
	t.Parallel()
	f, err := Parse("c", []byte("chain: [{use: summarize, by: model, sections: [], keep: 1}]"))
	require.NoError(t, err)
	var h []message.Message
	for range 20 {
		h = append(h, message.User("What does the log of the build say about its cache, and why does it say so?"),
			message.Assistant(message.Text{Text: "It says that the cache is stale, since nobody has cleared it for a long time."}))
	}
	f.Summarizer = middlewaretest.Say("The cache is stale.")
	sent, _, err := middleware.Apply(t.Context(), f.With(middleware.Env{}), &middleware.Request{Messages: h, Force: []string{"*"}})
	require.NoError(t, err)
	require.Contains(t, sent.Messages[1].Text(), "The cache is stale.\n")

	f, err = Parse("c", []byte("chain: [{use: summarize, by: model, keep: 1}]"))
	require.NoError(t, err)
	_, _, err = middleware.Apply(t.Context(), f.With(middleware.Env{}), &middleware.Request{Messages: h})
	require.EqualError(t, err, "chainfile: c:1:30: chain[0].by is model, and the program has none that writes summaries (File.Summarizer), want rules")
	require.Equal(t, middleware.Invalid, middleware.KindOf(err))
}

// TestFitOptions compares each key with the option that it stands for.
func TestOptionsOfOthers(t *testing.T) {
	t.Parallel()
	reads(t, fitKeys, map[string]fit.Options{
		"rules: [anthropic]":                       {Rules: message.Anthropic},
		"rules: [mistral]":                         {Rules: message.Mistral},
		"rules: [openai, bedrock, prefill]":        {Rules: message.OpenAI | message.Bedrock | message.Prefill},
		"rules: [portable]":                        {Rules: message.Portable},
		"limits: {bytes: 6_000_000, images: none}": {Limits: message.Limits{Bytes: 6_000_000, Images: -1}},
		"limits: {many_images: 5, many_side: 6}":   {Limits: message.Limits{ManyImages: 5, ManySide: 6}},
		"target: 1":                                {Target: 1},
		"target: 0.5":                              {Target: 0.5},
		"placeholder: '-'":                         {Placeholder: "-"},
		"note: some is missing":                    {Note: "some is missing"},
		"no_retry: true":                           {NoRetry: true},
	})
	reads(t, trimKeys, map[string]trim.Options{
		"warning: 0.3":          {Warning: 0.3},
		"target: 0.2":           {Target: 0.2},
		"target_tokens: 500":    {TargetTokens: 500},
		"preserve_start: none":  {PreserveStart: -1},
		"preserve_end: 12":      {PreserveEnd: 12},
		"min_messages: none":    {MinMessages: -1},
		"note: '[gone]'":        {Note: "[gone]"},
		"efficiency_only: true": {EfficiencyOnly: true},
		"interval: 1h":          {Interval: time.Hour},
		"min_calls: 9":          {MinCalls: 9},
		"strict: true":          {Strict: true},
		"{preserve_end: 9, for: anthropic/claude-sonnet-5-5, threshold: 0.5, warning: 0.4}": {
			Strategy: "oldest", Warning: 0.4, Threshold: 0.5, PreserveStart: 5, PreserveEnd: 9, MinMessages: 4,
		},
	})
	reads(t, microcompactKeys, map[string]microcompact.Options{
		"keep_rounds: none":                {KeepRounds: -1},
		"limit: 150":                       {Limit: microcompact.Limits{Results: 150}},
		"limit: {results: off, text: 100}": {Limit: microcompact.Limits{Results: -1, Text: 100}},
		"protect: [search]":                {Protect: []string{"search"}},
		"batch: {results: 9}":              {Batch: microcompact.Batch{Results: 9}},
		"batch: {tokens: 30}":              {Batch: microcompact.Batch{Tokens: 30}},
		"digest: 40":                       {Digest: 40},
		"fresh_share: off":                 {FreshShare: -1},
		"fresh_share: 0.3":                 {FreshShare: 0.3},
		"fresh_tokens: 1100":               {FreshTokens: 1100},
		"min_calls: 3":                     {MinCalls: 3},
		"strict: true":                     {Strict: true},
	})
	var trims trim.Options
	read(t, "trigger: {messages: 1}", trimKeys(&trims))
	require.NotNil(t, trims.Trigger)
	var shortens microcompact.Options
	read(t, "trigger: {messages: 1}", microcompactKeys(&shortens))
	require.NotNil(t, shortens.Trigger)
}

// reads checks which options each text gives.
func reads[T any](t *testing.T, keys func(*T) []key, rows map[string]T) {
	t.Helper()
	for text, want := range rows {
		var got T
		read(t, text, keys(&got))
		require.Equal(t, want, got, "%s", text)
	}
}

// read reads a map by its keys.
func read(t *testing.T, text string, keys []key) {
	t.Helper()
	src := &source{name: "c"}
	n, ok := src.parse([]byte(text))
	require.True(t, ok, text)
	n.read(keys)
	require.Nil(t, src.first, text)
}

// TestPage makes sure that docs/chain-files.md has each key of each table.
func TestPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/chain-files.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for s := range strings.SplitSeq(string(text), "\n## ") {
		title, body, _ := strings.Cut(s, "\n")
		sections[title] = body
	}
	want := map[string][]string{"Triggers": namesOf(triggerKeys(nil))}
	for _, k := range new(File).keys() {
		want["The file"] = append(want["The file"], k.name)
	}
	const shared = "Every editor"
	every := []string{"min_calls", "strict", "digest"}
	want[shared] = every
	for title, keys := range optionKeys() {
		want[title] = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(every, key) })
	}
	for title, keys := range want {
		var rows []string
		for line := range strings.Lines(sections[title]) {
			if name, ok := strings.CutPrefix(line, "| `"); ok {
				name, _, _ = strings.Cut(name, "`")
				rows = append(rows, name)
			}
		}
		require.ElementsMatch(t, keys, rows, "the table under %q lists the keys", title)
	}
	for _, set := range ruleSets {
		require.Contains(t, sections["fit"], "`"+set.name+"`")
	}
	for _, name := range counterNames() {
		require.Contains(t, sections["The file"], "`"+name+"`")
	}
}

// TestAllOptions makes sure that each option of a middleware has its key. A
// function cannot be written down.
func TestAllOptions(t *testing.T) {
	t.Parallel()
	options := map[string]reflect.Type{
		"contextedit":  reflect.TypeFor[contextedit.Options](),
		"fit":          reflect.TypeFor[fit.Options](),
		"trim":         reflect.TypeFor[trim.Options](),
		"microcompact": reflect.TypeFor[microcompact.Options](),
		"native":       reflect.TypeFor[native.Options](),
		"summarize":    reflect.TypeFor[summarize.Options](),
	}
	for name, keys := range optionKeys() {
		require.Contains(t, options, name, "this test knows the options of each kind")
		var want []string
		if name == "summarize" {
			want = append(append(want, "by"), keysOf(reflect.TypeFor[summarize.Ask]())...) // who writes is no option
		}
		want = append(want, keysOf(options[name])...)
		if name == "trim" {
			want = append(want, "for") // of the function trim.For
		}
		require.ElementsMatch(t, want, keys, "the keys of %s are its options", name)
	}
}

// keysOf returns the keys that the fields of a struct should have.
func keysOf(of reflect.Type) (keys []string) {
	for f := range of.Fields() {
		if f.Type.Kind() != reflect.Func {
			keys = append(keys, snake(f.Name))
		}
	}
	return keys
}

// TestAllLimits makes sure that each limit has its key, and each key its line.
func TestAllLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/chain-files.md")
	require.NoError(t, err)
	for f := range reflect.TypeFor[message.Limits]().Fields() {
		var l message.Limits
		read(t, snake(f.Name)+": none", limitKeys(&l))
		require.EqualValues(t, -1, reflect.ValueOf(l).FieldByIndex(f.Index).Int(), "0 is no limit, in %s", f.Name)
		require.Contains(t, string(text), "`"+snake(f.Name)+"`")
	}
}

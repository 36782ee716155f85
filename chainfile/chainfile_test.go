package chainfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	const use = "chain:\n  - use: contextedit\n    "
	for name, c := range map[string]struct{ in, want string }{
		"empty":                     {"", `c: is empty: want a list of middlewares under the key chain, as chain: [{use: contextedit}]`},
		"a comment":                 {"# nothing\n", `c: is empty: want a list of middlewares under the key chain, as chain: [{use: contextedit}]`},
		"a word":                    {"contextedit", `c:1:1: is the text "contextedit", want a map with model, window, reserve, counter, journal, archive, scope, conversation, protect, instructions, asking, breakpoints, preset or chain`},
		"no chain":                  {"model: x", `c:1:1: has no chain: want a list of middlewares under the key chain, as chain: [{use: contextedit}]`},
		"preset and chain":          {"preset: economy\nchain: [{use: fit}]", `c:1:9: preset stands for a chain, and there is one: want one of the two`},
		"unknown preset":            {"preset: luxury", `c:1:9: preset is "luxury", want auto or economy`},
		"prices of nothing":         {use + "trigger: {economy: 5}", `c:3:24: chain[0].trigger.economy is 5, want true, or a map as {factor: 1.5}`},
		"one price":                 {use + "trigger: {worth: {read: 0.1}}", `c:3:22: chain[0].trigger.worth needs read and write, or none of them`},
		"empty chain":               {"chain: []", `c:1:8: chain is empty, want at least one middleware, as [{use: contextedit}]`},
		"chain without a value":     {"chain:\n", `c:1:8: chain is left empty, want a list of middlewares, as [{use: contextedit}]`},
		"entry of a word":           {"chain: [contextedit]", `c:1:9: chain[0] is the text "contextedit", want a map with the key use, as {use: contextedit}`},
		"no use":                    {"chain:\n  - keep: 5\n", `c:2:5: chain[0] names no middleware: want the key use, with contextedit`},
		"unknown use":               {"chain:\n- use: context_edit\n", `c:2:8: chain[0].use is "context_edit", which is no middleware (did you mean contextedit?); want contextedit`},
		"unknown key at the top":    {"chains: []", `c:1:1: chains is no key here (did you mean chain?); the keys here are model, window, reserve, counter, journal, archive, scope, conversation, protect, instructions, asking, breakpoints, preset, chain`},
		"no key like it":            {"temperature: 1", `c:1:1: temperature is no key here; the keys here are model, window, reserve, counter, journal, archive, scope, conversation, protect, instructions, asking, breakpoints, preset, chain`},
		"the name in Go":            {use + "ExcludeTools: [a]", `c:3:5: chain[0].ExcludeTools is no key here (did you mean exclude_tools?); the keys here are use, trigger, keep, keep_rounds, `},
		"key twice":                 {use + "keep: 5\n    keep: 6\n", `c:4:5: chain[0].keep is here twice, first in line 3: want each key once`},
		"text for a number":         {use + "keep: five", `c:3:11: chain[0].keep is the text "five", want a whole number, 1 or more, or none`},
		"quoted number":             {use + `keep: "5"`, `c:3:11: chain[0].keep is the text "5", want a whole number, 1 or more, or none`},
		"nothing for a number":      {use + "keep:\n", `c:3:11: chain[0].keep is left empty, want a whole number, 1 or more, or none`},
		"octal or decimal":          {use + "keep: 010", `c:3:11: chain[0].keep is 010, want a whole number, 1 or more, or none`},
		"exponent":                  {use + "keep: 1e3", `c:3:11: chain[0].keep is 1e3, want a whole number, 1 or more, or none`},
		"huge":                      {use + "keep: 99999999999999999999", `c:3:11: chain[0].keep is 99999999999999999999, want a whole number, 1 or more, or none`},
		"zero is the default in Go": {use + "keep: 0", `c:3:11: chain[0].keep is 0, want a whole number, 1 or more, or none`},
		"yes":                       {use + "strict: yes", `c:3:13: chain[0].strict is the text "yes", want true or false`},
		"list for a text":           {use + "placeholder: [cleared]", `c:3:18: chain[0].placeholder is a list, want text`},
		"empty text":                {use + `placeholder: ""`, `c:3:18: chain[0].placeholder is empty, want some text, or leave the key out`},
		"text for a list":           {use + "exclude_tools: db", `c:3:20: chain[0].exclude_tools is the text "db", want a list of tool names, as [one, another]`},
		"options that disagree":     {use + "clear_at_least: 9\n    stop_after: 5", `c:3:21: chain[0].clear_at_least cannot be: clear_at_least is 9 tokens and stop_after 5, want a floor no higher than the stop`},
		"trigger of a number":       {use + "trigger: 5", `c:3:14: chain[0].trigger is 5, want a map of which all must be met, as {tokens: 100000}, or a list of maps of which one must be`},
		"trigger of nothing":        {use + "trigger: []", `c:3:14: chain[0].trigger is empty, want a trigger with tokens, fraction, messages, rounds, tool_uses, reclaims, at_user, not, economy, worth or cold`},
		"unknown trigger":           {use + "trigger: {token: 5}", `c:3:15: chain[0].trigger.token is no key here (did you mean tokens?); the keys here are tokens, fraction, messages, rounds`},
		"trigger at zero":           {use + "trigger: [{rounds: 3}, {tokens: 0}]", `c:3:37: chain[0].trigger[1].tokens is 0, want a whole number, 1 or more`},
		"fraction above one":        {use + "trigger: {fraction: 1.5}", `c:3:25: chain[0].trigger.fraction is 1.5, want a number above 0 and at most 1`},
		"fraction of all":           {use + "trigger: {fraction: .inf}", `c:3:25: chain[0].trigger.fraction is .inf, want a number above 0 and at most 1`},
		"unknown rules":             {"chain: [{use: fit, rules: [bed_rock]}]", `c:1:28: chain[0].rules[0] is "bed_rock", which are no rules (did you mean bedrock?); want openai, openai_responses, anthropic, gemini, bedrock, mistral, chat, messages, as_sent, portable, unconfirmed, prefill, in_place, system_first, one_text, one_system, thinking_calls or plain`},
		"rules in a word":           {"chain: [{use: fit, rules: bedrock}]", `c:1:27: chain[0].rules is the text "bedrock", want a list of openai, openai_responses,`},
		"unknown limit":             {"chain: [{use: fit, limits: {pictures: 5}}]", `c:1:29: chain[0].limits.pictures is no key here; the keys here are bytes, images, media,`},
		"target above one":          {"chain: [{use: fit, target: 2}]", `c:1:28: chain[0].target is 2, want a number above 0 and at most 1`},
		"blank note":                {"chain: [{use: fit, note: ' '}]", `c:1:26: chain[0].note cannot be: note is blank, which providers reject, want a text that can be seen`},
		"reserve, unknown model":    {"model: my-own\nreserve: 5\nchain: [{use: contextedit}]", `c:2:10: reserve needs the key window, the context size of the model in tokens, of which it is a part; model "my-own" is not in the table of models: give its window`},
		"reserve, similar model":    {"model: claude-sonet-4-5\nreserve: 5\nchain: [{use: contextedit}]", `c:2:10: reserve needs the key window, the context size of the model in tokens, of which it is a part; model "claude-sonet-4-5" is not in the table of models, so its window`},
		"reserve of all":            {"window: 5\nreserve: 5\nchain: [{use: contextedit}]", `c:2:10: reserve is 5 tokens, want less than the window of 5`},
		"unknown counter":           {"counter: chars", `c:1:10: counter "chars" is no counter (did you mean chars4?); want auto, cautious, chars4, cjk15, cl100k_base, estimate, o200k_base or o200k_harmony`},
		"second document":           {"model: a\n---\nmodel: b\n", `c:2:1: a second document begins here: want one chain a file`},
		"behind the end":            {"model: a\n...\nmodel: b\n", `c:3:1: a second document begins here: want one chain a file`},
		"anchor":                    {"model: &m x", `c:1:8: an anchor (&) is not understood here: write the value where it is used`},
		"alias":                     {"model: *m", `c:1:8: an alias (*) is not understood here: write the value out, or put text in quotes`},
		"merge key":                 {"<<: {}", `c:1:1: a merge key (<<) is not understood here: write the keys out`},
		"tag":                       {"model: !!str 5", `c:1:8: a tag (!) is not understood here: leave it out, or put text in quotes`},
		"directive":                 {"%YAML 1.2\n---\nmodel: x", `c:1:1: a directive (%) is not understood here: leave it out`},
		"explicit key":              {"? model\n: x", `c:1:1: a key after a question mark is not understood here: write key: value`},
		"a map as key":              {"{{a: b}: c}", `c:1:8: is not YAML: found an invalid key for this map`},
		"tab":                       {"chain:\n\t- use: contextedit\n", `c:2:1: is indented with a tab: YAML wants spaces`},
		"tab after spaces":          {"chain:\n  - use: contextedit\n  \tkeep: 3\n", `c:3:3: is indented with a tab: YAML wants spaces`},
		"name of another system":    {"token_count_method: model\n", `c:1:1: token_count_method is no key here (did you mean counter, at the top of the file?); the keys here are model, `},
		"open quote":                {"model: \"x\nwindow: 5\n", `c:1:8: is not YAML: could not find end character of double-quoted text`},
		"open list":                 {"chain: [{use: contextedit}\n", `c:1:8: is not YAML: `},
		"bad indentation":           {"chain:\n- use: contextedit\n keep: 5\n", `c:3:2: is not YAML: value is not allowed in this context`},
		"two values":                {`{"model": "x"} {"model": "y"}`, `c:1:16: is not YAML: value is not allowed in this context`},
		"not UTF-8":                 {"model: x\n# \xff\n", `c:2:3: is not UTF-8: want a text file in that encoding`},
		"deep lists":                {"chain: " + strings.Repeat("[", 2000), `c:1:40: lies in more than 32 lists and maps, which is deeper than any chain`},
		"too large":                 {"# " + strings.Repeat("x", 64<<10), `c: is longer than 65536 bytes, which no chain file may be`},
		"columns are characters":    {`{"model": "日本語", "window": "y"}`, `c:1:28: window is the text "y", want a whole number, 1 or more`},
		"long text":                 {"window: " + strings.Repeat("y", 99), `c:1:9: window is the text "` + strings.Repeat("y", 40) + `…", want a whole number, 1 or more`},
	} {
		f, err := chainfile.Parse("c", []byte(c.in))
		require.Error(t, err, "this is no chain file")
		require.Nil(t, f, name)
		require.True(t, strings.HasPrefix(err.Error(), c.want), "want %s\ngot  %s", c.want, err)
		require.NotContains(t, err.Error(), "\n", "one line")
		var e *chainfile.Error
		require.ErrorAs(t, err, &e)
	}
}

// conversation has ten rounds with results of 400 bytes.
func conversation() []message.Message {
	msgs := []message.Message{message.System("You fix builds."), message.User("Why does the build fail?")}
	for i := range 10 {
		id, tool := string(rune('a'+i)), []string{"read", "search"}[i%2]
		msgs = append(msgs, message.Assistant(message.ToolCall{ID: id, Name: tool, Arguments: `{"of":"the build of last night"}`}),
			message.Result(id, tool, strings.Repeat(id, 384)+" order #W237815"+id))
	}
	thought := message.Thinking{Text: strings.Repeat("It may be the linker. ", 20)}
	return append(msgs, message.Assistant(thought, message.Text{Text: "The linker."}), message.User("And now?"))
}

// TestOptions compares each key with the option that it stands for.
func TestOptions(t *testing.T) {
	t.Parallel()
	low := trigger.Tokens(1)
	for entry, want := range map[string]contextedit.Options{
		"":                                                     {},
		"trigger: {tokens: 1}":                                 {Trigger: low},
		"trigger: {fraction: 1}":                               {Trigger: trigger.Fraction(1)},
		"trigger: {messages: 24}":                              {Trigger: trigger.Messages(24)},
		"trigger: {rounds: 10}":                                {Trigger: trigger.Rounds(10)},
		"trigger: [{rounds: 11}, {messages: 2}]":               {Trigger: trigger.Any(trigger.Rounds(11), trigger.Messages(2))},
		"trigger: {rounds: 11, messages: 2}":                   {Trigger: trigger.All(trigger.Rounds(11), trigger.Messages(2))},
		"trigger: {tool_uses: 10}":                             {Trigger: trigger.ToolUses(10)},
		"trigger: {at_user: true, tokens: 9}":                  {Trigger: trigger.All(trigger.AtUser(nil), trigger.Tokens(9))},
		"trigger: {at_user: {fraction: 0.5}}":                  {Trigger: trigger.AtUser(trigger.Fraction(0.5))},
		"trigger: {reclaims: 100}":                             {Trigger: trigger.Reclaims(100)},
		"trigger: {not: {rounds: 10}}":                         {Trigger: trigger.Not(trigger.Rounds(10))},
		"trigger: {not: [{rounds: 11}, {messages: 99}]}":       {Trigger: trigger.Not(trigger.Any(trigger.Rounds(11), trigger.Messages(99)))},
		"trigger: {tokens: 1}, keep: 2":                        {Trigger: low, Keep: 2},
		"trigger: {tokens: 1}, keep: none":                     {Trigger: low, Keep: -1},
		"trigger: {tokens: 1}, keep_rounds: 3":                 {Trigger: low, KeepRounds: 3},
		"trigger: {tokens: 1}, keep_tokens: 300":               {Trigger: low, KeepTokens: 300},
		"trigger: {tokens: 1}, only: [read]":                   {Trigger: low, Only: []string{"read"}},
		"trigger: {tokens: 1}, clear_thinking: true, only: []": {Trigger: low, ClearThinking: true, Only: []string{}},
		"trigger: {tokens: 1}, exclude_tools: [read]":          {Trigger: low, ExcludeTools: []string{"read"}},
		"trigger: {tokens: 1}, clear_at_least: 999":            {Trigger: low, ClearAtLeast: 999},
		"trigger: {tokens: 1}, stop_after: 150":                {Trigger: low, StopAfter: 150},
		"trigger: {tokens: 1}, clear_tool_inputs: true":        {Trigger: low, ClearToolInputs: true},
		"trigger: {tokens: 1}, clear_inputs_of: [search]":      {Trigger: low, ClearInputsOf: []string{"search"}},
		"trigger: {tokens: 1}, placeholder: '[gone]'":          {Trigger: low, Placeholder: "[gone]"},
		"trigger: {tokens: 1}, digest: none":                   {Trigger: low, Digest: -1},
		"trigger: {tokens: 1}, digest: 40":                     {Trigger: low, Digest: 40},
		"trigger: {tokens: 1}, min_calls: 99":                  {Trigger: low, MinCalls: 99},
		"trigger: {fraction: 0.5}, strict: true":               {Trigger: trigger.Fraction(0.5), Strict: true},
	} {
		f, err := chainfile.Parse("c", []byte("chain: [{use: contextedit, "+entry+"}]"))
		require.NoError(t, err, entry)
		req := &middleware.Request{Messages: conversation()}
		got, gotEvents, gotErr := middleware.Apply(t.Context(), f.With(middleware.Env{}), req)
		want, wantEvents, wantErr := middleware.Apply(t.Context(), contextedit.New(want), req)
		require.Equal(t, wantErr, gotErr, entry)
		require.Len(t, gotEvents, len(wantEvents), entry)
		for i := range gotEvents {
			require.Equal(t, wantEvents[i].String(), gotEvents[i].String(), entry)
		}
		if wantErr == nil {
			require.Equal(t, want.Messages, got.Messages, entry)
			require.Equal(t, strings.HasSuffix(entry, "digest: 40"), strings.Contains(fmt.Sprint(got.Messages), "some facts: #W237815"), "facts are left")
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	file := func(text string) *chainfile.File {
		f, err := chainfile.Parse("c", []byte(text))
		require.NoError(t, err)
		return f
	}
	full := file("model: m\nwindow: 1000\nreserve: 10\ncounter: chars4\nchain: [{use: contextedit}]")
	bare := file("{\n\t\"chain\": [\n\t\t{\"use\": \"contextedit\"}\n\t]\n}")
	require.Equal(t, tokens.Chars4, full.Counter)
	require.Nil(t, bare.Counter)
	own := middleware.Budget{Window: 5}
	for name, c := range map[string]struct {
		file   *chainfile.File
		req    middleware.Request
		model  string
		budget *middleware.Budget
	}{
		"the file's":         {full, middleware.Request{}, "m", &middleware.Budget{Window: 1000, Reserve: 10}},
		"the request's":      {full, middleware.Request{Model: "n", Budget: &own}, "n", &own},
		"nobody's":           {bare, middleware.Request{}, "", nil},
		"the request's only": {bare, middleware.Request{Model: "n", Budget: &own}, "n", &own},
	} {
		before := c.req
		got, _, err := middleware.Apply(t.Context(), c.file.With(middleware.Env{}), &c.req)
		require.NoError(t, err, name)
		require.Equal(t, c.model, got.Model, name)
		require.Equal(t, c.budget, got.Budget, name)
		require.Equal(t, before, c.req, "the caller's request stays as it was")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	f, err := chainfile.Load(path("good.yaml", "chain: [{use: contextedit}]"))
	require.NoError(t, err)
	require.Len(t, f.Chain, 1)

	bad := path("bad.yaml", "chain: 5")
	_, err = chainfile.Load(bad)
	require.ErrorContains(t, err, bad+":1:8: chain is 5")

	_, err = chainfile.Load(path("large.yaml", strings.Repeat("#\n", 64<<10)))
	require.ErrorContains(t, err, "longer than")

	_, err = chainfile.Load(filepath.Join(dir, "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "chainfile: open ")

	_, err = chainfile.Load(dir)
	require.ErrorContains(t, err, "is a directory")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "chain: [{use: contextedit}]", example, "a: &x [*x]", "? [a]: b", "- - - x", "{\"a\": [1, 2.5, null, true, \"\\u00e9\"]}",
		"chain:\n  - use: contextedit\n    placeholder: |\n      a\n      b\n", "a: 1\n---\nb: 2\n", "\ufeffmodel: x\r\n", "key: 'it''s'\n", "<<: *a", "!!map {}",
		"window: 0x_1\nreserve: .nan", "a:\n\t- b", "{[a]: b, {c: d}: e}", "a: >-\n  x\n\n  y\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := chainfile.Parse("c", data)
		if err == nil {
			require.NotEmpty(t, file.Chain)
			file.Archive = nil // it may name a folder
			_, _, err := middleware.Apply(t.Context(), file.With(middleware.Env{}), &middleware.Request{Messages: conversation()})
			if err != nil {
				require.Equal(t, middleware.Invalid, middleware.KindOf(err), "only an option that does not fit the request fails the call: %v", err)
			}
			return
		}
		var e *chainfile.Error
		require.ErrorAs(t, err, &e)
		require.NotContains(t, err.Error(), "\n")
		require.NotEmpty(t, e.Text)
		if e.Line > 0 {
			require.Positive(t, e.Column)
		}
	})
}

// A model that the table knows brings its window.
func TestWindowOfTheModel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*middleware.Budget{
		"":                             nil,
		"model: gpt-4o":                nil, // the chain looks it up itself, for the model that the request names
		"model: gpt-4o\nreserve: 5000": {Window: 128_000, Reserve: 5000},
		"model: gpt-4o\nwindow: 9000":  {Window: 9000},
		"model: gpt-4o\nwindow: 9000\nreserve: 10": {Window: 9000, Reserve: 10},
	} {
		f, err := chainfile.Parse("c", []byte(text+"\nchain: [{use: contextedit, trigger: {fraction: 0.001}, keep: 1, strict: true}]"))
		require.NoError(t, err)
		sent, events, err := middleware.Apply(t.Context(), f.With(middleware.Env{}), &middleware.Request{Messages: conversation()})
		if text == "" {
			require.ErrorContains(t, err, "window")
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, sent.Budget, text)
		require.NotEmpty(t, events, text)
		require.Equal(t, middleware.Edited, events[0].Kind, text)
	}
	_, err := chainfile.Parse("c", []byte("model: gpt-4o\nreserve: 128000\nchain: [{use: contextedit}]"))
	require.ErrorContains(t, err, "want less than the window of 128000")
}

// TestUnknownModel has names of models that are not in the table.
func TestUnknownModel(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"model: gpt-99\nchain: [{use: fit}]": `model "gpt-99" is not in the table of models, so its window and prices are unknown; ` +
			`the most similar names are gpt-`,
		"model: gpt-99\nwindow: 5000\nchain: [{use: fit}]":             `the most similar names are gpt-`,
		"model: our-own-distilled-one\nchain: [{use: fit}]":            `model "our-own-distilled-one" is not in the table of models: give its window`,
		"model: our-own-distilled-one\nwindow: 9\nchain: [{use: fit}]": "",
		"model: gpt-4.1\nchain: [{use: fit}]":                          "",
		"chain: [{use: fit}]":                                          "",
	} {
		f, err := chainfile.Parse("f", []byte(file))
		require.NoError(t, err)
		var told []string
		chain := f.With(middleware.Env{})
		for range 2 {
			_, events, err := middleware.Apply(t.Context(), chain, &middleware.Request{Messages: []message.Message{message.User("q")}})
			require.NoError(t, err)
			for _, e := range events {
				if e.By == "chainfile" {
					require.Equal(t, middleware.Misconfigured, e.Kind)
					told = append(told, e.Why)
				}
			}
		}
		if want == "" {
			require.Empty(t, told, file)
			continue
		}
		require.Len(t, told, 1, "once: %s", file)
		require.Contains(t, told[0], want)
	}
}

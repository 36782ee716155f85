package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/chainfile"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/models"
)

// reading is a recording of an agent that reads n files.
func reading(id string, n int) string {
	msgs := []string{`{"role": "user", "content": "Read the files."}`}
	for i := range n {
		msgs = append(msgs,
			fmt.Sprintf(`{"role": "assistant", "content": "", "tool_calls": [{"id": "c%d", "name": "read", "arguments": "{\"file\":\"%d.go\"}"}]}`, i, i),
			fmt.Sprintf(`{"role": "tool", "tool_call_id": "c%d", "name": "read", "content": "order #W%d00; %s"}`, i, i, strings.Repeat("code of the file; ", 50)))
	}
	return fmt.Sprintf(`{"id": %q, "messages": [%s, {"role": "assistant", "content": "done"}]}`, id, strings.Join(msgs, ", "))
}

// folder returns a folder with recordings and facts.
func folder(t *testing.T, facts string, talks ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"conversations": strings.Join(talks, "\n"), "facts": facts} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl.gz"), b.Bytes(), 0o600))
	}
	return dir
}

// lines are the objects that replay --json writes.
func lines(t *testing.T, out string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &object), line)
		all = append(all, object)
	}
	return all
}

func TestReplay(t *testing.T) {
	t.Parallel()
	chain := write(t, "chain: [{use: contextedit, trigger: {messages: 1}, keep: 2, digest: none}]")
	dir := folder(t, `{"conversation": "a", "fact": "#W000", "kind": "id", "used_at_message": 5}
{"conversation": "a", "fact": "#W000", "kind": "id", "used_at_message": 21}`, reading("a", 10), reading("b", 3))
	status, stdout, stderr := exec(t, "", "replay", dir, "--json", "--baselines", "--chain", chain)
	require.Zero(t, status, stderr)
	require.Empty(t, stderr)
	all := lines(t, stdout)
	require.Len(t, all, 11)
	mine, none := all[0], all[1]
	require.Equal(t, chain, mine["chain"])
	require.Equal(t, "none", none["chain"])
	for _, key := range []string{
		"chain", "conversations", "calls", "tokens", "cost", "worst", "cache_hit", "edits", "freed", "facts", "violations", "irreducible", "chain_seconds",
	} {
		require.Contains(t, mine, key)
	}
	require.InDelta(t, 2, mine["conversations"], 0)
	require.InDelta(t, 15, mine["calls"], 0)
	require.Equal(t, map[string]any{"all": 0.5, "hard": 0.5}, mine["facts"])
	require.Equal(t, map[string]any{"K0": 1.0, "K1": 1.0, "K9": 1.0, "K11.5": 1.0, "K49": 1.0}, none["cost"])
	require.Equal(t, none["cost"], none["worst"])
	cost, ok := mine["cost"].(map[string]any)
	require.True(t, ok)
	require.Less(t, cost["K0"], 1.0)
	require.Greater(t, cost["K49"], 1.0)

	status, fewer, stderr := exec(t, "", "replay", "--json", "--min-calls", "5", "--chain", chain, dir)
	require.Zero(t, status, stderr)
	require.InDelta(t, 11, lines(t, fewer)[0]["calls"], 0)

	status, table, stderr := exec(t, "", "replay", "--baselines", "--chain", chain, "--rank", "K0", "--bar", "0.6", dir)
	require.Zero(t, status, stderr)
	rows := strings.Split(table, "\n")
	require.Equal(t, "2 conversations, 15 calls. Cost relative to never editing, ranked by K0; first the chains with 60 % of hard facts in view.", rows[0])
	require.Regexp(t, `^Prices as those of gpt-.* \(K0\), gpt-4.* \(K1\), gpt-5.*, gemini-.* \(K9\), .*claude-.* \(K11.5\), deepseek-.* \(K49\)\.$`, rows[1])
	require.Equal(t, strings.Fields("chain K0 K1 K9 K11.5 K49 worst mean peak hits edits facts hard forced invalid"), strings.Fields(rows[3]))
	require.Len(t, rows, 4+11+1)
	at := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, chain) })
	require.Contains(t, rows[at], "-  "+chain, "a chain below the bar has no rank")
	require.Equal(t, len(rows)-3, at, "it is below the others, though it costs least:\n%s", table)
}

// TestReplayModel adds the column of a model, with its window.
func TestReplayModel(t *testing.T) {
	t.Parallel()
	args := []string{"replay", "--preset", "auto", "--model", "deepseek-v4-flash", write(t, reading("a", 10))}
	status, table, stderr := exec(t, "", args...)
	require.Zero(t, status, stderr)
	require.Contains(t, table, "ranked by deepseek-v4-flash.\n")
	require.Regexp(t, `K49 +deepseek-v4-flash +worst`, table)
	status, out, stderr := exec(t, "", append(args, "--json")...)
	require.Zero(t, status, stderr)
	cost, ok := lines(t, out)[0]["cost"].(map[string]any)
	require.True(t, ok)
	require.Len(t, cost, 6)
	require.InDelta(t, models.Default().Of("deepseek-v4-flash").Window, lines(t, out)[0]["window"], 0)
}

func TestReplayUsage(t *testing.T) {
	t.Parallel()
	file := write(t, reading("a", 1))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no recordings: want files or folders"},
		{[]string{file}, "no chain: want --chain FILE, --preset auto or --baselines"},
		{[]string{"--baselines", "--rank", "K2", file}, `--rank is "K2", want K0, K1, K9, K11.5, K49 or the model of --model`},
		{[]string{"--baselines", "--model", "luxury", file}, `--model is "luxury", want a model with a price`},
		{[]string{"--baselines", "--bar", "2", file}, "--bar is 2, want a share from 0 to 1"},
		{[]string{"--baselines", "--counter", "x", file}, `--counter: "x" is no counter`},
		{[]string{"--baselines", "--window", "-1", file}, "a negative option"},
		{[]string{"--preset", "luxury", file}, `replay: --preset is "luxury", want auto or economy`},
	} {
		status, stdout, stderr := exec(t, "", append([]string{"replay"}, c.args...)...)
		require.Equal(t, 2, status, "%v: %s", c.args, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
	}
	for name, want := range map[string]string{file + ".gone": "no such file", write(t, "chain: [{use: contextedit, kep: 1}]"): "kep"} {
		status, _, stderr := exec(t, "", "replay", "--chain", name, file)
		require.Equal(t, 1, status)
		require.Contains(t, stderr, want)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := exec(t, "", "models", "ft:gpt-4o-2024-08-06:acme::x1")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "window          128000\n")
	require.Contains(t, stdout, "encoding        o200k_base\n")
	require.NotContains(t, stdout, "input", "the price of a fine-tuned model is not known")

	status, stdout, stderr = exec(t, "", "models")
	require.Zero(t, status, stderr)
	require.Equal(t, len(slices.Collect(models.Default().All()))+1, strings.Count(stdout, "\n"), "a line for each, and a head")

	status, stdout, stderr = exec(t, "", "models", "never-heard-of")
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Equal(t, "laconic: models: nothing is known of \"never-heard-of\"; laconic models lists what is\n", stderr)
	status, _, stderr = exec(t, "", "models", "a", "b")
	require.Equal(t, 2, status)
	require.Equal(t, "laconic: models: 2 names given, want one at most\n", stderr)
}

// TestReplayOwn replays the sessions on this machine, and reads none before a person has agreed.
func TestReplayOwn(t *testing.T) {
	home, page := t.TempDir(), filepath.Join(t.TempDir(), "page.html")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	status, _, stderr := exec(t, "", "replay")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "no sessions of Claude Code, Codex, Gemini CLI and opencode are below "+home)

	folder := filepath.Join(home, ".claude", "projects", "-work")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	text := `{"type":"user","sessionId":"s","message":{"role":"user","content":"Why?"}}
{"type":"assistant","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"So."}]}}
`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "s.jsonl"), []byte(text), 0o600))
	status, _, stderr = exec(t, "y\n", "replay", "--html", page)
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "want --yes")
	require.NoFileExists(t, page)
	status, table, stderr := exec(t, "", "replay", "--html", page, "--yes")
	require.Zero(t, status, stderr)
	require.Contains(t, stderr, "Claude Code          1 file, 0.0 MB")
	require.Contains(t, table, "auto")
	require.FileExists(t, page)
}

// TestVerdict checks what is said about the results of both halves.
func TestVerdict(t *testing.T) {
	t.Parallel()
	half := func(n, shown, uses int, cost float64) measured {
		var talks []replay.Talk
		for i := range n {
			c := cost + 0.1*float64(i%2) - 0.05
			talks = append(talks, replay.Talk{Costs: []float64{c}, None: []float64{1}, Hard: replay.Ratio{N: max(0, shown-i%2), Of: uses}})
		}
		return newMeasured(settings{}, talks)
	}
	const none, broken, few, dear = "No settings keep the floor", "is not kept in the conversations held back", "too few to tell", "do not tell that this costs less"
	for name, c := range map[string]struct {
		best  float64 // hard facts in view in the half of the search
		held  measured
		floor float64
		want  []string
	}{
		"kept":             {1, half(30, 10, 10, 0.6), 0.9, nil},
		"not kept":         {1, half(30, 10, 10, 0.6), 0.98, []string{broken}},
		"perhaps not kept": {1, half(30, 10, 10, 0.6), 0.955, []string{broken, few}},
		"perhaps kept":     {1, half(30, 10, 10, 0.6), 0.945, []string{few}},
		"no settings":      {0.97, half(30, 10, 10, 0.6), 0.98, []string{none}},
		"few recordings":   {1, half(9, 20, 20, 0.6), 0.5, []string{few}},
		"few uses":         {1, half(20, 4, 4, 0.6), 0.5, []string{few}},
		"saves nothing":    {1, half(30, 10, 10, 1), 0.9, []string{dear}},
	} {
		tune := tuning{replayed: replayed{model: "gpt-5"}, floor: c.floor}
		var out strings.Builder
		tune.report(&out, measured{cost: 0.6, hard: c.best}, c.held, rand.New(rand.NewPCG(1, 1)))
		for _, text := range []string{none, broken, few, dear} {
			require.Equal(t, slices.Contains(c.want, text), strings.Contains(out.String(), text), "%s: %q in:\n%s", name, text, out.String())
		}
	}
}

func TestTune(t *testing.T) {
	t.Parallel()
	var talks, facts []string
	for i := range 8 {
		id := fmt.Sprint("t", i)
		talks = append(talks, reading(id, 30))
		facts = append(facts, fmt.Sprintf(`{"conversation": %q, "fact": "#W000", "kind": "id", "used_at_message": 41}`, id))
	}
	dir := folder(t, strings.Join(facts, "\n"), talks...)
	args := []string{"tune", "--model", "claude-sonnet-4-5", "--replays", "6", dir}
	status, stdout, stderr := exec(t, "", args...)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "# 6 settings tried on 4 conversations")
	require.Contains(t, stdout, "# held back,    4: cost ")
	require.Contains(t, stdout, "(the defaults)")
	require.Regexp(t, `(?m)^# \*  \d`, stdout, "the best settings are marked")
	require.Contains(t, stdout, "too few to tell whether the floor is kept: 4 conversations with 4 uses")
	_, err := chainfile.Parse("tuned", []byte(stdout))
	require.NoError(t, err, "the output is a chain file")
	_, again, _ := exec(t, "", args...)
	require.Equal(t, stdout, again, "the seed is fixed")

	tuned := write(t, stdout)
	status, _, stderr = exec(t, "", "replay", "--chain", tuned, dir)
	require.Zero(t, status, stderr)

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no model":      {[]string{dir}, "no model: want --model NAME"},
		"unknown model": {[]string{"--model", "none", dir}, `--model is "none"`},
		"floor":         {[]string{"--model", "gpt-5", "--floor", "98", dir}, "want a share from 0 to 1"},
		"no replays":    {[]string{"--model", "gpt-5", "--replays", "0", dir}, "want 1 or more"},
		"no recordings": {[]string{"--model", "gpt-5"}, "no recordings"},
		"no facts":      {[]string{"--model", "gpt-5", folder(t, "", talks...)}, "0 conversations with hard facts"},
	} {
		status, stdout, stderr := exec(t, "", append([]string{"tune"}, c.args...)...)
		require.NotZero(t, status, name)
		require.Empty(t, stdout, name)
		require.Contains(t, stderr, c.want, name)
	}
}

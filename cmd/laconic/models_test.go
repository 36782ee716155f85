package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

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

// Exactly counted is what the model's own tokenizer counts.
func TestExact(t *testing.T) {
	t.Parallel()
	const conversation = `[{"role":"user","content":"hi"}]`
	for counter, exact := range map[string]bool{"o200k_base": true, "cl100k_base": false, "auto": true, "estimate": false} {
		chain := write(t, "{model: gpt-4o, counter: "+counter+", chain: [{use: contextedit}]}")
		status, stdout, stderr := exec(t, conversation, "apply", "--chain", chain)
		require.Zero(t, status, stderr)
		require.Equal(t, exact, strings.Contains(stdout, `"exact":true`), counter)
	}
}

// TestCountByTheModel counts by the tokenizer of the model that the conversation names, and says so.
func TestCountByTheModel(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][2]string{
		"gpt-4o":            {"o200k_base", `"exact":true,`},
		"gpt-4":             {"cl100k_base", `"exact":true,`},
		"gemini-2.5-flash":  {"estimate", ""},
		"a model of no row": {"estimate", ""},
	} {
		body := `{"model":"` + model + `","messages":[{"role":"user","content":"上下文压缩 context compaction"}]}`
		counter, err := inFiles.Counter(want[0])
		require.NoError(t, err)
		_, stdout, stderr := exec(t, body, "count")
		require.Equal(t, "laconic: count: by "+want[0]+"\n", stderr)
		require.Equal(t, strconv.Itoa(tokens.Meter{Counter: counter}.Request([]message.Message{message.User("上下文压缩 context compaction")}, nil))+"\n", stdout)
		_, stdout, _ = exec(t, body, "count", "--json")
		require.Contains(t, stdout, `"counter":"`+want[0]+`"`)
		require.Contains(t, stdout, want[1])
	}
}

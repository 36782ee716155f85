package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModelsCheck(t *testing.T) {
	t.Parallel()
	const usage = "laconic: models: --check compares all models, so it takes no name\n"
	for name, c := range map[string]struct{ file, out, err string }{
		"models.dev": {
			`{"openai":{"models":{
				"gpt-4o":{"limit":{"context":128000,"output":8192},"cost":{"input":2.5,"output":10,"cache_read":0.5}},
				"gpt-never":{"limit":{"context":1}}}},
			  "reseller":{"models":{"gpt-4o":{"cost":{"input":9,"output":9}}}},
			  "moonshotai":{"models":{"kimi-k2.6":{"limit":{"context":262144},"cost":{"input":0.95}}}}}`,
			"gpt-4o: longest answer is 16384, theirs 8192\ngpt-4o: cached input is 1.25, theirs 0.5\n2 models compared, 2 differences\n", "",
		},
		"LiteLLM": {
			`{"sample_spec":{"litellm_provider":"one of …","max_input_tokens":"a number"},
			  "gpt-5":{"litellm_provider":"openai","max_input_tokens":272000,"input_cost_per_token":1.25e-06,"output_cost_per_token":1.1e-05},
			  "gemini/gemini-2.5-pro":{"litellm_provider":"gemini","max_input_tokens":1048576,"max_output_tokens":65535},
			  "azure/gpt-5":{"litellm_provider":"azure","input_cost_per_token":1}}`,
			"gpt-5: output is 10, theirs 11\n2 models compared, 1 differences\n", "",
		},
		"another JSON": {`{"a":{"b":1},"c":[]}`, "", " has none of the models of the table: want the JSON of models.dev or of LiteLLM\n"},
		"a list":       {`[]`, "", ": want the JSON of models.dev or of LiteLLM: json: cannot unmarshal array into Go value of type map[string]json.RawMessage\n"},
		"no JSON":      {`<html>`, "", ": want the JSON of models.dev or of LiteLLM: invalid character '<' looking for beginning of value\n"},
	} {
		file := filepath.Join(t.TempDir(), "table.json")
		require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
		status, stdout, stderr := exec(t, "", "models", "--check", file)
		require.Equal(t, c.out, stdout, name)
		if c.err != "" {
			c.err = "laconic: models: " + file + c.err
		}
		require.Equal(t, c.err, stderr, name)
		require.Equal(t, c.err != "", status != 0, name)
	}
	status, _, stderr := exec(t, "", "models", "--check", "none.json")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "none.json")
	status, _, stderr = exec(t, "", "models", "--check", "f", "gpt-4o")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, usage[:len(usage)-1])
}

package foreign_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware/report"
)

func TestCacheMiss(t *testing.T) {
	t.Parallel()
	type reason struct {
		Type   string `json:"type"`
		Tokens int    `json:"cache_missed_input_tokens"`
	}
	changed := report.Cache{Miss: "tools_changed", Missed: 900}
	for name, c := range map[string]struct {
		fields map[string]any
		want   report.Cache
	}{
		"nothing":               {},
		"another field":         {fields: map[string]any{"type": "tools_changed"}},
		"a word":                {map[string]any{"cache_miss_reason": "tools_changed"}, report.Cache{Miss: "tools_changed"}},
		"Anthropic":             {map[string]any{"cache_miss_reason": map[string]any{"type": "tools_changed", "cache_missed_input_tokens": 900}}, changed},
		"Anthropic, a type":     {map[string]any{"cache_miss_reason": reason{"tools_changed", 900}}, changed},
		"Anthropic, whole":      {map[string]any{"diagnostics": map[string]any{"cache_miss_reason": reason{"tools_changed", 900}}}, changed},
		"Anthropic, a word":     {map[string]any{"diagnostics": json.RawMessage(`{"cache_miss_reason":"tools_changed"}`)}, report.Cache{Miss: "tools_changed"}},
		"Anthropic, no miss":    {fields: map[string]any{"diagnostics": map[string]any{"cache_miss_reason": nil}}},
		"OpenAI":                {map[string]any{"prompt_cache_diagnostics": `{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":900}`}, changed},
		"OpenAI, bytes":         {map[string]any{"prompt_cache_diagnostics": []byte(`{"type":"cache_miss","reason":"tools_changed","cache_missed_tokens":900}`)}, changed},
		"OpenAI, a hit":         {fields: map[string]any{"prompt_cache_diagnostics": map[string]any{"type": "cache_hit"}}},
		"OpenAI, nothing known": {map[string]any{"prompt_cache_diagnostics": map[string]any{"type": "unavailable"}}, report.Cache{Miss: "unavailable"}},
		"nonsense":              {fields: map[string]any{"diagnostics": make(chan int), "cache_miss_reason": 7, "prompt_cache_diagnostics": "{"}},
		"impossible numbers":    {map[string]any{"cache_miss_reason": map[string]any{"type": "x", "cache_missed_input_tokens": -1e300}}, report.Cache{Miss: "x"}},
		"null":                  {fields: map[string]any{"diagnostics": nil, "cache_miss_reason": nil}},
	} {
		require.Equal(t, c.want, foreign.CacheMiss(c.fields), name)
	}
}

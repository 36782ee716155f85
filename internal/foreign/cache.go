package foreign

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/laconic-go/laconic/middleware/report"
)

// CacheMiss returns why a provider could not read more of a prompt from its cache, and how many tokens. It searches what a
// framework has of an answer for the fields of the providers, with the values of their JSON or types that become such JSON:
//
//	cache_miss_reason           Anthropic, also within diagnostics: a text, or an object with type and cache_missed_input_tokens
//	prompt_cache_diagnostics    OpenAI: an object with type cache_miss, reason and cache_missed_tokens
//
// Without such a field, or if it is about a hit, the result has neither.
func CacheMiss(fields map[string]any) report.Cache {
	for _, key := range []string{"diagnostics", "cache_miss_reason", "prompt_cache_diagnostics"} {
		value, ok := fields[key]
		if !ok {
			continue
		}
		if reason, ok := value.(string); ok && !strings.HasPrefix(reason, "{") {
			return report.Cache{Miss: reason}
		}
		if c := missOf(value); c.Miss != "" {
			return c
		}
	}
	return report.Cache{}
}

// missOf reads one field.
func missOf(value any) report.Cache {
	data, ok := value.(json.RawMessage)
	switch v := value.(type) {
	case string:
		data, ok = json.RawMessage(v), true
	case []byte:
		data, ok = v, true
	}
	if !ok {
		var err error
		data, err = json.Marshal(value)
		if err != nil {
			return report.Cache{}
		}
	}
	var d struct {
		Within *json.RawMessage `json:"cache_miss_reason"`
		Type   string           `json:"type"`
		Reason string           `json:"reason"`
		Input  float64          `json:"cache_missed_input_tokens"`
		Tokens float64          `json:"cache_missed_tokens"`
	}
	if json.Unmarshal(data, &d) != nil || d.Type == "cache_hit" {
		return report.Cache{}
	}
	if d.Within != nil {
		var reason string
		if json.Unmarshal(*d.Within, &reason) == nil {
			return report.Cache{Miss: reason}
		}
		return missOf(*d.Within)
	}
	if d.Reason == "" {
		d.Reason = d.Type
	}
	return report.Cache{Miss: d.Reason, Missed: int(min(max(0, d.Input, d.Tokens), math.MaxInt32))}
}

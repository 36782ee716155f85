package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/laconic-go/laconic/models"
)

// listed is what a public table has for a model. Prices are US dollars for a million tokens; 0 is unknown.
type listed struct {
	Limit struct {
		Context float64 `json:"context"`
		Input   float64 `json:"input"`
		Output  float64 `json:"output"`
	} `json:"limit"`
	Cost struct {
		Input  float64 `json:"input"`
		Output float64 `json:"output"`
		Read   float64 `json:"cache_read"`
		Write  float64 `json:"cache_write"`
	} `json:"cost"`
}

// makersOf are the names that public tables have for providers of ours, where they differ.
var makersOf = map[string]string{
	"gemini": "google", "moonshotai": "moonshot", "zai": "zhipu", "zhipuai": "zhipu", "dashscope": "alibaba",
	"llama": "meta", "meta_llama": "meta",
}

// checkModels prints where the table differs from a public one in a file: the JSON of models.dev (providers, which have models)
// or of LiteLLM (models). Only what the makers of models list counts, and only values that both have.
func checkModels(table *models.Table, file string, std stdio) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("%s: want the JSON of models.dev or of LiteLLM: %w", file, err)
	}
	found, differ := 0, 0
	compare := func(host, name string, l listed) {
		m, known := table.Lookup(name)
		if !known || m.Provider != cmp.Or(makersOf[host], host) {
			return
		}
		found++
		for _, d := range differences(m, l) {
			differ++
			fmt.Fprintf(std.out, "%s: %s\n", name, d)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		var provider struct {
			Models map[string]listed `json:"models"`
		}
		if json.Unmarshal(entries[key], &provider) == nil {
			for _, name := range slices.Sorted(maps.Keys(provider.Models)) {
				compare(key, name, provider.Models[name])
			}
		}
		if host, l, ok := ofLiteLLM(entries[key]); ok {
			compare(host, key, l)
		}
	}
	if found == 0 {
		return fmt.Errorf("%s has none of the models of the table: want the JSON of models.dev or of LiteLLM", file)
	}
	fmt.Fprintf(std.out, "%d models compared, %d differences\n", found, differ)
	return nil
}

// ofLiteLLM reads a model as LiteLLM lists it, with the price of one token.
func ofLiteLLM(data []byte) (host string, l listed, ok bool) {
	var e struct {
		Host   string  `json:"litellm_provider"`
		Prompt float64 `json:"max_input_tokens"`
		Answer float64 `json:"max_output_tokens"`
		Input  float64 `json:"input_cost_per_token"`
		Output float64 `json:"output_cost_per_token"`
		Read   float64 `json:"cache_read_input_token_cost"`
		Write  float64 `json:"cache_creation_input_token_cost"`
	}
	if json.Unmarshal(data, &e) != nil || e.Host == "" { // the sample at the beginning has texts in place of numbers
		return "", l, false
	}
	l.Limit.Input, l.Limit.Output = e.Prompt, e.Answer
	l.Cost.Input, l.Cost.Output = e.Input*models.USD, e.Output*models.USD
	l.Cost.Read, l.Cost.Write = e.Read*models.USD, e.Write*models.USD
	return e.Host, l, true
}

// differences returns a line for each value that a row and a public table do not have alike.
func differences(m models.Model, l listed) (lines []string) {
	usd := func(c models.Cost) float64 { return float64(c) / models.USD }
	for _, c := range []struct {
		what         string
		ours, theirs float64
	}{
		{"window", float64(m.Window), l.Limit.Context},
		{"longest prompt", float64(cmp.Or(m.Input, m.Window)), l.Limit.Input},
		{"longest answer", float64(m.Output), l.Limit.Output},
		{"input", usd(m.Price.Input), l.Cost.Input},
		{"cached input", usd(m.Price.CacheRead), l.Cost.Read},
		{"cache write", usd(m.Price.CacheWrite), l.Cost.Write},
		{"output", usd(m.Price.Output), l.Cost.Output},
	} {
		const rounding = 0.001 // of the value
		if c.ours > 0 && c.theirs > 0 && math.Abs(c.ours-c.theirs) > rounding*c.ours {
			lines = append(lines, fmt.Sprintf("%s is %.10g, theirs %.10g", c.what, c.ours, c.theirs))
		}
	}
	return lines
}

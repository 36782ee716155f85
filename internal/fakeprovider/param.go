package fakeprovider

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// param is a top-level field that the provider knows.
type param struct {
	kinds    string  // what it may be, as kindOf names it, separated by "or"
	min, max float64 // of a number
}

// params are the fields of a request, from the reference of the provider's
// endpoint and from what go-openai and langchaingo send. All but model and
// messages may be null.
var params = map[string]param{
	"audio":                  {kinds: "an object"},
	"frequency_penalty":      {kinds: "a decimal or an integer", min: -2, max: 2},
	"function_call":          {kinds: "a string or an object"},
	"functions":              {kinds: "an array"},
	"logit_bias":             {kinds: "an object"},
	"logprobs":               {kinds: "a boolean"},
	"max_completion_tokens":  {kinds: "an integer", min: 1, max: math.MaxInt32},
	"max_tokens":             {kinds: "an integer", min: 1, max: math.MaxInt32},
	"messages":               {kinds: "an array"},
	"metadata":               {kinds: "an object"},
	"modalities":             {kinds: "an array"},
	"model":                  {kinds: "a string"},
	"n":                      {kinds: "an integer", min: 1, max: 1},
	"parallel_tool_calls":    {kinds: "a boolean"},
	"prediction":             {kinds: "an object"},
	"presence_penalty":       {kinds: "a decimal or an integer", min: -2, max: 2},
	"prompt_cache_key":       {kinds: "a string"},
	"prompt_cache_retention": {kinds: "a string"},
	"reasoning_effort":       {kinds: "a string"},
	"response_format":        {kinds: "an object"},
	"safety_identifier":      {kinds: "a string"},
	"seed":                   {kinds: "an integer", min: math.Inf(-1), max: math.Inf(1)},
	"service_tier":           {kinds: "a string"},
	"stop":                   {kinds: "a string or an array"},
	"store":                  {kinds: "a boolean"},
	"stream":                 {kinds: "a boolean"},
	"stream_options":         {kinds: "an object"},
	"temperature":            {kinds: "a decimal or an integer", min: 0, max: 2},
	"tool_choice":            {kinds: "a string or an object"},
	"tools":                  {kinds: "an array"},
	"top_logprobs":           {kinds: "an integer", min: 0, max: 20},
	"top_p":                  {kinds: "a decimal or an integer", min: 0, max: 1},
	"user":                   {kinds: "a string"},
	"verbosity":              {kinds: "a string"},
	"web_search_options":     {kinds: "an object"},
}

// checkParams reports the first field, by name, that is unknown, of a wrong
// type or out of range.
func checkParams(o object) error {
	if err := o.only(slices.Collect(maps.Keys(params))...); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		raw, p := o.fields[name], params[name]
		got := kindOf(raw)
		if got == "null" && name != "messages" && name != "model" {
			continue
		}
		if !slices.Contains(strings.Split(p.kinds, " or "), got) {
			return wrongType(name, p.kinds, got)
		}
		if got == "a decimal" || got == "an integer" {
			if err := p.inRange(name, raw); err != nil {
				return err
			}
		}
	}
	return checkCombination(o)
}

func (p param) inRange(name string, raw json.RawMessage) error {
	x, err := strconv.ParseFloat(strings.TrimSpace(string(raw)), 64)
	kind := strings.TrimPrefix(strings.TrimPrefix(strings.Split(p.kinds, " or ")[0], "a "), "an ")
	switch {
	case err != nil:
		return wrongType(name, p.kinds, "a number that is too large")
	case x < p.min:
		return invalid(kind+"_below_min_value", name,
			"Invalid '%s': %s below minimum value. Expected a value >= %v, but got %s instead.", name, kind, p.min, raw)
	case x > p.max:
		return invalid(kind+"_above_max_value", name,
			"Invalid '%s': %s above maximum value. Expected a value <= %v, but got %s instead.", name, kind, p.max, raw)
	}
	return nil
}

// checkCombination reports fields that do not go together.
func checkCombination(o object) error {
	switch {
	case o.has("max_tokens") && o.has("max_completion_tokens"):
		return invalid("invalid_parameter_combination", "max_tokens",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case o.has("stream_options") && string(o.fields["stream"]) != "true":
		return invalid("", "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case o.has("functions") && o.has("tools"):
		return invalid("invalid_parameter_combination", "functions", "'functions' and 'tools' cannot be given at the same time.")
	case o.has("tool_choice") && !o.has("tools"):
		return invalid("", "tool_choice",
			"Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	case o.has("function_call") && !o.has("functions"):
		return invalid("", "function_call",
			"Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.")
	case o.has("parallel_tool_calls") && !o.has("tools"):
		return invalid("", "parallel_tool_calls",
			"Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}
	return nil
}

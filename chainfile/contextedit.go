package chainfile

import "github.com/laconic-go/laconic/middleware/contextedit"

func contexteditKeys(o *contextedit.Options) []key {
	return []key{
		{"trigger", when(&o.Trigger)},
		{"keep", atLeastNone(&o.Keep)},
		{"keep_rounds", whole(&o.KeepRounds, 0)},
		{"keep_tokens", whole(&o.KeepTokens, 0)},
		{"only", texts(&o.Only, "tool names")},
		{"exclude_tools", texts(&o.ExcludeTools, "tool names")},
		{"clear_at_least", whole(&o.ClearAtLeast, 0)},
		{"stop_after", whole(&o.StopAfter, 0)},
		{"clear_thinking", yesNo(&o.ClearThinking)},
		{"clear_tool_inputs", yesNo(&o.ClearToolInputs)},
		{"clear_inputs_of", texts(&o.ClearInputsOf, "tool names")},
		{"placeholder", text(&o.Placeholder)},
		{"digest", whole(&o.Digest, 0)},
		{"min_calls", whole(&o.MinCalls, 0)},
		{"strict", yesNo(&o.Strict)},
	}
}

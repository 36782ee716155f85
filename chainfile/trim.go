package chainfile

import "github.com/laconic-go/laconic/middleware/trim"

func trimKeys(o *trim.Options) []key {
	return []key{
		{"strategy", choice(&o.Strategy, trim.Hybrid, trim.Middle, trim.Oldest)},
		{"trigger", when(&o.Trigger)},
		{"warning", share(&o.Warning)},
		{"threshold", share(&o.Threshold)},
		{"target", share(&o.Target)},
		{"target_tokens", whole(&o.TargetTokens, 1)},
		{"preserve_start", atLeastNone(&o.PreserveStart)},
		{"preserve_end", atLeastNone(&o.PreserveEnd)},
		{"min_messages", atLeastNone(&o.MinMessages)},
		{"efficiency_only", yesNo(&o.EfficiencyOnly)},
		{"note", text(&o.Note)},
		{"interval", span(&o.Interval)},
		{"min_calls", whole(&o.MinCalls, 0)},
		{"strict", yesNo(&o.Strict)},
	}
}

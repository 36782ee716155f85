package main

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
)

// report is what is said about a run at its end.
type report struct {
	Answer     json.RawMessage `json:"answer"` // what the model said, as a string if it is not JSON
	ModelCalls int             `json:"model_calls"`
	ToolCalls  int             `json:"tool_calls"`
	Tokens     sizes           `json:"tokens"`
	Edits      []edits         `json:"edits"`
	Violations int             `json:"violations"` // broken rules in what the model was sent

	end react.End
}

// sizes are in tokens.
type sizes struct {
	Window   int `json:"window"`
	History  int `json:"history"`
	PeakView int `json:"peak_view"`
	LastView int `json:"last_view"`
}

// edits are those of one middleware.
type edits struct {
	By    string `json:"by"`
	Count int    `json:"count"`
	Freed int    `json:"freed"` // tokens
}

// take counts what happens in the run.
func (r *report) take(event react.Event) {
	switch e := event.(type) {
	case react.Edit:
		if e.Kind == middleware.Edited {
			r.edited(e.By, e.Freed())
		}
	case react.End:
		r.end = e
	case react.Delta, react.Step, react.Call, react.Result:
	}
}

func (r *report) edited(by string, freed int) {
	i, found := slices.BinarySearchFunc(r.Edits, by, func(e edits, by string) int { return cmp.Compare(e.By, by) })
	if !found {
		r.Edits = slices.Insert(r.Edits, i, edits{By: by})
	}
	r.Edits[i].Count++
	r.Edits[i].Freed += freed
}

// finish draws the sums.
func (r *report) finish(window int, sent measure, tools []agent.Tool) {
	text := r.end.Answer()
	r.Answer = json.RawMessage(text)
	if !json.Valid(r.Answer) {
		r.Answer = json.RawMessage(compact(text))
	}
	r.ModelCalls, r.ToolCalls, r.Violations = sent.calls, r.end.ToolCalls, sent.violations
	r.Tokens = sizes{Window: window, History: size(r.end.History, tools), PeakView: sent.peak, LastView: sent.last}
	if r.Edits == nil {
		r.Edits = []edits{}
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/react"
	"github.com/laconic-go/laconic/tokens"
)

// report is the result of a run.
type report struct {
	Answer     json.RawMessage `json:"answer"` // of the model, as a string if it is not JSON
	ModelCalls int             `json:"model_calls"`
	ToolCalls  int             `json:"tool_calls"`
	Tokens     sizes           `json:"tokens"`
	Edits      []edits         `json:"edits"`
	Orders     []order         `json:"orders"`
	Violations int             `json:"violations"` // broken rules of message.Check in the requests

	end  react.End
	last []message.Message // of the newest request
}

// sizes are in tokens.
type sizes struct {
	Window   int `json:"window"`
	History  int `json:"history"`
	PeakView int `json:"peak_view"`
	LastView int `json:"last_view"`
	Sent     int `json:"sent"`   // in all requests
	Prefix   int `json:"prefix"` // of Sent, the same as in the request before: what a provider can read from its cache
}

// edits are those of one middleware.
type edits struct {
	By    string `json:"by"`
	Count int    `json:"count"`
	Freed int    `json:"freed"` // tokens
}

// order is an order of the user that was given before the task.
type order struct {
	Text string `json:"text"`
	Kept bool   `json:"kept"` // it is in the last view, word for word
}

// measure is a middleware at the end of the chain that measures the requests to the model.
func (r *report) measure(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		r.ModelCalls++
		r.last = req.Messages
		r.Tokens.LastView = tokens.Meter{}.Request(req.Messages, req.Tools)
		r.Tokens.PeakView = max(r.Tokens.PeakView, r.Tokens.LastView)
		r.Violations += len(message.Rules(0).Violations(req.Messages))
		return next(ctx, req, emit)
	}
}

// take counts an event of the run.
func (r *report) take(event react.Event) {
	switch e := event.(type) {
	case react.Edit:
		if e.Kind != middleware.Edited {
			return
		}
		i, found := slices.BinarySearchFunc(r.Edits, e.By, func(e edits, by string) int { return cmp.Compare(e.By, by) })
		if !found {
			r.Edits = slices.Insert(r.Edits, i, edits{By: e.By})
		}
		r.Edits[i].Count++
		r.Edits[i].Freed += e.Before - e.After
	case react.End:
		r.end = e
	case react.Step:
		r.Tokens.Sent += e.Cache.Prompt
		r.Tokens.Prefix += e.Cache.Prefix
	case react.Delta, react.Call, react.Result:
	}
}

// finish sets the answer and the totals.
func (r *report) finish(tools []agent.Tool) {
	text := r.end.Answer()
	r.Answer = json.RawMessage(text)
	if !json.Valid(r.Answer) {
		r.Answer = json.RawMessage(compact(text))
	}
	for _, o := range orders {
		kept := slices.ContainsFunc(r.last, func(m message.Message) bool { return strings.Contains(m.Text(), o) })
		r.Orders = append(r.Orders, order{Text: o, Kept: kept})
	}
	r.ToolCalls, r.Tokens.History = r.end.ToolCalls, size(r.end.History, tools)
}

// writeJSON writes the report as one JSON object.
func (r *report) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// longest is the number of files in answer.Longest.
const longest = 5

// answer is the result of an audit.
type answer struct {
	Undocumented           []name   `json:"undocumented"`             // exported names without a doc comment, by file
	Longest                []length `json:"longest"`                  // the longest files, longest first
	PackagesWithoutExample []string `json:"packages_without_example"` // sorted
}

type name struct {
	File string `json:"file"`
	Name string `json:"name"`
}

type length struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
}

// newAnswer returns the result of an audit of these files.
func newAnswer(files []file, undocumented []name, bare []string) answer {
	a := answer{Undocumented: append([]name{}, undocumented...), Longest: []length{}, PackagesWithoutExample: append([]string{}, bare...)}
	for _, f := range files {
		a.Longest = append(a.Longest, length{File: f.path, Lines: f.lines})
	}
	slices.SortStableFunc(a.Longest, func(a, b length) int { return cmp.Compare(b.Lines, a.Lines) })
	a.Longest = a.Longest[:min(longest, len(a.Longest))]
	return a
}

// check returns an error if the answer of the model to the audit of a tree is wrong.
func (t *tree) check(got json.RawMessage) error {
	want, err := t.audit()
	if err != nil {
		return err
	}
	a, ok := parseAnswer(string(got))
	switch {
	case !ok:
		return errors.New("the report is wrong: it is not the JSON that the task asks for")
	case !equalSets(a.Undocumented, want.Undocumented):
		return fmt.Errorf("the report is wrong: it has %d names without a doc comment, and the tree %d: %s",
			len(a.Undocumented), len(want.Undocumented), firstDifference(a.Undocumented, want.Undocumented))
	case !equalSets(a.Longest, want.Longest):
		return fmt.Errorf("the report is wrong: the longest files are %v, and not %v", want.Longest, a.Longest)
	case !equalSets(a.PackagesWithoutExample, want.PackagesWithoutExample):
		return fmt.Errorf("the report is wrong: it has %d packages without an Example, and the tree %d: %s",
			len(a.PackagesWithoutExample), len(want.PackagesWithoutExample),
			firstDifference(a.PackagesWithoutExample, want.PackagesWithoutExample))
	}
	return nil
}

// equalSets reports whether two lists have the same elements, in any order.
func equalSets[T comparable](a, b []T) bool {
	return len(a) == len(b) && firstDifference(a, b) == ""
}

// firstDifference describes an element that only one of two lists has; "" if they have the same.
func firstDifference[T comparable](got, want []T) string {
	for _, e := range want {
		if !slices.Contains(got, e) {
			return fmt.Sprintf("%v is missing", e)
		}
	}
	for _, e := range got {
		if !slices.Contains(want, e) {
			return fmt.Sprintf("%v is not there", e)
		}
	}
	return ""
}

// parseAnswer reads the final text of a run.
func parseAnswer(text string) (a answer, ok bool) {
	return a, json.Unmarshal([]byte(text), &a) == nil
}

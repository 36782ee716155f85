package main

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	callreport "github.com/laconic-go/laconic/middleware/report"
	"github.com/laconic-go/laconic/models"
)

// report lists what a chain did to a conversation.
type report struct {
	TokensBefore int    `json:"tokens_before"`
	TokensAfter  int    `json:"tokens_after"`
	Counter      string `json:"counter"`
	Exact        bool   `json:"exact,omitempty"` // counted by the model's own tokenizer
	Edits        []edit `json:"edits"`

	Dollars *estimate `json:"estimated_dollars,omitempty"` // nil: nothing was edited, or the prices are unknown

	Refused []note `json:"refused"`
}

// estimate is what all edits together cost and save, in dollars, with the provider's cache.
type estimate struct {
	Rewriting models.Cost `json:"rewriting"`           // of what the provider has to read again, once
	Saved     models.Cost `json:"saved_per_call"`      // in each call, as long as the cache is warm
	BreakEven float64     `json:"calls_to_break_even"` // in which the edits have paid; 0: nothing is read again
}

// add takes the economics of an edit.
func (r *report) add(e *callreport.Economics) {
	if e == nil || e.Cost == 0 && e.Saves == 0 {
		return
	}
	if r.Dollars == nil {
		r.Dollars = new(estimate)
	}
	d := r.Dollars
	d.Rewriting, d.Saved = d.Rewriting+e.Cost, d.Saved+e.Saves
	if d.Saved > 0 {
		d.BreakEven = math.Round(10*float64(d.Rewriting)/float64(d.Saved)) / 10
	}
}

// edit is one event of a middleware that edited the conversation.
type edit struct {
	By       string `json:"by"`
	Kind     string `json:"kind"`     // rewrite, fold or repair
	Messages []int  `json:"messages"` // those of the input that were edited
	Freed    int    `json:"freed"`    // tokens; less than 0 if a repair added some
	Why      string `json:"why"`
}

// note is the reason why something was not done.
type note struct {
	By   string               `json:"by"`
	Kind middleware.EventKind `json:"kind"`
	Why  string               `json:"why"`
}

// newReport returns the report of the events of a call, for a history that begins with lead system messages.
func newReport(events []middleware.Event, lead int) *report {
	r := &report{Edits: []edit{}, Refused: []note{}}
	for _, e := range events {
		switch {
		case e.Kind == middleware.Edited:
			r.Edits = append(r.Edits, newEdit(e, lead))
			r.add(e.Economics)
			continue
		case e.Kind == middleware.Repaired:
			r.Edits = append(r.Edits, newRepair(e))
			continue
		case !e.Warning() && e.Kind != middleware.Skipped && e.Kind != middleware.NotMet: // nothing was wanted, or it was done
			continue
		}
		why := strings.TrimPrefix(e.String(), e.By+": "+string(e.Kind)+": ")
		r.Refused = append(r.Refused, note{By: e.By, Kind: e.Kind, Why: inFiles.InKeys(why)})
	}
	last := map[string]int{} // the layers of a middleware have one name: the last one has its trigger
	for i, n := range r.Refused {
		last[n.By] = i
	}
	i := -1
	r.Refused = slices.DeleteFunc(r.Refused, func(n note) bool {
		i++
		return n.Kind == middleware.NotMet &&
			(last[n.By] != i || slices.ContainsFunc(r.Edits, func(e edit) bool { return e.By == n.By }))
	})
	return r
}

func newEdit(e middleware.Event, lead int) edit {
	out := edit{By: e.By, Messages: []int{}, Freed: e.Before - e.After, Why: inFiles.InKeys(e.Why)}
	var kinds []string
	for _, record := range e.Edits {
		kinds = append(kinds, string(record.Kind))
		for _, run := range record.Runs {
			for i := run.First; i <= run.Last; i++ {
				out.Messages = append(out.Messages, lead+i)
			}
		}
	}
	slices.Sort(kinds)
	slices.Sort(out.Messages)
	out.Kind = strings.Join(slices.Compact(kinds), " and ")
	out.Messages = slices.Compact(out.Messages)
	return out
}

func newRepair(e middleware.Event) edit {
	out := edit{By: e.By, Kind: string(journal.Repair), Messages: []int{}, Freed: e.Before - e.After, Why: e.Why}
	fixes, _ := e.Detail.([]message.Fix)
	for _, f := range fixes {
		out.Messages = append(out.Messages, f.At)
	}
	slices.Sort(out.Messages)
	out.Messages = slices.Compact(out.Messages)
	return out
}

func (r *report) json() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return bytes.TrimSpace(b.Bytes()), err
}

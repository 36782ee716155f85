package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/laconic-go/laconic/internal/page"
	"github.com/laconic-go/laconic/internal/replay"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// writePage writes the page of --html. It is complete or, if that fails, not there.
func (r *replayed) writePage(results []*replay.Result) (err error) {
	p, err := r.page(results)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(r.html), ".report-*") // readable by its owner only
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	err = errors.Join(p.Write(w), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), r.html)
	}
	return err
}

// page returns the page of results, which are in one order of conversations.
func (r *replayed) page(results []*replay.Result) (*page.Page, error) {
	p := &page.Page{Scale: r.counter, Rank: r.rank, Bar: r.bar, Texts: !r.noText, Talks: []*page.Talk{}}
	for _, c := range r.o.Classes {
		p.Classes = append(p.Classes, page.Class{Name: c.Name, Read: c.Read, Write: c.Write, Models: modelsAt(c, 4)})
	}
	for _, result := range results {
		line, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		p.Chains = append(p.Chains, line)
	}
	for i := range results[0].Talks {
		p.Talks = append(p.Talks, r.talk(results, i))
	}
	return p, nil
}

// talk returns what all chains did to conversation i.
func (r *replayed) talk(results []*replay.Result, i int) *page.Talk {
	first := results[0].Talks[i]
	out := &page.Talk{
		ID: first.ID, Calls: len(first.Calls), None: first.None,
		Data: page.NewData(tokens.Meter{Counter: r.o.Counter, Framing: replay.Framing()}, len(results), !r.noText),
	}
	out.Data.Grow(first.Messages)
	answers := []int{}
	for at, m := range first.Messages {
		if m.Role == message.RoleAssistant {
			answers = append(answers, at)
		}
	}
	for chain, result := range results {
		run := page.Run{Costs: result.Talks[i].Costs}
		for k := range result.Talks[i].Calls {
			c := &result.Talks[i].Calls[k]
			out.Tokens = max(out.Tokens, c.History)
			run.Edits += c.Edits()
			run.Uses += c.Uses
			run.Lost += len(c.Lost)
			out.Data.Call(chain, answers[k], c.Call)
			for _, f := range c.Lost {
				out.Data.Lose(chain, f.Hard, f.Text)
			}
		}
		out.Runs = append(out.Runs, run)
	}
	return out
}

// modelsAt returns some models with the prices of a class, of each provider the first.
func modelsAt(c replay.Class, most int) []string {
	names, providers := []string{}, []string{}
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.1*b }
	for m := range models.Default().All() {
		read, write, known := m.Price.InCache(0)
		if known && near(read, c.Read) && near(write, c.Write) &&
			!slices.Contains(providers, m.Provider) && len(names) < most {
			names, providers = append(names, m.Name), append(providers, m.Provider)
		}
	}
	return names
}

// priced returns the prices of a model in the table as a class, and its window.
func priced(name string) (c replay.Class, window int, err error) {
	m, _ := models.Default().Lookup(name)
	read, write, known := m.Price.InCache(0)
	if !known {
		return c, 0, usagef("--model is %q, want a model with a price; see laconic models", name)
	}
	return replay.Class{Name: name, Read: read, Write: write}, m.Window, nil
}

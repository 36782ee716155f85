package calibrate

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
)

const maxPrompts = 256

// Prompt is what a model call has reported of its prompt.
type Prompt struct {
	At        int // number of messages
	Charged   int // tokens that the provider has reported
	WithCache int // Charged, plus those of the cache, which are reported as well: some providers do not include them
	Counted   int // the same by the meter
	Edited    int // number of messages when it was last edited
}

// Prompts remembers the reported prompts of recent calls by the ID of their last
// message. It is safe for concurrent use.
type Prompts struct {
	mu    sync.Mutex
	known map[message.ID]Prompt
	order []message.ID // the oldest first
}

// Fork makes another one know the same.
func (p *Prompts) Fork(to *Prompts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.known, to.order = maps.Clone(p.known), slices.Clone(p.order)
}

// Put remembers a prompt.
func (p *Prompts) Put(id message.ID, prompt Prompt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[message.ID]Prompt{}
	}
	if _, ok := p.known[id]; !ok {
		if len(p.order) == maxPrompts {
			delete(p.known, p.order[0])
			p.order = slices.Delete(p.order, 0, 1)
		}
		p.order = append(p.order, id)
	}
	p.known[id] = prompt
}

// Of returns the prompts of IDs, zero for an ID without one, or nil if no ID has
// one.
func (p *Prompts) Of(ids []message.ID) []Prompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) == 0 {
		return nil
	}
	var found []Prompt
	for i, id := range ids {
		if prompt, ok := p.known[id]; ok {
			if found == nil {
				found = make([]Prompt, len(ids))
			}
			found[i] = prompt
		}
	}
	return found
}

// Past computes how many tokens earlier prompts of a conversation had, by the meter. It
// is asked for ascending lengths.
type Past struct {
	history *edit.History
	list    edit.List
	edited  int // number of messages when the newest edit was made
	freed   int // by all edits

	length  int // up to which tokens are in sum
	sum     int
	changes []change // of all edits and those that they cover; nil until needed
	now     change   // the last change so far, with the sum of all freed so far
}

// change is what an edit removed when the history had a length, or gave back when a
// fold covered it.
type change struct{ length, freed int }

// PastOf returns the past of a history with the edits in force; overhead is what is sent
// in addition to the body.
func PastOf(h *edit.History, l edit.List, overhead int) *Past {
	p := &Past{history: h, list: l, sum: overhead}
	for _, it := range l {
		p.edited = max(p.edited, it.HistoryLen)
		p.freed += h.Freed(it)
	}
	return p
}

// Prompt returns the counted tokens of the prompt for the first messages of the body, and
// the number of messages when it was last edited.
func (p *Past) Prompt(length int) (counted, edited int) {
	for ; p.length < length; p.length++ {
		p.sum += p.history.Tokens[p.length]
	}
	if p.edited <= length {
		return p.sum - p.freed, p.edited
	}
	if p.changes == nil {
		for _, it := range p.list {
			p.add(it, -1)
		}
		slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.length, b.length) })
	}
	for ; len(p.changes) > 0 && p.changes[0].length <= length; p.changes = p.changes[1:] {
		p.now = change{p.changes[0].length, p.now.freed + p.changes[0].freed}
	}
	return p.sum - p.now.freed, p.now.length
}

// add adds the changes of an edit that was in force until the history had a length; -1:
// it still is.
func (p *Past) add(it edit.Item, until int) {
	freed := p.history.Freed(it)
	p.changes = append(p.changes, change{it.HistoryLen, freed})
	if until >= 0 {
		p.changes = append(p.changes, change{until, -freed})
	}
	for _, c := range it.Covered {
		p.add(p.history.Weigh(c), it.HistoryLen)
	}
}

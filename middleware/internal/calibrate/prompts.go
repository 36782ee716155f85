package calibrate

import (
	"maps"
	"slices"
	"sync"

	"github.com/laconic-go/laconic/message"
)

const maxPrompts = 256

// Prompt is what a model was sent, and what its provider has charged for it.
type Prompt struct {
	At        int // number of messages of the history
	Charged   int // tokens that the provider has reported; 0: not yet
	WithCache int // Charged, plus those of the cache, which are reported as well: some providers do not include them
	Counted   int // the same by the meter
	Since     int // At of the first of the prompts in a row, up to this one, that were only appended to
}

// Prompts remembers the prompts of recent calls by the ID of the last message of their history, which stands for all
// messages before it as well. It is safe for concurrent use.
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

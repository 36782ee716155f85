// Package edit is the algebra of edits: which positions of a history are protected,
// how edits are combined, applied and verified, and which of them still hold for a
// history. It knows nothing of requests and chains; nothing in it does I/O.
//
// All positions count from the first message after the leading system messages, which
// no edit touches.
package edit

import (
	"errors"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

// History is a conversation as its edits see it. It is immutable once it is in use.
type History struct {
	Lead       []message.Message // the leading system messages
	LeadTokens []int             // of each, by Meter
	LeadSum    int

	Body       []*message.Message // the other messages, which never change
	IDs        []message.ID
	Tokens     []int // of each, by Meter
	Sum        int
	Whole      []bool // messages that must stay as they are: system messages, pinned ones, compactions of a provider
	WholeCount int    // number of true values in Whole
	Meter      tokens.Meter
	Bounded    // positions of protected messages
}

// Bounded has the positions that depend on where the history ends.
type Bounded struct {
	FirstUser, LastUser int // -1 if there is no user message
	Fresh               int // first position of the newest round if no model has answered it yet; len(Body) otherwise
	Plan                int // position of the newest call with the whole plan of the model, -1 if there is none; see [Plans]
}

// Protection is a set of things that may not happen to a message.
type Protection uint8

// The protections.
const (
	ProtectWhole  Protection = 1 << iota // stays as it is
	ProtectText                          // its text stays
	ProtectNewest                        // in the newest unanswered round: only results, and arguments of answered calls, may be shortened
)

// ProtectionAt returns the protection of a position.
func (h *History) ProtectionAt(i int) Protection {
	var p Protection
	if h.Whole[i] {
		p = ProtectWhole
	}
	if i == h.FirstUser || i == h.LastUser {
		p |= ProtectText
	}
	if i >= h.Fresh && (i == h.Fresh || h.Body[i].Role == message.RoleTool) {
		p |= ProtectNewest
	}
	return p
}

// Bound sets the positions of the history that are protected because of their place,
// for messages from the given position on.
func (h *History) Bound(from int) {
	for i := from; i < len(h.Body); i++ {
		if h.Body[i].Role == message.RoleAssistant && HasPlan(h.Body[i]) {
			h.Plan = i
		}
		if h.Body[i].Role == message.RoleUser {
			h.LastUser = i
			if h.FirstUser < 0 {
				h.FirstUser = i
			}
		}
	}
	h.Fresh = len(h.Body)
	answered := false // by an answer without calls
	for i, m := range slices.Backward(h.Body) {
		switch {
		case m.Role != message.RoleAssistant:
		case m.HasCalls():
			if !answered || h.late(i) {
				h.Fresh = i
			}
			return
		default:
			answered = true
		}
	}
}

// late reports whether a call of message i has its result behind the newest answer.
func (h *History) late(i int) bool {
	open := map[string]bool{}
	for c := range h.Body[i].Calls() {
		open[c.ID] = true
	}
	late := false
	for _, m := range h.Body[i+1:] {
		if m.Role == message.RoleAssistant {
			late = false
		}
		if m.Role != message.RoleTool {
			continue
		}
		for r := range m.Results() {
			late = late || open[r.CallID]
			delete(open, r.CallID)
		}
	}
	return late
}

// Pinned returns the history with some of its messages pinned.
func (h *History) Pinned(ids []message.ID) *History {
	if len(ids) == 0 {
		return h
	}
	p := *h
	p.Body = slices.Clone(h.Body)
	p.Whole = slices.Clone(h.Whole)
	for _, id := range ids {
		i := slices.Index(h.IDs, id)
		if i < 0 {
			continue
		}
		if !p.Whole[i] {
			p.WholeCount++
		}
		m := *h.Body[i]
		m.Hints.Pinned = true
		p.Body[i] = &m
		p.Whole[i] = true
	}
	return &p
}

// InHistory returns a run in positions of the whole history, with its leading messages.
func (h *History) InHistory(r message.Run) message.Run {
	return message.Run{First: len(h.Lead) + r.First, Last: len(h.Lead) + r.Last}
}

// AppendMessages appends the messages of a run to some others.
func (h *History) AppendMessages(msgs []message.Message, r message.Run) []message.Message {
	for _, m := range h.Body[r.First : r.Last+1] {
		msgs = append(msgs, *m)
	}
	return msgs
}

// within returns the protected positions inside some runs, in order.
func (h *History) within(runs []message.Run) []int {
	var found []int
	for _, r := range runs {
		for i := r.First; i <= r.Last; i++ {
			if h.ProtectionAt(i) != 0 {
				found = append(found, i)
			}
		}
	}
	return found
}

// spares returns an error if parts, in place of those of message i, would lose what is
// protected, besides thinking: see [History.keepsThinking]. made is the length of the history that the parts were made for:
// arguments of the newest round are not shortened because they were old in a longer history.
func (h *History) spares(i int, parts []message.Part, made int) error {
	p := h.ProtectionAt(i)
	switch {
	case p == 0:
		return nil
	case p&ProtectWhole != 0:
		return errors.New("it is protected and must stay as it is")
	case p&ProtectText != 0 && !keepsWords(h.Body[i].Parts, parts):
		return errors.New("the text of the first and of the last user message must stay")
	case p&ProtectNewest != 0:
		answered := func(id string) bool { return made == len(h.Body) && h.answered(i, id) }
		return onlyShortened(WithoutThinking(h.Body[i].Parts), WithoutThinking(parts), answered)
	}
	return nil
}

// answered reports whether a call of message i has a result after it.
func (h *History) answered(i int, callID string) bool {
	for k := i + 1; k < len(h.Body); k++ {
		for r := range h.Body[k].Results() {
			if r.CallID == callID {
				return true
			}
		}
	}
	return false
}

// lost returns the first of some protected positions that no message of a fold replaces,
// or -1. The messages are in the order of the positions, and each counts for one, but for compactions.
func (h *History) lost(protected []int, product []message.Message) int {
	compaction := slices.IndexFunc(product, within.IsCompaction)
	all := product
	for _, i := range protected {
		if compaction >= 0 && h.StandsFor(&all[compaction], i) {
			continue
		}
		k := slices.IndexFunc(product, func(m message.Message) bool { return h.StandsFor(&m, i) })
		if k < 0 {
			return i
		}
		product = product[k+1:]
	}
	return -1
}

// StandsFor reports whether m, a message of a fold, is the protected message i of the
// history: equal to it, a rewrite of it that is allowed, or a compaction by the provider. A compaction stands for all
// that the provider has read, except for what must stay as it is, unless that is an earlier compaction.
func (h *History) StandsFor(m *message.Message, i int) bool {
	b := h.Body[i]
	if within.IsCompaction(*m) {
		return !h.Whole[i] || within.IsCompaction(*b)
	}
	if b.Equal(*m) {
		return true
	}
	if h.ProtectionAt(i)&ProtectNewest != 0 && countThinking(b.Parts) != countThinking(m.Parts) {
		return false
	}
	return b.Role == m.Role && b.Name == m.Name && h.spares(i, m.Parts, -1) == nil && sameStructure(b.Parts, m.Parts) == nil
}

package edit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Holding returns the edits of a list that hold for the history. An edit that does not
// hold is replaced by the edits that it covers, if these hold.
func (h *History) Holding(l List) List {
	for slices.ContainsFunc(l, func(it Item) bool { return !h.holds(it, l) }) {
		var kept List
		for _, it := range l {
			kept = h.appendHolding(kept, it, l)
		}
		kept.Sort()
		l = kept
	}
	return l
}

func (h *History) appendHolding(kept List, it Item, others List) List {
	if h.holds(it, others) {
		return append(kept, it)
	}
	for _, r := range it.Covered {
		kept = h.appendHolding(kept, h.Weigh(r), others)
	}
	return kept
}

// holds reports whether an edit, next to others, was made for these messages, covers
// whole rounds, and keeps what is protected now. When it was made, less may have been
// pinned, the newest question may have been another one, and the newest round may have
// been an old one of a longer history.
func (h *History) holds(it Item, others List) bool {
	if it.last >= len(h.Body) || h.IDs[it.last] != it.ID {
		return false
	}
	if it.Kind == journal.Rewrite {
		return h.spares(it.last, it.Parts) == nil && h.keepsThinking(it.last, it.Parts) == nil
	}
	if h.splits(it, others) {
		return false
	}
	for _, i := range h.within(it.Runs) {
		if !slices.ContainsFunc(it.Messages, func(m message.Message) bool { return h.StandsFor(&m, i) }) {
			return false
		}
	}
	return true
}

// splits reports whether a fold covers the call of a result that comes after it and is
// in no other fold: the fold was made when the result was missing.
func (h *History) splits(it Item, others List) bool {
	if !LateResult(h.Body[it.last+1:]) {
		return false
	}
	round := it.last
	for round >= 0 && h.Body[round].Role != message.RoleAssistant {
		round--
	}
	if round < 0 || !contains(it.Runs, round) {
		return false
	}
	end := it.last + 1
	for end < len(h.Body) && h.Body[end].Role != message.RoleAssistant {
		end++
	}
	unit := message.Units(h.Body[round:end])[0]
	for i := it.last + 1; i <= round+unit.Last; i++ {
		if !slices.ContainsFunc(others, func(o Item) bool { return o.Kind == journal.Fold && contains(o.Runs, i) }) {
			return true
		}
	}
	return false
}

// LateResult reports whether messages have a result before the next answer of the
// model: a result of an earlier round.
func LateResult(msgs []message.Message) bool {
	for i := range msgs {
		switch msgs[i].Role {
		case message.RoleTool:
			return true
		case message.RoleAssistant:
			return false
		case message.RoleSystem, message.RoleUser:
		}
	}
	return false
}

// Before returns the edits that lie at or before a position. An edit that reaches
// beyond it is replaced by those that it covers.
func (h *History) Before(at int, l List) List {
	var out List
	for _, it := range l {
		if it.last <= at {
			out = append(out, it)
			continue
		}
		out = append(out, h.Before(at, h.WeighAll(it.Covered))...)
		out.Sort()
	}
	return out
}

// Freed returns the tokens by which an edit makes the history shorter.
func (h *History) Freed(it Item) int {
	n := -it.Tokens
	for _, r := range it.Runs {
		for _, k := range h.Tokens[r.First : r.Last+1] {
			n += k
		}
	}
	return n
}

func contains(runs []message.Run, i int) bool {
	return slices.ContainsFunc(runs, func(r message.Run) bool { return r.Contains(i) })
}

package edit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Holding returns the edits of a list that hold for the history on the terms of a request. An edit that does not hold is
// replaced by the edits that it covers, if these hold.
func (h *History) Holding(l List, t Terms) List {
	for slices.ContainsFunc(l, func(it Item) bool { return !h.holds(it, l, t) }) {
		var kept List
		for _, it := range l {
			kept = h.appendHolding(kept, it, l, t)
		}
		kept.Sort()
		l = kept
	}
	return l
}

func (h *History) appendHolding(kept List, it Item, others List, t Terms) List {
	if h.holds(it, others, t) {
		return append(kept, it)
	}
	for _, r := range it.Covered {
		kept = h.appendHolding(kept, h.Weigh(r), others, t)
	}
	return kept
}

// Ended returns the edits of a list that were made for this conversation, but for a smaller
// window, or for one other request.
func (h *History) Ended(l List, window int) List {
	return slices.DeleteFunc(slices.Clone(l), func(it Item) bool { return !h.madeForMessages(it) || h.madeForRequest(it, window) })
}

// MadeFor returns the edits of a list that were made for these messages, whether they hold now or not.
func (h *History) MadeFor(l List) List {
	return slices.DeleteFunc(slices.Clone(l), func(it Item) bool { return !h.madeForMessages(it) })
}

// madeForMessages reports whether an edit was made for these messages.
func (h *History) madeForMessages(it Item) bool {
	return it.last < len(h.Body) && h.IDs[it.last] == it.ID
}

// madeForRequest reports whether an edit was made for requests with such a history and window.
func (h *History) madeForRequest(it Item, window int) bool {
	return (it.Window == 0 || window <= it.Window) && (!it.Once || it.HistoryLen == len(h.Body))
}

// holds reports whether an edit, next to others, was made for these messages and such
// requests, covers whole rounds, and keeps what is protected now. When it was made, less may have been
// pinned, the newest question may have been another one, and the newest round may have
// been an old one of a longer history.
func (h *History) holds(it Item, others List, t Terms) bool {
	if !h.madeForMessages(it) || !h.madeForRequest(it, t.Window) {
		return false
	}
	if it.Kind == journal.Rewrite {
		return h.spares(it.last, it.Parts, it.HistoryLen) == nil && h.keepsThinking(it.last, it.Parts, t) == nil
	}
	if h.splits(it, others) {
		return false
	}
	return h.lost(h.within(it.Runs), it.Messages) < 0
}

// splits reports whether a fold covers the call of a result that comes after it and is
// in no other fold: the fold was made when the result was missing.
func (h *History) splits(it Item, others List) bool {
	if !LateResult(h.Body[it.last+1:]) {
		return false
	}
	round := it.last
	for round >= 0 && !asks(h.Body[round]) {
		round--
	}
	if round < 0 || !contains(it.Runs, round) {
		return false
	}
	end := it.last + 1
	for end < len(h.Body) && !asks(h.Body[end]) {
		end++
	}
	unit := message.Units(h.AppendMessages(nil, message.Run{First: round, Last: end - 1}))[0]
	for i := it.last + 1; i <= round+unit.Last; i++ {
		if !slices.ContainsFunc(others, func(o Item) bool { return o.Kind == journal.Fold && contains(o.Runs, i) }) {
			return true
		}
	}
	return false
}

// asks reports whether a message is an answer with calls.
func asks(m *message.Message) bool { return m.Role == message.RoleAssistant && m.HasCalls() }

// LateResult reports whether messages have a result before the next answer with calls: a result of an earlier round.
func LateResult(msgs []*message.Message) bool {
	for _, m := range msgs {
		if m.Role == message.RoleTool || asks(m) {
			return m.Role == message.RoleTool
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
	return slices.ContainsFunc(runs, func(r message.Run) bool { return r.First <= i && i <= r.Last })
}

// maxCovered is how many folds inside one another are kept.
const maxCovered = 10

// Shallow returns the records that an edit covers, with at most ten levels of those that they
// cover. A fold that holds always is kept below any number of folds that do not.
func Shallow(records []*journal.Record) []*journal.Record { return shallow(records, maxCovered) }

func shallow(records []*journal.Record, levels int) []*journal.Record {
	for i, r := range records {
		if len(r.Covered) == 0 {
			continue
		}
		c := *r
		c.Covered = nil
		switch {
		case levels > 1:
			c.Covered = shallow(slices.Clone(r.Covered), levels-1)
		case passing(r):
			c.Covered = lastingFolds(nil, r.Covered)
		}
		records[i] = &c
	}
	return records
}

// passing reports whether an edit was made for some requests only.
func passing(r *journal.Record) bool { return r.Once || r.Window > 0 }

func lastingFolds(out, records []*journal.Record) []*journal.Record {
	for _, r := range records {
		switch {
		case passing(r):
			out = lastingFolds(out, r.Covered)
		case r.Kind == journal.Fold:
			c := *r
			c.Covered = nil
			out = append(out, &c)
		}
	}
	return out
}

// Outlasting returns the earlier rewrite of a message that holds where a new one does not.
func Outlasting(r, earlier *journal.Record) []*journal.Record {
	if !passing(r) {
		return nil
	}
	for earlier.Once || !r.Once && 0 < earlier.Window && earlier.Window <= r.Window {
		if len(earlier.Covered) == 0 {
			return nil
		}
		earlier = earlier.Covered[0]
	}
	return []*journal.Record{earlier}
}

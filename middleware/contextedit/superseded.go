package contextedit

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// markSuperseded marks those results, in the order of the view, whose call was
// made again in a later round: the same tool, arguments of the same JSON value,
// and a result that is no error and stands in the view as the tool gave it.
func markSuperseded(v *middleware.View, results []candidate) {
	again := repeats{view: v, later: make(map[uint64]place, len(results))}
	var whole []string // ids of the round's calls that have such a result
	for i := v.Len() - 1; i >= 0 && len(results) > 0; i-- {
		switch v.At(i).Role {
		case message.RoleTool:
			whole = appendWhole(whole, v, i)
		case message.RoleAssistant:
			round := results[firstBehind(results, i):]
			again.mark(i, round, whole)
			results = results[:len(results)-len(round)]
			whole = whole[:0]
		case message.RoleSystem, message.RoleUser:
		}
	}
}

// firstBehind returns the index of the first result behind message i.
func firstBehind(results []candidate, i int) int {
	k := len(results)
	for k > 0 && results[k-1].at > i {
		k--
	}
	return k
}

// repeats knows the calls of the rounds behind that have a whole result.
type repeats struct {
	view  *middleware.View
	later map[uint64]place // by a hash of the call
	new   []uint64         // of the calls of one message
}

// place is where a call is: a part of a message.
type place struct{ at, part int32 }

// mark marks the results of one round whose call is made again later, and then
// takes in the calls of the round that have a whole result. So parallel calls do
// not supersede one another.
func (p *repeats) mark(i int, round []candidate, whole []string) {
	parts := p.view.Original(i).Parts // an editor may have shortened arguments until they look alike
	p.new = p.new[:0]
	for _, part := range parts {
		call, ok := part.(message.ToolCall)
		if !ok {
			p.new = append(p.new, 0)
			continue
		}
		key, found := p.find(call)
		p.new = append(p.new, key)
		if !found {
			continue
		}
		for k := range round {
			round[k].superseded = round[k].superseded || round[k].callID == call.ID
		}
	}
	for k, part := range parts {
		call, ok := part.(message.ToolCall)
		if !ok || !slices.Contains(whole, call.ID) {
			continue
		}
		key := p.new[k]
		if _, taken := p.later[key]; taken { // by an equal call, or by one of this round
			key, _ = p.find(call)
		}
		p.later[key] = place{at: int32(i), part: int32(k)}
	}
}

// find returns the key under which such a call is known, or would be.
func (p *repeats) find(call message.ToolCall) (key uint64, found bool) {
	for key = valueHash(call.Arguments); ; key++ {
		at, ok := p.later[key]
		if !ok {
			return key, false
		}
		later, _ := p.view.Original(int(at.at)).Parts[at.part].(message.ToolCall)
		if later.Name == call.Name && sameValue(later.Arguments, call.Arguments) {
			return key, true
		}
	}
}

// appendWhole appends the call ids of the results in tool message i that are no
// errors and stand there as the tool gave them.
func appendWhole(ids []string, v *middleware.View, i int) []string {
	m, e := v.At(i), v.Span(i).Edit
	if e != nil && e.Kind != middleware.Rewrite {
		return ids // a fold may have put anything there
	}
	for _, p := range m.Parts {
		r, ok := p.(message.ToolResult)
		if ok && !failed(m, r.CallID) && (e == nil || slices.Equal(piecesOf(m, r.CallID), piecesOf(v.Original(i), r.CallID))) {
			ids = append(ids, r.CallID)
		}
	}
	return ids
}

// failed reports whether a piece of a result is an error.
func failed(m message.Message, callID string) bool {
	for _, p := range m.Parts {
		if r, ok := p.(message.ToolResult); ok && r.Error && r.CallID == callID {
			return true
		}
	}
	return false
}

// piecesOf returns the pieces of one result.
func piecesOf(m message.Message, callID string) []message.ToolResult {
	var pieces []message.ToolResult
	for r := range m.Results() {
		if r.CallID == callID {
			pieces = append(pieces, r)
		}
	}
	return pieces
}

package microcompact

import (
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// round is what is to be known of a round beside what is shortened: which of its
// calls are of protected tools, and which recall something.
type round struct {
	at        int      // of the assistant message
	protected []string // call ids
	recalls   bool     // one of the calls is of the tool that recalls
}

// read reads the assistant message of a round.
func (r *round) read(m message.Message, at int, protect []string) {
	*r = round{at: at, protected: r.protected[:0]}
	for _, p := range m.Parts {
		c, ok := p.(message.ToolCall)
		if !ok {
			continue
		}
		r.recalls = r.recalls || c.Name == store.RecallTool
		if slices.Contains(protect, c.Name) {
			r.protected = append(r.protected, c.ID)
		}
	}
}

// protects reports whether a result in a message is of a protected tool, by its
// call's name or by that of one of its pieces.
func (r *round) protects(parts []message.Part, callID string, protect []string) bool {
	if slices.Contains(r.protected, callID) {
		return true
	}
	for _, p := range parts {
		if piece, ok := p.(message.ToolResult); ok && piece.CallID == callID && slices.Contains(protect, piece.Name) {
			return true
		}
	}
	return false
}

// indexOf returns the first piece of a result.
func indexOf(parts []message.Part, callID string) int {
	return slices.IndexFunc(parts, func(p message.Part) bool {
		r, ok := p.(message.ToolResult)
		return ok && r.CallID == callID
	})
}

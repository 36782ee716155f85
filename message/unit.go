package message

// Run is a run of neighbouring positions, both ends included.
type Run struct {
	First, Last int
}

// Len returns the number of positions.
func (r Run) Len() int { return r.Last - r.First + 1 }

// Contains reports whether position i lies in the run.
func (r Run) Contains(i int) bool { return r.First <= i && i <= r.Last }

// Unit is the smallest run of messages that may be removed alone: a round, or
// one other message.
type Unit struct {
	Run

	Round bool // an assistant message with tool calls, and all its results
}

// Units cuts a history into its units, in order and without a gap. The results
// of a round are looked for up to the next assistant message; what stands
// between a call and its last result belongs to the round. A result whose call
// is missing is a unit of its own.
func Units(msgs []Message) []Unit {
	units := make([]Unit, 0, len(msgs))
	for i := 0; i < len(msgs); i++ {
		u := Unit{Run: Run{First: i, Last: i}}
		if msgs[i].Role == RoleAssistant && msgs[i].HasCalls() {
			u.Round = true
			u.Last = lastResult(msgs, i)
		}
		units = append(units, u)
		i = u.Last
	}
	return units
}

// lastResult returns the position of the last message that answers a call of
// the message at i, or i.
func lastResult(msgs []Message, i int) int {
	last := i
	for j := i + 1; j < len(msgs) && msgs[j].Role != RoleAssistant; j++ {
		if msgs[j].Role == RoleTool && answers(&msgs[j], &msgs[i]) {
			last = j
		}
	}
	return last
}

// answers reports whether a message has a result of a call of another one.
func answers(result, call *Message) bool {
	for _, p := range result.Parts {
		r, ok := p.(ToolResult)
		if !ok {
			continue
		}
		for _, p := range call.Parts {
			if c, ok := p.(ToolCall); ok && c.ID == r.CallID {
				return true
			}
		}
	}
	return false
}

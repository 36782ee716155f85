package message

// callsOf is documented at internals.CallsOf.
func callsOf(msgs []Message, i int) []int {
	p := pairer{msgs: msgs}
	for at := max(0, newest(RoleAssistant, msgs[:i])); at < i; at++ {
		p.visit(at)
	}
	calls := make([]int, len(msgs[i].Parts))
	for n, part := range msgs[i].Parts {
		if r, ok := part.(ToolResult); ok {
			calls[n] = p.callOf(i, n, r.CallID)
		} else {
			calls[n] = -1
		}
	}
	return calls
}

// twins are the calls of one message that have an ID in common, by ID. Local models repeat
// IDs. Then the results with the ID are in the order of the calls, and this is how the
// pieces are divided:
//
//   - A piece in another message than the one before begins the next result.
//   - So does a piece after a result with another ID.
//   - If the calls are more than the results found so, each further text begins a result
//     until there is one for each call: some programs put the results of all calls into one
//     message.
//
// Other pieces belong to the result before them. If no call is left, a piece in the same
// message belongs to the last result, and a result in another message is a duplicate.
type twins map[string]*twin

// twin are the calls with one ID.
type twin struct {
	calls []int // positions among the calls of the message
	now   int   // position in calls of the newest result; -1: there is none
	by    int   // the message of its newest piece
	short int   // number of calls less that of results; of these, texts begin a result
}

// twinsOf returns the twins among the calls with these IDs; nil: there are none.
func twinsOf(calls *index) twins {
	var t twins
	for k, id := range calls.ids {
		first := calls.find(id)
		if first == k {
			continue
		}
		if t == nil {
			t = twins{}
		}
		if t[id] == nil {
			t[id] = &twin{calls: []int{first}, now: -1, short: 1}
		}
		t[id].calls = append(t[id].calls, k)
		t[id].short++
	}
	return t
}

// count counts the results of a message after the calls. It returns false for the end of
// the round.
func (t twins) count(m *Message) bool {
	if m.Role != RoleTool {
		return m.Role != RoleAssistant
	}
	previous := ""
	first := true
	for r := range m.Results() {
		if w := t[r.CallID]; w != nil && (first || r.CallID != previous) {
			w.short--
		}
		previous, first = r.CallID, false
	}
	return true
}

// take returns the call of a result, part n of the message at position by. It is called
// once for each piece, in order.
func (w *twin) take(by int, parts []Part, n int) int {
	begins := w.now < 0 || w.by != by || !follows(parts, n)
	if r, ok := parts[n].(ToolResult); !begins && ok && r.Content == nil && w.short > 0 {
		w.short--
		begins = true
	}
	if begins && w.now+1 < len(w.calls) {
		w.now++
	}
	w.by = by
	return w.calls[w.now]
}

// follows reports whether the result before part n has the same ID.
func follows(parts []Part, n int) bool {
	this, ok := parts[n].(ToolResult)
	for n--; ok && n >= 0; n-- {
		if r, isResult := parts[n].(ToolResult); isResult {
			return r.CallID == this.CallID
		}
	}
	return false
}

package message

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// ID identifies a position of a history by the content of all messages up to there: equal
// IDs mean equal conversations up to that position. It is comparable. The zero value is
// not a position.
type ID [16]byte

// String returns the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the ID is zero.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText returns the ID in hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads the output of [ID.MarshalText].
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(id)) {
		return fmt.Errorf("message: id %q has %d digits, want %d", text, len(text), hex.EncodedLen(len(id)))
	}
	if _, err := hex.Decode(id[:], text); err != nil {
		return fmt.Errorf("message: id %q: %w", text, err)
	}
	return nil
}

// IDs returns the ID of each position of a history: the first half of a SHA-256 of the
// previous ID and the message's role, name and parts; the text of a tool result is in it
// as a SHA-256 of its own. It does not depend on time, usage or hints. The system messages
// at the beginning have the zero ID and do not change the other IDs, so a system prompt
// may contain a clock. The results of a round count in the order of its calls, in whatever
// order they are: tools that run in parallel end in any.
//
// If known has the IDs of the first len(known) messages, only the others are hashed, and
// appended to it.
func IDs(msgs []Message, known ...ID) []ID { return appendIDs(known, msgs, nil) }

// appendIDs is [IDs]. results has the resultHash of each message; nil: they are to be made.
func appendIDs(ids []ID, msgs []Message, results []ContentHash) []ID {
	first := len(ids)
	if first >= len(msgs) {
		return ids
	}
	if msgs[first].Role == RoleTool { // it may be in front of results of its round that are known
		first = roundBefore(msgs, first)
	}
	from := order(msgs[first:])
	if from == nil {
		first = len(ids)
	} else {
		ids = slices.Clip(ids[:first])
	}
	prev := last(ids, msgs[:first])
	ids = slices.Grow(ids, len(msgs)-first)[:len(msgs)]
	var buf []byte
	for k := first; k < len(msgs); k++ {
		i := k
		if from != nil {
			i = first + from[k-first]
		}
		m := &msgs[i]
		if !prev.IsZero() || m.Role != RoleSystem {
			var result ContentHash
			if results != nil {
				result = results[i]
			} else {
				result = m.resultHash()
			}
			buf = m.appendContent(append(buf[:0], prev[:]...), &result)
			sum := sha256.Sum256(buf)
			prev = ID(sum[:len(prev)])
		}
		ids[i] = prev
	}
	return ids
}

// last returns the ID of messages with these IDs: that of the last one, once the results of its round are in order.
func last(ids []ID, msgs []Message) ID {
	n := len(msgs)
	if n == 0 {
		return ID{}
	}
	round := roundBefore(msgs, n)
	if from := order(msgs[round:]); from != nil {
		return ids[round+from[len(from)-1]]
	}
	return ids[n-1]
}

// roundBefore returns the index of the answer whose results end before message n, or of the first of them.
func roundBefore(msgs []Message, n int) int {
	for n > 0 && msgs[n-1].Role == RoleTool {
		n--
	}
	return max(0, n-1)
}

// order returns the indexes of messages in the order in which their rounds have the results in that of their calls; nil: they
// are in order.
func order(msgs []Message) (from []int) {
	for i := 0; i < len(msgs); i++ {
		if msgs[i].Role != RoleAssistant {
			continue
		}
		first := i + 1
		for i+1 < len(msgs) && msgs[i+1].Role == RoleTool {
			i++
		}
		if i <= first { // one result at most
			continue
		}
		ranks := ranksOf(&msgs[first-1], msgs[first:i+1])
		if ranks == nil || slices.IsSorted(ranks) {
			continue
		}
		for k := len(from); k < len(msgs); k++ {
			from = append(from, k)
		}
		slices.SortFunc(from[first:i+1], func(a, b int) int { return ranks[a-first] - ranks[b-first] })
	}
	return from
}

// ranksOf returns, for each of some messages with results, the index of the call that it answers.
// It is nil if that is not clear: a call without an ID or with that of another, a message
// without a result, or two for one call.
func ranksOf(answer *Message, results []Message) []int {
	index, n := map[string]int{}, 0
	for c := range answer.Calls() {
		if _, twice := index[c.ID]; twice || c.ID == "" {
			return nil
		}
		index[c.ID] = n
		n++
	}
	ranks := make([]int, len(results))
	for i := range results {
		ranks[i] = -1
		for r := range results[i].Results() {
			if rank, ok := index[r.CallID]; ok && ranks[i] < 0 {
				ranks[i] = rank
			}
			break // the first one decides
		}
		if ranks[i] < 0 || slices.Contains(ranks[:i], ranks[i]) {
			return nil
		}
	}
	return ranks
}

// Leading returns the number of system messages at the beginning. They have the zero
// [ID].
func Leading(msgs []Message) int {
	for i := range msgs {
		if msgs[i].Role != RoleSystem {
			return i
		}
	}
	return len(msgs)
}

// appendContent appends role, name and parts in an encoding in which different contents are
// always different, with hashes in the place of the texts of results if result is not nil:
// it is that of the first of them.
func (m Message) appendContent(b []byte, result *ContentHash) []byte {
	b = appendString(b, string(m.Role))
	b = appendString(b, m.Name)
	b = binary.AppendUvarint(b, uint64(len(m.Parts)))
	first := true
	for _, p := range m.Parts {
		r, ok := p.(ToolResult)
		if !ok || result == nil {
			b = appendPart(b, p)
			continue
		}
		hash := *result
		if !first {
			hash = hashContent("", r.Text)
		}
		first = false
		b = appendResult(b, r, string(hash[:]))
	}
	return b
}

func appendPart(b []byte, p Part) []byte {
	switch p := p.(type) {
	case nil:
		return append(b, 0)
	case Text:
		return appendString(append(b, 't'), p.Text)
	case Thinking:
		return appendString(appendString(append(b, 'h'), p.Text), p.Signature)
	case Media:
		b = appendString(appendString(append(b, 'm'), p.Type), p.URL)
		return appendString(appendString(b, p.Data), p.Name)
	case ToolCall:
		return appendString(appendString(appendString(append(b, 'c'), p.ID), p.Name), p.Arguments)
	case ToolResult:
		return appendResult(b, p, p.Text)
	case Opaque:
		return appendString(appendString(append(b, 'o'), p.Kind), p.Data)
	default: // an unknown type, which Check reports
		return appendString(append(b, '?'), fmt.Sprintf("%#v", p))
	}
}

func appendResult(b []byte, r ToolResult, text string) []byte {
	b = appendString(appendString(appendString(append(b, 'r'), r.CallID), r.Name), text)
	if r.Error {
		b = append(b, '!')
	}
	return appendPart(b, r.Content)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// ContentHash identifies a text, or the bytes of a medium, wherever it is: a SHA-256 of the
// type and the data. It is comparable.
type ContentHash [sha256.Size]byte

// resultHash returns the hash of the text of the first tool result in the message, as
// hashContent does, or zero if it has none. In an ID it stands for the text, so that the
// text is hashed once for the ID and for an archive.
func (m Message) resultHash() (hash ContentHash) {
	for _, p := range m.Parts {
		if r, ok := p.(ToolResult); ok {
			return hashContent("", r.Text)
		}
	}
	return hash
}

// hashContent returns the hash of some data; mediaType is its MIME type, or "" for text.
// It depends on nothing else.
func hashContent(mediaType, data string) ContentHash {
	room, _ := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	b := appendString((*room)[:0], mediaType)
	if len(b)+len(data) <= cap(b) {
		return sha256.Sum256(append(b, data...))
	}
	h := sha256.New() // in pieces, so that not all data is copied
	h.Write(b)
	for b = (*room)[:cap(*room)]; data != ""; {
		n := copy(b, data)
		h.Write(b[:n])
		data = data[n:]
	}
	return ContentHash(h.Sum(nil))
}

var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 8<<10); return &b }}

// Run is a range of positions, including both ends.
type Run struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Len returns the number of positions.
func (r Run) Len() int { return r.Last - r.First + 1 }

// Unit is the smallest run of messages that may be removed without others: a round, or
// one other message.
type Unit struct {
	Run

	Round bool // an assistant message with tool calls, and all its results
}

// Units divides a history into its units, in order and without gaps. A round ends with
// its last result before the next assistant message; all messages up to there belong to
// it. While a call has no result, answers without calls do not end it: some APIs accept the
// result behind them. A result without its call is a separate unit.
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

// lastResult returns the position of the last message that has a result of a call of the
// message at i, or i.
func lastResult(msgs []Message, i int) int {
	calls, last := indexOf(&msgs[i]), i
	open := map[string]bool{} // the calls without a result
	for _, id := range calls.ids {
		open[id] = true
	}
	for j := i + 1; j < len(msgs); j++ {
		m := &msgs[j]
		if m.Role == RoleAssistant && (len(open) == 0 || m.HasCalls()) {
			break
		}
		if m.Role != RoleTool {
			continue
		}
		for r := range m.Results() {
			if calls.find(r.CallID) >= 0 {
				last = j
				delete(open, r.CallID)
			}
		}
	}
	return last
}

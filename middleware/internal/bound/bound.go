// Package bound decides which thinking of earlier answers a request may have, for models that accept the thinking of an answer
// only behind what it was made with: the same system messages, the same tools, and the same messages before it.
//
// It asks the bytes. For each answer it knows the hash of what was in front of it when it was made, without thinking. Right
// before a request is sent, after all edits and repairs, [Memory.Check] makes the same hashes of that request. Where they
// differ, the thinking is void: the core leaves it out, for good. So edits, repairs, their end and other writers are one case.
//
// The journal keeps the hashes of the answers in a request, and the hash of that request as a whole. Later answers need none of
// their own: as long as requests only grow, they were made behind that request and the messages of the history after it.
//
// All positions count from the first message after the leading system messages.
package bound

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/middleware/journal"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Memory is what is known of the thinking of one history. The zero Memory knows nothing, so all thinking is left out. It is
// not changed after it was made.
type Memory struct {
	known *journal.Thinking // of an earlier request; nil: nothing
	since int               // answers from this position on were made behind known.Sum and the messages of the history after it
	trust bool              // nothing was edited yet, as far as is known: what the caller passes was sent
}

// Recall returns the memory of a history of n messages, by what the journal has under the ID of a position. sure is false if
// answers after that request may have been made behind another one.
func Recall(known *journal.Thinking, at, n int, sure bool) Memory {
	known = Within(known, at)
	if known != nil && sure && !known.Again {
		n = known.Len
	}
	return Memory{known: known, since: n}
}

// Trust returns the memory of a history of which nothing is remembered: it was sent as it is.
func Trust() Memory { return Memory{known: new(journal.Thinking), trust: true} }

// Within returns what is known up to a position. If the request had more messages, the history has only these in common with it.
func Within(known *journal.Thinking, at int) *journal.Thinking {
	if known == nil || known.Len <= at+1 {
		return known
	}
	own := *known
	own.Kept = slices.DeleteFunc(slices.Clone(own.Kept), func(k journal.Bound) bool { return k.At > at })
	own.Again = true
	own.Len = at + 1
	return &own
}

// Known returns what is remembered; nil: nothing.
func (m Memory) Known() *journal.Thinking {
	if m.trust {
		return nil
	}
	return m.known
}

// Sure reports whether the memory knows of each answer what it was made behind.
func (m Memory) Sure() bool { return m.Known() != nil && m.since == m.known.Len }

// LeftOut returns the positions whose thinking is left out.
func (m Memory) LeftOut(h *edit.History) edit.Positions {
	if m.known == nil {
		return allBut(h, nil, len(h.Body))
	}
	return allBut(h, m.known.Kept, m.since)
}

// Before returns the positions whose thinking was left out in the request that is remembered.
func (m Memory) Before(h *edit.History) edit.Positions {
	if m.known == nil {
		return nil
	}
	return allBut(h, m.known.Kept, m.known.Len)
}

// allBut returns the positions that have thinking, but for some answers, and for all from a position on. Positions without
// thinking between them are among them.
func allBut(h *edit.History, kept []journal.Bound, since int) (out edit.Positions) {
	from := 0
	leave := func(end int) {
		r := message.Run{First: from, Last: min(end, len(h.Body)) - 1}
		if r.Last >= r.First && h.Thinks(r) {
			out = append(out, r)
		}
		from = end + 1
	}
	for _, k := range kept {
		leave(k.At)
	}
	leave(since)
	return out
}

// Request is one that is about to be sent.
type Request struct {
	Head     message.ID        // of its leading system messages and tools; see [Head]
	Messages []message.Message // after the leading system messages
	Position []int             // of each message in the history, also if it is edited; -1: it stands for several, or for none
	Edited   bool              // messages are edited, not only repaired
}

// Check returns what the journal is to have of a request, and the positions whose thinking is void in it, besides what is left
// out already. If there are any, the caller leaves them out and checks the request without them. What is known to be made after
// the position compacted is accepted: the provider has put something in the place of what it has read up to there. -1: nothing.
func (m Memory) Check(h *edit.History, r Request, leftOut edit.Positions, compacted int) (now *journal.Thinking, void edit.Positions) {
	before, all := chain(r.Messages, message.ID{})
	now = &journal.Thinking{Len: len(h.Body), Head: r.Head, Sum: all}
	made := m.made(h, r.Head)
	void = r.judge(h, leftOut, func(p, i int) bool {
		sum := sumOf(before[i], &r.Messages[i])
		was, known := made[p]
		valid := known && (was == sum || compacted >= 0 && p > compacted) || m.trust && !r.Edited
		if valid {
			now.Kept = append(now.Kept, journal.Bound{At: p, Sum: sum})
		}
		return valid
	})
	return now, void
}

// Void returns the positions whose thinking is void in a request if another one had been sent, besides what is left out already.
// Both are as they are before repairs. compacted is as in [Memory.Check].
func (r Request) Void(h *edit.History, sent Request, leftOut edit.Positions, compacted int) edit.Positions {
	same, was := r.after(compacted), sent.after(compacted)
	ahead := same - was
	equal := func(i int, of func(m *message.Message) message.Message) bool {
		return i-ahead < len(sent.Messages) && r.Position[i] == sent.Position[i-ahead] &&
			of(&r.Messages[i]).Equal(of(&sent.Messages[i-ahead]))
	}
	for same < len(r.Messages) && equal(same, bare) {
		same++
	}
	return r.judge(h, leftOut, func(_, i int) bool { return i < same || i == same && equal(i, front) })
}

// after returns the index of the first message that is from after a position.
func (r Request) after(position int) int {
	i := slices.IndexFunc(r.Position, func(p int) bool { return p > position })
	if position < 0 || i < 0 {
		return 0
	}
	return i
}

// judge returns the positions whose thinking is sent and void. valid is asked in their order about the thinking of a position that
// message i of the request has; all of it is kept or none.
func (r Request) judge(h *edit.History, leftOut edit.Positions, valid func(p, i int) bool) (void edit.Positions) {
	// What earlier requests did not have is in leftOut. A gap is what goes now behind what stays: a provider accepts no thinking behind it.
	at, kept, gap := r.indexes(h), false, false
	for p, answer := range h.Body {
		if leftOut.Has(p) || !thinks(answer) {
			continue
		}
		i := at[p]
		switch {
		case i < 0, !thinks(&r.Messages[i]): // an editor has removed it
			gap = gap || kept
		case !gap && slices.Equal(thinkingOf(answer), thinkingOf(&r.Messages[i])) && valid(p, i):
			kept = true
		default:
			gap = gap || kept
			void = void.With(message.Run{First: p, Last: p})
		}
	}
	return void
}

// indexes returns the index of the message that stands for each position of the history; -1: there is none. A repair may have
// put another one beside it.
func (r Request) indexes(h *edit.History) []int {
	at := slices.Repeat([]int{-1}, len(h.Body))
	for i, p := range r.Position {
		if p >= 0 && (at[p] < 0 || thinks(&r.Messages[i])) {
			at[p] = i
		}
	}
	return at
}

// Continues reports whether a request only adds messages of the history to the one that is remembered, and has all its
// thinking: then the journal need not be written. now is what [Memory.Check] has returned for it.
func (m Memory) Continues(h *edit.History, now *journal.Thinking) bool {
	if !m.Sure() || now.Head != m.known.Head {
		return false
	}
	later := Sent(bodyFrom(h, m.since), m.known.Head, m.known.Sum)
	return later.Sum == now.Sum && len(m.known.Kept)+len(later.Kept) == len(now.Kept)
}

// made returns the sums of what the answers were made behind, by their positions. Behind another head, there are none.
func (m Memory) made(h *edit.History, head message.ID) map[int]uint32 {
	made := map[int]uint32{}
	if m.known == nil || m.known.Head != head && !m.trust {
		return made
	}
	for _, k := range m.known.Kept {
		made[k.At] = k.Sum
	}
	for _, k := range Sent(bodyFrom(h, m.since), head, m.known.Sum).Kept {
		made[m.since+k.At] = k.Sum
	}
	return made
}

// Sent returns what the journal is to have of messages that were sent as they are, behind some that have a hash.
func Sent(body []message.Message, head, behind message.ID) *journal.Thinking {
	before, all := chain(body, behind)
	now := &journal.Thinking{Len: len(body), Head: head, Sum: all}
	for i := range body {
		if thinks(&body[i]) {
			now.Kept = append(now.Kept, journal.Bound{At: i, Sum: sumOf(before[i], &body[i])})
		}
	}
	return now
}

// chain returns for each message the hash of those before it, on top of that of even earlier ones, and the hash of all.
// Thinking does not count.
func chain(msgs []message.Message, start message.ID) (before []message.ID, all message.ID) {
	own := make([]message.Message, 1, 1+len(msgs)) // the first one stands for those before
	for i := range msgs {
		own = append(own, bare(&msgs[i]))
	}
	before = message.IDs(own, start)
	return before[:len(msgs)], before[len(msgs)]
}

// bare returns a message without thinking.
func bare(m *message.Message) message.Message {
	own := *m
	if thinks(m) {
		own.Parts = edit.Remainder(m.Parts)
	}
	return own
}

// front returns what an answer has in front of its last thinking, without thinking.
func front(answer *message.Message) message.Message {
	m := *answer
	last := len(m.Parts)
	for last > 0 && !edit.IsThinking(m.Parts[last-1]) {
		last--
	}
	m.Parts = edit.WithoutThinking(m.Parts[:last])
	return m
}

// sumOf returns the hash of what the thinking of an answer has in front of it: the messages before the answer, which have a
// hash, and the front of the answer. Four bytes are enough: if two of them were equal by chance, the provider would refuse one
// request, which the chain repeats without thinking.
func sumOf(before message.ID, answer *message.Message) uint32 {
	if own := front(answer); len(own.Parts) > 0 {
		before = message.IDs([]message.Message{{}, own}, before)[1]
	}
	return binary.BigEndian.Uint32(before[:])
}

func bodyFrom(h *edit.History, first int) []message.Message {
	return h.AppendMessages(make([]message.Message, 0, len(h.Body)-first), message.Run{First: first, Last: len(h.Body) - 1})
}

func thinks(m *message.Message) bool { return slices.ContainsFunc(m.Parts, edit.IsThinking) }

func thinkingOf(m *message.Message) (out []message.Part) {
	for _, p := range m.Parts {
		if edit.IsThinking(p) {
			out = append(out, p)
		}
	}
	return out
}

// Head returns the hash of leading system messages and of tools, whose order does not matter.
func Head(lead []message.Message, tools []message.ToolDef) (id message.ID) {
	sum := sha256.New()
	var b []byte
	for i := range lead {
		b = within.AppendContent(b[:0], &lead[i])
		sum.Write(b)
	}
	sorted := slices.SortedFunc(slices.Values(tools), func(a, b message.ToolDef) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range sorted {
		for _, text := range [...]string{t.Name, t.Description, t.Parameters} {
			sum.Write(binary.AppendUvarint(nil, uint64(len(text))))
			sum.Write([]byte(text))
		}
	}
	copy(id[:], sum.Sum(nil))
	return id
}

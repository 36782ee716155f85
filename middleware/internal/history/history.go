// Package history recognises a conversation from call to call. A caller passes its
// whole history each time; a [Cache] finds the earlier call that it continues, so that
// only new messages are copied, hashed and counted.
package history

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/edit"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Track is one history with what is known about it, and a state S that belongs to it.
// It is immutable once it is published.
//
// The messages of a track never change, and tracks share them. The slices of a track grow
// into memory that several tracks share. claim is the length that is taken: a track appends
// only if it moves claim from its own length on, otherwise it copies the slices.
type Track[S any] struct {
	edit.History

	Hashes     []message.ContentHash // of the text of each message's first tool result; zero: there is none
	Wide       []bool                // messages that are mostly ideographs
	Tools      []message.ToolDef
	ToolTokens int
	State      S
	Slides     int // number of calls in a row in which the caller dropped first messages

	passed []*message.Message // Body as the caller passed it; nil: the same
	steady bool               // the messages as passed are memory of the caller, which never changes
	claim  *atomic.Int64
	bytes  int       // memory that the track keeps alive, about
	parent *Track[S] // the track that this one replaces in the cache
}

// Change is how a track differs from the one that it continues.
type Change struct {
	Common  int  // number of equal messages at the beginning
	Grown   bool // messages were only added
	Noted   bool // some of the equal messages have other notes
	Copied  bool // nothing may be appended to slices of the earlier track
	Moved   bool // the messages are not those in the memory of the caller; see [Track.Ordered]
	Unlike  bool // probably another conversation: less than half is equal, and the newest message differs
	NewLead bool // the leading system messages differ
}

// same reports whether two messages are equal, as [message.Message.Equal] does, but
// without copying them.
func same(a, b *message.Message) bool {
	return a.Role == b.Role && a.Name == b.Name && slices.Equal(a.Parts, b.Parts)
}

// sameNotes reports whether two messages carry equal notes of the host: usage, time
// and hints.
func sameNotes(a, b *message.Message) bool {
	usage := a.Usage == b.Usage || a.Usage != nil && b.Usage != nil && *a.Usage == *b.Usage
	at := a.Time == b.Time || a.Time.Equal(b.Time) //nolint:staticcheck // mostly the same value, and Equal is slow
	return usage && at && a.Hints == b.Hints
}

// Same reports whether two lists have equal messages with equal notes.
func Same(a, b []message.Message) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !same(&a[i], &b[i]) || !sameNotes(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

// common returns how many first messages are equal, and whether their notes are. Mostly the parts
// are the same values in memory, which never change: then two words are compared, and not the strings.
func common(a []*message.Message, b []message.Message) (n int, notes bool) {
	n, notes = min(len(a), len(b)), true
	for i := range n {
		a, b := a[i], &b[i]
		if a.Role != b.Role || a.Name != b.Name || len(a.Parts) != len(b.Parts) {
			return i, notes
		}
		for k := range a.Parts {
			p, q := a.Parts[k], b.Parts[k]
			//nolint:gosec // an interface has two words
			if *(*[2]unsafe.Pointer)(unsafe.Pointer(&p)) != *(*[2]unsafe.Pointer)(unsafe.Pointer(&q)) && p != q {
				return i, notes
			}
		}
		if a.Usage != nil || b.Usage != nil || a.Hints != b.Hints || a.Time != b.Time {
			notes = notes && sameNotes(a, b)
		}
	}
	return n, notes
}

// reach guesses, from a few probes, how many first messages are equal: at least the first one, if that is.
func reach(known []*message.Message, body []message.Message) int {
	n := min(len(body), len(known))
	if n == 0 || !same(known[0], &body[0]) {
		return 0
	}
	back := 1
	for back <= n && !same(known[n-back], &body[n-back]) {
		back *= 2
	}
	return max(1, n-back+1)
}

// checkParts checks the leading messages, and those of the body from the given one on.
func checkParts(lead, body []message.Message, from int) error {
	at := 0
	for _, msgs := range [...][]message.Message{lead, body[from:]} {
		for i := range msgs {
			for k, p := range msgs[i].Parts {
				if !within.KnownPart(p) {
					return fmt.Errorf("message %d: part %d is %T, want one of the part types of package message, by value", at+i, k, p)
				}
			}
		}
		at += len(msgs) + from
	}
	return nil
}

// isIn reports whether the body of t begins in the same memory, which never changes.
func (t *Track[S]) isIn(given Given) bool {
	return t.steady && len(given.Body) > 0 && len(t.Body) > 0 && &given.Body[0] == t.asPassed()[0]
}

// grow returns a track for a body whose first messages are those of t. sorted: the rounds of both are in order.
func (t *Track[S]) grow(given Given, equal int, notes, sorted bool) (*Track[S], Change) {
	g := *t
	g.parent = t
	in := given.Steady && t.isIn(given)
	if equal == len(given.Body) && equal == len(t.Body) && notes && (t.passed != nil || !given.Steady) {
		if given.Steady && !in { // the next call compares nothing
			g.passed, g.steady = pointers(given.Body), true
		}
		return &g, Change{Common: equal, Grown: true}
	}
	g.steady, g.passed = given.Steady, nil
	var ordered []message.Message
	shared, alike := equal, notes
	if !sorted {
		ordered, shared, alike = t.arranged(given.Body, equal, notes)
	}
	if ordered != nil {
		if !Same(ordered, given.Body) {
			g.passed = passedAs(given)
		} else {
			g.steady = false
		}
		given = Given{Body: ordered}
		equal = shared
		notes = alike
	}
	body := given.Body
	ch, more := Change{Common: equal, Grown: equal == len(t.Body), Noted: !notes}, len(body)-equal
	switch {
	case more == 0 && ch.Grown && notes: // the same in other memory
	case !ch.Grown || !notes || !t.claim.CompareAndSwap(int64(equal), int64(len(body))):
		last := len(t.Body) - 1
		endsAlike := last < len(body) && same(t.Body[last], &body[last])
		ch.Copied, ch.Unlike = true, 2*equal < len(t.Body) && !endsAlike
		more = g.branch(given, equal, notes)
	}
	g.Body = slices.Grow(g.Body, more)
	g.IDs = slices.Grow(g.IDs, more)
	g.Tokens = slices.Grow(g.Tokens, more)
	g.Hashes = slices.Grow(g.Hashes, more)
	g.Wide = slices.Grow(g.Wide, more)
	g.Whole = slices.Grow(g.Whole, more)
	added := body[equal:]
	switch {
	case !given.Steady:
		added = Own(added)
	case !in: // messages of the caller that never change replace all copies
		g.Body, added = make([]*message.Message, 0, len(body)+len(body)/4), body
	}
	for i := range added {
		g.Body = append(g.Body, &added[i])
	}
	g.learn(body, equal)
	g.Bound(equal)
	return &g, ch
}

// branch removes all but the first equal messages from the track, and returns for how many more it needs room. It shares memory
// with the longer one only if nothing will be appended, and if it needs at least half of it.
func (t *Track[S]) branch(given Given, equal int, notes bool) (more int) {
	full := len(t.Body)
	t.cut(equal)
	if equal == len(given.Body) && notes && 2*equal >= full {
		return 0
	}
	t.claim = new(atomic.Int64)
	t.claim.Store(int64(len(given.Body)))
	more = len(given.Body) - equal + 1 // so that all is copied
	if notes {
		return more
	}
	t.Body, t.Whole = slices.Clone(t.Body), slices.Clone(t.Whole)
	for i := range t.Body {
		if m := &given.Body[i]; !sameNotes(t.Body[i], m) {
			t.Body[i] = &Own(given.Body[i : i+1])[0]
			if t.Whole[i] {
				t.WholeCount--
			}
			t.Whole[i], _ = look(m)
			if t.Whole[i] {
				t.WholeCount++
			}
		}
	}
	return more
}

// cut leaves the first n messages. The shorter part is counted again.
func (t *Track[S]) cut(n int) {
	from, to, sign := n, len(t.Body), -1
	if n < to-from {
		from = 0
		to = n
		sign = 1
		t.WholeCount = 0
		t.Sum = 0
		t.bytes = 0
		for i := range t.Lead {
			t.bytes += within.Size(&t.Lead[i])
		}
	}
	for i := from; i < to; i++ {
		t.Sum, t.bytes = t.Sum+sign*t.Tokens[i], t.bytes+sign*within.Size(t.Body[i])
		if t.Whole[i] {
			t.WholeCount += sign
		}
	}
	if n < len(t.Body) {
		t.parent = nil
	}
	t.Body = t.Body[:n:n]
	t.IDs = t.IDs[:n:n]
	t.Tokens = t.Tokens[:n:n]
	t.Hashes = t.Hashes[:n:n]
	t.Wide = t.Wide[:n:n]
	t.Whole = t.Whole[:n:n]
	if t.FirstUser >= n {
		t.FirstUser = -1
	}
	t.LastUser = min(t.LastUser, n-1)
	for t.LastUser >= 0 && t.Body[t.LastUser].Role != message.RoleUser {
		t.LastUser--
	}
	t.Plan = min(t.Plan, n-1)
	for t.Plan >= 0 && !edit.HasPlan(t.Body[t.Plan]) {
		t.Plan--
	}
}

// learn appends what is known about the messages from the given one on. There is room for it. Two goroutines hash and count large
// messages, a few at a time.
func (t *Track[S]) learn(body []message.Message, from int) {
	const few, large = 32, 128 << 10 // messages, bytes
	n, bytes := len(body), 0
	for _, m := range t.Body[from:] {
		bytes += within.Size(m)
	}
	t.bytes += bytes
	t.Hashes = t.Hashes[:n]
	t.Tokens = t.Tokens[:n]
	t.Wide = t.Wide[:n]
	t.Whole = t.Whole[:n]
	var taken atomic.Int64
	work := func() {
		for first := from; first < n; {
			first = from + int(taken.Add(few)) - few
			for i := first; i < min(first+few, n); i++ {
				m := t.Body[i]
				t.Hashes[i], t.Tokens[i] = within.ResultHash(m), t.Meter.Message(*m)
				t.Whole[i], t.Wide[i] = look(m)
			}
		}
	}
	var second sync.WaitGroup
	if bytes >= large {
		second.Go(work)
	}
	work()
	second.Wait()
	t.IDs = within.AppendIDs(t.IDs, body, t.Hashes)
	for i := from; i < n; i++ {
		t.Sum += t.Tokens[i]
		if t.Whole[i] {
			t.WholeCount++
		}
	}
}

// look reports whether a message is protected as a whole: system messages, pinned messages, and what a provider has made of
// earlier messages, which only the provider can read: Anthropic's compaction blocks, OpenAI's compaction items. It also
// reports whether most of its text are ideographs or other letters from U+3000 to U+9FFF, by samples of long texts.
func look(m *message.Message) (isWhole, isWide bool) {
	const samples = 64
	isWhole = m.Role == message.RoleSystem || m.Hints.Pinned
	wide, length := 0, 0
	for _, p := range m.Parts {
		var s string
		switch p := p.(type) {
		case message.Text:
			s = p.Text
		case message.Thinking:
			s = p.Text
		case message.ToolResult:
			s = p.Text
		case message.ToolCall:
			s = p.Arguments
		case message.Opaque:
			isWhole = isWhole || strings.Contains(p.Kind, "compaction")
		case message.Media:
		}
		step := max(1, len(s)/samples)
		hits, taken := 0, 0
		for i := step / 2; i < len(s); i += step {
			k := i
			for k > 0 && k > i-3 && !utf8.RuneStart(s[k]) {
				k--
			}
			if 0xE3 <= s[k] && s[k] <= 0xE9 { // the first byte of the letter
				hits++
			}
			taken++
		}
		if taken > 0 {
			wide += len(s) * hits / taken
		}
		length += len(s)
	}
	return isWhole, 2*wide > length
}

// setLead replaces the leading system messages.
func (t *Track[S]) setLead(lead []message.Message) {
	counted := make([]int, len(lead))
	t.LeadSum = 0
	for i := range lead {
		if i < len(t.Lead) && same(&lead[i], &t.Lead[i]) {
			counted[i] = t.LeadTokens[i]
		} else {
			counted[i] = t.Meter.Message(lead[i])
		}
		t.LeadSum += counted[i]
		t.bytes += within.Size(&lead[i])
	}
	for i := range t.Lead {
		t.bytes -= within.Size(&t.Lead[i])
	}
	t.Lead, t.LeadTokens = Own(lead), counted
}

// Shared returns how many first positions of the bodies of two tracks are equal: an ID
// covers all messages before it.
func Shared(a, b []message.ID) int {
	n := min(len(a), len(b))
	if n > 0 && a[n-1] == b[n-1] {
		return n
	}
	return sort.Search(n, func(i int) bool { return a[i] != b[i] })
}

// Own returns copies of messages with their own memory for parts.
func Own(msgs []message.Message) []message.Message {
	n := 0
	for i := range msgs {
		n += len(msgs[i].Parts)
	}
	own, parts := make([]message.Message, 0, len(msgs)), make([]message.Part, 0, n)
	for _, m := range msgs {
		from := len(parts)
		parts = append(parts, m.Parts...)
		m.Parts = parts[from:len(parts):len(parts)]
		own = append(own, m)
	}
	return own
}

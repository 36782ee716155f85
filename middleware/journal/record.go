package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// Kind is how an edit works.
type Kind string

// The kinds of edits.
const (
	Rewrite Kind = "rewrite" // replaces the parts of one message
	Fold    Kind = "fold"    // replaces one or several runs of messages by other messages, or by nothing
	Repair  Kind = "repair"  // makes an invalid request valid; planned for each request, never kept in a journal
)

// Record is an edit as it is remembered; it must not be modified. Its positions count from
// the first message after the leading system messages.
type Record struct {
	Middleware string            `json:"middleware"`          // name of the middleware that made it
	Kind       Kind              `json:"kind"`                //
	Runs       []message.Run     `json:"runs"`                // positions that it covers; in order, not overlapping
	ID         message.ID        `json:"id"`                  // of the message at the last position: the edit holds where it is equal
	Parts      []message.Part    `json:"-"`                   // of a rewrite: the new parts
	Messages   []message.Message `json:"messages,omitempty"`  // of a fold: what replaces the runs, at the position of the last one
	Covered    []*Record         `json:"covered,omitempty"`   // earlier edits inside its runs, which hold where it does not
	Earlier    []string          `json:"earlier,omitempty"`   // of a fold: handles of what earlier folds in it removed, oldest first
	Corrected  []string          `json:"corrected,omitempty"` // lines of Parts and Messages that a person wrote
	HistoryLen int               `json:"history_len"`         // number of messages after the leading system messages when it was made
	Window     int               `json:"window,omitempty"`    // the edit does not hold in a larger window, in tokens; 0: in any
	Once       bool              `json:"once,omitempty"`      // the edit holds for no history of another length
}

// size returns about how many bytes of memory an entry takes.
func (e *Entry) size() int {
	const perStep, perBound = 400, 16
	n := size(e.Edits) + len(e.Pins)*len(message.ID{})
	if e.Thinking != nil {
		n += perBound * len(e.Thinking.Kept)
	}
	for i := range e.Steps {
		s := &e.Steps[i]
		n += perStep + len(s.Why) + size(s.Change.Removed) + len(s.Change.Made)*len(message.ID{})
	}
	return n
}

// size returns about how many bytes of memory records take.
func size(records []*Record) int {
	const perRecord, perString = 200, 16
	n := 0
	for _, r := range records {
		if r == nil {
			continue
		}
		n += perRecord + len(r.Middleware) + within.Size(&message.Message{Parts: r.Parts}) + size(r.Covered)
		for i := range r.Messages {
			n += within.Size(&r.Messages[i])
		}
		for _, h := range slices.Concat(r.Earlier, r.Corrected) {
			n += perString + len(h)
		}
	}
	return n
}

// recordJSON is a record as it is stored: the parts are those of a message.
type recordJSON struct {
	recordFields

	Rewrite *message.Message `json:"rewrite,omitempty"`
}

type recordFields Record

// MarshalJSON implements [json.Marshaler].
func (r *Record) MarshalJSON() ([]byte, error) {
	j := recordJSON{recordFields: recordFields(*r)}
	if r.Kind == Rewrite {
		j.Rewrite = &message.Message{Parts: r.Parts}
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Record) UnmarshalJSON(data []byte) error {
	var j recordJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Record(j.recordFields)
	if j.Rewrite != nil {
		r.Parts = j.Rewrite.Parts
	}
	return nil
}

// Validate returns what is wrong with an entry: a content that does not belong to its
// revision, or records that no chain writes.
func (e *Entry) Validate() error {
	if err := checkRecords(e.Edits); err != nil {
		return err
	}
	if err := checkSteps(e.Steps); err != nil {
		return err
	}
	if e.Revision() != e.Rev {
		return errors.New("the content does not belong to the revision")
	}
	return nil
}

// Equal reports whether both are the same; each may be nil.
func (t *Thinking) Equal(o *Thinking) bool {
	if t == nil || o == nil || t == o {
		return t == o
	}
	return t.Len == o.Len && t.Head == o.Head && t.Sum == o.Sum && t.Again == o.Again && slices.Equal(t.Kept, o.Kept)
}

// appendTo appends the content for a hash.
func (t *Thinking) appendTo(b []byte) []byte {
	if t == nil {
		return b
	}
	b = append(append(binary.AppendVarint(append(b, '!'), int64(t.Len)), t.Head[:]...), t.Sum[:]...)
	for _, k := range t.Kept {
		b = binary.BigEndian.AppendUint32(binary.AppendVarint(b, int64(k.At)), k.Sum)
	}
	if t.Again {
		b = append(b, '+')
	}
	return b
}

func checkRecords(records []*Record) error {
	var runs []message.Run
	for i, r := range records {
		if r == nil {
			return fmt.Errorf("edit %d is missing", i)
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("edit %d %w", i, err)
		}
		runs = append(runs, r.Runs...)
	}
	slices.SortFunc(runs, func(a, b message.Run) int { return a.First - b.First })
	for i := 1; i < len(runs); i++ {
		if runs[i].First <= runs[i-1].Last {
			return fmt.Errorf("two edits cover position %d", runs[i].First)
		}
	}
	return nil
}

func (r *Record) check() error {
	if len(r.Runs) == 0 {
		return errors.New("covers nothing")
	}
	end := -1
	for _, run := range r.Runs {
		if run.First <= end || run.Last < run.First {
			return fmt.Errorf("covers a run %d to %d that is out of order", run.First, run.Last)
		}
		end = run.Last
	}
	switch r.Kind {
	case Rewrite:
		if len(r.Runs) != 1 || r.Runs[0].Len() != 1 {
			return errors.New("rewrites more than one message")
		}
	case Fold:
	default:
		return fmt.Errorf("has kind %q, want %q or %q", r.Kind, Rewrite, Fold)
	}
	for _, m := range append(slices.Clip(r.Messages), message.Message{Parts: r.Parts}) {
		if k := slices.IndexFunc(m.Parts, func(p message.Part) bool { return !within.KnownPart(p) }); k >= 0 {
			return fmt.Errorf("has part %d, which is nil or of an unknown type", k)
		}
	}
	if err := checkRecords(r.Covered); err != nil {
		return fmt.Errorf("covers edits that are wrong: %w", err)
	}
	for _, c := range r.Covered {
		if slices.ContainsFunc(c.Runs, func(run message.Run) bool { return !r.contains(run) }) {
			return errors.New("covers edits that lie outside")
		}
	}
	return nil
}

func (r *Record) contains(run message.Run) bool {
	return slices.ContainsFunc(r.Runs, func(o message.Run) bool { return o.First <= run.First && run.Last <= o.Last })
}

// Revision returns the revision that belongs to the content of the entry. What a record has
// in common with the one before it is hashed once.
func (e *Entry) Revision() message.ID {
	const chunk = 4 << 10
	h := sha256.New()
	b := make([]byte, 0, 2*chunk)
	b = append(b, e.Base[:]...)
	before := new(Record)
	for _, r := range e.Edits {
		b = r.appendTo(b, before)
		if len(b) >= chunk {
			h.Write(b)
			b = b[:0]
		}
		before = r
	}
	b = e.Thinking.appendTo(b)
	if !e.Conversation.IsZero() {
		b = append(append(b, '@'), e.Conversation[:]...)
	}
	for i := range e.Steps {
		b = e.Steps[i].appendTo(b)
	}
	if len(e.Pins) > 0 {
		b = appendIDs(append(b, '^'), e.Pins)
	}
	if e.Usage != nil {
		b = fmt.Appendf(b, "$%v", *e.Usage)
	}
	h.Write(b)
	return message.ID(h.Sum(nil)[:len(message.ID{})])
}

// appendTo appends the content of a record for its hash, after another record.
func (r *Record) appendTo(b []byte, before *Record) []byte {
	if r.Middleware == before.Middleware && r.Kind == before.Kind && r.HistoryLen == before.HistoryLen &&
		r.Window == before.Window && r.Once == before.Once {
		b = append(b, '=')
	} else {
		b = append(b, '#')
		for _, s := range [...]string{r.Middleware, string(r.Kind)} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		b = binary.AppendVarint(binary.AppendVarint(b, int64(r.HistoryLen)), int64(r.Window))
		b = strconv.AppendBool(b, r.Once)
	}
	for _, line := range r.Corrected {
		b = append(binary.AppendUvarint(append(b, '!'), uint64(len(line))), line...)
	}
	b = append(b, r.ID[:]...)
	if len(r.Runs) == 1 && r.Runs[0].First == r.Runs[0].Last && len(r.Messages) == 0 && len(r.Covered) == 0 && len(r.Earlier) == 0 {
		b = binary.AppendVarint(append(b, '='), int64(r.Runs[0].First))
	} else {
		b = r.appendFold(append(b, '#'))
	}
	if id, ok := sameButID(before.Parts, r.Parts); ok {
		return append(binary.AppendUvarint(append(b, '='), uint64(len(id))), id...)
	}
	return within.AppendContent(append(b, '#'), &message.Message{Parts: r.Parts})
}

// appendFold appends what a fold covers and its messages.
func (r *Record) appendFold(b []byte) []byte {
	for _, n := range [...]int{len(r.Runs), len(r.Messages), len(r.Covered), len(r.Earlier)} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, run := range r.Runs {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(run.First)), int64(run.Last))
	}
	for i := range r.Messages {
		b = within.AppendContent(b, &r.Messages[i])
	}
	before := new(Record)
	for _, c := range r.Covered {
		b = c.appendTo(b, before)
		before = c
	}
	for _, h := range r.Earlier {
		b = append(binary.AppendUvarint(b, uint64(len(h))), h...)
	}
	return b
}

// sameButID reports whether both lists are one text result that differs in the call ID at
// most, and returns that of the second.
func sameButID(before, after []message.Part) (id string, ok bool) {
	if len(before) != 1 || len(after) != 1 {
		return "", false
	}
	a, ok1 := before[0].(message.ToolResult)
	b, ok2 := after[0].(message.ToolResult)
	a.CallID = b.CallID
	return b.CallID, ok1 && ok2 && b.Content == nil && a == b
}

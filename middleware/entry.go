package middleware

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/laconic-go/laconic/message"
)

// How far entries build on one another.
const (
	maxDepth = 32 // every so many entries, one holds all edits
	maxUndo  = 10 // folds inside folds that are kept
)

// hash returns the revision that belongs to the entry's content. What a record
// has in common with the one before it is written once: many results that are
// cleared differ in place and call id alone.
func (e *Entry) hash() Rev {
	const chunk = 4 << 10
	h := sha256.New()
	b := make([]byte, 0, 2*chunk)
	b = append(b, e.Base[:]...)
	b = append(b, e.BaseRev[:]...)
	before := new(Record)
	for _, r := range e.Edits {
		if b = r.appendTo(b, before); len(b) >= chunk {
			h.Write(b)
			b = b[:0]
		}
		before = r
	}
	h.Write(b)
	return Rev(h.Sum(nil)[:len(Rev{})])
}

// appendTo writes what a record does, for its hash, behind another one.
func (r *Record) appendTo(b []byte, before *Record) []byte {
	if r.By == before.By && r.Kind == before.Kind && r.Made == before.Made {
		b = append(b, '=')
	} else {
		b = appendText(appendText(append(b, '#'), r.By), string(r.Kind))
		b = binary.AppendVarint(b, int64(r.Made))
	}
	b = append(b, r.ID[:]...)
	if r.isPlain() {
		b = binary.AppendVarint(append(b, '='), int64(r.Runs[0].First))
	} else {
		b = r.appendFold(append(b, '#'))
	}
	if id, ok := sameUnderID(before.Parts, r.Parts); ok {
		return appendText(append(b, '='), id)
	}
	return message.Message{Parts: r.Parts}.AppendContent(append(b, '#'))
}

// isPlain reports whether a record is about one message and holds no others.
func (r *Record) isPlain() bool {
	return len(r.Runs) == 1 && r.Runs[0].First == r.Runs[0].Last && len(r.Messages) == 0 && len(r.Under) == 0
}

// appendFold writes what a fold covers and what it puts there.
func (r *Record) appendFold(b []byte) []byte {
	for _, n := range [...]int{len(r.Runs), len(r.Messages), len(r.Under)} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, run := range r.Runs {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(run.First)), int64(run.Last))
	}
	for _, m := range r.Messages {
		b = m.AppendContent(b)
	}
	before := new(Record)
	for _, u := range r.Under {
		b = u.appendTo(b, before)
		before = u
	}
	return b
}

// sameUnderID reports whether both times the parts are one result, with
// nothing different but the id of the second, which it returns.
func sameUnderID(before, after []message.Part) (id string, ok bool) {
	_, wasName, was, hadFailed, ok1 := textResult(before)
	id, name, is, failed, ok2 := textResult(after)
	return id, ok1 && ok2 && is == was && name == wasName && failed == hadFailed
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// validate reports what is wrong with records that come from outside: by
// themselves, and with one another.
func validate(records []*Record) error {
	var runs []message.Run
	for i, r := range records {
		if r == nil {
			return fmt.Errorf("edit %d is missing", i)
		}
		if err := r.validate(); err != nil {
			return fmt.Errorf("edit %d %w", i, err)
		}
		runs = append(runs, r.Runs...)
	}
	sortRuns(runs)
	for i := 1; i < len(runs); i++ {
		if runs[i].First <= runs[i-1].Last {
			return fmt.Errorf("two edits cover position %d", runs[i].First)
		}
	}
	return nil
}

func (r *Record) validate() error {
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
	if !areParts(r.Parts) || slices.ContainsFunc(r.Messages, func(m message.Message) bool { return !areParts(m.Parts) }) {
		return errors.New("has a part that is none")
	}
	if err := validate(r.Under); err != nil {
		return fmt.Errorf("covers edits that are wrong: %w", err)
	}
	for _, u := range r.Under {
		if covered, _ := cover(r.Runs, u.Runs); !covered {
			return errors.New("covers edits that lie outside")
		}
	}
	return nil
}

func areParts(parts []message.Part) bool {
	return !slices.ContainsFunc(parts, func(p message.Part) bool { return !message.KnownPart(p) })
}

// equal reports whether two records do the same.
func (r *Record) equal(o *Record) bool {
	return r == o || r.By == o.By && r.Kind == o.Kind && r.ID == o.ID && slices.Equal(r.Runs, o.Runs) &&
		slices.Equal(r.Parts, o.Parts) && slices.EqualFunc(r.Messages, o.Messages, message.Message.Equal)
}

// recordJSON is a record as it is stored: the parts travel in a message.
type recordJSON struct {
	recordFields

	Rewrite *message.Message `json:"rewrite,omitempty"`
}

type recordFields Record

// MarshalJSON writes the record whole.
func (r *Record) MarshalJSON() ([]byte, error) {
	j := recordJSON{recordFields: recordFields(*r)}
	if r.Kind == Rewrite {
		j.Rewrite = &message.Message{Parts: r.Parts}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what [Record.MarshalJSON] wrote.
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

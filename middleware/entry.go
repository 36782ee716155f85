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

// hash returns the revision that belongs to the entry's content.
func (e *Entry) hash() Rev {
	const chunk = 4 << 10
	h := sha256.New()
	b := make([]byte, 0, 2*chunk)
	b = append(b, e.Base[:]...)
	b = append(b, e.BaseRev[:]...)
	for i, r := range e.Edits {
		if i == 0 || r.By != e.Edits[i-1].By || r.Kind != e.Edits[i-1].Kind {
			b = appendText(appendText(append(b, '#'), r.By), string(r.Kind))
		}
		if b = r.appendTo(b); len(b) >= chunk {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return Rev(h.Sum(nil)[:len(Rev{})])
}

// appendTo writes what a record does, for its hash.
func (r *Record) appendTo(b []byte) []byte {
	b = append(b, r.ID[:]...)
	for _, n := range [...]int{r.Made, len(r.Runs), len(r.Messages), len(r.Under)} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, run := range r.Runs {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(run.First)), int64(run.Last))
	}
	b = message.Message{Parts: r.Parts}.AppendContent(b)
	for _, m := range r.Messages {
		b = m.AppendContent(b)
	}
	for _, u := range r.Under {
		b = u.appendTo(appendText(appendText(b, u.By), string(u.Kind)))
	}
	return b
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

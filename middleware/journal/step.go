package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// Step is one edit of a middleware, which may be several records, or what a person has done about edits. It must not be
// modified.
//
// Actor is "trigger" (of the middleware), "user" (or the program: it has forced an edit, committed a draft, undone, or
// pinned), "model" (by a tool), or "refusal" (of the provider, which has refused the request as too long).
type Step struct {
	ID      message.ID `json:"id"`              // equal steps of several processes have the same one
	Kind    string     `json:"kind"`            // "edit", once; "undo" or "redo" of an edit; "pin" or "unpin" of messages
	By      string     `json:"by,omitempty"`    // the middleware that has made the edit; "" of pins
	Of      message.ID `json:"of,omitzero"`     // "undo" and "redo": the edit
	Actor   string     `json:"actor,omitempty"` // who has asked for it
	Why     string     `json:"why,omitempty"`   // in words, with numbers
	Time    time.Time  `json:"time,omitzero"`
	Before  int        `json:"before,omitempty"` // tokens of all that is sent
	After   int        `json:"after,omitempty"`
	Cost    Cost       `json:"cost,omitzero"`
	Records []*Record  `json:"-"` // what an "edit" has made that is not written yet
	Undone  bool       `json:"-"` // an "edit" that is not in force; set by those who list steps

	Change Change `json:"change,omitzero"`
}

// Cost is what was paid for the model calls of an edit, such as those for a summary.
type Cost struct {
	Spent models.Cost `json:"spent,omitempty"`
	Known bool        `json:"known,omitempty"` // false: the price of a call is unknown
}

// Change is what is needed to take a step back.
type Change struct {
	Made    []message.ID `json:"made,omitempty"`    // "edit" and "redo": IDs of the records that it has made
	Len     int          `json:"len,omitempty"`     // "edit": HistoryLen of these records
	Removed []*Record    `json:"removed,omitempty"` // what it has replaced or taken back, unless a record that it has made covers that
	Pins    []message.ID `json:"pins,omitempty"`    // "pin" and "unpin": the messages
	Turn    message.ID   `json:"turn,omitzero"`     // "undo": the message before the newest of the user; By waits for another one

	// Final means that the messages before the edit are gone, since the caller passes views as its history.
	Final bool `json:"final,omitempty"`
}

// NewID returns the ID that belongs to an edit on top of an entry, or of the step before it: two processes that make the same edit
// give it the same one. What the Records have is in the revision of their entry.
func (s *Step) NewID(base message.ID) message.ID {
	b := append([]byte("laconic step\x00"), base[:]...)
	b = append(append(b, s.Kind...), s.By...)
	for _, r := range s.Records {
		b = append(b, r.ID[:]...)
	}
	sum := sha256.Sum256(b)
	return message.ID(sum[:len(message.ID{})])
}

// appendTo appends for a hash what a step does. When, why and at what price it was made does not count: two processes that
// make the same edit write the same entry.
func (s *Step) appendTo(b []byte) []byte {
	b = append(append(b, '~'), s.ID[:]...)
	for _, text := range [...]string{s.Kind, s.By} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	c := &s.Change
	b = append(append(b, s.Of[:]...), c.Turn[:]...)
	for _, ids := range [...][]message.ID{c.Made, c.Pins} {
		b = appendIDs(b, ids)
	}
	before := new(Record)
	for _, r := range c.Removed {
		b = r.appendTo(b, before)
		before = r
	}
	if c.Final {
		b = append(b, '!')
	}
	return b
}

func appendIDs(b []byte, ids []message.ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

func checkSteps(steps []Step) error {
	for i := range steps {
		if err := checkRecords(steps[i].Change.Removed); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

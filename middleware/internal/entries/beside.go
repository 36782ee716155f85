package entries

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
)

// Beside the edits, the journal has pins and usages, under IDs of their own.

// maxPins is how many messages are pinned at most in all histories of a scope that begin with the same message.
const maxPins = 1000

// pinsOf returns the ID under which the journal has the pins of all histories with a first message: a pin belongs to a
// message, wherever that is.
func pinsOf(first message.ID) message.ID { return under("pins", first) }

// under returns the ID of what the journal has beside the edits.
func under(what string, id message.ID) message.ID {
	sum := sha256.Sum256(append([]byte("laconic "+what+"\x00"), id[:]...))
	return message.ID(sum[:len(id)])
}

// Usage returns the newest usage that the journal has of the history, except of all its messages, and the position of the last
// message of its prompt; nil: none.
func (l Log) Usage(ctx context.Context) (*message.Usage, int, error) {
	ids := make([]message.ID, len(l.IDs)-1)
	for i := range ids {
		ids[i] = under("usage", l.IDs[i])
	}
	found, err := l.find(ctx, ids)
	if err != nil || found.At < 0 || len(found.Entries) == 0 {
		return nil, -1, err
	}
	return found.Entries[0].Usage, found.At, found.Entries[0].Validate()
}

// WriteUsage writes the usage of a prompt that has the whole history.
func (l Log) WriteUsage(ctx context.Context, u *message.Usage) error {
	e := journal.Entry{Conversation: l.Name, Usage: u}
	e.Rev = e.Revision()
	at := under("usage", l.IDs[len(l.IDs)-1])
	_, err := l.put(ctx, []journal.Write{{ID: at, First: l.IDs[0], Conversation: l.Conversation, Entry: e}})
	return err
}

// Pin pins messages, or takes their pins back, and reports whether that changes anything.
func (l Log) Pin(ctx context.Context, ids []message.ID, pin bool) (changes bool, err error) {
	for range tries {
		s, _, err := l.Read(ctx, nil, None, 0)
		if err != nil {
			return false, err
		}
		pins := slices.Clone(s.pinned.Pins)
		for _, id := range ids {
			k := slices.Index(pins, id)
			switch {
			case pin && k < 0:
				pins = append(pins, id)
			case !pin && k >= 0:
				pins = slices.Delete(pins, k, k+1)
			}
		}
		if len(pins) == len(s.pinned.Pins) {
			return false, nil
		}
		e := journal.Entry{Pins: pins[max(0, len(pins)-maxPins):]}
		e.Rev = e.Revision()
		winner, err := l.put(ctx, []journal.Write{
			{ID: pinsOf(l.IDs[0]), First: l.IDs[0], Conversation: l.IDs[0], Over: s.pinned.Rev, Entry: e},
		})
		if err != nil || winner.Rev == e.Rev {
			return true, err
		}
	}
	return false, ErrFirst
}

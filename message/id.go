package message

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ID names a position of a history by everything that was said up to there:
// equal IDs mean equal conversations so far. It is comparable, and the zero
// value is the ID of no position.
type ID [16]byte

// String returns the ID in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the ID names no position.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText writes the ID in hexadecimal.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText reads what [ID.MarshalText] wrote.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(id)) {
		return fmt.Errorf("message: id %q has %d digits, want %d", text, len(text), hex.EncodedLen(len(id)))
	}
	if _, err := hex.Decode(id[:], text); err != nil {
		return fmt.Errorf("message: id %q: %w", text, err)
	}
	return nil
}

// IDs returns the ID of each position of a history. It is the first half of a
// SHA-256 over the ID before it and the message's role, name and parts, so it
// does not depend on time, usage or hints. The system messages that lead the
// history have the zero ID and take no part: a clock in a system prompt
// changes no ID.
func IDs(msgs []Message) []ID { return AppendIDs(nil, msgs) }

// AppendIDs extends ids, the IDs of the first len(ids) messages, to all of
// msgs. Its cost is that of the new messages. Like append it may write behind
// len(ids).
func AppendIDs(ids []ID, msgs []Message) []ID {
	var prev ID
	if len(ids) > 0 {
		prev = ids[len(ids)-1]
	}
	var buf []byte
	for i := len(ids); i < len(msgs); i++ {
		if msgs[i].Role == RoleSystem && prev.IsZero() {
			ids = append(ids, ID{})
			continue
		}
		buf = msgs[i].AppendContent(append(buf[:0], prev[:]...))
		sum := sha256.Sum256(buf)
		prev = ID(sum[:len(prev)])
		ids = append(ids, prev)
	}
	return ids
}

// Leading returns how many system messages lead the history. They have no
// [ID].
func Leading(msgs []Message) int {
	for i := range msgs {
		if msgs[i].Role != RoleSystem {
			return i
		}
	}
	return len(msgs)
}

// AppendContent appends what the message says, role, name and parts, in a form
// in which two different contents never look alike. It serves to hash messages
// and is not made to be read back.
func (m Message) AppendContent(b []byte) []byte {
	b = appendString(b, string(m.Role))
	b = appendString(b, m.Name)
	b = binary.AppendUvarint(b, uint64(len(m.Parts)))
	for _, p := range m.Parts {
		b = appendPart(b, p)
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
		b = appendString(appendString(appendString(append(b, 'r'), p.CallID), p.Name), p.Text)
		if p.Error {
			b = append(b, '!')
		}
		return appendPart(b, p.Content)
	case Opaque:
		return appendString(appendString(append(b, 'o'), p.Kind), p.Data)
	default: // no part at all, which Check reports
		return appendString(append(b, '?'), fmt.Sprintf("%#v", p))
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

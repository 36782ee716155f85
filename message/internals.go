package message

import (
	"slices"

	"github.com/laconic-go/laconic/internal/inside"
)

// Internals is what packages of this module ask in addition to what any other may ask. Packages outside of it have no
// [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// AppendContent appends role, name and parts of a message in an encoding in which different contents are always different. It
// is meant for hashing messages and cannot be decoded.
func (internals) AppendContent(b []byte, m *Message) []byte { return m.appendContent(b, nil) }

// HashContent returns the hash of some data, a SHA-256; mediaType is its MIME type, or "" for text. It depends on nothing else.
func (internals) HashContent(mediaType, data string) ContentHash { return hashContent(mediaType, data) }

// ResultHash returns the hash of the text of the first tool result in the message, or zero if it has none. In an ID it stands
// for the text, so that the text is hashed once for the ID and for an archive.
func (internals) ResultHash(m *Message) ContentHash { return m.resultHash() }

// AppendIDs is [IDs], with the ResultHash of each message.
func (internals) AppendIDs(known []ID, msgs []Message, results []ContentHash) []ID {
	return appendIDs(known, msgs, results)
}

// Order returns the indexes of messages in the order in which their rounds have the results in that of their calls; nil: they
// are in order.
func (internals) Order(msgs []Message) []int { return order(msgs) }

// KnownPart reports whether a part is of one of the six types: not nil, not a pointer, and if it is a result, with content that
// is nil or of one of them.
func (internals) KnownPart(p Part) bool { return knownPart(p) }

// WithText returns a part whose strings are UTF-8, with one U+FFFD for each run of other bytes. IDs, signatures and the bytes of
// media stay as they are.
func (internals) WithText(p Part) Part { return withText(p) }

// Size returns about how many bytes of memory the message uses. It is meant for caches with a limit.
func (internals) Size(m *Message) int { return m.size() }

// Content returns the violations of a message by itself. Text that is not UTF-8 is none here: edits quote it from the history and
// may cut it, and fit repairs it.
func (internals) Content(m Message) []Violation {
	return slices.DeleteFunc(contentOf([]Message{m}, 0), func(v Violation) bool { return v.Rule == badText.String() })
}

// Pairing returns the violations of calls and results that do not match.
func (internals) Pairing(msgs []Message) []Violation {
	return pairing(msgs, 0)
}

// ViolationsFrom returns the violations of the messages from position from on, and those of earlier messages that a later
// message can still cause: "unanswered call" of the last assistant message, "ends in answer", and "first not user" of a list
// that has only system messages.
//
// If a list has its first n messages in common with one that was valid, its result from n equals that of [Rules.Violations].
// With Chat, Messages or AsSent, with which a result may be apart from its call, these n messages alone must be valid.
// Only the messages from the last assistant message before from are read; for the rule "reused id" also all earlier calls. It
// panics if from is out of range.
func (internals) ViolationsFrom(r Rules, msgs []Message, from int) []Violation {
	return r.violationsFrom(msgs, from)
}

// PlaceholderID returns what begins the ID that a codec gives to a call without one: it breaks no rule of IDs, and is never sent.
func (internals) PlaceholderID() string { return placeholderID }

// LimitsOr returns limits, and those of others in the place of zeros.
func (internals) LimitsOr(l, others Limits) Limits { return l.or(others) }

// CallsOf returns for each part of message i the position of its call among the calls of the last assistant message before i;
// -1 if the part is not a result or has no such call. If calls have the same ID, it depends on all results since then:
// docs/internals/validity.md has the rule.
func (internals) CallsOf(msgs []Message, i int) []int { return callsOf(msgs, i) }

// JoinTexts returns m with one text in the place of several, on separate lines, if its content is text alone: some servers
// accept only a string. A message with results is returned unchanged. The adapters do this with each message that a chain made
// or edited; fit does it for all messages, and for results, with [OneText].
func (internals) JoinTexts(m Message) Message { return joinTexts(m) }

// IsCompaction reports whether the message is what a provider has made of earlier messages, which only the provider can read: a
// message of the assistant with nothing but a compaction block of Anthropic, or a compaction item of OpenAI. It is no turn: a
// conversation may begin with it, and an answer may follow it.
func (internals) IsCompaction(m Message) bool { return m.isCompaction() }

// Dimensions returns the size of an image in pixels from its header. It returns false if
// the bytes are neither in Data nor in a data: URL, if they are not PNG, JPEG, GIF or
// WebP, and if the header is broken or has a size of 0. It reads only the header, ignores
// Type, and does not check the size against the image.
func (internals) Dimensions(m Media) (width, height int, ok bool) { return m.dimensions() }

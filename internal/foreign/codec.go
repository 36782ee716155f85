package foreign

import "github.com/laconic-go/laconic/message"

// Codec says what the messages of another system mean. It must be
// deterministic, safe for concurrent use, and change nothing that it sees.
type Codec[F any] interface {
	// Import returns what f says. The messages before it are given, since some
	// systems leave to them what tool a result is from. What a message of ours
	// cannot say is an error; an [message.Opaque] part can say most.
	Import(f F, before []message.Message) (message.Message, error)

	// Same reports whether Import would still return m, at the same place of
	// the same history. It is asked for every message of every call.
	Same(f F, m *message.Message) bool

	// Export returns a foreign message that says m. The origin is the message
	// that m was made from, or nil if m is new. What m says like its origin
	// must be taken from there, and all that m has no place for as well. What
	// the other system cannot say is an error.
	Export(m message.Message, from *Origin[F]) (F, error)
}

// Keeper is a [Codec] that can tell quickly which messages go out as they came
// in.
type Keeper[F any] interface {
	// Keeps reports whether Export would return f itself for m, which no edit
	// has touched since it was imported from f.
	Keeps(f F, m *message.Message) bool
}

// Batcher is a [Codec] that makes the messages of one request better together.
type Batcher[F any] interface {
	// Batch returns a codec for the export of one request, by one goroutine.
	Batch() Codec[F]
}

// Origin is where a message comes from.
type Origin[F any] struct {
	Foreign F               // as it came in
	Message message.Message // what it was imported as
	Edited  bool            // whether an edit has changed it since
}

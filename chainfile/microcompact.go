package chainfile

import (
	"errors"

	"github.com/laconic-go/laconic/middleware/microcompact"
)

func microcompactKeys(o *microcompact.Options) []key {
	return []key{
		{"trigger", when(&o.Trigger)},
		{"keep_rounds", atLeastNone(&o.KeepRounds)},
		{"limit", payloads(&o.Limit)},
		{"protect", texts(&o.Protect, "tools")},
		{"batch", batch(&o.Batch)},
		{"digest", whole(&o.Digest, 0)},
		{"fresh_share", orOff(&o.FreshShare, -1, share(&o.FreshShare))},
		{"min_calls", whole(&o.MinCalls, 0)},
		{"strict", yesNo(&o.Strict)},
	}
}

// payloads reads the limit of results, or a map with those of all payloads.
func payloads(dst *microcompact.Limits) value {
	keys := []key{
		{"results", limit(&dst.Results)},
		{"arguments", limit(&dst.Arguments)},
		{"text", limit(&dst.Text)},
	}
	return func(n *node) error {
		if n.shape != aMap {
			return limit(&dst.Results)(n)
		}
		return n.read(keys)
	}
}

// limit reads how many characters something may have.
func limit(dst *int) value { return orOff(dst, -1, whole(dst, 1)) }

// batch reads a map with what has to come together.
func batch(dst *microcompact.Batch) value {
	keys := []key{{"results", whole(&dst.Results, 0)}, {"tokens", whole(&dst.Tokens, 0)}}
	return func(n *node) error { return n.read(keys) }
}

// off is what a file says for an option that is not to act.
const off = "off"

// orOff reads the word off into a variable, as the value that means it, or a number
// by another reader.
func orOff[T any](dst *T, means T, number value) value {
	return func(n *node) error {
		if n.shape == aText && n.text == off {
			*dst = means
			return nil
		}
		err := number(n)
		if e, ok := errors.AsType[*Error](err); ok {
			e.Text += ", or " + off
		}
		return err
	}
}

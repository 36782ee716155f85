package contextedit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
)

// markSuperseded marks the results whose call was repeated in a later round: the same
// tool, arguments of the same JSON value, and a result that is not an error and is in
// the view as the tool returned it. results is in the order of the view.
func markSuperseded(ctx context.Context, v *middleware.View, results []candidate) {
	later := make(repeats, len(results))
	whole := map[string]bool{} // call IDs of such results in the current round
	watch := shorten.NewWatch(ctx)
	for i := v.Len() - 1; i >= 0 && len(results) > 0 && !watch.Done(); i-- {
		switch v.At(i).Role {
		case message.RoleTool:
			addWhole(whole, v, i)
		case message.RoleAssistant:
			k := len(results)
			for k > 0 && results[k-1].at > i {
				k--
			}
			later.mark(v, i, results[k:], whole)
			results = results[:k]
			whole = map[string]bool{}
		case message.RoleSystem, message.RoleUser:
		}
	}
}

// addWhole adds the call IDs of the results in tool message i that are not errors and are
// there as the tool returned them.
func addWhole(ids map[string]bool, v *middleware.View, i int) {
	parts, e := v.At(i).Parts, v.Span(i).Edit
	if e != nil && e.Kind != journal.Rewrite {
		return // a fold may contain anything
	}
	for id := range shorten.CallIDs(parts) {
		if shorten.Failed(parts, id) {
			continue
		}
		if e == nil || slices.Equal(shorten.Result(parts, id), shorten.Result(core.Original(v, i).Parts, id)) {
			ids[id] = true
		}
	}
}

// repeats is a hash table of the calls that have a whole result, the newest of each
// value. If two hashes collide, the second call is under the next free hash.
type repeats map[uint64]repeat

// repeat is a call, and the position of its message.
type repeat struct {
	call message.Part
	at   int
}

// mark marks the results of one round whose call is repeated in a later round, and
// then adds the calls of assistant message i that have a whole result. Parallel calls
// do not supersede one another. Arguments are compared as the model wrote them:
// different ones may look alike when an editor has shortened them.
func (p repeats) mark(v *middleware.View, i int, round []candidate, whole map[string]bool) {
	var repeated map[string]bool // by call ID
	for _, part := range core.Original(v, i).Parts {
		call, ok := part.(message.ToolCall)
		if !ok {
			continue
		}
		key, found := p.find(call)
		switch {
		case !found && whole[call.ID]:
			p[key] = repeat{call: part, at: i}
		case found && p[key].at > i:
			if repeated == nil {
				repeated = map[string]bool{}
			}
			repeated[call.ID] = true
		}
	}
	for k := range round {
		round[k].superseded = round[k].superseded || repeated[round[k].callID]
	}
}

// find returns the key of an equal call, or, if there is none, the key for a new one.
func (p repeats) find(call message.ToolCall) (key uint64, found bool) {
	for key = valueHash(call.Arguments); ; key++ {
		other, ok := p[key]
		if !ok {
			return key, false
		}
		if c, _ := other.call.(message.ToolCall); c.Name == call.Name && sameValue(c.Arguments, call.Arguments) {
			return key, true
		}
	}
}

// sameValue reports whether two texts are JSON of the same value. White space, the
// order of keys and escapes do not matter; numbers are compared as they are written,
// since long IDs do not fit into a float64.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, ok1 := decode(a)
	y, ok2 := decode(b)
	return ok1 && ok2 && reflect.DeepEqual(x, y)
}

func decode(text string) (value any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil, false
	}
	_, err := d.Token()
	return value, err == io.EOF
}

// valueHash returns the same hash for texts that are JSON of the same value. It decodes
// only texts with escapes, and with the characters that package json always escapes. It
// ignores white space, and the order of what is between brackets and commas.
func valueHash(text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // of FNV-1a
	if strings.IndexByte(text, '\\') >= 0 || strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029") {
		text = unescaped(text)
	}
	var sum uint64
	piece := uint64(offset)
	for i := range len(text) {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '{', '}', '[', ']', ',':
			if piece != offset {
				sum += piece ^ piece>>32
				piece = offset
			}
		default:
			piece = (piece ^ uint64(c)) * prime
		}
	}
	return (sum ^ piece) * prime
}

// unescaped returns JSON with as few escapes as possible, and other texts unchanged.
func unescaped(text string) string {
	value, ok := decode(text)
	if !ok {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return text
	}
	return b.String()
}

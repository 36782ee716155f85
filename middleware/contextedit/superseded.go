package contextedit

import (
	"context"
	"encoding/json"
	"io"
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
	for i := v.Len() - 1; i >= 0 && len(results) > 0 && ctx.Err() == nil; i-- {
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
		if e == nil || slices.Equal(shorten.Result(parts, id), shorten.Result(v.Original(i).Parts, id)) {
			ids[id] = true
		}
	}
}

// repeats has the calls that have a whole result: the position of the newest with a name and arguments of one JSON value.
type repeats map[string]int

// mark marks the results of one round whose call is repeated in a later round, and
// then adds the calls of assistant message i that have a whole result. Parallel calls
// do not supersede one another. Arguments are compared as the model wrote them:
// different ones may look alike when an editor has shortened them.
func (p repeats) mark(v *middleware.View, i int, round []candidate, whole map[string]bool) {
	var repeated map[string]bool // by call ID
	for _, part := range v.Original(i).Parts {
		call, ok := part.(message.ToolCall)
		if !ok {
			continue
		}
		key := call.Name + "\x00" + canonical(call.Arguments)
		at, found := p[key]
		switch {
		case !found && whole[call.ID]:
			p[key] = i
		case found && at > i:
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

// canonical returns JSON in the form that all texts of the same value have: white space, the order of keys and escapes do not
// matter; numbers stay as they are written, since long IDs do not fit into a float64. Another text is returned as it is.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return text
	}
	if _, err := d.Token(); err != io.EOF {
		return text
	}
	b, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(b)
}

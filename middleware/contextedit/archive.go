package contextedit

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// likely is a handle as good as any to tell how long a placeholder will be.
var likely = store.Handles("", store.Content{})[0]

// likelyPlaceholder returns a placeholder as long as those of the view, give or
// take a token.
func (o *editor) likelyPlaceholder(v *middleware.View) string {
	if v.Env().Archive == nil {
		return o.Placeholder
	}
	return store.Placeholder(o.Placeholder, likely)
}

func likelyInput(v *middleware.View) string {
	if v.Env().Archive == nil {
		return store.Arguments(store.Handle{})
	}
	return store.Arguments(likely)
}

// archived is how a result, and the input of its call if that goes too, are kept.
type archived struct {
	placeholder   string // of the result
	inputHandle   store.Handle
	result, input []*store.Named
}

func (a *archived) ofResult() []*store.Named {
	if a == nil {
		return nil
	}
	return a.result
}

func (a *archived) ofInput() []*store.Named {
	if a == nil {
		return nil
	}
	return a.input
}

// placeholderOf returns the text of a cleared result.
func (o *editor) placeholderOf(c *candidate) string {
	if c.archived == nil {
		return o.Placeholder
	}
	return c.archived.placeholder
}

// leftOfInput returns what stands in place of the input of a cleared result.
func leftOfInput(c *candidate) string {
	if c.archived == nil {
		return store.Arguments(store.Handle{})
	}
	return store.Arguments(c.archived.inputHandle)
}

// archive finds the handles of what is chosen, and leaves alone what would not
// get shorter with its own.
func (o *editor) archive(ctx context.Context, v *middleware.View, chosen *choice) {
	text, args := v.Meter().Counter.Count(o.likelyPlaceholder(v)), v.Meter().Counter.Count(likelyInput(v))
	kept := chosen.results[:0]
	for _, c := range chosen.results {
		c.archived = o.archivedOf(ctx, v, &c)
		longer := v.Meter().Counter.Count(o.placeholderOf(&c)) - text
		parts := v.At(c.at).Parts
		for i, p := range parts {
			if r, ok := p.(message.ToolResult); ok && r.CallID == c.callID && !joins(parts, i) {
				c.freed -= longer
			}
		}
		if c.input {
			c.freed -= v.Meter().Counter.Count(leftOfInput(&c)) - args
		}
		if c.freed > 0 {
			kept = append(kept, c)
		}
	}
	chosen.results = kept
}

// archivedOf tells how a result is kept: as the tool gave it, whatever has been
// made of it since. What a model has recalled is in the archive already, under
// the handle in the call.
func (o *editor) archivedOf(ctx context.Context, v *middleware.View, c *candidate) *archived {
	var a archived
	call := givenCall(v, c)
	h := store.Asked(call)
	if !store.Has(ctx, v.Env().Archive, h) {
		h, a.result = v.Archive(partsOf(v.Original(c.at), c.callID)...)
	}
	a.placeholder = store.Placeholder(o.Placeholder, h)
	if c.input {
		a.inputHandle, a.input = v.Archive(call)
	}
	return &a
}

// partsOf returns the pieces of a result as the parts that they are.
func partsOf(m message.Message, callID string) []message.Part {
	if len(m.Parts) == 1 {
		return m.Parts
	}
	var parts []message.Part
	for _, piece := range piecesOf(m, callID) {
		parts = append(parts, piece)
	}
	return parts
}

// givenCall returns the call of a result as the model made it; zero: there is
// none.
func givenCall(v *middleware.View, c *candidate) message.ToolCall {
	if c.call < 0 {
		return message.ToolCall{}
	}
	for call := range v.Original(c.call).Calls() {
		if call.ID == c.callID {
			return call
		}
	}
	return message.ToolCall{}
}

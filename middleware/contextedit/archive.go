package contextedit

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// likely is a handle as good as any to tell how long a placeholder will be.
var likely = store.Handles("", store.Content{})[0]

// likelyPlaceholder returns a placeholder as long as those of the view, give or
// take a token.
func (o *editor) likelyPlaceholder(v *middleware.View) string {
	if !v.Archives() {
		return o.Placeholder
	}
	return store.Placeholder(o.Placeholder, likely)
}

func likelyInput(v *middleware.View) string {
	if !v.Archives() {
		return store.Arguments(store.Handle{})
	}
	return store.Arguments(likely)
}

// archived is how a result, and the input of its call if that goes too, are kept.
type archived struct {
	handle, inputHandle store.Handle
	result, input       []store.Content
}

func (a *archived) ofResult() []store.Content {
	if a == nil {
		return nil
	}
	return a.result
}

func (a *archived) ofInput() []store.Content {
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
	return store.Placeholder(o.Placeholder, c.archived.handle)
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
func (o *editor) archive(v *middleware.View, chosen *choice) {
	text, args := v.Counter().Count(o.likelyPlaceholder(v)), v.Counter().Count(likelyInput(v))
	kept := chosen.results[:0]
	for _, c := range chosen.results {
		c.archived = archivedOf(v, &c)
		longer := v.Counter().Count(o.placeholderOf(&c)) - text
		parts := v.At(c.at).Parts
		for i, p := range parts {
			if r, ok := p.(message.ToolResult); ok && r.CallID == c.callID && !joins(parts, i) {
				c.freed -= longer
			}
		}
		if c.input {
			c.freed -= v.Counter().Count(leftOfInput(&c)) - args
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
func archivedOf(v *middleware.View, c *candidate) *archived {
	var a archived
	call := givenCall(v, c)
	if h := store.Asked(call); !h.IsZero() {
		a.handle = h
	} else {
		var parts []message.Part
		for _, piece := range piecesOf(v.Given(c.at), c.callID) {
			parts = append(parts, piece)
		}
		a.handle, a.result = v.Archive(parts...)
	}
	if c.input {
		a.inputHandle, a.input = v.Archive(call)
	}
	return &a
}

// givenCall returns the call of a result as the model made it; zero: there is
// none.
func givenCall(v *middleware.View, c *candidate) message.ToolCall {
	if c.call < 0 {
		return message.ToolCall{}
	}
	for call := range v.Given(c.call).Calls() {
		if call.ID == c.callID {
			return call
		}
	}
	return message.ToolCall{}
}

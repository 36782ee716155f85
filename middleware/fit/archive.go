package fit

import (
	"context"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// keeper knows under which handles what goes is kept. A nil keeper has no
// handles: nothing is kept.
type keeper struct {
	of       *middleware.View
	has      func(store.Handle) bool // the archive, for what a model has recalled
	handles  map[message.Part]store.Handle
	results  map[result]store.Handle
	origins  map[message.Part]message.Part // of what was cut, what it was cut from
	contents map[store.Handle][]*store.Named
}

// result is a result in a view.
type result struct {
	at int
	id string
}

func newKeeper(ctx context.Context, v *middleware.View) *keeper {
	return &keeper{
		of:      v,
		has:     func(h store.Handle) bool { return store.Has(ctx, v.Env().Archive, h) },
		handles: map[message.Part]store.Handle{}, results: map[result]store.Handle{},
		origins: map[message.Part]message.Part{}, contents: map[store.Handle][]*store.Named{},
	}
}

// likely is a handle as good as any to tell how long a text will be.
var likely = store.HandleOf("", store.Content{})

// handleOf returns the handle of one part.
func (k *keeper) handleOf(p message.Part) store.Handle {
	if k == nil {
		return store.Handle{}
	}
	h, known := k.handles[p]
	if !known {
		h = k.keep(p)
		k.handles[p] = h
	}
	return h
}

// mediaHandle is handleOf for a part that has media, and zero for others.
func (k *keeper) mediaHandle(p message.Part) store.Handle {
	if _, ok := withoutMedia(p, store.Handle{}); !ok {
		return store.Handle{}
	}
	return k.handleOf(p)
}

func (k *keeper) keep(parts ...message.Part) store.Handle {
	h, contents := k.of.Archive(parts...)
	k.contents[h] = contents
	return h
}

// handleOfResult returns the handle of all pieces of a result, as the tool gave
// them. What a model has recalled is in the archive already.
func (k *keeper) handleOfResult(at int, id string) store.Handle {
	if k == nil {
		return store.Handle{}
	}
	h, known := k.results[result{at, id}]
	if known {
		return h
	}
	if h = store.Asked(k.callOf(at, id)); !k.has(h) {
		var pieces []message.Part
		for r := range k.of.Original(at).Results() {
			if r.CallID == id {
				pieces = append(pieces, r)
			}
		}
		h = k.keep(pieces...)
	}
	k.results[result{at, id}] = h
	return h
}

// callOf returns the call that a result answers, or the zero call.
func (k *keeper) callOf(at int, id string) message.ToolCall {
	for at >= 0 && k.of.At(at).Role == message.RoleTool { // results of the same round
		at--
	}
	if at >= 0 {
		for c := range k.of.Original(at).Calls() {
			if c.ID == id {
				return c
			}
		}
	}
	return message.ToolCall{}
}

// given returns what a part of a message is, or was before somebody cut it.
func (k *keeper) given(at, nth int, p message.Part) message.Part {
	if k == nil {
		return p
	}
	if o, ok := k.origins[p]; ok {
		return o
	}
	before, now := k.of.Original(at).Parts, k.of.At(at).Parts
	if len(before) != len(now) || nth >= len(now) || now[nth] != p || !cutFrom(p, before[nth]) {
		return p
	}
	return before[nth]
}

// came notes what a part was cut from.
func (k *keeper) came(p, from message.Part) {
	if k != nil {
		k.origins[p] = from
	}
}

// cutFrom reports whether a part can have been cut from another one.
func cutFrom(p, from message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		_, ok := from.(message.Text)
		return ok
	case message.ToolCall:
		c, ok := from.(message.ToolCall)
		return ok && p.ID == c.ID
	case message.ToolResult:
		r, ok := from.(message.ToolResult)
		return ok && p.CallID == r.CallID && p.Content == nil && r.Content == nil
	case message.Thinking, message.Media, message.Opaque:
	}
	return false
}

// textOf returns what a text or a result says.
func textOf(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return p.Text
	case message.ToolResult:
		return p.Text
	case message.Thinking, message.Media, message.ToolCall, message.Opaque:
	}
	return ""
}

// archived returns what the archive is given for the handles that parts name.
func (k *keeper) archived(parts []message.Part) []*store.Named {
	if k == nil {
		return nil
	}
	var all []*store.Named
	for _, p := range parts {
		text := textOf(p)
		if c, ok := p.(message.ToolCall); ok {
			text = c.Arguments
		}
		for _, h := range store.HandlesIn(text) {
			all = append(all, k.contents[h]...)
		}
	}
	return all
}

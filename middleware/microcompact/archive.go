package microcompact

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// keep tells how parts that are taken out of a message will be kept, as
// [middleware.View.Archive] does.
type keep func(...message.Part) (store.Handle, []*store.Named)

// likely is a handle as good as any to tell how long a placeholder will be. To
// tell the right one takes a hash of what goes.
var likely = store.HandleOf("", store.Content{})

// likelyKeep returns what to plan with as long as it is open whether anything
// will go.
func likelyKeep(v *middleware.View) keep {
	if v.Env().Archive == nil {
		return v.Archive
	}
	return func(...message.Part) (store.Handle, []*store.Named) { return likely, nil }
}

// handleOf returns the handle of a part that is taken out, and has it kept with
// the edit that comes next.
func (s *survey) handleOf(p message.Part) store.Handle {
	return s.take(s.keep(p))
}

func (s *survey) take(h store.Handle, contents []*store.Named) store.Handle {
	if s.kept == nil {
		s.kept = contents
	} else {
		s.kept = append(s.kept, contents...)
	}
	return h
}

// handleOfResult returns the handle of a result as the tool gave it. What a model
// has recalled is in the archive already, under the handle in the call.
func (s *survey) handleOfResult(given []message.Part, callID string) store.Handle {
	if s.view.Env().Archive == nil {
		return store.Handle{}
	}
	if h := s.round.asked(s.view, callID); s.has(h) {
		return h
	}
	return s.take(s.keep(partsOf(given, callID)...))
}

// partsOf returns the pieces of one result.
func partsOf(parts []message.Part, callID string) []message.Part {
	if len(parts) == 1 {
		return parts
	}
	var found []message.Part
	for _, r := range pieces(parts, callID) {
		found = append(found, r)
	}
	return found
}

// asked returns the handle that a call of the round asks the archive for; zero: it
// is no call of the tool that recalls.
func (r *round) asked(v *middleware.View, callID string) store.Handle {
	if !r.recalls {
		return store.Handle{}
	}
	given, ok := givenOf(v, r.at)
	if !ok {
		return store.Handle{}
	}
	for _, p := range given.parts {
		if c, ok := p.(message.ToolCall); ok && c.ID == callID {
			return store.Asked(c)
		}
	}
	return store.Handle{}
}

package fit

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/store"
)

// A model that has read content again needs it now. If that is cleared or cut before it
// is used, the model reads it again and again. So recalled results are the last ones to
// be shortened.

// recalled returns the handle by which a result was read from the archive; zero if it is
// another result, or if there is no archive.
func (a *archiver) recalled(at int, id string) store.Handle {
	if a == nil || a.recalls[at] < 0 {
		return store.Handle{}
	}
	if h := archived.Asked(a.calls.Call(a.source.Original(a.recalls[at]).Parts, id)); a.has(h) {
		return h
	}
	return store.Handle{}
}

// recalls returns, for each message, the position of the message before it whose calls it
// answers, if one of these reads the archive; else -1.
func recalls(msgs []message.Message) []int {
	out, calls := make([]int, len(msgs)), -1
	for i := range msgs {
		if out[i] = -1; msgs[i].Role == message.RoleTool {
			out[i] = calls
			continue
		}
		calls = -1
		if shorten.ReadsArchive(msgs[i]) {
			calls = i
		}
	}
	return out
}

// isRecalled reports whether a piece belongs to a result that was read from the archive.
func (s *sketch) isRecalled(p piece) bool {
	r, ok := s.now[p.at].Parts[p.k].(message.ToolResult)
	return ok && !s.recalled(p.at, r.CallID).IsZero()
}

// clearRecalled clears results that were read from the archive.
var clearRecalled = clearSome(func(s *sketch, at int, id string) bool { return !s.recalled(at, id).IsZero() })

// levelRecalledLast is level for all pieces. If the others keep at least half of what is
// allowed next to recalled pieces, these are kept whole.
func (s *sketch) levelRecalledLast(pieces []piece, unit string, allowed int) {
	var others []piece
	rest := allowed
	for _, p := range pieces {
		if s.isRecalled(p) {
			rest -= p.size
		} else {
			others = append(others, p)
		}
	}
	if rest >= allowed/2 && len(others) > 0 {
		pieces, allowed = others, rest
	}
	s.level(pieces, unit, allowed)
}

// reportRepeated reports each call of the newest round that reads something again from the
// archive and had the same answer before: the view is too small to keep it.
func (f *fitter) reportRepeated(ctx context.Context, v *middleware.View) {
	h := v.History()
	at := len(h) - 1
	for at >= 0 && h[at].Role == message.RoleTool {
		at--
	}
	if at < 0 || at == len(h)-1 || v.Env().Archive == nil {
		return
	}
	for c := range h[at].Calls() {
		handle := archived.Asked(c)
		if handle.IsZero() {
			continue
		}
		n := repeats(h[:at], c, answerTo(h[at+1:], c.ID))
		if n > 0 && f.once(v, fmt.Sprintf("%s %d %s", store.RecallTool, at, c.ID)) {
			v.Report(ctx, middleware.Event{
				Kind: middleware.Notice, By: Name,
				Why: fmt.Sprintf("the model has read %s %d times, with the same answer: the view has no room to keep it; "+
					"raise the window, or keep more results of %s", handle, n+1, store.RecallTool),
			})
		}
	}
}

// repeats returns how many earlier calls with the same arguments had the same answer.
func repeats(h []message.Message, call message.ToolCall, answer string) (n int) {
	same := map[string]bool{} // IDs of one round
	for _, m := range h {
		if m.HasCalls() {
			clear(same)
		}
		for c := range m.Calls() {
			same[c.ID] = c.Name == call.Name && c.Arguments == call.Arguments
		}
		for r := range m.Results() {
			if same[r.CallID] && (r.Text == answer || strings.HasPrefix(answer, r.Text+"\n[")) { // with a note
				n++
			}
		}
	}
	return n
}

// answerTo returns the text of the result of a call.
func answerTo(h []message.Message, id string) string {
	for _, m := range h {
		for r := range m.Results() {
			if r.CallID == id {
				return r.Text
			}
		}
	}
	return ""
}

package langchaingo

import (
	"bytes"
	"encoding/json"

	"github.com/laconic-go/laconic/middleware"
)

// callReader reads the tool calls that the client for OpenAI streams as if they
// were text: each chunk is what encoding/json makes of the pieces in it.
type callReader struct {
	tools bool // the model may call some
	calls int  // begun so far
}

type callPiece struct {
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type"`
	Function functionPiece `json:"function"`
}

type functionPiece struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// read returns the pieces of calls that a chunk consists of, nil if it is text.
func (r *callReader) read(text []byte) []middleware.CallDelta {
	if !r.tools || !bytes.HasPrefix(text, []byte(`[{"`)) {
		return nil
	}
	var pieces []callPiece
	if json.Unmarshal(text, &pieces) != nil {
		return nil
	}
	if again, err := json.Marshal(pieces); err != nil || !bytes.Equal(again, text) {
		return nil
	}
	all := make([]middleware.CallDelta, 0, len(pieces))
	for _, p := range pieces {
		// As the client itself tells a call that goes on from a new one.
		goesOn := p.Type == "" && p.Function.Arguments != ""
		if goesOn && r.calls == 0 {
			continue
		}
		if !goesOn {
			r.calls++
		}
		all = append(all, middleware.CallDelta{Index: r.calls - 1, ID: p.ID, Name: p.Function.Name, Arguments: p.Function.Arguments})
	}
	return all
}

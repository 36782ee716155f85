package agent

import (
	"context"

	"github.com/laconic-go/laconic/message"
)

// NewTool makes a tool from a function.
//
// The JSON schema of the arguments is inferred from In, a struct or a map with
// string keys. Fields are named by their json tag, described by their
// jsonschema tag, and required unless the json tag says omitempty or omitzero.
// The same In gives the same bytes.
//
// Arguments are checked against the schema before fn runs. If they do not fit,
// fn is not called, and the error is an [*ArgumentsError] that names each
// field that is missing, unknown or of the wrong type, and what is wanted. No
// arguments at all count as the empty object.
//
// What fn returns becomes the result: a string as it is, a [message.Part] and
// a []message.Part as they are, anything else as compact JSON. An error of fn
// is passed on unchanged. fn must be safe for concurrent use.
//
// NewTool panics if the name is empty, if fn is nil, or if no schema for an
// object can be inferred from In.
func NewTool[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) Tool {
	return nil
}

// ArgumentsError says why the arguments of a call do not fit a tool, in words
// that a model can act on.
type ArgumentsError struct {
	Problems []string // one for each field, at least one; "path" is missing, want a string
}

// Error lists the problems in one line.
func (e *ArgumentsError) Error() string { return "" }

var _ message.Part = message.Text{}

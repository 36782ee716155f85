// Package agent defines what an agent can do: its tools.
//
//	type args struct {
//		Path string `json:"path" jsonschema:"the file, relative to the root"`
//	}
//
//	read := agent.NewTool("read_file", "Reads a text file.",
//		func(ctx context.Context, in args) (string, error) {
//			data, err := root.ReadFile(in.Path)
//			return string(data), err
//		})
//
// [Recall] makes the tool by which a model reads archived content again, [Compact] the one by
// which it asks for a compaction. Package react runs tools in a loop with a model.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/laconic-go/laconic/message"
)

// Tool is something that a model can call.
//
// A Tool must be safe for concurrent use. It must return soon after ctx is done,
// since its caller waits for it.
type Tool interface {
	// Definition declares the tool to a model. It returns the same value on
	// every call.
	Definition() message.ToolDef

	// Call runs the tool. The arguments are what the model wrote: a JSON
	// object, or nothing, which means the empty object. The result consists of
	// [message.Text], [message.Media] and [message.Opaque] parts and belongs to
	// the caller. The model reads the text of an error, so it names what is wrong
	// and what is wanted instead. Parts returned with an error are dropped.
	Call(ctx context.Context, arguments string) ([]message.Part, error)
}

// NewTool makes a tool from a function.
//
// The JSON schema of the arguments is inferred from In, a struct or a map with
// string keys. Fields are named by their json tag, described by their
// jsonschema tag, and required unless the json tag has omitempty or omitzero.
//
// Arguments that do not fit the schema are an [*ArgumentsError] that names each
// field that is missing, unknown or of the wrong type, and what is wanted; fn is not
// called. No arguments at all count as the empty object.
//
// A string, a [message.Part] or a []message.Part that fn returns is the result.
// Any other value is encoded as compact JSON. An error of fn is returned
// unchanged. fn must be safe for concurrent use.
//
// NewTool panics if the name is empty, if fn is nil, or if no schema for an
// object can be inferred from In.
func NewTool[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) Tool {
	if name == "" {
		panic("agent: NewTool: the name is empty")
	}
	if fn == nil {
		panic(fmt.Sprintf("agent: NewTool: %s: the function is nil", name))
	}
	schema, parameters, err := infer(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("agent: NewTool: %s: %v", name, err))
	}
	return &tool[In, Out]{
		def:    message.ToolDef{Name: name, Description: description, Parameters: parameters},
		schema: schema,
		fn:     fn,
	}
}

type tool[In, Out any] struct {
	def    message.ToolDef
	schema *jsonschema.Resolved
	fn     func(context.Context, In) (Out, error)
}

func (t *tool[In, Out]) Definition() message.ToolDef { return t.def }

func (t *tool[In, Out]) Call(ctx context.Context, arguments string) ([]message.Part, error) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if err := validate(t.schema, arguments); err != nil {
		return nil, err
	}
	var in In
	if err := json.Unmarshal([]byte(arguments), &in); err != nil {
		return nil, undecodable(err)
	}
	out, err := t.fn(ctx, in)
	if err != nil {
		return nil, err
	}
	return parts(out)
}

// infer returns the schema of an arguments type, ready to validate, and its
// JSON.
func infer(t reflect.Type) (*jsonschema.Resolved, string, error) {
	schema, err := jsonschema.ForType(t, nil)
	if err != nil {
		return nil, "", err
	}
	if schema.Type != "object" {
		return nil, "", fmt.Errorf("the arguments are of type %v, want a struct or a map with string keys", t)
	}
	if schema.Properties == nil {
		schema.Properties = map[string]*jsonschema.Schema{} // OpenAI rejects an object schema without properties
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, "", err
	}
	return resolved, string(text), nil
}

// parts returns the result of a function as parts.
func parts(out any) ([]message.Part, error) {
	switch out := out.(type) {
	case string:
		return []message.Part{message.Text{Text: out}}, nil
	case []message.Part:
		return out, nil
	case message.Part:
		return []message.Part{out}, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a model reads this, not a browser
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("the result is not JSON: %w", err)
	}
	return []message.Part{message.Text{Text: strings.TrimSuffix(b.String(), "\n")}}, nil
}

// undecodable turns an error of encoding/json into one about the arguments.
// Arguments that fit the schema can still fail to decode, because Go is stricter
// than JSON Schema: 5.0 is an integer there, but does not decode into an int.
func undecodable(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s is %s, want %v", fieldName(wrong.Field), wrong.Value, wrong.Type)
	}
	return &argumentsError{Problems: []string{err.Error()}}
}

package langchaingo

import (
	"context"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// Tool makes a tool of ours one that agents of langchaingo can run, as
// [agent.Recall], by which a model reads again what a chain with an archive has
// cleared.
//
// A tool of langchaingo takes one text. If it begins as a JSON object does, it is
// the arguments. Any other text is the value of the only parameter that is
// required, or of the only one there is: of recall, the handle. White space around
// the text goes, and so do a code fence around an object, the wrapping
// {"__arg1": …}, and quotes where all of the text stands in them. A tool without
// parameters ignores the text. If several are required, the answer to a text says
// so. What input is wanted stands at the end of the description, since a model is
// shown nothing else.
//
// What the tool answers is text; a part that is none becomes a line in brackets
// that says what it is. An error becomes the answer too, since it is meant for the
// model, and the executor would end its run for an error; that of a context stays
// one. The result is safe for concurrent use. An error is of kind Invalid: the
// parameters that the tool declares are no JSON schema of an object.
func Tool(t agent.Tool) (tools.Tool, error) {
	def := t.Definition()
	p, err := parametersOf(def)
	if err != nil {
		return nil, err
	}
	return &callable{tool: t, def: def, parameters: p}, nil
}

// callable is a tool of ours in the words of langchaingo.
type callable struct {
	tool       agent.Tool
	def        message.ToolDef
	parameters *parameters
}

// Name implements [tools.Tool].
func (c *callable) Name() string { return c.def.Name }

// Description implements [tools.Tool].
func (c *callable) Description() string {
	text := strings.TrimSpace(c.def.Description)
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?:") {
		text += "."
	}
	return strings.TrimSpace(text + " Input: " + c.parameters.wanted() + ".")
}

// Call implements [tools.Tool].
func (c *callable) Call(ctx context.Context, input string) (string, error) {
	arguments, err := c.parameters.read(input)
	if err != nil {
		return foreign.Answer(ctx, nil, err)
	}
	parts, err := c.tool.Call(ctx, arguments)
	return foreign.Answer(ctx, parts, err)
}

// Definitions declares tools of ours to a model, by [llms.WithTools], for programs
// that call GenerateContent themselves. A call that the model then makes is
// answered by [Tool], whose input is the arguments that the model wrote. The slice
// is the caller's. An error is of kind Invalid: the parameters of a tool are no
// JSON object.
func Definitions(all ...agent.Tool) ([]llms.Tool, error) {
	defs := make([]llms.Tool, len(all))
	for i, t := range all {
		f, err := newFunction(t.Definition())
		if err != nil {
			return nil, err
		}
		defs[i] = llms.Tool{Type: "function", Function: &f}
	}
	return defs, nil
}

package langchaingo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
// A tool of langchaingo takes one text. If the text begins with a brace, it is the
// arguments, a JSON object. Any other text is the value of the only required
// parameter, or of the only one: of recall, the handle. Removed are white space and
// quotes around the text, a code fence around an object, and the wrapping
// {"__arg1": …}. If several parameters are required, the answer to a text has their
// schema. So has the end of the description, since a model gets nothing else.
//
// The answer of the tool is text; a part that is not text becomes a line in brackets
// with its type and size. An error becomes the answer too, since the executor would end
// its run for it; if the context is done, its error is returned. The result is safe for
// concurrent use. An error is of kind Invalid: the declared parameters are not the JSON
// schema of an object.
func Tool(t agent.Tool) (tools.Tool, error) {
	def := t.Definition()
	p, err := parametersOf(def)
	if err != nil {
		return nil, err
	}
	return &callable{tool: t, def: def, parameters: p}, nil
}

// callable is a tool of ours as a tool of langchaingo.
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
		return foreign.ToolAnswer(ctx, nil, err)
	}
	parts, err := c.tool.Call(ctx, arguments)
	return foreign.ToolAnswer(ctx, parts, err)
}

// Definitions declares tools of ours to a model, by [llms.WithTools], for programs
// that call GenerateContent themselves. A call that the model then makes is
// answered by [Tool], whose input is the arguments that the model wrote. The slice
// is the caller's. An error is of kind Invalid: the parameters of a tool are not a
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

// toolset has the tools of a call, for langchaingo and for us.
type toolset struct {
	defs      []message.ToolDef // of the functions, then of the tools
	functions []llms.FunctionDefinition
	tools     []llms.Tool
}

func toolsOf(o *llms.CallOptions) (toolset, error) {
	t := toolset{functions: o.Functions, tools: o.Tools}
	for i := range o.Functions {
		def, err := toolDef(&o.Functions[i])
		if err != nil {
			return t, err
		}
		t.defs = append(t.defs, def)
	}
	for _, tool := range o.Tools {
		if tool.Function == nil { // the provider's own
			t.defs = append(t.defs, message.ToolDef{Name: tool.Type})
			continue
		}
		def, err := toolDef(tool.Function)
		if err != nil {
			return t, err
		}
		t.defs = append(t.defs, def)
	}
	return t, nil
}

func toolDef(f *llms.FunctionDefinition) (message.ToolDef, error) {
	def := message.ToolDef{Name: f.Name, Description: f.Description}
	if f.Parameters == nil {
		return def, nil
	}
	schema, err := json.Marshal(f.Parameters)
	if err != nil {
		return def, invalid(fmt.Errorf("tool %q: parameters: %w", f.Name, err))
	}
	def.Parameters = string(schema)
	return def, nil
}

// changed returns the options that declare other tools instead, nil if they are equal.
func (t toolset) changed(defs []message.ToolDef) ([]llms.CallOption, error) {
	if slices.Equal(defs, t.defs) {
		return nil, nil
	}
	var now toolset
	for _, def := range defs {
		i := slices.Index(t.defs, def)
		switch {
		case i >= len(t.functions):
			now.tools = append(now.tools, t.tools[i-len(t.functions)])
			continue
		case i >= 0:
			now.functions = append(now.functions, t.functions[i])
			continue
		}
		f, err := newFunction(def)
		switch {
		case err != nil:
			return nil, err
		case len(t.functions) > 0 && len(t.tools) == 0: // some providers accept only one of both
			now.functions = append(now.functions, f)
		default:
			now.tools = append(now.tools, llms.Tool{Type: "function", Function: &f})
		}
	}
	var options []llms.CallOption
	if len(now.functions) > 0 || len(t.functions) > 0 {
		options = append(options, llms.WithFunctions(now.functions))
	}
	if len(now.tools) > 0 || len(t.tools) > 0 {
		options = append(options, llms.WithTools(now.tools))
	}
	return options, nil
}

func newFunction(def message.ToolDef) (llms.FunctionDefinition, error) {
	f := llms.FunctionDefinition{Name: def.Name, Description: def.Description}
	schema := map[string]any{"type": "object", "properties": map[string]any{}}
	if def.Parameters != "" {
		schema = nil
		if err := json.Unmarshal([]byte(def.Parameters), &schema); err != nil {
			return f, invalid(fmt.Errorf("tool %q: parameters: %w", def.Name, err))
		}
		if schema == nil {
			return f, invalid(fmt.Errorf("tool %q: parameters are %s, want a JSON schema", def.Name, def.Parameters))
		}
	}
	f.Parameters = schema
	return f, nil
}

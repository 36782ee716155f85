package langchaingo

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// CallOptions returns the call options of a request, for middlewares behind
// [Wrap] and around [Model]: what its Params, of type []llms.CallOption, add up
// to. Params of another type count as none. The result is the caller's, but
// what it refers to is not: slices, maps and functions are to be read only.
func CallOptions(req *middleware.Request) llms.CallOptions {
	options, _ := req.Params.([]llms.CallOption)
	return resolve(options)
}

func resolve(options []llms.CallOption) llms.CallOptions {
	var all llms.CallOptions
	for _, set := range options {
		if set != nil {
			set(&all)
		}
	}
	return all
}

// params returns the call options that a request carries.
func params(req *middleware.Request) ([]llms.CallOption, error) {
	switch p := req.Params.(type) {
	case nil:
		return nil, nil
	case []llms.CallOption:
		return slices.Clip(p), nil
	}
	return nil, invalid(fmt.Errorf("Request.Params is of type %T, want []llms.CallOption", req.Params))
}

// toolset is what a call declares, in both languages.
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

// changed returns the options that declare other tools instead, none if they
// are the same.
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
		case len(t.functions) > 0 && len(t.tools) == 0: // some providers take either
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

package eino

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/message"
)

// Tool makes a tool of ours one that agents of eino can run, such as [agent.Recall].
//
// The answer of the tool is text; a part that is not text becomes a line in brackets
// with its type and size. An error becomes the answer too, since an error of a tool would
// end a run of eino; if the context is done, its error is returned. The result is safe for
// concurrent use. It is an error if eino cannot read the parameters that the tool declares.
func Tool(t agent.Tool) (tool.InvokableTool, error) {
	def := t.Definition()
	info, err := fromDef(def)
	if err != nil {
		return nil, invalid(fmt.Errorf("tool %s: parameters: %w", def.Name, err))
	}
	return &invokable{tool: t, info: info}, nil
}

// invokable is a tool of ours as a tool of eino.
type invokable struct {
	tool agent.Tool
	info *schema.ToolInfo
}

// Info implements [tool.BaseTool].
func (t *invokable) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// InvokableRun implements [tool.InvokableTool].
func (t *invokable) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	parts, err := t.tool.Call(ctx, arguments)
	return foreign.ToolAnswer(ctx, parts, err)
}

// tools are the tools of a request, for eino and for us.
type tools struct {
	infos []*schema.ToolInfo
	seen  []schema.ToolInfo // copies of the infos, since they can be changed in place
	defs  []message.ToolDef
}

// maxTools is the number of lists of tools that are remembered.
const maxTools = 8

// toolMemo converts the tools that eino declares and remembers the newest lists. It is
// safe for concurrent use.
type toolMemo struct{ known atomic.Pointer[[]*tools] }

// of returns the tools of a call. Parameters are compared by their pointer, not by their
// content.
func (m *toolMemo) of(infos []*schema.ToolInfo) (*tools, error) {
	if len(infos) == 0 {
		return new(tools), nil
	}
	var known []*tools
	if old := m.known.Load(); old != nil {
		known = *old
	}
	if k := slices.IndexFunc(known, func(t *tools) bool { return slices.EqualFunc(infos, t.seen, sameInfo) }); k >= 0 {
		return known[k], nil
	}
	t := &tools{infos: slices.Clone(infos)}
	for i, info := range infos {
		if info == nil {
			return nil, invalid(fmt.Errorf("tool %d is nil, want its info", i))
		}
		def, err := toDef(info)
		if err != nil {
			return nil, invalid(fmt.Errorf("tool %d, %s: parameters: %w", i, info.Name, err))
		}
		t.seen, t.defs = append(t.seen, *info), append(t.defs, def)
	}
	// If another call stores a list at the same time, one of both is converted again later.
	known = append([]*tools{t}, known[:min(len(known), maxTools-1)]...)
	m.known.Store(&known)
	return t, nil
}

// infosOf returns the infos of tools. Those that are equal in declared keep theirs.
func infosOf(defs []message.ToolDef, declared *tools) ([]*schema.ToolInfo, error) {
	infos := make([]*schema.ToolInfo, len(defs))
	for i, def := range defs {
		if k := slices.Index(declared.defs, def); k >= 0 {
			infos[i] = declared.infos[k]
			continue
		}
		var err error
		infos[i], err = fromDef(def)
		if err != nil {
			return nil, invalid(fmt.Errorf("tool %d, %s: parameters: %w", i, def.Name, err))
		}
	}
	return infos, nil
}

func sameInfo(info *schema.ToolInfo, seen schema.ToolInfo) bool {
	return info != nil && info.Name == seen.Name && info.Desc == seen.Desc && info.ParamsOneOf == seen.ParamsOneOf
}

func toDef(info *schema.ToolInfo) (message.ToolDef, error) {
	def := message.ToolDef{Name: info.Name, Description: info.Desc}
	if info.ParamsOneOf == nil {
		return def, nil
	}
	s, err := info.ToJSONSchema()
	if err != nil || s == nil {
		return def, err
	}
	data, err := json.Marshal(s)
	def.Parameters = string(data)
	return def, err
}

func fromDef(def message.ToolDef) (*schema.ToolInfo, error) {
	info := &schema.ToolInfo{Name: def.Name, Desc: def.Description}
	if def.Parameters == "" {
		return info, nil
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(def.Parameters), s); err != nil {
		return nil, err
	}
	info.ParamsOneOf = schema.NewParamsOneOfByJSONSchema(s)
	return info, nil
}

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

// Tool makes a tool of ours one that agents of eino can run, such as [agent.Recall], by
// which a model reads again what a chain with an archive has cleared.
//
// The answer of the tool is text; a part that is not text becomes a line in brackets
// with its type and size. An error becomes the answer too, since it is meant for the
// model, and an error of a tool would end a run of eino; if the context is done, its
// error is returned. The result is safe for concurrent use. It is an error if eino
// cannot read the parameters that the tool declares.
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

// toolMemo converts lists of tools and remembers the newest. It is safe for concurrent
// use.
type toolMemo struct{ known atomic.Pointer[[]*tools] }

// fromInfos returns tools that eino declares. Parameters are compared by their pointer,
// not by their content.
func (m *toolMemo) fromInfos(infos []*schema.ToolInfo) (*tools, error) {
	if len(infos) == 0 {
		return new(tools), nil
	}
	if t := m.find(func(t *tools) bool { return slices.EqualFunc(infos, t.seen, sameInfo) }); t != nil {
		return t, nil
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
	m.add(t)
	return t, nil
}

// fromDefs returns tools that we declare; those that are equal in old keep their infos.
func (m *toolMemo) fromDefs(defs []message.ToolDef, old *tools) (*tools, error) {
	if slices.Equal(defs, old.defs) {
		return old, nil
	}
	if t := m.find(func(t *tools) bool { return len(old.defs) == 0 && slices.Equal(defs, t.defs) }); t != nil {
		return t, nil
	}
	t := &tools{defs: slices.Clone(defs)}
	for i, def := range defs {
		if k := slices.Index(old.defs, def); k >= 0 {
			t.infos = append(t.infos, old.infos[k])
		} else {
			info, err := fromDef(def)
			if err != nil {
				return nil, invalid(fmt.Errorf("tool %d, %s: parameters: %w", i, def.Name, err))
			}
			t.infos = append(t.infos, info)
		}
		t.seen = append(t.seen, *t.infos[i])
	}
	if len(old.defs) == 0 {
		m.add(t)
	}
	return t, nil
}

func (m *toolMemo) find(is func(*tools) bool) *tools {
	if known := m.known.Load(); known != nil {
		if k := slices.IndexFunc(*known, is); k >= 0 {
			return (*known)[k]
		}
	}
	return nil
}

// add remembers tools, the newest first. If another call adds some at the same time,
// one of both is forgotten and converted again later.
func (m *toolMemo) add(t *tools) {
	known := []*tools{t}
	if old := m.known.Load(); old != nil {
		known = append(known, (*old)[:min(len(*old), maxTools-1)]...)
	}
	m.known.Store(&known)
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

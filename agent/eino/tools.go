package eino

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/laconic-go/laconic/message"
)

// tools are the tools of a request, in both words.
type tools struct {
	infos []*schema.ToolInfo
	seen  []schema.ToolInfo // what the infos were, for they may be changed in place
	defs  []message.ToolDef
}

// maxTools is how many lists of tools are remembered.
const maxTools = 8

// toolMemo converts lists of tools, and those that it has seen not again. It
// is safe for concurrent use.
type toolMemo struct{ known atomic.Pointer[[]*tools] }

// fromInfos returns tools that eino declares. Of parameters it is remembered
// which value they are, not what is in it.
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

// fromDefs returns tools that we declare; those of old that are still the same
// keep their infos.
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

// add remembers tools, the newest first. What another call adds at the same
// time may be forgotten, and is then converted again.
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

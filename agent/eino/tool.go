package eino

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/internal/foreign"
)

// Tool makes a tool of ours one that agents of eino can run, as [agent.Recall], by
// which a model reads again what a chain with an archive has cleared.
//
// What the tool answers is text; a part that is none becomes a line in brackets
// that says what it is. An error becomes the answer too, since it is meant for the
// model, and an error of a tool would end a run of eino; that of a context stays
// one. The result is safe for concurrent use. It is an error if eino cannot read
// the parameters that the tool declares.
func Tool(t agent.Tool) (tool.InvokableTool, error) {
	def := t.Definition()
	info, err := fromDef(def)
	if err != nil {
		return nil, invalid(fmt.Errorf("tool %s: parameters: %w", def.Name, err))
	}
	return &invokable{tool: t, info: info}, nil
}

// invokable is a tool of ours in the words of eino.
type invokable struct {
	tool agent.Tool
	info *schema.ToolInfo
}

// Info implements [tool.BaseTool].
func (t *invokable) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// InvokableRun implements [tool.InvokableTool].
func (t *invokable) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	parts, err := t.tool.Call(ctx, arguments)
	return foreign.Answer(ctx, parts, err)
}

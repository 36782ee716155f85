package eino

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/laconic-go/laconic/agent"
	"github.com/laconic-go/laconic/message"
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
	switch {
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "error: " + err.Error(), nil //nolint:nilerr // it is the answer
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case message.Text:
			texts[i] = p.Text
		case message.Media:
			texts[i] = fmt.Sprintf("[%s, %d bytes, cannot be shown here]", p.Type, len(p.Data))
		case message.Opaque, message.Thinking, message.ToolCall, message.ToolResult:
			texts[i] = "[cannot be shown here]"
		}
	}
	return strings.Join(texts, "\n"), nil
}

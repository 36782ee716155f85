package fit

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// declare declares the tools whose calls are in the history of a request that
// declares none, where the provider demands that: as a program does that wants an
// answer without further calls. What is declared says that it is not to be called.
func (f *fitter) declare(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		v := req.View()
		if v == nil || len(req.Tools) > 0 {
			return next(ctx, req, emit)
		}
		j := f.judge(v)
		if len(j.declared) == 0 {
			return next(ctx, req, emit)
		}
		r := *req
		r.Tools = j.declared
		if f.once(v, "tools") {
			v.Tell(ctx, middleware.Event{Kind: middleware.Mended, By: Name, Why: fmt.Sprintf(
				"the request declares no tools, but the messages have calls of %s, which %s wants declared; "+
					"they are, as tools that are not to be called", strings.Join(names(j.declared), ", "), j.rules)})
		}
		return next(ctx, &r, emit)
	}
}

// demandTools are the providers that reject calls in a request without tools.
const demandTools = message.Anthropic | message.Bedrock

// undeclared returns the declarations that are missing, if the provider is known
// to demand them: to others, tools that nobody has are no help.
func (j *judgement) undeclared() []message.ToolDef {
	if !j.known || j.rules&demandTools == 0 || len(j.view.Request().Tools) > 0 {
		return nil
	}
	msgs := j.view.Messages()
	if j.mended != nil {
		msgs = j.mended.Messages
	}
	var tools []message.ToolDef
	had := map[string]bool{}
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			if c, ok := p.(message.ToolCall); ok && !had[c.Name] {
				had[c.Name] = true
				tools = append(tools, message.ToolDef{
					Name: c.Name, Description: "Not available any more.",
					Parameters: `{"type":"object","properties":{}}`,
				})
			}
		}
	}
	return tools
}

func names(tools []message.ToolDef) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

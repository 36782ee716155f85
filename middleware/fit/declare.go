package fit

import (
	"context"
	"fmt"
	"slices"
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
			v.Report(ctx, middleware.Event{Kind: middleware.Repaired, By: Name, Why: fmt.Sprintf(
				"the request declares no tools, but the messages have calls of %s, which %s wants declared; "+
					"they are, as tools that are not to be called", strings.Join(names(j.declared), ", "), j.rules)})
		}
		return next(ctx, &r, emit)
	}
}

// demandTools are the providers that reject calls in a request without tools.
const demandTools = message.Anthropic | message.Bedrock

// declareCalls adds declarations of the tools that messages call, if the provider
// is known to demand them: to others, tools that nobody has are no help.
func (j *judgement) declareCalls(msgs []message.Message) {
	if !j.known || j.rules&demandTools == 0 {
		return
	}
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			c, ok := p.(message.ToolCall)
			if !ok || slices.ContainsFunc(j.called, func(t message.ToolDef) bool { return t.Name == c.Name }) {
				continue
			}
			j.called = append(slices.Clip(j.called), message.ToolDef{
				Name: c.Name, Description: "Not available any more.", Parameters: `{"type":"object","properties":{}}`,
			})
		}
	}
}

func names(tools []message.ToolDef) []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

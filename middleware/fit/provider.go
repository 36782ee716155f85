package fit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// rulesOf returns the rules of the options or else those of the provider that serves
// the model of a view, and whether that provider is known. Services with the format
// of OpenAI's chat completions have its rules; a service with models of other
// providers, as Bedrock, adds its own.
func (f *fitter) rulesOf(v *middleware.View) (r message.Rules, known bool) {
	var inPlace message.Rules
	if core.Thinking(v) == models.ThinkingBound {
		inPlace = message.InPlace
	}
	if f.opts.Rules != 0 {
		return f.opts.Rules | inPlace, true
	}
	switch core.Model(v).Provider {
	case "openai", "alibaba", "moonshot", "zhipu", "minimax", "bytedance", "meta", "xai":
		r = message.OpenAI
	case "anthropic":
		r = message.Anthropic
	case "google":
		r = message.Gemini
	case "deepseek":
		r = message.OpenAI | message.OneText
	case "mistral":
		r = message.Mistral
	}
	if bedrock.MatchString(strings.ToLower(v.Request().Model)) {
		r = r&^(message.OpenAI|message.OneText|message.Mistral) | message.Bedrock
	}
	if r == 0 {
		return unknownProvider | inPlace, false
	}
	return r | inPlace, true
}

// unknownProvider has the rules for a model of an unknown provider. Mistral's are not
// among them: they would replace nearly all IDs, and providers know calls by their IDs.
// Nor is OneText: it would change messages of the caller that nearly all providers accept,
// and those that a chain makes leave the adapters as one text in any case.
const unknownProvider = message.Portable &^ message.Mistral

// bedrock matches the names of models on Bedrock, in lower case:
//
//	amazon.nova-pro-v1:0, us.anthropic.claude-sonnet-5-5
//	bedrock/…, amazon/…, arn:aws:bedrock:…
var bedrock = regexp.MustCompile(`^(bedrock/|amazon/|arn:aws:bedrock:` +
	`|([a-z]{2,6}\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.)`)

// demandTools are the providers that reject calls in a request without tools.
const demandTools = message.Anthropic | message.Bedrock

// declareCalls adds declarations of the tools that messages call, if the provider is
// known to demand them: others may reject tools.
func (j *judgement) declareCalls(msgs []message.Message) {
	if j.known && j.rules&demandTools != 0 {
		j.called = withCalled(j.called, msgs)
	}
}

// withCalled returns declarations with those of the other tools that messages call.
func withCalled(tools []message.ToolDef, msgs []message.Message) []message.ToolDef {
	names := make(map[string]bool, len(tools))
	for _, t := range tools {
		names[t.Name] = true
	}
	tools = slices.Clip(tools)
	for i := range msgs {
		for c := range msgs[i].Calls() {
			if !names[c.Name] {
				names[c.Name] = true
				tools = append(tools, message.ToolDef{
					Name: c.Name, Description: "Not available any more.", Parameters: `{"type":"object","properties":{}}`,
				})
			}
		}
	}
	return tools
}

// named is the key of the tools that the caller has declared in the conversation, the newest declaration of each.
type named struct{}

// allNamed returns the declarations for a request without tools, for a model that binds its thinking to the declared tools:
// all that the caller has declared in this process, and all others that the history calls. So they do not become fewer.
func allNamed(v *middleware.View) []message.ToolDef {
	tools, _ := v.Load(named{}).([]message.ToolDef)
	return withCalled(tools, v.History())
}

// noteNamed remembers the tools that a request declares.
func noteNamed(v *middleware.View, tools []message.ToolDef) {
	before, _ := v.Load(named{}).([]message.ToolDef)
	if len(before) == len(tools) && &before[0] == &tools[0] {
		return
	}
	all := slices.Clone(tools)
	for _, t := range before {
		if !slices.ContainsFunc(all, func(o message.ToolDef) bool { return o.Name == t.Name }) {
			all = append(all, t)
		}
	}
	if !slices.Equal(all, before) {
		v.Store(named{}, all)
	}
}

// declare adds these declarations to a request without tools, as a program sends it
// that wants an answer without further calls.
func (f *fitter) declare(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		v := req.View()
		if v == nil || len(req.Tools) > 0 {
			if v != nil && core.Thinking(v) == models.ThinkingBound {
				noteNamed(v, req.Tools)
			}
			return next(ctx, req, emit)
		}
		declared := f.judge(v, false).declared
		f.reportDeclared(ctx, v, declared)
		return next(ctx, core.Declare(req, declared), emit)
	}
}

// reportDeclared reports the tools that are declared if they are not those of the call before.
func (f *fitter) reportDeclared(ctx context.Context, v *middleware.View, declared []message.ToolDef) {
	type key struct{ *fitter }
	before, _ := v.Load(key{f}).([]message.ToolDef)
	if slices.Equal(before, declared) {
		return
	}
	v.Store(key{f}, declared)
	why := "the messages have no calls any more, so no tools are declared"
	if len(declared) > 0 {
		var names []string
		for _, t := range declared {
			names = append(names, t.Name)
		}
		rules, _ := f.rulesOf(v)
		why = fmt.Sprintf("the request declares no tools, but the messages have calls of %s, which %s wants declared; "+
			"they are, as tools that are not to be called", strings.Join(names, ", "), rules)
	}
	v.Report(ctx, middleware.Event{Kind: middleware.Repaired, By: Name, Why: why})
}

// reportUnknownWindow reports that tokens are not bounded.
func (f *fitter) reportUnknownWindow(ctx context.Context, j *judgement) {
	if j.room != unbounded {
		return
	}
	what, cure := "the window is not known", "set a Budget, or name the Model"
	if name := j.view.Request().Model; name != "" {
		what, cure = fmt.Sprintf("the window of model %q is not known", name), "set a Budget, or add the model to Env.Models"
	}
	why := what + ", so no request has too many tokens until the provider refuses one: " + cure
	j.view.Report(ctx, middleware.Event{
		Kind: middleware.Misconfigured, By: Name, Why: why,
		Err: &middleware.Error{Kind: middleware.Invalid, Op: Name, Err: errors.New(why)},
	})
}

// once reports whether something is reported for the first time in the conversation.
func (f *fitter) once(v *middleware.View, what string) bool {
	type key struct {
		*fitter
		what string
	}
	first := v.Load(key{f, what}) == nil
	v.Store(key{f, what}, true)
	return first
}

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
	"github.com/laconic-go/laconic/middleware/internal/edit"
	"github.com/laconic-go/laconic/models"
)

// bedrock matches the names of models on Bedrock, in lower case:
//
//	amazon.nova-pro-v1:0, us.anthropic.claude-sonnet-5-5
//	bedrock/…, amazon/…, arn:aws:bedrock:…
var bedrock = regexp.MustCompile(`^(bedrock/|amazon/|arn:aws:bedrock:` +
	`|([a-z]{2,6}\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.)`)

// rulesOf returns the rules of the options or else those of the API that a request is sent by, and behind it of the model's
// provider, as far as they are known.
func (f *fitter) rulesOf(v *middleware.View) (r message.Rules) {
	r = f.opts.Rules
	if r == 0 {
		r = rulesOf(v.Request(), v.Model())
	}
	if v.Model().Thinking == edit.ThinkingBound && r&message.Anthropic != 0 {
		r |= message.InPlace
	}
	return r
}

// rulesOf returns the rules of a format for a model. Behind chat completions there may be any server, with a translator to
// another API, so only providers that speak it themselves have more than its rules. Without a format, the client of the
// model's provider is assumed.
func rulesOf(req *middleware.Request, m models.Model) message.Rules {
	switch req.Format {
	case "responses":
		return message.OpenAIResponses | message.AsSent
	case "gemini":
		return message.Gemini | message.AsSent
	case "ollama":
		return message.Chat
	case "chat":
		r := chatRules(m) | message.AsSent
		if m.Thinking == "calls" {
			r |= message.ThinkingCalls
		}
		return r
	case "messages":
		if m.Provider != "anthropic" {
			return message.Messages
		}
		return claudeRules(m) | message.AsSent
	}
	onBedrock := bedrock.MatchString(strings.ToLower(req.Model))
	switch {
	case m.Provider == "anthropic" && onBedrock:
		return claudeRules(m) | message.Bedrock
	case onBedrock:
		return message.Bedrock
	case m.Provider == "anthropic":
		return claudeRules(m)
	case m.Provider == "google" && m.System != "one":
		return message.Gemini
	}
	return chatRules(m)
}

// chatRules returns those of chat completions.
func chatRules(m models.Model) (r message.Rules) {
	switch m.Provider {
	case "openai":
		r = message.OpenAI
	case "mistral":
		r = message.Mistral
	case "deepseek":
		r = message.Chat | message.OneText
	default:
		r = message.Chat
	}
	if m.System == "one" {
		r |= message.OneSystem
	}
	return r
}

// claudeRules returns those of Messages for a version of Claude.
func claudeRules(m models.Model) message.Rules {
	r := message.Anthropic
	if !m.NoPrefill {
		r |= message.Prefill
	}
	if m.Thinking != "turn" {
		r |= message.InPlace
	}
	if m.System == "front" {
		r |= message.SystemFirst
	}
	return r
}

// demandTools are the providers that reject calls in a request without tools, in Messages those behind some gateways only, so
// not before a server has refused one. Others may reject tools.
const demandTools = message.Anthropic | message.Messages | message.Bedrock

// calledIn returns a declaration for each call.
func calledIn(msgs []message.Message) (tools []message.ToolDef) {
	for i := range msgs {
		for c := range msgs[i].Calls() {
			tools = append(tools, message.ToolDef{
				Name: c.Name, Description: "Not available any more.", Parameters: `{"type":"object","properties":{}}`,
			})
		}
	}
	return tools
}

// withOthers returns declarations with those of others that have another name.
func withOthers(tools, others []message.ToolDef) []message.ToolDef {
	tools = slices.Clip(tools)
	for _, t := range others {
		if !slices.ContainsFunc(tools, func(has message.ToolDef) bool { return has.Name == t.Name }) {
			tools = append(tools, t)
		}
	}
	return tools
}

// named is the key of the tools that the caller has declared in the conversation, the newest declaration of each.
type named struct{}

// declarations returns those for a request without tools, if the provider demands them: of the tools that are called. For a
// model that binds its thinking to the declared tools, which must not become fewer, they are all that the caller has declared
// in this process, and all others that the history calls.
func (j *judgement) declarations() []message.ToolDef {
	switch {
	case len(j.tools) > 0, j.own&demandTools == 0, j.rules == j.own && j.own&(message.AsSent|message.Messages) != 0:
		return nil
	case j.view.Model().Thinking == edit.ThinkingBound:
		tools, _ := j.view.Load(named{}).([]message.ToolDef)
		return withOthers(tools, calledIn(j.view.History()))
	}
	return withOthers(nil, calledIn(j.sent.Messages()))
}

// declare adds declarations to a request without tools, as a program sends it that wants an answer without further calls.
func (f *fitter) declare(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		v := req.View()
		switch {
		case v == nil:
		case len(req.Tools) == 0:
			j := f.judge(ctx, v, false)
			f.reportDeclared(ctx, j)
			declared := *req
			declared.Tools, declared.Declared = j.declared, true
			req = &declared
		case v.Model().Thinking == edit.ThinkingBound:
			before, _ := v.Load(named{}).([]message.ToolDef)
			v.Store(named{}, withOthers(req.Tools, before))
		}
		return next(ctx, req, emit)
	}
}

// reportDeclared reports the tools that are declared if they are not those of the call before.
func (f *fitter) reportDeclared(ctx context.Context, j *judgement) {
	type key struct{ *fitter }
	if before, _ := j.view.Load(key{f}).([]message.ToolDef); slices.Equal(before, j.declared) {
		return
	}
	j.view.Store(key{f}, j.declared)
	why := "the messages have no calls any more, so no tools are declared"
	if len(j.declared) > 0 {
		var names []string
		for _, t := range j.declared {
			names = append(names, t.Name)
		}
		why = fmt.Sprintf("the request declares no tools, but the messages have calls of %s, which %s wants declared; "+
			"they are, as tools that are not to be called", strings.Join(names, ", "), j.own&demandTools)
	}
	j.view.Report(ctx, middleware.Event{Kind: middleware.Repaired, By: layerName, Why: why})
}

// reportBudget reports once that tokens are not bounded, or that most of the window is kept free.
func reportBudget(ctx context.Context, v *middleware.View) {
	b, known := v.Budget()
	name := v.Request().Model
	var why string
	switch {
	case !known && name == "":
		why = "the window is not known, so no request has too many tokens until the provider refuses one: set a Budget, or name the Model"
	case !known:
		why = fmt.Sprintf("the window of model %q is not known, so no request has too many tokens until the provider refuses one: "+
			"set a Budget, or add the model to Env.Models", name)
	case b.Reserve > b.Window/2:
		why = fmt.Sprintf("%d of the window of %d tokens are kept free for the answer, so the conversation has %d: ask for a shorter "+
			"answer (max_tokens), or set the Reserve of the Budget", b.Reserve, b.Window, b.Room())
	default:
		return
	}
	v.Report(ctx, middleware.Event{
		Kind: middleware.Misconfigured, By: layerName, Why: why,
		Err: &middleware.Error{Kind: middleware.Invalid, Op: layerName, Err: errors.New(why)},
	})
}

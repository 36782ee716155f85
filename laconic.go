// Package laconic makes what the model of an agent sees short, valid and cheap. The history that a program passes never
// changes; the model is sent a view of it. [Auto] is the recommended chain for any model, in one line for each client:
//
//	client := openai.NewClient(option.WithHTTPClient(&http.Client{Transport: wire.Transport(nil, wire.Options{}, laconic.Auto())}))
//	chat = eino.Wrap(chat, laconic.Auto())
//	llm = langchaingo.Wrap(llm, laconic.Auto())
//	model := laconic.Auto()(provider) // a middleware.Model of your own
//
// The packages in the folder middleware are its parts, for chains of your own.
package laconic

import (
	"context"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
)

// Auto returns the recommended chain. It takes window, prices and thinking from each request, so it suits any model; unknown
// prices are those of the provider for which an edit is most expensive. It is safe for concurrent use, and each Auto has a
// memory of its own. It has three parts:
//
//  1. Old tool results and long arguments become shorter when reading them has cost as much as the prompt cache will take for
//     the edit ([trigger.Economy]). The newest 6 rounds stay as they are. A shortened result
//     leaves a line of up to 120 tokens of its hard facts: identifiers, amounts, dates, addresses. A new result of more than
//     8,000 tokens, or a quarter of the room, becomes head and tail, before a model has seen it.
//  2. Where that is not enough and 0.85 of the room is full, rules fold the oldest messages into what the user said, word for
//     word, and a list of facts. No model is asked.
//  3. What is sent is valid for the provider and fits the window ([fit.New]).
//
// If the request declares the tool [store.RecallTool] (also "server__recall", as clients of MCP name it), what is removed is
// archived, and the placeholders have handles for that tool. The archive is that of the Env around it:
//
//	middleware.With(middleware.Env{Archive: archive}, laconic.Auto()) // and agent.Recall(archive, …) as a tool
//
// Without one, it is 64 MiB of memory. Without the tool nothing is archived, and placeholders have no handles.
//
// Of 289 recorded conversations with 9,736 calls, this is the bill relative to never editing, by classes of prices, and the share
// of all facts, and of the hard ones, that the prompt of the answer that uses them shows. No request was too long, or invalid by
// the rules of Anthropic, Gemini, Mistral and OpenAI; see [fit.Options] for servers that refuse the structure of one:
//
//	window     no cache  reads at 0.5  at 0.1  at 0.1, writes at 1.25  at 0.02  facts   hard facts
//	   32,000  .20       .23           .34     .36                     .56      95.9 %  98.8 %
//	  200,000  .30       .33           .45     .47                     .69      97.4 %  99.4 %
//	1,000,000  .30       .33           .45     .47                     .69      97.4 %  99.4 %
//
//	laconic replay --preset auto --window 32000 --facts facts.jsonl.gz conversations.jsonl.gz
func Auto() middleware.Middleware {
	return middleware.With(middleware.Env{Archive: store.NewMemory(0), Suggested: true},
		handles,
		microcompact.New(microcompact.Options{
			Trigger: trigger.Economy(trigger.EconomyOptions{Pressure: -1}), KeepRounds: 6,
			Limit: microcompact.Limits{Results: 400, Arguments: 600}, Digest: facts,
			FreshTokens: 8000, // 4,000 hides facts that answers use; 16,000, or sparing files, costs 2 % more
		}),
		summarize.New(summarize.ByRules(), summarize.Options{}),
		fit.New(fit.Options{Digest: facts}),
	)
}

// facts are the most tokens of hard facts that a placeholder has.
const facts = 120

// handles lets editors leave handles only if the request declares the tool that reads them.
func handles(next middleware.Model) middleware.Model {
	return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
		if !slices.ContainsFunc(req.Tools, readsHandles) {
			unread := *req
			unread.Unread = true
			req = &unread
		}
		return next(ctx, req, emit)
	}
}

func readsHandles(t message.ToolDef) bool {
	return t.Name == store.RecallTool || strings.HasSuffix(t.Name, "__"+store.RecallTool)
}

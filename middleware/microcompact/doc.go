// Package microcompact shortens large payloads of old rounds before each model call:
// tool results and, if configured, the arguments of their calls and the text with them.
// A placeholder replaces each payload. Calls, IDs and the order of the messages do not
// change.
//
//	microcompact.New(microcompact.Options{}) // the recommended defaults
//
// # Old rounds
//
// A round is an assistant message with tool calls and all their results. The newest
// four rounds ([Options.KeepRounds]) and the round that no model has seen yet are not
// changed. In older rounds, each payload above its limit ([Options.Limit]) is replaced:
//
//	a result         [truncated: 5000 chars]
//	arguments        {"path":"a.go","content":"[truncated: 3122 chars]"}
//	                 {"truncated": 3150}, if that is still above the limit
//	text of a round  [truncated: 812 chars]
//
// Of arguments, the longest values are replaced until the limit is met: lines of up to 200
// characters, such as names of files, after all others, and values of up to 60 never. Of a
// command, the first line is kept if possible. Arguments are always a valid JSON object.
// Media in a result are replaced, also next to a text within the limit, which is kept. What
// only the provider can read stays, see [middleware.Protection]. Characters are Unicode code points.
//
// With [Options.Digest], the placeholder of a result contains its hard facts, verbatim,
// unless the view still shows them:
//
//	[truncated: 5000 chars; some facts: order_id: #W2378156; price: 272.33]
//
// Not changed are: payloads that would not become shorter, what another middleware has
// replaced, results and calls of protected tools ([middleware.Env] and [Options.Protect]),
// and views of up to two messages.
//
// What is shortened remains shortened. Each round that becomes old changes the view four
// rounds before its end, and the provider has to read everything after that place again.
// With [Options.Batch], payloads are shortened together, so the beginning of the view is
// the same for several rounds. This is the default if the provider of the model is known
// to cache prompts.
//
// # New results
//
// A result above a share of the room ([Options.FreshShare]) is reduced to its head and
// tail before a model sees it, if the window is known, with a placeholder for the middle.
// No provider has it in a cache, so this costs nothing. Results of up to 1,000 tokens and
// of protected tools are not changed. The name of these edits is "microcompact new results", and
// they have no trigger. When their round is old, the results are replaced like all others.
//
// # The archive
//
// With [middleware.Env.Archive], the original is archived first, and the placeholder
// contains a handle for the whole result, all arguments of the call, the text, the
// attachment, or, between head and tail, the piece as the tool returned it:
//
//	[truncated: 5000 chars; recall kqvmzhtwrcxa]
//	{"path":"a.go","content":"[truncated: 3122 chars; recall kqvmzhtwrcxa]"}
//
// Results of the tool [store.RecallTool] are not reduced when they are new, since the tool
// limits their size. When they are old, their placeholder contains the handle in the call.
package microcompact

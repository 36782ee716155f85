// Package native lets the provider fold old messages itself, where its API has a compaction on demand: Anthropic's Messages
// and OpenAI's Responses, through package wire.
//
//	rt := wire.Transport(nil, wire.Options{},
//		native.New(native.Options{}),
//		summarize.New(summarize.Options{}), // where the provider has no compaction, or it fails
//		fit.New(fit.Options{}),
//	)
//
// When the trigger is met, one more request asks the provider to compact all messages before an answer, and replaces them by
// what it returns, in this call and all later ones. The compaction is opaque to laconic, no other editor changes it, and a later
// compaction covers it. The thinking of the answers that are kept remains valid: it is the only fold that voids none.
//
// If the chain has an archive, it gets the messages that a compaction covers. The handle is in the summary of Anthropic, which is
// asked for it in the instructions; an event of kind [middleware.Notice] reports a summary without it. Only OpenAI can read its
// own compactions, so with Responses a line after it has the handle.
//
// It costs a request with the whole prompt, mostly read from the cache, and the tokens of the summary. A failure is an event of
// kind [middleware.Failed], and the view is as it was; so is a request by a client of another API, with an event of kind
// [middleware.Skipped].
package native

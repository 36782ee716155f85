// Package eino puts the middlewares of laconic around the chat models of
// github.com/cloudwego/eino, and gives those chat models to laconic.
//
// One line puts a chain before a model, whoever calls it then: an ADK agent, a
// flow/agent/react agent, a compose graph, or code of one's own:
//
//	chat = eino.Wrap(chat, contextedit.New(contextedit.Options{}))
//
// [Model] goes the other way: with it the loop of package react runs on any
// chat model of eino. [Tool] makes a tool of ours, as that by which a model reads
// again what was cleared, one of eino. [Import] and [Export] convert messages, for
// those who write middlewares of eino's ADK.
//
// # What is carried
//
// A message that no middleware touched reaches the model as the very value
// that the caller passed, and the pieces of a stream reach the caller as the
// very values that the model sent. Of an edited message a copy is sent in which
// only that differs which was edited: Extra, response meta, signatures and
// indexes are those of the original. Nothing that the caller or the model owns
// is ever written to.
//
// What a message of eino says is in ours: text, thinking, media, tool calls and
// results. Parts that have no place there are opaque ones with the part's JSON.
// What eino has no place for is an error that names message and part, with one
// exception: that a tool failed is said by [ErrorKey] in Extra. Time and hints
// of a message of ours, which no model sees, are not carried.
//
// Everything here is safe for concurrent use if the models are.
package eino

// Package foreign takes the messages of another system through a chain and
// back again. A [Codec] says what one of its messages means; a [Memo] imports a
// history, of which only what is new since the call before is looked at in
// full; a [Conversation] exports what the chain made of it:
//
//	talk, err := memo.Import(history)
//	req := &middleware.Request{Messages: talk.Messages}
//	…
//	sent, err := talk.Export(req) // where the model stands, behind the chain
//
// A message that no edit touched comes out as the very value that went in. Of
// an edited one the codec makes a copy in which only that differs which was
// edited. Nothing that goes in is ever written to.
//
// [KindOf] says, for all adapters alike, what the error of a failed call means, and
// [Answer] what a tool of ours answers.
package foreign

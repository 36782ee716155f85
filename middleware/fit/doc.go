// Package fit is the last layer of a chain. It makes each request valid for its
// provider and small enough for its window.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{}),
//		fit.New(fit.Options{}),
//	)(provider)
//
// A request breaks no rule of the provider ([message.Rules.Check]), has no more tokens
// than the window less the reserve ([middleware.View.Size]), and no more bytes and images
// than the provider accepts ([Options.Limits]). If that is impossible, the call fails
// before the model is called, with an [Irreducible]: the sizes of what cannot be left
// out. If the window is not known, tokens are not bounded, and an event reports it.
//
// # What is removed
//
// A request that does not fit is made smaller without a model. The steps are, in this
// order, until the request fits:
//
//  1. Old results are replaced by a placeholder, oldest first; errors after the
//     others, and what was shortened before last.
//  2. Long values in arguments of old calls are replaced, except for lines such as names of files.
//  3. Thinking of old turns is removed, old media are replaced by a short text.
//  4. Whole units are removed, oldest first, and one note replaces them all.
//     Summaries, memories and what the host calls critical are removed last.
//  5. The note is removed, for this request only.
//
// Before, a part that is larger than the whole room is cut to its head and tail, and so
// are the newest results if they leave no room for the rest. Media that the provider would
// reject are replaced by a text. What [middleware.View.Protected] names is kept; calls and
// results of protected tools ([middleware.Env]) and arguments of answered calls of the newest
// round are cut last, if nothing else helps, and an event reports it. A step continues until [Options.Target] is reached, so not each call
// makes an edit.
//
// With an archive, what is removed is archived, and placeholders, cuts and the note
// have its handle. Placeholders also have hard facts of the result ([Options.Digest]). If
// the archive fails or handles have no room, the request is made to fit without them.
// Edits for which a note or handles had no room hold for one request only, and all others
// not in a larger window than they were made for.
//
// # Repairs and refusals
//
// What breaks a rule is repaired by [message.Rules.Repair] just before the model is
// called, in this call only: a call without a result may have one later. An event reports
// each repair once. Called tools are declared as not available if the provider demands
// definitions and the request has none.
//
// If the provider answers that the request is too long ([middleware.ParseOverflow]), the
// chain learns the window, and the request is shortened and sent once more, unless a
// piece of the answer has been emitted. If the provider reads only a part of the request
// without an error, the chain limits the conversation to what was read: [middleware.Truncated].
//
// Put fit last. What a later middleware adds is repaired, but not made smaller.
package fit

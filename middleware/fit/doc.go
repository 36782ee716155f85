// Package fit is the last layer of a chain: whatever happened before it, what the
// model is sent is valid for its provider and fits.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{}),
//		fit.New(fit.Options{}),
//	)(provider)
//
// It guarantees that a request breaks no rule of the provider
// ([message.Rules.Check]), has no more tokens than the window less the reserve
// ([middleware.View.Size]), and no more bytes and images than the provider
// accepts ([message.Limits]). If that cannot be, the call fails with an error of
// kind [middleware.Irreducible] before the model is asked. The error holds an
// [Irreducible], which says what cannot be left out, in numbers. Of a window that
// nobody knows no tokens are guaranteed, and an event says so.
//
// # What goes
//
// A request that does not fit is made smaller, by steps that need no model. The
// mildest come first, and it ends as soon as the request fits:
//
//  1. Old results give way to a placeholder, oldest first; those that are errors
//     after the others, and what other middlewares have left of one last.
//  2. Arguments of old calls become {}.
//  3. Thinking of old turns goes, whole; old media give way to a short text.
//  4. Whole units go, oldest first, and one note stands for all of them.
//     Summaries, memories and what the host calls critical go last.
//  5. The note goes.
//
// What is larger than all of the room by itself cannot stay, whatever else goes.
// So it is cut first, or all else would go for nothing: its head and its tail
// stay, cut between lines if there are any. Where results of the newest round do
// not fit, they are left half of the room at least, and more if the rest is small;
// the largest give first. What is attached to the first and the last question can
// go, their texts never. Media that the provider would reject give way to a text
// wherever they stand, since they would be rejected in each call to come; of too
// many images the oldest go.
//
// What [middleware.View.Protected] names survives: system messages, pinned ones,
// the texts of the first and the last question, the newest calls and a part of
// their results. All edits are remembered like those of other middlewares, so the
// beginning of the request stays the same from call to call. A step goes on until
// [Options.Target] is reached, so that not each call has to edit.
//
// If the chain has an archive, what goes is kept there, and placeholders, cuts and
// the note tell the handles. An archive that fails is no reason not to fit: then
// what goes is not kept, and an event says so. Nor is it where handles would take the
// room that is missing.
//
// # What is repaired
//
// What breaks a rule is repaired by [message.Rules.Mend] right before the model is
// asked. Repairs are not remembered: what is broken now, as a call without its
// result, may be whole on the next call. An event of kind [middleware.Repaired] tells
// each once, for something upstream has lost or doubled a message. Where a
// provider wants tools declared whose calls it is shown (Anthropic, Bedrock), and
// the request has none, they are declared as tools that are not to be called.
//
// # When the provider says no
//
// If the provider answers that the request is too long
// ([middleware.ReadExcess]), the chain learns the window from what it says, and
// the request is made smaller and sent once more, unless a piece of the answer has
// been emitted. Later calls fit at once. A second refusal is an error of kind
// [middleware.Overflow]. A provider that says nothing and reads only a part is told
// of by an event of kind [middleware.Truncated].
//
// Put fit last. What a middleware behind it adds is repaired and weighed, too, but
// no longer made smaller.
package fit

// Package middleware puts composable layers around the model call of an agent,
// so that what the model sees stays short, valid, cheap and true while the
// caller's history stays whole.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(100_000)}),
//	)(provider)
//
//	resp, err := model(ctx, &middleware.Request{Messages: history}, nil)
//
// A [Model] is a function, a [Middleware] wraps one, a [Chain] joins several.
// The caller passes its full history on every call and never has it changed.
//
// # Editing
//
// An editing middleware, made by [Editing], shows the next one a view of the
// history. Its [Editor] only plans; its [Trigger] says when; the core verifies
// the plan, applies it, reports it as an [Event] and remembers it in the
// [Journal]. On the next call the remembered edits are applied first, so a
// growing conversation keeps its edited beginning byte for byte, and the
// provider's prompt cache stays warm.
//
// A plan is applied only if afterwards
//
//   - no rule of [message.Check] is broken that was not broken before;
//   - the order of the messages is the same;
//   - the view has fewer tokens;
//   - what [View.Protected] names is intact.
//
// Otherwise the view stays as it was and an event says why. Histories that
// break rules of message.Check themselves pass untouched; only a part that is
// nil, or a pointer to one of the types of parts, is an error, of kind
// [Invalid].
//
// # Progress
//
// An editor that gets nowhere is left in peace. An attempt is without progress
// if the editor or a fold of its plan fails, if the plan is refused, or if a
// plan with a fold that had to be made ([Edit.Make]) leaves a view for which the
// trigger is still met, so that the next call would pay again. After
// [Options.RestAfter] of them in a row the editor rests, and an event of kind
// [Paused] says why: neither it nor its trigger is asked before the user speaks
// again, that is, before the newest user message stands elsewhere or behind
// other messages. [Request.Force] reaches it even so, and an edit that gets
// somewhere wakes it. A plan without edits is no attempt, and neither are
// options that do not fit.
//
// An editor is not asked either where what no edit can take away meets its
// trigger by its tokens alone: system messages, tools, pinned messages, the text
// of the first user message. An event of kind [Overhead] says so, with numbers.
// One of kind [Frequent] says that an editor with a trigger has edited in most of
// the last calls. A conversation has each of both once for each editor.
//
// All this is known by conversation and by the name of the editor, to the chain
// in this process; another process begins anew.
//
// # Calls that fail
//
// A call that fails or is cancelled before the model is asked leaves no trace:
// no edit is kept, and no attempt counts. So under [Options.Strict], where a
// failed attempt fails the call, only dear plans that leave the trigger met
// count. If it is cancelled while its edits are written to the journal, they and
// the attempts have been kept, or neither. If the messages are changed between
// two editors, what was edited before that is kept as soon as the second begins.
// What observers have heard they have heard: an event that a conversation has
// once does not come again. If the model fails, all is kept, so that a call made
// again pays nothing twice and finds the same view.
//
// # Without a model
//
// [Apply] runs a chain for loops that call their model themselves. [Draft] is a
// dry run: it says which view the model would be sent and by which edits, and
// nothing is kept of it unless it is committed.
package middleware

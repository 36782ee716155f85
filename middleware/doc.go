// Package middleware puts composable layers around the model call of an agent. What the model is sent becomes short
// and cheap and keeps to the rules of providers, while the caller's history never changes.
//
//	model := middleware.Chain(
//		contextedit.New(contextedit.Options{Trigger: trigger.Tokens(100_000)}),
//	)(provider)
//
//	resp, err := model(ctx, &middleware.Request{Messages: history}, nil)
//
// A [Model] is a function, a [Middleware] wraps one, a [Chain] joins several. The caller
// passes its full history in every call.
//
// # Editing
//
// An editing middleware, made by [Editing], passes a view of the history to the next one. Its [Trigger] decides when
// to edit, and its editor only returns a [Plan]. The chain verifies the plan, applies it, reports it as an [Event],
// and remembers its edits in the [journal.Journal]. The next call applies the remembered edits first, so a growing
// conversation keeps its edited beginning byte for byte, and the provider's prompt cache remains valid.
//
// A plan is applied only if no rule of [message.Check] is broken that was not broken before, the order of the
// messages is the same, the view has fewer tokens, and everything that [View.Protected] names is unchanged. Otherwise
// the view does not change, and an event names the reason. A history that breaks rules is passed on as it is; only a
// part that is nil, or a pointer, is an error, of kind [Invalid].
//
// # Progress
//
// An attempt of an editor has no progress if it fails or panics, if the archive fails (unless
// [Options.ForWindow] is set), if its plan is refused, or if a fold was made by [Edit.Make] and the trigger
// is still met afterwards: the next call would pay for another one. An archive that does not answer
// ([store.ErrNoAnswer]) does not count. After [Options.PauseAfter] such attempts in a
// row, neither the editor nor its trigger is asked until the next user message, and an event of kind [Paused] has the
// last reason. [Request.Force] makes a paused editor edit, unless it is the model that has asked ([Request.Asked]); an
// edit with progress ends the pause. A plan without edits is not an attempt.
//
// An edit cannot satisfy a trigger that system messages, tools, pinned messages and the text of the first user
// message meet by their tokens alone. The chain checks this the first time that a trigger is still met after an edit or
// after a plan without edits, and then whenever it is met while the editor has an edit in the view. An event of kind
// [Notice] has the numbers, once per conversation. As long as this is so, an editor with an edit in the view is asked
// only for edits that free at least a tenth of what no edit can remove. The result depends on the view only.
//
// The number of attempts, and which events were reported, is known per conversation and
// name of the editor, by the chain in this process. It is not in the journal.
//
// # The provider's prompt cache
//
// A provider reads from its cache what a request has in common, from its first byte on, with an earlier one. [Response.Cache]
// has how many tokens these are, how many the provider reports as read, and, if a request does not begin with all that the
// call before has sent, the cause: the caller asks another model, declares other tools or has changed messages, or an event
// reports an edit. If no other event explains the difference, an event of kind [Missed] does.
// The call before is the last answered one with the same history, or with the one that this one continues; each
// branch of a conversation has its own. If the caller passes views back as its history, or if layers between two editors
// change messages, Prefix may be less than a comparison of the requests finds.
//
// Some providers cache only up to marks. With [Env.Breakpoints], each request has the hint [message.Hints.Breakpoint] on at
// most three messages, in place of those of the caller: on the last one of the beginning that no editor may change (system
// messages, pinned ones, the text of the first user message), on the last one that an edit has changed, since editors
// mostly continue after it, and on the end. Marks are neither content nor edits. Adapters translate them as far as the
// framework has a mark.
//
// # Thinking
//
// Some models accept the thinking of an answer only if nothing before it has changed; see [models.Model]. For these
// the chain leaves out all thinking after a change, for good, and keeps in the journal what is left out. [Event.Thinking]
// has the loss; without an edit of the call, the event is of kind [ThinkingLeftOut]. If the provider refuses thinking all the
// same, the call is repeated once with none of that so far, and then fails with the kind [VoidThinking]. Without an editing
// middleware or a repairer, a chain leaves out nothing. See docs/thinking.md.
//
// # Calls that fail
//
// A call that fails or is cancelled before the model is called has no effect on later calls, with two exceptions: if
// it is cancelled while the edits are written, the journal has all of them or none; and if a middleware between two
// editors changes the messages, the edits made before it are remembered when the second editor begins. With
// [Options.Strict], a failed attempt fails the call, so only a fold after which the trigger is still met counts.
//
// If the model fails, everything is remembered: a repeated call makes the same view and pays for nothing twice.
//
// # Without a model
//
// [Apply] returns the request that the model would be sent, for programs that call the
// model themselves. [Draft] is a dry run: it returns the view and its edits, which can be
// changed. Nothing is remembered unless [DraftResult.Commit] is called.
package middleware

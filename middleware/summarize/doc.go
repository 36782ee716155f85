// Package summarize folds old messages into a summary, so that a long conversation
// continues as a short one. The model's view changes; the caller's history does not.
//
//	summarize.New(summarize.By(small, summarize.Ask{Model: "gpt-4.1-mini"}), summarize.Options{})
//	summarize.New(summarize.ByRules(), summarize.Options{})
//
// A [Writer] writes the summary: a model, or rules, which cost nothing and keep less. [Options] define when to fold, what is kept, and what
// the rest becomes. System messages, the first and the last message of the user, pinned messages, unanswered calls and the newest messages
// are kept, and rounds that read the archive as long as the rest has as many tokens. A call and its results are kept or folded together.
//
// A summary is one message, at the place of the newest folded one: a line that it is a record made by the program and not a
// request, what the user said, the words, facts, and how many messages it covers. Rules choose what is kept of the user's words,
// verbatim, and collect the facts: files, commands and their outcome, errors, identifiers. Both come from all that was ever folded.
// A later fold updates the summary: there is one of bounded size, and none is inside another. A [Strategy] may make several.
//
// A text is not accepted if it is empty, cut off, a refusal, a tool call, an error, an acknowledgement, lacks a required section,
// is too long, or is not shorter than what it replaces. Then the model is asked again a bounded number of times. After that rules
// write, then a note of what was left out is taken; under [Options.NoFallback] the view is unchanged.
//
// # Cost and events
//
// Equal concurrent calls make one summary. A call that is repeated, a dry run that is committed, and a conversation that continues
// do not pay again. Each request to a summariser is reported once by an event of kind [Attempted], also one that fails; its
// [Report] has tokens and cost. Those of a dry run are in its draft; observers get them once the summary is used. Those of a
// summary that [Options.Background] prepares are reported after they have ended, by the first call of the same conversation for
// which Soft or Trigger is met; never if there is none in this process. What a summariser writes is never emitted.
//
// A fold at a logical step is made by [middleware.Request.Force]. [Check] returns how near a fold is. A [middleware.Draft] shows
// it, lets it be changed, and keeps it or not. With [middleware.Env.Archive], the last line of the summary has the handle of what
// is folded. The journal holds summaries as clear text.
package summarize

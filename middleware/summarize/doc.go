// Package summarize folds old messages into a summary, so that a long conversation
// continues as a short one. The model's view changes; the caller's history does not.
//
//	summarize.New(summarize.By(small, summarize.Ask{Model: "gpt-4.1-mini"}), summarize.Options{})
//	summarize.New(summarize.ByRules(), summarize.Options{})
//
// A [Writer] writes the summary: a model, or rules, which cost nothing and keep less.
// [Options] define when to fold, what is kept, and what the rest becomes. System messages,
// the first and the last message of the user, pinned messages, unanswered calls and the
// newest messages are kept. A call and its results are kept or folded together.
//
// A summary is one message, of the user by default: a line that it is a record made by
// the program and not a request, the words, a section of facts, and how many messages it
// covers. Rules collect the facts from all that was ever folded: what the user
// forbids and demands, verbatim, files, commands and their outcome, errors, identifiers.
// They are bounded and do not depend on the model. The summary is at the place of the
// newest folded message. A later fold updates it, so that there is one summary of bounded
// size, and none is inside another. A [Strategy] may make several.
//
// A text is not accepted if it is empty, cut off, a refusal, a tool call, an error, lacks
// a required section, is too long, or is not shorter than what it replaces. Then the
// model is asked again a bounded number of times. After that rules write, then an extract
// is taken, then a note of what was left out; under [Options.NoFallback] the view is
// unchanged. A record that is larger than the model's window is given in parts.
//
// # Cost and events
//
// Equal concurrent calls make one summary. A call that is repeated, a dry run that is
// committed, and a conversation that continues do not pay again, even if the model call
// after the fold fails. Each request to a summariser is reported once by an event of kind
// [Attempted], also one that fails, is cancelled or panics; its [Report] has tokens and
// cost. Events of a dry run are in its draft; observers get them once the summary is
// used. What a summariser writes is never emitted.
//
// [InConversation] asks the model of the conversation in the conversation itself, whose
// beginning is in the provider's cache ("suffix mode" in events); [By] gives any model a
// record ("fresh mode"). [Cheaper] chooses by prices.
//
// # Before it is needed
//
// [Options.Soft] reports that a fold is near, and [Options.Background] prepares its
// summary. Its requests are reported by the first call of the same conversation, after
// they have ended, for which Soft or Trigger is met, even if the summary is not used.
// They are not reported if the conversation does not continue in this process or if its
// history is rewritten. [Check] returns how near a fold is.
//
// A fold at a logical step is made by [middleware.Request.Force]. A [middleware.Draft]
// shows it, lets it be changed, and keeps it or not. [Options.Flush] keeps memories
// before messages are folded. With [middleware.Env.Archive], what is folded is kept
// there, and the last line of the summary has its handle. The journal holds summaries as
// clear text.
package summarize

// Package summarize folds old messages into a summary, so that a long conversation
// goes on in a short one. What the model sees changes; the caller's history does
// not.
//
//	summarize.New(summarize.By(small, summarize.Ask{Model: "gpt-4.1-mini"}), summarize.Options{})
//	summarize.New(summarize.ByRules(), summarize.Options{})
//
// A [Writer] says who writes the summary: a model, or rules, which cost nothing and
// lose more. [Options] say when it is folded, what stays, and what the rest becomes.
// System messages, the first and the last message of the user, pinned messages,
// calls that are not answered yet and the newest messages ([Options.Keep] and its
// like) stay as they are. Nothing is cut through: a call and its results go together.
//
// # What stands there then
//
// One message, of the user by default: a line that says that this is a record of
// the program and no wish of anybody, the words, a section of facts, and how many
// messages it stands for. The facts are collected by rules from all that was
// folded, ever: what the user forbids and demands, word for word, files, commands
// and how they ended, errors, identifiers. They are bounded and independent of what
// the model writes, so a bad summary does not lose them.
//
// It stands where the newest of the folded messages stood. A later fold brings it
// up to date: its words and what is new become the words of the next one, so that
// there is one summary however often a conversation is folded, none is inside
// another, and its size is bounded. A [Strategy] may make several.
//
// # What is taken
//
// A text that is empty, cut off, a refusal, a call, an error, without the sections
// asked for, too long, or no shorter than what it replaces is not taken, and the
// model is asked again a bounded number of times. Then rules write, then an extract
// stands there, then a note of what is gone; under [Options.NoFallback] all stays as
// it is. What a model says in an error never gets into the view. A model that is
// given a record larger than its window is given it in parts; nothing is left out
// without a word.
//
// # What is paid
//
// Equal calls at the same time make one summary. A call that is made again, a dry
// run that is kept, and a conversation that goes on pay nothing twice, whatever
// becomes of the model call behind. Events of kinds [middleware.Summarizing],
// [middleware.Attempted], [middleware.Rejected] and [middleware.Summarized] tell
// what is done, in tokens and money. What a summariser writes is never emitted.
//
// Each request to a summariser is told once by an event of kind
// [middleware.Attempted]: also one that fails, is called off, or ends in a panic. That
// is an attempt that failed, but a bug, so the same model or function is not asked again
// at once. What a dry run asks for, its draft tells; observers hear of it as well once
// the summary is used. What is told in a call that nobody observes, nobody hears.
//
// [InConversation] asks the model of the conversation in the conversation itself,
// whose beginning its provider has in the cache ("suffix mode" in the events); [By]
// gives any model a record ("fresh mode"). [Cheaper] chooses by prices.
//
// # Before it is needed
//
// [Options.Soft] tells that a fold comes near, and [Options.Background] has its
// summary prepared meanwhile. What that takes is told by the next call of the
// conversation behind the answer, whatever becomes of the summary;
// [middleware.Summarized] is told when it is used. A call is one of the conversation if
// the first or the second half of what the history was then, by the number of messages,
// stands in its own at the same place. So a fork counts, and a history that is rewritten
// in both halves does not. If no such call comes for an hour, or if more than 512
// preparations wait, another call of the same scope tells of the requests, with
// [middleware.Event.Stray] set. If no call comes at all behind the answer, as when a
// program ends, nobody is told; and where more than 1,024 wait, as of scopes that make
// no call any more, the oldest are forgotten.
//
// [Check] says how near a fold is. A fold at a logical step is made by
// [middleware.Request.Force], and a [middleware.Draft] shows it, lets it be changed,
// and keeps it or not. [Options.Flush] keeps memories before messages go.
//
// With [middleware.Env.Archive], what is folded is kept there before it goes, and the
// last line of the summary names its handle. The journal holds summaries as clear
// text.
package summarize

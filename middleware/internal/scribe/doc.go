// Package scribe asks a model for a summary of messages, and takes only one that
// can be trusted.
//
//	summary, err := scribe.Write(ctx, scribe.Brief{
//		Folded: view[3:40],
//		Writer: scribe.Author{Model: small, Name: "gpt-5-mini", Known: row},
//		Focus:  "Why does the nightly build fail?",
//	})
//
// # How it is asked
//
// In suffix mode the model is asked in the live conversation, by one more
// message of the user: the provider's prompt cache holds all but that. In fresh
// mode a model, which may be another and cheaper one, is given a record: the
// messages as text, in a form in which nothing that was said can end the record
// or begin an entry of it. Where both are possible, the brief says which it is: by
// who is named in it, and where there are two, by cost.
//
// A record that does not fit the window of its reader is cut at borders of units
// into pieces; notes are taken of each, and the summary is written from the
// notes. A unit that is too long by itself is cut as a text. Nothing is left out.
//
// # What is taken
//
// An answer is rejected, with a [Reason], if it is empty or reasoning alone, cut
// off, a tool call, a refusal, an error text, an echo of the record, a text that
// repeats itself, a summary within a summary, without a required section, not
// shorter than what it replaces, or longer than it may be. Then the model is
// asked again, more strictly and with less to read at once, a bounded number of
// times. In the end there is a text that meets all of this, or a [*FailedError] that
// tells of each attempt.
//
// The models are called with no [middleware.Emit], so that nothing of it gets
// into anybody's stream, and with requests made anew, so that they share nothing
// with the chain around the live call. Nothing is remembered from one call to the
// next, and all functions are safe for concurrent use.
package scribe

// Package recap makes a summary of messages without a model, by rules: what was
// asked, what was concluded, and what it was about technically.
//
//	r := recap.Of(folded)
//	text := r.Text(recap.Options{Tokens: 800})
//
// It reads, in Chinese or English by the language of the conversation:
//
//	[Summary of the earlier conversation]
//	Topics: How do I start a server in Rust?; Which settings does it need?
//	Key conclusions:
//	- Use axum, because it is built on tokio
//	Technical context:
//	- Code (rust)
//	(24 messages compacted: 12 of the user, 12 of the assistant)
//
// [Extract] is the last resort where even that does not fit: the question, and
// what was said last, each in one line.
//
// Make it again from all messages folded so far, or [Recap.Add] those that are
// folded now: both give the same, so counts are right after any number of folds,
// and no earlier summary is ever read.
//
// Of each message the first and the last 16 KiB are read. All is deterministic.
package recap

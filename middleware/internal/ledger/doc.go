// Package ledger takes down, by code alone, the facts of messages that leave the
// view: what a summary in words loses first.
//
//	l := ledger.Collect(folded)
//	section := l.Text(ledger.Options{Tokens: 600})
//
// These are, in the order in which they are kept when room is short:
//
//   - what the user forbids, and what the user permits again, verbatim;
//   - the user's other standing instructions, verbatim;
//   - errors: the telling line of results that failed, for a command until it has
//     run again;
//   - commands, with the newest outcome of each;
//   - identifiers: those that were spoken of before those that were only seen;
//   - files that were written or read. The oldest of them leave first.
//
// A prohibition that the user lifts stays, and so does the sentence that lifts it,
// behind it: both are quoted, and the newer one counts. Nothing here decides
// whether one of them contradicts another. A sentence that is said again moves
// behind those said since.
//
// The text of a ledger is a section of its own: a heading in brackets, below it a
// line for each kind and entries behind "- ", each in one line that no file name
// and no message can break out of. System messages are not collected: they stay
// in the view. Neither is what the model says, unless it says it in the arguments
// of a call.
//
// Collect again from all messages folded so far, or [Ledger.Add] those that are
// folded now: both give the same. A ledger is never read back from its text, so
// nothing decays from fold to fold.
//
// # What is read
//
// Of a message of the user the first and the last 16 KiB, of the arguments of a
// call the first MiB, of a result the first 2 KiB and the last KiB, and for
// identifiers 256 KiB of texts in all, newest first, of each the first 2 KiB. So the
// time is proportional to the number of messages, and a result of any size costs
// next to nothing.
package ledger

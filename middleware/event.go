package middleware

import (
	"fmt"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	Edited        EventKind = "edited"         // a plan was applied
	Refused       EventKind = "refused"        // a plan was not applied; Why says which rule it breaks
	Failed        EventKind = "failed"         // an editor or the archive failed; the view stayed as it was, if Why says nothing else
	Misconfigured EventKind = "misconfigured"  // an option does not fit the request; once per conversation
	JournalFailed EventKind = "journal failed" // edits could not be read, trusted or kept; the call went on
	Reopened      EventKind = "reopened"       // someone changed the messages between two editors, so that they start anew
	EnvIgnored    EventKind = "env ignored"    // an inner With found that an outer one had begun
	UsageIgnored  EventKind = "usage ignored"  // the reported size of a prompt cannot be; once per conversation
	Sliding       EventKind = "sliding"        // the caller drops old messages itself, so that no edit can be kept
	Repaired      EventKind = "repaired"       // what would have been sent broke rules, and was repaired; Fixes says how
	TooLong       EventKind = "too long"       // the provider refused a prompt for its length; Why says what was learned
	LevelChanged  EventKind = "level changed"  // the view fills another share of the window; Why says which
	Paused        EventKind = "paused"         // an editor that gets nowhere is not asked any more in this turn; each time that this begins
	Overhead      EventKind = "overhead"       // what no edit can take away meets the trigger; once per conversation
	Frequent      EventKind = "frequent"       // an editor fires on most calls; once per conversation
	Truncated     EventKind = "truncated"      // the provider charged far too few tokens for all that was sent; once per conversation

	Advised     EventKind = "advised"      // a soft threshold is reached, so that a fold comes near
	Summarizing EventKind = "summarizing"  // a summary is begun; Items says of how many messages
	Attempted   EventKind = "attempted"    // a model has been asked for one; Usage and Cost say what that took, used or not
	Rejected    EventKind = "rejected"     // what it wrote is not taken, or it failed; Why says for what
	Summarized  EventKind = "summarized"   // a summary is made, and used; Usage and Cost are those of all attempts
	Flushed     EventKind = "flushed"      // memories were kept before a fold; Items says how many
	FlushFailed EventKind = "flush failed" // they could not be kept; the fold went on
)

// Routine reports whether an event of this kind tells of work that goes as it
// should. All others are worth a warning.
func (k EventKind) Routine() bool {
	switch k {
	case Edited, LevelChanged, Advised, Summarizing, Attempted, Summarized, Flushed:
		return true
	case Refused, Failed, Misconfigured, JournalFailed, Reopened, EnvIgnored, UsageIgnored, Sliding, Repaired,
		TooLong, Paused, Overhead, Frequent, Truncated, Rejected, FlushFailed:
	}
	return false
}

// Event tells what a middleware did, or why it did not. What it refers to is
// read-only.
type Event struct {
	Kind   EventKind
	By     string    // name of the middleware
	Time   time.Time // by the clock of the chain
	Why    string    // for people: the reason, with numbers
	Edits  []*Record // Edited: what was applied now
	Items  int       // Edited: what the editor counts, as results cleared; Summarizing, Summarized: messages; Flushed: memories
	Before int       // Edited, Refused: tokens of all that is sent, before and after
	After  int
	Exact  bool          // texts are counted by the model's own tokenizer
	Fixes  []message.Fix // Mended: the repairs that were not there on the call before; At is a history position
	First  int           // Edited: history position of the first changed message
	Calls  int           // Edited: model calls since this middleware's edit before; -1: it is the first
	Err    error         // Failed, Misconfigured, JournalFailed, Rejected, FlushFailed: what went wrong
	Usage  message.Usage // Attempted, Summarized: tokens of the calls of the summariser, as its provider reports them
	Cost   models.Cost   // of them, if the table knows its prices; 0: unknown
	Stray  bool          // Attempted: it was for another conversation than that of the call, whose costs it is none of
	Detail any           // what the middleware tells beside this; its package says of which type. nil: nothing
}

// Freed returns the tokens by which the view became shorter.
func (e Event) Freed() int { return e.Before - e.After }

// String returns the event in one line.
func (e Event) String() string {
	switch {
	case e.Kind == Edited:
		return fmt.Sprintf("%s: %d → %d tokens: %s", e.By, e.Before, e.After, e.Why)
	case e.Err != nil && e.Why == "":
		return fmt.Sprintf("%s: %s: %v", e.By, e.Kind, e.Err)
	}
	return fmt.Sprintf("%s: %s: %s", e.By, e.Kind, e.Why)
}

// Package trim removes messages from the view: whole units, so that calls and
// their results go together, until a share of the room is free again. What is
// removed stays removed, so the beginning of the conversation is the same from
// call to call until the trigger is met again.
//
//	trim.New(trim.Options{})                     // the recommended defaults
//	trim.New(trim.For("claude-sonnet-4-5"))      // those for a model
//	trim.New(trim.Options{Strategy: trim.Oldest, Trigger: trigger.Tokens(100_000)})
//
// # What goes
//
// Each message has a [message.Priority], by what it is and where it stands (see
// [PriorityOf]), and a unit has the highest of its messages. It is computed anew
// each time; a priority that the host has set in [message.Hints] is kept. Units
// go in the order of priority, low first, then importance ([Options.Score]), then
// age. System messages, pinned ones and those of critical priority never go. Nor
// does what the core protects: the first and the last user message, and the round
// that no model has seen yet. Nor does the last unit. What another middleware has
// folded is critical as well: a summary stands for many messages.
//
// [Middle] leaves the beginning and the end of the conversation and takes from
// between, [Oldest] takes the oldest wherever they stand, and [Hybrid], which is
// the default, decides between them by the numbers of the view (see
// [Case.Decide]) or tries both.
//
//	before   s u a c r u a c r a u c r a u c r u
//	Middle   s u a c r · · c r · u c r a u c r u    PreserveStart 4, PreserveEnd 5
//	Oldest   s u · c r · · c r a u c r a u c r u    rounds (c r) are high and go later
//
// The strategies are plain functions over a [Case], which is numbers alone.
//
// # When
//
// The share of the room that is filled, the room being the window less the
// reserve, is at one of five levels ([Level]). Each change is told by an event of
// kind [middleware.LevelChanged], with a [Change] as its detail. From
// [Options.Threshold] on, units go until [Options.Target] is reached. If that
// cannot be, what may go goes, and the event says so.
//
// # The archive
//
// With [middleware.Env.Archive], what is removed is kept there before it goes, and
// one note in the view names the handle of it: that of [Options.Note], or
// [DefaultNote]. What is kept begins with the note of the removal before, so that one
// handle leads to all.
//
// # What happened
//
// The event of an edit has a [Report] as its detail. A [Statistics] that listens
// sums up what it hears:
//
//	var stats trim.Statistics
//	chain := middleware.Chain(middleware.Observe(stats.Observe), trim.New(trim.Options{}))
package trim

// Package trim removes messages from the view: whole units, so calls together with
// their results, until a share of the room is free again. What is removed is not shown
// again, so the beginning of the view is the same until the trigger is met again.
//
//	trim.New(trim.Options{})                     // the recommended defaults
//	trim.New(trim.For("claude-sonnet-5-5"))      // those for a model
//	trim.New(trim.Options{Strategy: "oldest", Trigger: trigger.Tokens(100_000)})
//
// # What is removed
//
// Each message has a [message.Priority], by its role, size and position, unless the
// host has set one in [message.Hints]; docs/trim.md has the rules and what is never
// removed. A unit has the highest of its messages. Units are removed in the order of
// priority, low first, then of importance ([Options.Score]), then of age.
//
// "middle" keeps the beginning and the end of the conversation and removes units
// between them. "oldest" removes the oldest units. "hybrid", the default, decides
// between the two by the numbers of the view, or tries both.
//
//	before   s u a c r u a c r a u c r a u c r u
//	Middle   s u a c r · · c r · u c r a u c r u    PreserveStart 4, PreserveEnd 5
//	Oldest   s u · c r · · c r a u c r a u c r u    rounds (c r) have high priority
//
// # When
//
// From [Options.Threshold] of the room on, the window less the reserve, units are
// removed until [Options.Target] is reached. If it cannot be reached, all that may be
// removed is, and the event reports it. Each change of the level, how full the room is,
// is an event of kind [LevelChanged] with a [Change] as its detail.
//
// With [middleware.Env.Archive], what is removed is archived first, and one note in
// the view has a handle that leads to all of it.
//
// The event of an edit has a [Report] as its detail. [trim.SumEdits] adds
// them up.
package trim

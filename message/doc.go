// Package message defines the words of a conversation: messages and their
// parts, the identity of a position, the units that may be removed alone,
// the rules that providers demand of a list of messages, with a repair, and
// their limits besides tokens.
//
//	history := []message.Message{
//		message.System("You fix builds."),
//		message.User("Why does the nightly build fail?"),
//		message.Assistant(message.ToolCall{ID: "c1", Name: "read_log", Arguments: `{"job":"nightly"}`}),
//		message.Result("c1", "read_log", "exit status 2"),
//	}
//	if err := message.Check(history); err != nil { … }
//
// Everything here is a plain value without behaviour of its own: no I/O, no
// clock, no goroutine. All functions are safe for concurrent use as long as
// nobody writes to the messages meanwhile; none of them keeps or changes the
// slices that it is given.
package message

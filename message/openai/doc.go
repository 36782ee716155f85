// Package openai reads and writes conversations in the JSON of OpenAI's chat
// completions, which most providers and local servers speak too.
//
//	conv, err := openai.Parse(data) // {"messages": […], "tools": […]}, or the bare list
//	if err != nil { … }
//	history := conv.History()
//	…
//	msg, err := conv.Messages[3].With(edited) // the same JSON, but for what was edited
//	data, err := conv.JSON(msgs)
//
// A message that is not edited is written with the very bytes that it was read
// from. Of an edited one only the fields change that say what was edited:
// fields that this package does not know, the order of fields, spaces and the
// form of numbers stay.
//
// # What becomes of what
//
//	role system, developer        a system message
//	content, a text or its parts  Text, Media; what else it has becomes Opaque
//	reasoning_content             Thinking
//	refusal, audio                Opaque, beside the content
//	tool_calls                    ToolCall; a custom call has the arguments {"input": …}; others are Opaque
//	role tool                     ToolResult, one for each part of the content
//
// Fields of other names are kept and not looked at. Reading is strict about
// what it looks at: a wrong type, a key that an object has twice, and text that
// is not UTF-8 are errors that name the place. So are function_call and the
// role function, the forms that came before tool_calls.
package openai

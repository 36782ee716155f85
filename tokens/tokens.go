// Package tokens counts what a model call will be charged for.
//
//	n := tokens.Meter{}.Request(history, tools)
//
// A [Counter] knows texts only: [Estimate] guesses a tokenizer from what a text
// is made of, [Chars4], [CJK15] and [Cautious] are rules of thumb. A [Meter]
// adds what stands around the texts: the frame of each message, names, call
// arguments, tool definitions, media. What is known of the models is in a table
// by [Family].
package tokens

// Counter counts the tokens of a text. An implementation must be safe for
// concurrent use, always give the same text the same count, never a negative
// one, and 0 for "". It must accept any string, also one that is not valid
// UTF-8.
type Counter interface {
	Count(text string) int
}

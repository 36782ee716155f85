// Package bpe counts tokens exactly, for the encodings that OpenAI publishes.
//
//	env := middleware.Env{Counter: bpe.O200kBase()}
//
// It only counts: a token costs about 40 nanoseconds, and no count allocates
// memory, whatever the text. The counts are those of OpenAI's tiktoken. Nothing
// is downloaded; the vocabularies are part of the program, which grows by seven
// megabytes if it imports this package.
//
// A [Counter] is made for texts. What stands around them in a request is in
// package tokens.
package bpe

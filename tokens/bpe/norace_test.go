//go:build !race

package bpe

// Raced says that the race detector is on, which makes the reference ten times
// slower and a pool forgetful.
const Raced = false

//go:build race

package tests

// raced says that the race detector is on, which makes everything ten times
// slower.
const raced = true

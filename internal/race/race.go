// Package race says whether the race detector is on, which makes everything about
// ten times slower: tests then take fewer cases of what runs in one goroutine. The
// run without it takes all of them. It is for tests.
package race

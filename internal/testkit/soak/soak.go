// Package soak reports whether LACONIC_SOAK is set, as make soak sets it: then tests take all of their cases. It is for
// tests only.
package soak

import "os"

// Enabled reports whether LACONIC_SOAK is set.
var Enabled = os.Getenv("LACONIC_SOAK") != ""

// Every returns n, for a test that takes every nth of its cases, or 1 if it takes all.
func Every(n int) int {
	if Enabled {
		return 1
	}
	return n
}

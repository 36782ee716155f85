// Package race reports whether the race detector is on. It is for tests only: with the detector, code is about ten
// times slower, so a test checks fewer cases of code that runs in one goroutine. The run without it checks all.
package race

import (
	"maps"
	"runtime/debug"
	"slices"
	"testing"
)

// Enabled reports whether the binary was built with -race.
var Enabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// Skip skips a test of code that runs in one goroutine if the race detector is on.
func Skip(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("one goroutine: runs without the race detector")
	}
}

// Some returns the cases, or those with the given names if the race detector is on.
func Some[T any](cases map[string]T, names ...string) map[string]T {
	if !Enabled {
		return cases
	}
	some := maps.Clone(cases)
	maps.DeleteFunc(some, func(name string, _ T) bool { return !slices.Contains(names, name) })
	if len(some) != len(names) {
		panic("race: a case has another name")
	}
	return some
}

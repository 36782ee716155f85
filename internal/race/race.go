// Package race reports whether the race detector is on. It is for tests only: with the detector, code is about ten
// times slower, so a test checks fewer cases of code that runs in one goroutine. The run without it checks all.
package race

import (
	"runtime/debug"
	"slices"
)

// Enabled reports whether the binary was built with -race.
var Enabled = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}()

// Package soak says how many of its cases a test takes: some in a plain go test, more with LACONIC_ALL, as make test sets it,
// and all with LACONIC_SOAK, as make soak sets it. It is for tests only.
package soak

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strconv"
)

// Enabled reports whether LACONIC_SOAK is set. A variable that was read before the tests began is none for go test: it would take
// the result of fewer cases from its cache.
func Enabled() bool { return os.Getenv("LACONIC_SOAK") != "" }

// more reports whether LACONIC_ALL is set, or LACONIC_SOAK.
func more() bool { return os.Getenv("LACONIC_ALL") != "" || Enabled() }

// Every returns n, for a test that takes every nth of its cases, or 1 if it takes all.
func Every(n int) int {
	if Enabled() {
		return 1
	}
	return n
}

// Nth returns quick, for a test that takes every nth of its cases, or checked with LACONIC_ALL, or 1 in a soak.
func Nth(quick, checked int) int {
	if more() {
		return Every(checked)
	}
	return quick
}

// Of returns n cases, or a part of them without LACONIC_ALL: one of so many.
func Of(n, part int) int { return n / Nth(part, 1) }

// Some returns one of so many cases, by the order of their names, or all of them with LACONIC_ALL.
func Some[T any](cases map[string]T, part int) map[string]T {
	some := map[string]T{}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if i%Nth(part, 1) == 0 {
			some[name] = cases[name]
		}
	}
	return some
}

// Checks makes pgregory.net/rapid check each property with n random cases without LACONIC_ALL. It is for TestMain; a flag of
// the command line comes first.
func Checks(n int) {
	if f := flag.Lookup("rapid.checks"); f != nil && !more() {
		_ = f.Value.Set(strconv.Itoa(n)) // a number
	}
}

package main

import (
	_ "embed" // for documented.txt
	"fmt"
	"strconv"
	"strings"
)

//go:embed documented.txt
var documentation string

// documented is what the docs say of a runner in a row.
type documented struct {
	allocations uint64 // of one run
	times       string // such as "1.1 × reduction, in place"
}

// documentedOf returns the figures by row and runner: each line of the file has both and the figures, divided by tabs.
func documentedOf(lines string) (map[[2]string]documented, error) {
	all := map[[2]string]documented{}
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("documented.txt: %q, want a row, a runner, its allocations and its times, divided by tabs", line)
		}
		n, err := strconv.ParseUint(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("documented.txt: %s, %s: allocations: %w", f[0], f[1], err)
		}
		all[[2]string{f[0], f[1]}] = documented{n, f[3]}
	}
	return all, nil
}

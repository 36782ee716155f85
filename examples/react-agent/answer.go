package main

import (
	"cmp"
	"encoding/json"
	"slices"
)

// longest is how many of the longest files are asked for.
const longest = 5

// answer is what an audit comes to.
type answer struct {
	Undocumented           []name   `json:"undocumented"`             // exported names without a doc comment, by file
	Longest                []length `json:"longest"`                  // the longest files, longest first
	PackagesWithoutExample []string `json:"packages_without_example"` // sorted
	Lost                   []string `json:"lost,omitempty"`           // what could not be read
}

type name struct {
	File string `json:"file"`
	Name string `json:"name"`
}

type length struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
}

// answer draws the conclusion from the notes.
func (n *notes) answer() answer {
	a := answer{
		Undocumented:           []name{},
		Longest:                []length{},
		PackagesWithoutExample: append([]string{}, n.bare...),
		Lost:                   n.lost,
	}
	slices.SortFunc(n.found, func(a, b finding) int { return cmp.Compare(a.file, b.file) })
	for _, f := range n.found {
		for _, s := range f.names {
			a.Undocumented = append(a.Undocumented, name{File: n.name(f.file), Name: s})
		}
	}
	for _, f := range n.files {
		a.Longest = append(a.Longest, length{File: f.path, Lines: f.lines})
	}
	slices.SortStableFunc(a.Longest, func(a, b length) int { return cmp.Compare(b.Lines, a.Lines) })
	a.Longest = a.Longest[:min(longest, len(a.Longest))]
	return a
}

// parseAnswer reads the text that a run ended with.
func parseAnswer(text string) (a answer, ok bool) {
	return a, json.Unmarshal([]byte(text), &a) == nil
}

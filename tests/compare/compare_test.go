package main

import (
	"encoding/json"
	"os"
	"testing"
)

// TestPage compares the page and its pictures with the results that are beside them.
func TestPage(t *testing.T) {
	const docs = "../../docs/"
	read := func(name string) string {
		data, err := os.ReadFile(docs + name)
		check(t, err)
		return string(data)
	}
	c := &comparison{}
	check(t, json.Unmarshal([]byte(read("data/comparison.json")), c))
	page := read("comparison.md")
	for name, text := range map[string]string{
		"comparison.md": c.inPage(page), "pictures/comparison-32k.svg": c.picture(32_000), "pictures/comparison-200k.svg": c.picture(200_000),
	} {
		if read(name) != text {
			t.Errorf("docs/%s is not made of docs/data/comparison.json: run make compare ARGS=\"-from ../../docs/data/comparison.json -docs ../../docs\"", name)
		}
	}
}

package chainfile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// key is a key of a map, and how its value is read.
type key struct {
	name string
	read func(node)
}

// set returns a function that reads a value into a variable.
func set[T any](dst *T, read func(node) T) func(node) {
	return func(n node) { *dst = read(n) }
}

func namesOf(keys []key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// read reads a map by its keys, in the order of the file.
func (n node) read(keys []key) {
	names := namesOf(keys)
	if n.kind() != aMap {
		n.wrong("a map with " + oneOf(names))
	}
	for _, p := range n.pairs() {
		k := slices.Index(names, p.name)
		if k < 0 {
			hint := didYouMean(p.name, names)
			if p.name == "token_count_method" { // of LangChain's middleware
				hint = " (did you mean counter, at the top of the file?)"
			}
			p.key.failf("is no key here%s; the keys here are %s", hint, list(names))
			continue
		}
		keys[k].read(p.value)
	}
}

// text reads some text.
func (n node) text() string {
	switch {
	case n.kind() == aNumber || n.kind() == aBool:
		n.wrong("text: put it in quotes")
	case n.kind() != aText:
		n.wrong("text")
	case n.raw() == "":
		n.failf("is empty, want some text, or leave the key out")
	}
	return n.raw()
}

// texts reads a list of texts. What they are is used in errors. An empty list is not nil.
func texts(what string) func(node) []string {
	return func(n node) []string {
		if n.kind() != aList {
			n.wrong("a list of " + what + ", as [one, another]")
		}
		all := []string{}
		for _, item := range n.items() {
			all = append(all, item.text())
			if all[len(all)-1] == "" {
				item.failf("is empty, want one of the %s", what)
			}
		}
		return all
	}
}

// yesNo reads true or false.
func (n node) yesNo() bool {
	if n.kind() != aBool {
		n.wrong("true or false")
	}
	return strings.EqualFold(n.raw(), "true")
}

// decimal allows no leading zero: some YAML parsers read 010 as 8.
var decimal = regexp.MustCompile(`^[-+]?(0|[1-9]\d*(_\d+)*)$`)

// whole reads a whole number of at least smallest.
func whole(smallest int) func(node) int {
	return func(n node) int {
		want := fmt.Sprintf("a whole number, %d or more", smallest)
		i, err := strconv.Atoi(strings.ReplaceAll(n.raw(), "_", ""))
		switch {
		case n.kind() != aNumber || !decimal.MatchString(n.raw()):
			n.wrong(want)
		case err != nil:
			n.wrong(fmt.Sprintf("%s, at most %d", want, math.MaxInt))
		case i < smallest:
			n.wrong(want)
		}
		return i
	}
}

// orNone reads a whole number, or the word none, for an option whose zero value is a default in Go. So 0 is an error.
func (n node) orNone() int {
	if n.kind() == aText && n.raw() == "none" {
		return -1
	}
	n.also = ", or none"
	return whole(1)(n)
}

// share reads a number above 0, at most 1.
func (n node) share() float64 {
	f, err := strconv.ParseFloat(n.raw(), 64)
	if n.kind() != aNumber || err != nil || !(f > 0 && f <= 1) {
		n.wrong("a number above 0 and at most 1")
	}
	return f
}

// factor reads a number above 0.
func (n node) factor() float64 {
	f, err := strconv.ParseFloat(n.raw(), 64)
	if n.kind() != aNumber || err != nil || !(f > 0) || math.IsInf(f, 0) {
		n.wrong("a number above 0")
	}
	return f
}

// orOff reads the word off, as the value of Go for it, or another value.
func orOff[T any](off T, read func(node) T) func(node) T {
	return func(n node) T {
		if n.kind() == aText && n.raw() == "off" {
			return off
		}
		n.also = ", or off"
		return read(n)
	}
}

// choice reads one of several words.
func choice[T ~string](words ...T) func(node) T {
	return func(n node) T {
		var names []string
		for _, w := range words {
			names = append(names, string(w))
		}
		switch {
		case n.kind() != aText || n.raw() == "":
			n.wrong(oneOf(names))
		case !slices.Contains(names, n.raw()):
			n.failf("is %q%s, want %s", short(n.raw()), didYouMean(n.raw(), names), oneOf(names))
		}
		return T(n.raw())
	}
}

// span reads a length of time of at least smallest.
func span(smallest time.Duration, want string) func(node) time.Duration {
	return func(n node) time.Duration {
		d, err := time.ParseDuration(n.raw())
		if n.kind() != aText || err != nil || d < smallest {
			n.wrong(want)
		}
		return d
	}
}

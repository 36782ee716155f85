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

// key is a key of a map, and where its value goes.
type key struct {
	name string
	set  value
}

// value reads a node into a variable.
type value func(*node) error

// read reads a map by its keys, in the order of the file.
func (n *node) read(keys []key) error {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	if n.shape != aMap {
		return n.wrong("a map with " + oneOf(names))
	}
	for _, p := range n.pairs {
		k := slices.Index(names, p.name)
		if k < 0 {
			return p.at.errorf("is no key here%s; the keys here are %s", didYouMean(p.name, names), list(names))
		}
		if err := keys[k].set(p.value); err != nil {
			return err
		}
	}
	return nil
}

// text reads some text into a variable.
func text(dst *string) value {
	return func(n *node) error {
		switch {
		case n.shape == aNumber || n.shape == aBool:
			return n.wrong("text: put it in quotes")
		case n.shape != aText:
			return n.wrong("text")
		case n.text == "":
			return n.errorf("is empty, want some text, or leave the key out")
		}
		*dst = n.text
		return nil
	}
}

// texts reads a list of texts into a variable. What they are is said in errors.
func texts(dst *[]string, what string) value {
	return func(n *node) error {
		if n.shape != aList {
			return n.wrong("a list of " + what + ", as [one, another]")
		}
		*dst = []string{} // an empty list is not a missing one
		for _, item := range n.items {
			var s string
			if err := text(&s)(item); err != nil {
				return err
			}
			*dst = append(*dst, s)
		}
		return nil
	}
}

// yesNo reads true or false into a variable.
func yesNo(dst *bool) value {
	return func(n *node) error {
		if n.shape != aBool {
			return n.wrong("true or false")
		}
		*dst = strings.EqualFold(n.text, "true")
		return nil
	}
}

// whole reads a whole number of at least smallest into a variable.
func whole(dst *int, smallest int) value {
	return func(n *node) error {
		want := fmt.Sprintf("a whole number, %d or more", smallest)
		if n.shape != aNumber || !decimal.MatchString(n.text) {
			return n.wrong(want)
		}
		i, err := strconv.Atoi(strings.ReplaceAll(n.text, "_", ""))
		if err != nil {
			return n.wrong(fmt.Sprintf("%s, at most %d", want, math.MaxInt))
		}
		if i < smallest {
			return n.wrong(want)
		}
		*dst = i
		return nil
	}
}

// decimal has no zero in front, which is eight's power in one YAML and nothing
// in the next.
var decimal = regexp.MustCompile(`^[-+]?(0|[1-9]\d*(_\d+)*)$`)

// atLeastNone reads a whole number for an option whose zero stands for a
// default. In a file, the default is a key that is left out, and 0 is none.
func atLeastNone(dst *int) value {
	return func(n *node) error {
		if err := whole(dst, 0)(n); err != nil {
			return err
		}
		if *dst == 0 {
			*dst = -1
		}
		return nil
	}
}

// share reads a number above 0, at most 1, into a variable.
func share(dst *float64) value {
	return func(n *node) error {
		const want = "a number above 0 and at most 1"
		if n.shape != aNumber {
			return n.wrong(want)
		}
		f, err := strconv.ParseFloat(n.text, 64)
		if err != nil || !(f > 0 && f <= 1) {
			return n.wrong(want)
		}
		*dst = f
		return nil
	}
}

// choice reads one of several words into a variable.
func choice[T ~string](dst *T, words ...T) value {
	return func(n *node) error {
		names := make([]string, len(words))
		for i, w := range words {
			names[i] = string(w)
		}
		if n.shape != aText || !slices.Contains(names, n.text) {
			hint := ""
			if n.shape == aText {
				hint = didYouMean(n.text, names)
			}
			return n.errorf("is %s%s, want %s", n.describe(), hint, oneOf(names))
		}
		*dst = T(n.text)
		return nil
	}
}

// span reads a length of time, as 5s, into a variable.
func span(dst *time.Duration) value {
	return func(n *node) error {
		const want = "a length of time, as 5s or 1m30s"
		if n.shape != aText {
			return n.wrong(want)
		}
		d, err := time.ParseDuration(n.text)
		if err != nil || d < 0 {
			return n.wrong(want)
		}
		*dst = d
		return nil
	}
}

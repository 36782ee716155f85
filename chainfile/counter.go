package chainfile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

// auto names the counter that a chain uses by itself.
const auto = "auto"

// counters are what a chain file may count with, by name, beside the encodings
// of package bpe.
var counters = map[string]func() tokens.Counter{
	auto:       func() tokens.Counter { return nil },
	"estimate": func() tokens.Counter { return tokens.Estimate{} },
	"chars4":   func() tokens.Counter { return tokens.Chars4{} },
	"cjk15":    func() tokens.Counter { return tokens.CJK15{} },
	"cautious": func() tokens.Counter { return tokens.Cautious{} },
}

// Counters returns the names of the counters, sorted.
func Counters() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(counters)), bpe.Encodings())))
}

// Counter returns the counter of this name. For auto it is nil, which a chain
// takes for the counter that it uses by itself. The error lists the names.
func Counter(name string) (tokens.Counter, error) {
	if c, ok := counters[name]; ok {
		return c(), nil
	}
	if c, err := bpe.Encoding(name); err == nil {
		return c, nil
	}
	return nil, fmt.Errorf("%q is no counter%s; want %s", name, didYouMean(name, Counters()), oneOf(Counters()))
}

// counter reads the name of a counter into a variable.
func counter(dst *tokens.Counter) value { //nolint:gocritic // ptrToRefParam: it is written to
	return func(n *node) error {
		var name string
		if err := text(&name)(n); err != nil {
			return err
		}
		c, err := Counter(name)
		if err != nil {
			return n.errorf("%v", err)
		}
		*dst = c
		return nil
	}
}

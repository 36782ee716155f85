package models

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse reads the table of the library:
//
//	@provider acme                  # applies to the rows below, and resets the other @ lines
//	@source   https://acme.example/pricing
//	@date     2026-11-21
//	@encoding o200k_base
//	@family   acme 1.1              # family and, if known, Ratio
//	@cache    auto min=1024 step=128 ttl=5m long=1h marks=4 lookback=20
//
//	# name     window  input  output | input  read  write  1h    output
//	acme-1     200000  -      8192   | 3      0.30  3.75   6     15
//	 >128000                         | 6      0.60  7.50   12    22.50   # long prompts of the row above
//	acme-one   = acme-1                                                  # another name for a row above
//
// Prices are in US dollars for a million tokens. A dash means that a value is unknown
// or does not exist; a # begins a comment. [Table.With] validates the models. An error
// has the line.
func parse(text string) ([]Model, error) {
	var p parser
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			p.line(words)
		}
		if p.err != nil {
			return nil, fmt.Errorf("models: line %d: %w", n, p.err)
		}
	}
	return p.rows, nil
}

type parser struct {
	shared Model // from the @ lines
	rows   []Model
	err    error // the first of a line
}

func (p *parser) failf(format string, args ...any) {
	p.err = cmp.Or(p.err, fmt.Errorf(format, args...))
}

func (p *parser) line(words []string) {
	name := words[0]
	switch {
	case name[0] == '@':
		p.directive(name, words[1:])
	case name[0] == '>' && len(p.rows) > 0 && len(words) == 7 && words[1] == "|":
		m := &p.rows[len(p.rows)-1]
		free := slices.Index(m.Price.Long[:], Rates{})
		if free < 0 {
			p.failf("%s: a row has at most %d rates of long prompts", name, len(m.Price.Long))
			return
		}
		m.Price.Long[free] = p.rates(words[2:])
		m.Price.Long[free].Above = p.tokens(name[1:])
	case len(words) == 3 && words[1] == "=":
		i := slices.IndexFunc(p.rows, func(m Model) bool { return m.Name == words[2] })
		if i < 0 {
			p.failf("%s: no row above is called %s", name, words[2])
			return
		}
		m := p.rows[i]
		m.Name = name
		p.rows = append(p.rows, m)
	case p.shared.Provider != "" && len(words) == 10 && words[4] == "|":
		m := p.shared
		m.Name = name
		m.Window = p.tokens(words[1])
		m.Input = p.tokens(words[2])
		m.Output = p.tokens(words[3])
		m.Price.Rates = p.rates(words[5:])
		p.rows = append(p.rows, m)
	default:
		p.failf("%s: must be an @ line, a row below @provider, rates of long prompts below a row, or another name", name)
	}
}

func (p *parser) directive(name string, args []string) {
	text := strings.Join(args, " ")
	if text == "" {
		p.failf("%s has no value", name)
		return
	}
	if text == "-" {
		text, args = "", args[:0]
	}
	switch name {
	case "@provider":
		p.shared = Model{Provider: text}
	case "@source":
		p.shared.Source = text
	case "@date":
		p.shared.Date = text
	case "@encoding":
		p.shared.Encoding = text
	case "@family":
		family, ratio, known := strings.Cut(text, " ")
		p.shared.Family, p.shared.Ratio = family, 0
		if known {
			n, err := strconv.ParseFloat(ratio, 64)
			p.shared.Ratio, p.err = n, cmp.Or(p.err, err)
		}
	case "@cache":
		p.shared.Cache = Cache{}
		for _, arg := range args {
			p.cache(arg)
		}
	default:
		p.failf("%q: must be @provider, @source, @date, @encoding, @family or @cache", name)
	}
}

func (p *parser) cache(arg string) {
	c := &p.shared.Cache
	key, value, _ := strings.Cut(arg, "=")
	switch key {
	case "auto":
		c.Auto = true
	case "min":
		c.Min = p.tokens(value)
	case "step":
		c.Step = p.tokens(value)
	case "marks":
		c.Breakpoints = p.tokens(value)
	case "lookback":
		c.Lookback = p.tokens(value)
	case "ttl":
		c.TTL = p.duration(value)
	case "long":
		c.LongTTL = p.duration(value)
	default:
		p.failf("@cache %s: must be auto, min, step, ttl, long, marks or lookback", arg)
	}
}

func (p *parser) duration(word string) time.Duration {
	d, err := time.ParseDuration(word)
	p.err = cmp.Or(p.err, err)
	return d
}

func (p *parser) tokens(word string) int {
	if word == "-" {
		return 0
	}
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || n == 0 {
		p.failf("%q: must be a whole number above 0, or -", word)
	}
	return int(n)
}

func (p *parser) rates(words []string) Rates {
	return Rates{
		Input: p.rate(words[0]), CacheRead: p.rate(words[1]), CacheWrite: p.rate(words[2]),
		CacheWriteLong: p.rate(words[3]), Output: p.rate(words[4]),
	}
}

// rate reads dollars with up to six decimals, exactly.
func (p *parser) rate(word string) Cost {
	if word == "-" {
		return 0
	}
	const places = 6
	dollars, cents, _ := strings.Cut(word, ".")
	n, err := strconv.ParseUint(dollars+cents+strings.Repeat("0", max(0, places-len(cents))), 10, 40)
	if err != nil || n == 0 || len(cents) > places || dollars == "" {
		p.failf("%q: must be dollars with at most %d decimals, or -", word, places)
	}
	return Cost(n)
}

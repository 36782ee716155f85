package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads models from a text table. The table of the library has the same format:
//
//	@provider acme                  # applies to the rows below, and resets the other @ lines
//	@source   https://acme.example/pricing
//	@date     2026-11-21
//	@encoding o200k_base
//	@family   acme 1.1              # family and, if known, Ratio
//	@cache    auto min=1024 step=128 ttl=5m long=1h marks=4 lookback=20
//
//	# name     window  input  output | input  read  write  long  output
//	acme-1     200000  -      8192   | 3      0.30  3.75   6     15
//	 >128000                         | 6      0.60  7.50   12    22.50   # long prompts of the row above
//	acme-one   = acme-1                                                  # another name for a row above
//
// Prices are in US dollars for a million tokens. A dash means that a value is unknown
// or does not exist; a # begins a comment. Pass the result to [Table.With], which
// validates it. An error names line and column.
func Parse(text string) ([]Model, error) {
	p := parser{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := p.line(words); err != nil {
			return nil, fmt.Errorf("models: line %d: %w", n, err)
		}
	}
	return p.rows, nil
}

type parser struct {
	shared Model // from the @ lines
	rows   []Model
}

func (p *parser) line(words []string) error {
	switch {
	case strings.HasPrefix(words[0], "@"):
		return p.directive(words[0], words[1:])
	case strings.HasPrefix(words[0], ">"):
		return p.tier(words)
	case len(words) > 1 && words[1] == "=":
		return p.alias(words)
	}
	return p.row(words)
}

func (p *parser) directive(name string, args []string) error {
	text := strings.Join(args, " ")
	if text == "" {
		return fmt.Errorf("%s has no value", name)
	}
	if text == "-" {
		text = ""
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
		return p.family(args)
	case "@cache":
		return p.cache(args)
	default:
		return fmt.Errorf("%q: must be @provider, @source, @date, @encoding, @family or @cache", name)
	}
	return nil
}

func (p *parser) family(args []string) error {
	p.shared.Family, p.shared.Ratio = args[0], 0
	if len(args) == 1 {
		return nil
	}
	ratio, err := strconv.ParseFloat(args[1], 64)
	if err != nil || len(args) > 2 {
		return fmt.Errorf("@family %q: must be a name and at most one number", strings.Join(args, " "))
	}
	p.shared.Ratio = ratio
	return nil
}

func (p *parser) cache(args []string) error {
	p.shared.Cache = Cache{}
	if len(args) == 1 && args[0] == "-" {
		return nil
	}
	c := &p.shared.Cache
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		var err error
		switch key {
		case "auto":
			c.Auto = true
			if value != "" {
				err = fmt.Errorf("has no value")
			}
		case "min":
			c.Min, err = tokens(value)
		case "step":
			c.Step, err = tokens(value)
		case "marks":
			c.Breakpoints, err = tokens(value)
		case "lookback":
			c.Lookback, err = tokens(value)
		case "ttl":
			c.TTL, err = time.ParseDuration(value)
		case "long":
			c.LongTTL, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("must be auto, min, step, ttl, long, marks or lookback")
		}
		if err != nil {
			return fmt.Errorf("@cache %s: %w", arg, err)
		}
	}
	return nil
}

// The columns of a row. A bar separates the two groups.
var (
	limitColumns = []string{"window", "input", "output"}
	priceColumns = []string{"price of input", "price of read", "price of write", "price of long", "price of output"}
)

func (p *parser) row(words []string) error {
	m := p.shared
	m.Name = words[0]
	if m.Provider == "" {
		return fmt.Errorf("%s: no @provider above", m.Name)
	}
	bar := slices.Index(words, "|")
	if bar != 1+len(limitColumns) {
		return fmt.Errorf("%s: must have name, %s, a bar and prices", m.Name, strings.Join(limitColumns, ", "))
	}
	for i, field := range []*int{&m.Window, &m.Input, &m.Output} {
		n, err := tokens(words[1+i])
		if err != nil {
			return fmt.Errorf("%s: %s: %w", m.Name, limitColumns[i], err)
		}
		*field = n
	}
	rates, err := rates(words[bar+1:])
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	m.Price.Rates = rates
	p.rows = append(p.rows, m)
	return nil
}

func (p *parser) tier(words []string) error {
	if len(p.rows) == 0 || len(words) < 2 || words[1] != "|" {
		return fmt.Errorf("%s: must stand below a row and be a number of tokens, a bar and prices", words[0])
	}
	m := &p.rows[len(p.rows)-1]
	above, err := tokens(words[0][1:])
	if err != nil {
		return fmt.Errorf("%s: %s: %w", m.Name, words[0], err)
	}
	rates, err := rates(words[2:])
	if err != nil {
		return fmt.Errorf("%s: %s: %w", m.Name, words[0], err)
	}
	free := slices.Index(m.Price.Long[:], Tier{})
	if free < 0 {
		return fmt.Errorf("%s: %s: a row has at most %d tiers", m.Name, words[0], len(m.Price.Long))
	}
	m.Price.Long[free] = Tier{Above: above, Rates: rates}
	return nil
}

func (p *parser) alias(words []string) error {
	if len(words) != 3 {
		return fmt.Errorf("%s: must be a name, = and the name of a row above", words[0])
	}
	i := slices.IndexFunc(p.rows, func(m Model) bool { return m.Name == words[2] })
	if i < 0 {
		return fmt.Errorf("%s: no row above is called %s", words[0], words[2])
	}
	m := p.rows[i]
	m.Name = words[0]
	p.rows = append(p.rows, m)
	return nil
}

func rates(words []string) (Rates, error) {
	var r Rates
	if len(words) != len(priceColumns) {
		return r, fmt.Errorf("%d prices, must be %d: %s", len(words), len(priceColumns), strings.Join(priceColumns, ", "))
	}
	for i, field := range []*Cost{&r.Input, &r.CacheRead, &r.CacheWrite, &r.CacheWriteLong, &r.Output} {
		rate, err := rate(words[i])
		if err != nil {
			return r, fmt.Errorf("%s: %w", priceColumns[i], err)
		}
		*field = rate
	}
	return r, nil
}

func tokens(word string) (int, error) {
	if word == "-" {
		return 0, nil
	}
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q: must be a whole number above 0, or -", word)
	}
	return int(n), nil
}

// rate reads dollars with up to six decimals, exactly.
func rate(word string) (Cost, error) {
	if word == "-" {
		return 0, nil
	}
	const places = 6
	dollars, cents, _ := strings.Cut(word, ".")
	n, err := strconv.ParseUint(dollars+cents+strings.Repeat("0", max(0, places-len(cents))), 10, 40)
	if err != nil || n == 0 || len(cents) > places || dollars == "" {
		return 0, fmt.Errorf("%q: must be dollars with at most %d decimals, or -", word, places)
	}
	return Cost(n), nil
}

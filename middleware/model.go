package middleware

import "github.com/laconic-go/laconic/models"

// model returns what the table knows of a model.
func (c *chain) model(name string) models.Model {
	if name == "" {
		return models.Model{}
	}
	if m := c.newest.Load(); m != nil && m.name == name {
		return m.Model
	}
	m, _ := c.models.Lookup(name)
	c.newest.Store(&known{Model: m, name: name})
	return m
}

// known is what the table knows of a model by some name.
type known struct {
	models.Model

	name string
}

// priors are what is charged for a token by the meter as long as the
// conversation does not tell. The ratios of the table are to o200k_base, to which
// the default counter is fitted, and of English; of ideographs, other tokenizers
// make more.
func (c *call) priors() priors {
	p := priors{1, 1}
	named := c.chain.named
	if c.chain.guesses {
		named = "o200k_base"
	}
	if r := c.model.Ratio; r > 0 && named == "o200k_base" {
		p.plain = r
	}
	switch {
	case named != "" && named == c.model.Encoding:
		p.wide = p.plain
	case named == "cl100k_base":
		p.wide = 0.85 * p.plain
	default:
		p.wide = 1.15 * p.plain
	}
	return p
}

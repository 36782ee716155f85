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

// prior returns the tokens that are charged for one by the meter, as long as
// the conversation does not tell. The ratios of the table are to o200k_base.
func (c *call) prior() float64 {
	if r := c.model.Ratio; r > 0 && (c.chain.guesses || c.chain.named == "o200k_base") {
		return r
	}
	return 1
}

package replay

import (
	"slices"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/message"
)

// within is what package message gives to packages of this module only.
var within = message.Internals(inside.Key{})

// providers are those whose rules prompts are checked by.
var providers = []message.Rules{
	message.OpenAI, message.OpenAIResponses, message.Anthropic, message.Gemini, message.Bedrock, message.Mistral,
}

// checker checks prompts that grow, for one provider.
type checker struct {
	rules message.Rules
	valid []message.Message // the newest prompt that was valid
}

// accepts reports whether the provider accepts a prompt.
func (c *checker) accepts(prompt []message.Message) bool {
	from := 0
	for from < min(len(c.valid), len(prompt)) && c.valid[from].Equal(prompt[from]) {
		from++
	}
	if from < len(c.valid) {
		from = 0
	}
	if len(within.ViolationsFrom(c.rules, prompt, from)) > 0 {
		return false
	}
	c.valid = prompt
	return true
}

// check counts the providers that would reject a prompt though they would accept the whole history.
func (p *player) check(call int) {
	if p.checkers == nil {
		for _, rules := range providers {
			p.checkers = append(p.checkers, checker{rules: rules})
		}
	}
	whole := p.messages[:p.calls[call]]
	if len(whole) == len(p.sent) && slices.EqualFunc(whole, p.sent, message.Message.Equal) {
		return
	}
	for i := range p.checkers {
		c := &p.checkers[i]
		if p.accepted[i][call] && !c.accepts(p.sent) {
			p.broken = append(p.broken, c.rules.String())
		}
	}
}

// judge returns for each provider which of the histories before the calls it accepts.
func (t *tape) judge() (accepted [][]bool) {
	for _, rules := range providers {
		c, all := checker{rules: rules}, make([]bool, len(t.calls))
		for k, at := range t.calls {
			all[k] = c.accepts(t.messages[:at])
		}
		accepted = append(accepted, all)
	}
	return accepted
}

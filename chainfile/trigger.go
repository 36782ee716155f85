package chainfile

import (
	"slices"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/trigger"
)

// triggerKeys are the keys of a trigger that is a map. Each adds to what it is
// given.
func triggerKeys(all *[]middleware.Trigger) []key {
	return []key{
		{"tokens", atNumber(all, trigger.Tokens)},
		{"fraction", atShare(all, trigger.Fraction)},
		{"messages", atNumber(all, trigger.Messages)},
		{"rounds", atNumber(all, trigger.Rounds)},
		{"tool_uses", atNumber(all, trigger.ToolUses)},
		{"reclaims", atNumber(all, trigger.Reclaims)},
		{"not", not(all)},
	}
}

// triggerNames are the keys in order.
func triggerNames() []string {
	var names []string
	for _, k := range triggerKeys(nil) {
		names = append(names, k.name)
	}
	return names
}

// when reads a trigger into a variable: of a list any, of a map all.
func when(dst *middleware.Trigger) value { //nolint:gocritic // ptrToRefParam: it is written to
	return func(n *node) error {
		var several []middleware.Trigger
		join := trigger.Any
		switch n.shape {
		case aList:
			for _, item := range n.items {
				var t middleware.Trigger
				if err := when(&t)(item); err != nil {
					return err
				}
				several = append(several, t)
			}
		case aMap:
			join = trigger.All
			if err := n.read(triggerKeys(&several)); err != nil {
				return err
			}
		case aText, aNumber, aBool, nothing:
			return n.wrong("a map of which all must be met, as {tokens: 100000}, or a list of maps of which one must be")
		}
		switch len(several) {
		case 0:
			return n.errorf("is empty, want a trigger with %s", oneOf(triggerNames()))
		case 1:
			*dst = several[0]
		default:
			*dst = join(slices.Clip(several)...)
		}
		return nil
	}
}

// not adds the contrary of a trigger.
func not(all *[]middleware.Trigger) value {
	return func(n *node) error {
		var t middleware.Trigger
		if err := when(&t)(n); err != nil {
			return err
		}
		*all = append(*all, trigger.Not(t))
		return nil
	}
}

// atNumber adds a trigger at a whole number.
func atNumber(all *[]middleware.Trigger, at func(int) middleware.Trigger) value {
	return func(n *node) error {
		var limit int
		if err := whole(&limit, 1)(n); err != nil {
			return err
		}
		*all = append(*all, at(limit))
		return nil
	}
}

// atShare adds a trigger at a share of something.
func atShare(all *[]middleware.Trigger, at func(float64) middleware.Trigger) value {
	return func(n *node) error {
		var f float64
		if err := share(&f)(n); err != nil {
			return err
		}
		*all = append(*all, at(f))
		return nil
	}
}

package message

import "slices"

// mendShape puts the parts of a message into an order that may be.
func (d *mender) mendShape(it *item) {
	switch it.Role {
	case RoleAssistant:
		d.mendCallOrder(it)
		d.mendThinking(it)
	case RoleTool:
		isResult := func(p Part) bool { _, ok := p.(ToolResult); return ok }
		if parts := partition(it.Parts, isResult); d.want.first && !slices.Equal(parts, it.Parts) {
			it.Parts = parts
			d.fix(resultsNotFirst, it.at, "", "the results moved to the front")
		}
	default:
	}
}

// mendCallOrder moves text that stands behind a call before the first one.
func (d *mender) mendCallOrder(it *item) {
	if parts := textFirst(it.Parts); d.want.textAfterCall && !slices.Equal(parts, it.Parts) {
		it.Parts = parts
		d.fix(textAfterCall, it.at, "", "the text moved before the first call")
	}
}

// textFirst returns the parts with the text behind the first call before it.
func textFirst(parts []Part) []Part {
	first := slices.IndexFunc(parts, func(p Part) bool { _, ok := p.(ToolCall); return ok })
	if first < 0 {
		return parts
	}
	isText := func(p Part) bool { _, ok := p.(Text); return ok }
	return slices.Concat(parts[:first], partition(parts[first:], isText))
}

func (d *mender) mendThinking(it *item) {
	if d.want.thinkingAlone && onlyThinking(it.Parts) {
		it.Parts = nil
		d.fix(thinkingAlone, it.at, "", "left out")
	}
	if first := thinkingAt(it.Parts); d.want.thinkingFirst && first > 0 {
		end := first
		for end < len(it.Parts) && isThinking(it.Parts[end]) {
			end++
		}
		it.Parts = slices.Concat(it.Parts[first:end], it.Parts[:first], it.Parts[end:])
		d.fix(thinkingNotFirst, it.at, "", "what stood before the thinking moved behind it")
	}
	end := len(it.Parts)
	for end > 0 && isThinking(it.Parts[end-1]) {
		end--
	}
	if d.want.thinkingLast && end < len(it.Parts) {
		d.fix(thinkingLast, it.at, "", "left out the thinking at the end")
		it.Parts = it.Parts[:end:end]
	}
}

// partition returns the parts with those first that are so, else in their order.
func partition(parts []Part, so func(Part) bool) []Part {
	out := make([]Part, 0, len(parts))
	for _, first := range []bool{true, false} {
		for _, p := range parts {
			if so(p) == first {
				out = append(out, p)
			}
		}
	}
	return out
}

package message

// repairTexts makes one text of several in a message or result of texts alone.
func (d *repairer) repairTexts() {
	if !d.want.has(severalTexts) {
		return
	}
	for i := range d.list {
		it := &d.list[i]
		if parts, id, several := oneText(it.Parts); several {
			it.Parts = parts
			d.fix(severalTexts, it.at, id, "the texts became one")
		}
	}
}

// joinTexts is documented at internals.JoinTexts.
func joinTexts(m Message) Message {
	for range m.Results() {
		return m
	}
	if len(m.Parts) > 1 {
		m.Parts, _, _ = oneText(m.Parts)
	}
	return m
}

// oneText returns the parts of a message with one text in the place of several, and
// whether there were several. If they were pieces of a result, id is that of its call.
func oneText(parts []Part) (out []Part, id string, several bool) {
	texts, last := 0, 0
	for n, p := range parts {
		switch p.(type) {
		case Text:
			texts, last = texts+1, n
		case ToolResult:
			return oneTextEach(parts)
		case Media, Opaque:
			return parts, "", false
		case Thinking, ToolCall:
		}
	}
	if texts < 2 {
		return parts, "", false
	}
	all := Text{}
	for n, p := range parts {
		t, ok := p.(Text)
		if !ok {
			out = append(out, p)
			continue
		}
		all.Text = joined(all.Text, t.Text)
		if n == last {
			out = append(out, all)
		}
	}
	return out, "", true
}

// oneTextEach does it for each result whose pieces are texts alone.
func oneTextEach(parts []Part) (out []Part, id string, several bool) {
	for n := 0; n < len(parts); {
		r, ok := parts[n].(ToolResult)
		end, texts := n+1, r.Content == nil
		for ; ok && end < len(parts); end++ {
			more, is := parts[end].(ToolResult)
			if !is || more.CallID != r.CallID {
				break
			}
			texts = texts && more.Content == nil
			r.Text, r.Error = joined(r.Text, more.Text), r.Error || more.Error
		}
		if !texts || end == n+1 {
			out = append(out, parts[n:end]...)
		} else {
			out = append(out, r)
			if !several {
				id, several = r.CallID, true
			}
		}
		n = end
	}
	return out, id, several
}

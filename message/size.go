package message

// Size returns about how many bytes of memory the message keeps alive, for
// those who bound what they remember.
func (m Message) Size() int {
	const perMessage = 400
	n := perMessage + len(m.Name)
	for _, p := range m.Parts {
		n += partSize(p)
	}
	return n
}

func partSize(p Part) int {
	const perPart = 100
	switch p := p.(type) {
	case Text:
		return perPart + len(p.Text)
	case Thinking:
		return perPart + len(p.Text) + len(p.Signature)
	case Media:
		return perPart + len(p.Type) + len(p.URL) + len(p.Data) + len(p.Name)
	case ToolCall:
		return perPart + len(p.ID) + len(p.Name) + len(p.Arguments)
	case ToolResult:
		return perPart + len(p.CallID) + len(p.Name) + len(p.Text) + partSize(p.Content)
	case Opaque:
		return perPart + len(p.Kind) + len(p.Data)
	}
	return 0
}

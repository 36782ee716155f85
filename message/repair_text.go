package message

import (
	"strings"
	"unicode/utf8"
)

// isText reports whether the strings of a part that a request has as text are valid UTF-8. The bytes of media and signatures
// need not be. It also returns the ID of a call or result.
func isText(p Part) (id string, valid bool) {
	switch p := p.(type) {
	case Text:
		return "", utf8.ValidString(p.Text)
	case Thinking:
		return "", utf8.ValidString(p.Text)
	case Media:
		return "", utf8.ValidString(p.Type) && utf8.ValidString(p.URL) && utf8.ValidString(p.Name)
	case ToolCall:
		return p.ID, utf8.ValidString(p.ID) && utf8.ValidString(p.Name) && utf8.ValidString(p.Arguments)
	case ToolResult:
		valid = utf8.ValidString(p.CallID) && utf8.ValidString(p.Name) && utf8.ValidString(p.Text)
		if valid && p.Content != nil {
			_, valid = isText(p.Content)
		}
		return p.CallID, valid
	case Opaque:
		return "", utf8.ValidString(p.Kind) && utf8.ValidString(p.Data)
	}
	return "", true
}

// asText returns a string with one U+FFFD in the place of each run of bytes that is not valid UTF-8.
func asText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// repairText makes the strings of a part valid UTF-8. It returns nil for thinking that is removed.
func (d *repairer) repairText(it *item, p Part) Part {
	id, valid := isText(p)
	if valid {
		return p
	}
	if t, ok := p.(Thinking); ok && t.Signature != "" {
		d.fix(badText, it.at, "", "removed the thinking %q", clip(t.Text))
		return nil
	}
	is := withText(p)
	if is != p {
		d.fix(badText, it.at, id, "each run of bytes that are not UTF-8 became U+FFFD")
	}
	return is
}

// withText is documented at internals.WithText. Different IDs must stay different, and results have those of their calls, so
// repairIDs replaces both.
func withText(p Part) Part {
	switch p := p.(type) {
	case Text:
		return Text{asText(p.Text)}
	case Thinking:
		p.Text = asText(p.Text)
		return p
	case Media:
		p.Type = asText(p.Type)
		p.URL = asText(p.URL)
		p.Name = asText(p.Name)
		return p
	case ToolCall:
		p.Name, p.Arguments = asText(p.Name), asText(p.Arguments)
		return p
	case ToolResult:
		p.Name = asText(p.Name)
		p.Text = asText(p.Text)
		p.Content = withText(p.Content)
		return p
	case Opaque:
		return Opaque{Kind: asText(p.Kind), Data: asText(p.Data)}
	}
	return p
}

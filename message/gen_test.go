package message_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

// anyString generates strings that texts and ids should not have, but may.
func anyString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", " ", "\n", "a\x00b", "\xff\xfe", "a\xc3", "\xed\xa0\x80", "null", `{"base64":"YQ=="}`, "\u2028<&>", "你好"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
}

// anyPart generates parts of all types, also in places where no provider
// accepts them.
func anyPart() *rapid.Generator[message.Part] {
	return rapid.Custom(func(t *rapid.T) message.Part { return drawPart(t, 2) })
}

func drawPart(t *rapid.T, depth int) message.Part {
	s := func(name string) string { return anyString().Draw(t, name) }
	switch rapid.IntRange(0, 5).Draw(t, "type of part") {
	case 0:
		return message.Text{Text: s("text")}
	case 1:
		return message.Thinking{Text: s("text"), Signature: s("signature")}
	case 2:
		return message.Media{Type: s("mime"), URL: s("url"), Data: s("data"), Name: s("name")}
	case 3:
		return message.ToolCall{ID: s("id"), Name: s("name"), Arguments: s("arguments")}
	case 4:
		r := message.ToolResult{CallID: s("id"), Name: s("name"), Text: s("text"), Error: rapid.Bool().Draw(t, "error")}
		if depth > 0 && rapid.Bool().Draw(t, "with content") {
			r.Content = drawPart(t, depth-1)
		}
		return r
	default:
		return message.Opaque{Kind: s("kind"), Data: s("data")}
	}
}

// anyMessage generates messages of any content, valid or not, without nil
// parts.
func anyMessage() *rapid.Generator[message.Message] {
	return rapid.Custom(func(t *rapid.T) message.Message {
		m := message.Message{
			Role: rapid.OneOf(
				rapid.SampledFrom([]message.Role{message.RoleSystem, message.RoleUser, message.RoleAssistant, message.RoleTool}),
				rapid.Map(anyString(), func(s string) message.Role { return message.Role(s) }),
			).Draw(t, "role"),
			Name:  anyString().Draw(t, "name"),
			Parts: rapid.SliceOfN(anyPart(), 0, 4).Draw(t, "parts"),
			Hints: message.Hints{
				Pinned:     rapid.Bool().Draw(t, "pinned"),
				Memory:     rapid.Bool().Draw(t, "memory"),
				Breakpoint: rapid.Bool().Draw(t, "breakpoint"),
				Priority:   message.Priority(rapid.Int8().Draw(t, "priority")),
			},
		}
		if rapid.Bool().Draw(t, "with usage") {
			n := func(name string) int { return rapid.Int().Draw(t, name) }
			m.Usage = &message.Usage{Input: n("in"), CacheRead: n("read"), CacheWrite: n("write"), Output: n("out"), Thinking: n("thinking")}
		}
		if rapid.Bool().Draw(t, "with time") {
			zone := time.FixedZone("somewhere", rapid.IntRange(-23*3600, 23*3600).Draw(t, "offset"))
			seconds := rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "seconds") // years 68 to 9891
			m.Time = time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(zone)
		}
		return m
	})
}

// valid generates histories that break no rule. Ids repeat in later rounds,
// results come in any order, in one message or several, in one piece or
// several.
func valid() *rapid.Generator[[]message.Message] {
	return rapid.Custom(func(t *rapid.T) []message.Message {
		var h []message.Message
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			text := fmt.Sprintf("text %d", i)
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				h = append(h, message.System(text))
			case 1:
				h = append(h, message.User(text))
			case 2:
				h = append(h, message.Assistant(message.Text{Text: text}))
			default:
				h = append(h, drawRound(t, text)...)
			}
		}
		return h
	})
}

func drawRound(t *rapid.T, text string) []message.Message {
	n := rapid.IntRange(1, 4).Draw(t, "calls")
	call := message.Assistant(message.Text{Text: text})
	var ids []string
	for k := range n {
		ids = append(ids, fmt.Sprintf("c%d", k))
		call.Parts = append(call.Parts, message.ToolCall{ID: ids[k], Name: "tool", Arguments: `{"n":1}`})
	}
	round := []message.Message{call}
	ids = rapid.Permutation(ids).Draw(t, "order")
	for len(ids) > 0 {
		together := rapid.IntRange(1, len(ids)).Draw(t, "results together")
		m := message.Message{Role: message.RoleTool}
		for _, id := range ids[:together] {
			for p := range rapid.IntRange(1, 3).Draw(t, "pieces") {
				m.Parts = append(m.Parts, message.ToolResult{CallID: id, Text: fmt.Sprintf("piece %d", p)})
			}
		}
		if rapid.Bool().Draw(t, "mix the pieces") {
			m.Parts = rapid.Permutation(m.Parts).Draw(t, "pieces in order")
		}
		round = append(round, m)
		ids = ids[together:]
	}
	return round
}

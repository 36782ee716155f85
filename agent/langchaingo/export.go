package langchaingo

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/laconic-go/laconic/message"
)

// Export returns a conversation in the words of langchaingo, to be sent to a
// model. The slice is the caller's. A tool message with results of several calls
// becomes one message for each call, and a result of several texts one text,
// joined by newlines.
//
// Left out is what a model of langchaingo would not be sent anyway: times,
// usage and hints; thinking without a signature, and signed thinking of earlier
// turns, which providers do not want back; the mark of a failed result, whose
// text says so; the MIME type of an image that is given by its URL. All else
// that a message of langchaingo has no place for is an error of kind Invalid,
// which says which part of which message is meant: names of speakers and files,
// media in results or with URLs of other than images, opaque parts, and signed
// thinking of the newest turn, without which Anthropic would refuse the request.
func Export(msgs []message.Message) ([]llms.MessageContent, error) {
	return export(msgs, false)
}

// export makes a message of each part of an answer if the client sends only
// one.
func export(msgs []message.Message, onePart bool) ([]llms.MessageContent, error) {
	turn := len(msgs) - 1 // where the newest turn begins
	for turn > 0 && msgs[turn].Role != message.RoleUser {
		turn--
	}
	out := make([]llms.MessageContent, 0, len(msgs))
	for i, m := range msgs {
		if m.Role == message.RoleAssistant {
			m.Parts = unthought(m.Parts, i < turn)
			if len(m.Parts) == 0 && len(msgs[i].Parts) > 0 {
				continue
			}
		}
		if k := slices.IndexFunc(m.Parts, func(p message.Part) bool { return unsayable(p) != nil }); k >= 0 {
			at := slices.Index(msgs[i].Parts, m.Parts[k])
			return nil, invalid(fmt.Errorf("message %d: part %d: %w", i, at, unsayable(m.Parts[k])))
		}
		pieces := [][]message.Part{m.Parts}
		switch {
		case len(m.Parts) == 0:
		case m.Role == message.RoleTool:
			pieces = byCall(m.Parts)
		case onePart && m.Role != message.RoleUser:
			pieces = slices.Collect(slices.Chunk(m.Parts, 1))
		}
		for _, m.Parts = range pieces {
			f, err := newMessage(m)
			if err != nil {
				return nil, invalid(fmt.Errorf("message %d: %w", i, err))
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// unthought leaves out the thinking that need not be sent.
func unthought(parts []message.Part, earlier bool) []message.Part {
	needless := func(p message.Part) bool {
		t, ok := p.(message.Thinking)
		return ok && (earlier || t.Signature == "")
	}
	if !slices.ContainsFunc(parts, needless) {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), needless)
}

// byCall cuts the parts of a tool message into those that answer one call each,
// with texts joined.
func byCall(parts []message.Part) [][]message.Part {
	var all [][]message.Part
	at := map[string]int{}
	for _, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			all = append(all, []message.Part{p})
			continue
		}
		k, known := at[r.CallID]
		if known {
			r.Text = all[k][0].(message.ToolResult).Text + "\n" + r.Text //nolint:forcetypeassert,errcheck // as at says
			all[k][0] = r
			continue
		}
		at[r.CallID] = len(all)
		all = append(all, []message.Part{r})
	}
	return all
}

package contextedit_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/message"
)

// The conversations in testdata are written like this, a message a paragraph
// without blank lines:
//
//	system: You fix builds.
//	user [pinned]: Why does the build fail?
//	assistant: I look.
//	  thinking: The log will tell.
//	  thinking [seal]: signed by the provider
//	  call c1 read_log {"job":"nightly"}
//	  call c2 read_log {"job":"weekly"}
//	tool:
//	  result c1 read_log: «exit status 2 »×40
//	  error c2 read_log: no such job
//	tool:
//	  result c3 shot: two pieces, this one
//	  image c3 shot: «.»×4000
//	  artifact c3 shot: build.zip
//
// A text is written as it is, as «unit»×n if it repeats, or quoted as in Go.
// A line === means that the model is called with what stands above it.

const calls = "==="

// parse reads a conversation, and after how many messages the model is called;
// at the end it is in any case.
func parse(t *testing.T, text string) (h []message.Message, ends []int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == calls:
			ends = append(ends, len(h))
		case strings.HasPrefix(line, "  "):
			require.NotEmpty(t, h, "a part before the first message: %s", line)
			m := &h[len(h)-1]
			m.Parts = append(m.Parts, parsePart(t, line[2:]))
		case line != "":
			h = append(h, parseHead(t, line))
		}
	}
	return h, append(ends, len(h))
}

var (
	headForm   = regexp.MustCompile(`^(\w+)( \[pinned\])?:(?: (.*))?$`)
	callForm   = regexp.MustCompile(`^call (\S*) (\S*) (.*)$`)
	resultForm = regexp.MustCompile(`^(result|error|image|artifact) (\S*) (\S*): (.*)$`)
	textForm   = regexp.MustCompile(`^(text|thinking)(?: \[(.*?)\])?: (.*)$`)
	repeatForm = regexp.MustCompile(`^«(.+)»×(\d+)$`)
)

func parseHead(t *testing.T, line string) message.Message {
	t.Helper()
	f := headForm.FindStringSubmatch(line)
	require.NotNil(t, f, "want “role: text”, got %q", line)
	m := message.Message{Role: message.Role(f[1])}
	m.Hints.Pinned = f[2] != ""
	if f[3] != "" {
		m.Parts = []message.Part{message.Text{Text: parseText(t, f[3])}}
	}
	return m
}

func parsePart(t *testing.T, line string) message.Part {
	t.Helper()
	if f := callForm.FindStringSubmatch(line); f != nil {
		return message.ToolCall{ID: f[1], Name: f[2], Arguments: parseText(t, f[3])}
	}
	if f := textForm.FindStringSubmatch(line); f != nil {
		if f[1] == "thinking" {
			return message.Thinking{Text: parseText(t, f[3]), Signature: f[2]}
		}
		return message.Text{Text: parseText(t, f[3])}
	}
	f := resultForm.FindStringSubmatch(line)
	require.NotNil(t, f, "want call, result, error, image, artifact, text or thinking, got %q", line)
	r := message.ToolResult{CallID: f[2], Name: f[3], Error: f[1] == "error"}
	switch content := parseText(t, f[4]); f[1] {
	case "image":
		r.Content = message.Media{Type: "image/png", Data: content}
	case "artifact":
		r.Content = message.Opaque{Kind: "artifact", Data: content}
	default:
		r.Text = content
	}
	return r
}

func parseText(t *testing.T, s string) string {
	t.Helper()
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		require.NoError(t, err, "%s", s)
		return text
	}
	if f := repeatForm.FindStringSubmatch(s); f != nil {
		n, err := strconv.Atoi(f[2])
		require.NoError(t, err)
		return strings.Repeat(f[1], n)
	}
	return s
}

// format writes a conversation as parse reads it.
func format(h []message.Message) string {
	var b strings.Builder
	for _, m := range h {
		b.WriteString(string(m.Role))
		if m.Hints.Pinned {
			b.WriteString(" [pinned]")
		}
		b.WriteString(":")
		parts := m.Parts
		if len(parts) > 0 {
			if text, ok := parts[0].(message.Text); ok {
				b.WriteString(" " + formatText(text.Text))
				parts = parts[1:]
			}
		}
		b.WriteString("\n")
		for _, p := range parts {
			b.WriteString("  " + formatPart(p) + "\n")
		}
	}
	return b.String()
}

func formatPart(p message.Part) string {
	switch p := p.(type) {
	case message.Text:
		return "text: " + formatText(p.Text)
	case message.Thinking:
		if p.Signature != "" {
			return fmt.Sprintf("thinking [%s]: %s", p.Signature, formatText(p.Text))
		}
		return "thinking: " + formatText(p.Text)
	case message.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, formatText(p.Arguments))
	case message.ToolResult:
		kind, text := "result", p.Text
		switch c := p.Content.(type) {
		case message.Media:
			kind, text = "image", c.Data
		case message.Opaque:
			kind, text = "artifact", c.Data
		case nil, message.Text, message.Thinking, message.ToolCall, message.ToolResult:
		}
		if p.Error {
			kind = "error"
		}
		return fmt.Sprintf("%s %s %s: %s", kind, p.CallID, p.Name, formatText(text))
	case message.Media, message.Opaque:
	}
	panic(fmt.Sprintf("the text format has no %#v", p))
}

func formatText(s string) string {
	if unit, n := repetition(s); n > 0 {
		return fmt.Sprintf("«%s»×%d", unit, n)
	}
	if s == "" || strings.TrimSpace(s) != s || strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "«") || strconv.Quote(s) != `"`+strings.ReplaceAll(s, `"`, `\"`)+`"` {
		return strconv.Quote(s)
	}
	return s
}

// repetition returns the unit that a long text repeats, and how often.
func repetition(s string) (unit string, n int) {
	const longest, fewest = 40, 4
	for size := 1; size <= min(longest, len(s)/fewest); size++ {
		unit = s[:size]
		if n = len(s) / size; s == strings.Repeat(unit, n) && !strings.ContainsAny(unit, "\n»") {
			return unit, n
		}
	}
	return "", 0
}

func TestTextFormat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[ -~«»×\n]{0,12}`),
			rapid.Map(rapid.StringMatching(`[a-z .»\n]{1,6}`), func(s string) string { return strings.Repeat(s, 50) }),
		)
		id := rapid.StringMatching(`[a-z0-9]{0,3}`)
		want := []message.Message{
			message.System(text.Draw(r, "system")),
			{Role: message.RoleUser, Hints: message.Hints{Pinned: rapid.Bool().Draw(r, "pinned")}},
			message.Assistant(
				message.Thinking{Text: text.Draw(r, "thinking"), Signature: id.Draw(r, "seal")}, message.Text{Text: text.Draw(r, "text")},
				message.ToolCall{ID: id.Draw(r, "id"), Name: id.Draw(r, "name"), Arguments: text.Draw(r, "arguments")},
			),
			{Role: message.RoleTool, Parts: []message.Part{
				message.ToolResult{CallID: id.Draw(r, "id"), Name: id.Draw(r, "name"), Text: text.Draw(r, "result"), Error: rapid.Bool().Draw(r, "error")},
				message.ToolResult{Content: message.Media{Type: "image/png", Data: text.Draw(r, "image")}},
				message.ToolResult{Content: message.Opaque{Kind: "artifact", Data: text.Draw(r, "artifact")}},
			}},
		}
		got, ends := parse(t, format(want))
		require.Equal(r, want, got, "%s", format(want))
		require.Equal(r, []int{4}, ends)
	})
}

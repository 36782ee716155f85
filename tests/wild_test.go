package tests

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// wild writes conversations as real hosts have them: with pictures, sealed
// thinking, tools, hints, and texts of any length; and if it is careless, as
// crashes, bad trimming and local models leave them behind.
type wild struct {
	chat
	careless bool
	owed     []message.Message // results that come too late
}

// conversation returns a whole conversation and its tools.
func (w *wild) conversation() ([]message.Message, []message.ToolDef) {
	var h []message.Message
	for range w.dice.roll("system messages", 4) {
		h = append(h, message.System(w.text("instruction")))
	}
	for range 1 + w.dice.roll("steps", 14) {
		h = w.grow(h)
	}
	return h, w.tools()
}

// grow appends what may come next.
func (w *wild) grow(h []message.Message) []message.Message {
	n := len(h)
	h = w.chat.grow(h)
	came := slices.Clone(h[n:])
	for i := range came {
		w.adorn(&came[i])
	}
	if w.careless {
		came = w.damage(came)
	}
	return append(h[:n:n], came...)
}

// adorn adds to a message what models and hosts add.
func (w *wild) adorn(m *message.Message) {
	m.Parts = slices.Clone(m.Parts)
	for k, p := range m.Parts {
		m.Parts[k] = w.lengthen(p)
	}
	switch m.Role {
	case message.RoleAssistant:
		w.think(m)
	case message.RoleUser:
		for range w.dice.roll("attachments", 12) - 9 {
			m.Parts = append(m.Parts, w.media())
		}
	case message.RoleTool:
		r, ok := m.Parts[0].(message.ToolResult)
		switch picture := w.dice.roll("picture in a result", 16); {
		case !ok:
		case picture == 15 && r.Content == nil:
			r.Content = w.media() // beside its text
			m.Parts[0] = r
		case picture >= 14:
			m.Parts = append(m.Parts, message.ToolResult{CallID: r.CallID, Name: r.Name, Content: w.media()})
		}
	case message.RoleSystem:
	}
	switch w.dice.roll("hint", 24) {
	case 21:
		m.Hints.Memory = true
	case 22:
		m.Hints.Priority = message.Priority(w.dice.roll("priority", 5))
	case 23:
		m.Hints.Pinned = true
	}
}

// think puts thinking before an answer, and at times what only the provider
// knows.
func (w *wild) think(m *message.Message) {
	if _, thinks := m.Parts[0].(message.Thinking); !thinks {
		var p []message.Part
		w.serial++
		switch w.dice.roll("thinking", 8) {
		case 5:
			p = append(p, message.Thinking{Text: w.text("thought"), Signature: fmt.Sprintf("signature %d", w.serial)})
		case 6:
			p = append(p, message.Thinking{Signature: fmt.Sprintf("sealed %d", w.serial)})
		case 7:
			p = append(p, message.Thinking{Text: w.text("thought")}, message.Thinking{Signature: fmt.Sprintf("sealed %d", w.serial)})
		}
		m.Parts = append(p, m.Parts...)
	}
	if w.dice.roll("opaque", 10) == 9 {
		w.serial++
		k := len(m.Parts)
		for k > 0 && isCall(m.Parts[k-1]) {
			k--
		}
		m.Parts = slices.Insert(m.Parts, k, message.Part(message.Opaque{Kind: "server_tool_use", Data: fmt.Sprintf(`{"type":"server_tool_use","id":"srv_%d"}`, w.serial)}))
	}
}

func isCall(p message.Part) bool {
	_, ok := p.(message.ToolCall)
	return ok
}

// lengthen makes some texts long, and some arguments.
func (w *wild) lengthen(p message.Part) message.Part {
	if w.dice.roll("long", 6) != 5 {
		return p
	}
	units := []string{"line %d of a log\n", "第%d行日志\n", `{"id":%d,"名":"值"},`, "🙂%d "}
	unit, n := units[w.dice.roll("script of the long", len(units))], 8<<w.dice.roll("length", 5)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, unit, i)
	}
	switch p := p.(type) {
	case message.Text:
		return message.Text{Text: p.Text + " " + b.String()}
	case message.ToolResult:
		if p.Content == nil { // which stands in place of text
			p.Text += " " + b.String()
		}
		return p
	case message.ToolCall:
		w.serial++
		p.Arguments = fmt.Sprintf(`{"n":%d,"text":%q}`, w.serial, strings.ToValidUTF8(b.String(), ""))
		return p
	case message.Thinking, message.Media, message.Opaque:
	}
	return p
}

// media is a picture whose head says that it is small, large or absurd, or
// something else to look at.
func (w *wild) media() message.Media {
	w.serial++
	name := fmt.Sprintf("attachment %d", w.serial)
	switch w.dice.roll("media", 6) {
	case 3:
		return message.Media{Type: "image/jpeg", URL: "https://example.org/" + strings.ReplaceAll(name, " ", "-"), Name: name}
	case 4:
		return message.Media{Type: "application/pdf", Data: "%PDF-1.7 " + name, Name: name}
	case 5:
		return message.Media{Type: "audio/wav", Data: "RIFF " + name, Name: name}
	}
	sizes := [][2]uint32{{1, 1}, {640, 480}, {1920, 1080}, {9000, 40}, {60_000, 60_000}, {1<<32 - 1, 1<<32 - 1}, {0, 0}}
	size := sizes[w.dice.roll("size", len(sizes))]
	return message.Media{Type: "image/png", Data: picture(size[0], size[1], name), Name: name}
}

// picture is the head of a PNG, with a remark behind it: nobody who measures
// pictures looks further.
func picture(width, height uint32, remark string) string {
	chunk := []byte("IHDR")
	chunk = binary.BigEndian.AppendUint32(chunk, width)
	chunk = binary.BigEndian.AppendUint32(chunk, height)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(chunk) + remark
}

// damage does to new messages what goes wrong with them elsewhere.
func (w *wild) damage(came []message.Message) []message.Message {
	var out []message.Message
	for _, m := range came {
		if m.Role == message.RoleUser && len(w.owed) > 0 && w.dice.roll("pays", 2) == 0 {
			out, w.owed = append(out, w.owed...), nil
		}
		switch w.dice.roll("damage", 24) {
		case 16: // it is lost
		case 17:
			out = append(out, m, m)
		case 18:
			if m.Role == message.RoleTool {
				w.owed = append(w.owed, m)
				continue
			}
			out = append(out, m)
		case 19:
			m.Parts[len(m.Parts)-1] = emptied(m.Parts[len(m.Parts)-1])
			out = append(out, m)
		case 20:
			m.Parts = nil
			out = append(out, m)
		case 21:
			out = append(out, m, w.nonsense())
		case 22:
			out = append(out, renamed(m, strings.Repeat("long id ", 10)))
		case 23:
			slices.Reverse(m.Parts)
			out = append(out, m)
		default:
			out = append(out, m)
		}
	}
	return out
}

// emptied takes away what a part says.
func emptied(p message.Part) message.Part {
	switch p := p.(type) {
	case message.Text:
		return message.Text{Text: " \n"}
	case message.ToolResult:
		p.Text, p.Content = "", nil
		return p
	case message.ToolCall:
		p.Arguments = "not JSON " + p.Arguments
		return p
	case message.Thinking, message.Media, message.Opaque:
	}
	return p
}

// renamed puts something before the ids and names of a message, as those of
// another provider.
func renamed(m message.Message, before string) message.Message {
	for k, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			p.ID, p.Name = before+p.ID, before+p.Name
			m.Parts[k] = p
		case message.ToolResult:
			p.CallID = before + p.CallID
			m.Parts[k] = p
		case message.Text, message.Thinking, message.Media, message.Opaque:
		}
	}
	return m
}

// tools are declarations of any size.
func (w *wild) tools() []message.ToolDef {
	var out []message.ToolDef
	for i := range w.dice.roll("tools", 4) {
		out = append(out, message.ToolDef{
			Name: fmt.Sprintf("tool_%d", i), Description: w.text("description"),
			Parameters: fmt.Sprintf(`{"type":"object","description":%q}`, strings.Repeat("a field of the tool ", w.dice.roll("size of a tool", 8)*w.dice.roll("times", 8))),
		})
	}
	return out
}

// callsOf returns the lengths that a history had when a model was called: before
// each answer, and now.
func callsOf(h []message.Message) []int {
	var out []int
	for i := 1; i < len(h); i++ {
		if h[i].Role == message.RoleAssistant {
			out = append(out, i)
		}
	}
	return append(out, len(h))
}

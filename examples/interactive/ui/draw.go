package ui

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// look is how a kind of content looks: the glyphs distinguish them without colours.
var look = [kinds]struct{ glyph, name, color string }{
	system: {"█", "system", "4"}, tools: {"▚", "tools", "6"}, user: {"▓", "user", "2"},
	answers: {"▒", "answers", "3"}, results: {"░", "results", "5"}, notes: {"▞", "notes", "1"},
}

func colored(k kind, text string) string {
	return lipgloss.NewStyle().Foreground(lipgloss.Color(look[k].color)).Render(text)
}

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines returns the lines of the screen, none wider or more than it has.
func (m *Model) lines() (out []string) {
	if m.page != nil {
		out = m.paged()
	} else {
		head, foot := m.head(), m.foot()
		out = append(append(head, m.list(max(1, m.height-len(head)-len(foot)))...), foot...)
	}
	out = out[:min(len(out), m.height)]
	for i := range out {
		out[i] = ansi.Truncate(out[i], m.width, "…")
	}
	return out
}

// head has the size of the view, the bar of the window, and what its glyphs mean.
func (m *Model) head() []string {
	size, pieces := m.now.draft.Before.Size(), []string(nil)
	room, title := size.Tokens, number(size.Tokens)+" tokens"
	if b, ok := m.now.draft.Before.Budget(); ok {
		room = b.Room()
		title += fmt.Sprintf(" of %s, %d %%", number(room), 100*size.Tokens/room)
	}
	bar, drawn, sum := "", 0, 0
	for k, tokens := range m.now.filled {
		if tokens == 0 {
			continue
		}
		sum += tokens
		end := min(m.width, (sum*m.width+room/2)/max(1, room))
		bar += colored(kind(k), strings.Repeat(look[k].glyph, end-drawn))
		drawn = end
		pieces = append(pieces, colored(kind(k), look[k].glyph)+" "+look[k].name+" "+number(tokens))
	}
	return append([]string{title, bar + strings.Repeat("·", m.width-drawn)}, flow(m.width, pieces)...)
}

// list has the messages around the cursor.
func (m *Model) list(height int) (out []string) {
	m.top = max(0, min(m.top, m.cursor, len(m.now.rows)-height), m.cursor-height+1)
	for i := m.top; i < min(m.top+height, len(m.now.rows)); i++ {
		r, mark := m.now.rows[i], ""
		switch {
		case r.plan >= 0:
			mark = "will change: " + plain(m.now.draft.Edits[r.plan].By, " ") + " · "
		case r.pinned:
			mark = "pinned · "
		case r.fate != "":
			mark = r.fate + " by " + r.by + " · "
		}
		name := ansi.Truncate(label(r), 9, "…")
		line := fmt.Sprintf("%3d %s %s%s %6s  %s%s", i, colored(kindOf[r.Role], look[kindOf[r.Role]].glyph), name,
			strings.Repeat(" ", 9-ansi.StringWidth(name)), number(r.tokens), mark, strings.Join(strings.Fields(text(r.Message)), " "))
		line = " " + line
		if i == m.cursor {
			line = lipgloss.NewStyle().Reverse(true).Render(ansi.Truncate(">"+ansi.Strip(line[1:]), m.width, "…"))
		}
		out = append(out, line)
	}
	return append(out, make([]string, height-len(out))...)
}

// foot has the draft, if there is one, the status, and the keys.
func (m *Model) foot() (out []string) {
	keys := []string{"⏎ text"}
	if len(m.now.draft.Edits) > 0 {
		keys = []string{"⏎ accept", "e edit", "esc drop", "o text"}
		out = flow(m.width, m.now.plans())
	}
	if m.Next != nil {
		keys = append(keys, "n next")
	}
	if m.status != "" {
		out = append(out, m.status)
	}
	return append(out, flow(m.width, append(keys, "u undo", "r redo", "p pin", "h history", "q quit"))...)
}

// paged has the page that covers the screen.
func (m *Model) paged() []string {
	height := max(1, m.height-2)
	body := strings.Split(ansi.Wrap(m.page.text, max(1, m.width), ""), "\n")
	body = append(body, make([]string, max(0, height-len(body)))...)
	m.page.top = max(0, min(m.page.top, len(body)-height))
	return append(append([]string{m.page.title}, body[m.page.top:m.page.top+height]...), "↑↓ scroll  esc back")
}

// flow puts pieces into lines of at most a number of columns. A longer piece is broken between words.
func flow(width int, pieces []string) (out []string) {
	for _, p := range pieces {
		if n := len(out); n > 0 && ansi.StringWidth(out[n-1])+2+ansi.StringWidth(p) <= width {
			out[n-1] += "  " + p
		} else {
			out = append(out, strings.Split(ansi.Wrap(p, max(1, width), ""), "\n")...)
		}
	}
	return out
}

// plain returns a text in which what a terminal would obey, and what has no width of its own, is written as in Go. The end of
// a line becomes another text.
func plain(text, end string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(end)
		case r == '\t':
			b.WriteString("    ")
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// number returns a number with commas between thousands.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package facts

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how a section is written.
type Options struct {
	Tokens   int            // at most, by Counter; 0 or less: there are none
	Counter  tokens.Counter // is asked for one line at a time
	Language text.Language  // of the titles; "": English
}

type wording struct {
	done, errors, commands, identifiers, written, read string

	outcomes map[state]string
	partial  string // of a command whose output is not complete
	exit     string // before the exit code of a failed command
}

var english = wording{
	done: "Done:", errors: "Errors:", commands: "Commands:", identifiers: "Identifiers:", written: "Files written:", read: "Files read:",
	outcomes: map[state]string{
		passed: "ok", failed: "failed", timedOut: "timed out", killed: "killed", cancelled: "cancelled", denied: "denied",
	},
	partial: "(output incomplete)", exit: "exit code ",
}

var chinese = wording{
	done: "已执行:", errors: "错误:", commands: "命令:", identifiers: "标识:", written: "写入的文件:", read: "读取的文件:",
	outcomes: map[state]string{
		passed: "成功", failed: "失败", timedOut: "超时", killed: "被终止", cancelled: "已取消", denied: "被拒绝",
	},
	partial: "(输出不完整)", exit: "退出码 ",
}

// Text returns the section, without a line break at its end, or "" if there is nothing to tell or no room. The same set
// gives the same text.
//
// When there is no room for all facts, the last kinds lose entries first, the oldest ones
// first. But each kind keeps an eighth of the room, if it needs it, so that none removes all
// others.
func (s *Set) Text(o Options) string {
	w := text.Pick(o.Language, &english, &chinese)
	all := func(entry) bool { return true }
	of := func(kind state) func(entry) bool { return func(e entry) bool { return e.state == kind } }
	key := func(e entry) line { return line{text: e.key} }

	heading := o.Language.Headings().Facts
	r := renderer{counter: o.Counter}
	r.room = o.Tokens - r.cost(heading)
	found := []section{
		{title: w.done, lines: s.done.lines(all, key)},
		{title: w.commands, lines: s.commands.lines(all, w.commandLine)},
		{title: w.written, lines: s.files.lines(of(written), key)},
		{title: w.errors, lines: s.errors.lines(all, key)},
		{title: w.identifiers, lines: s.identifiers(r.room), joined: true},
		{title: w.read, lines: s.files.lines(of(read), key)},
	}
	for _, kind := range found {
		for i := range kind.lines {
			kind.lines[i].text = text.Defused(kind.lines[i].text)
		}
	}
	r.share(found)
	return r.text(heading, o.Tokens)
}

// commandLine returns a command with its outcome.
func (w *wording) commandLine(e entry) line { return line{text: e.key + w.outcome(e)} }

func (w *wording) outcome(e entry) string {
	s := ""
	if how := w.outcomes[e.state]; how != "" {
		s = " → " + how
	}
	if e.code != "" && e.state == failed {
		s += " (" + w.exit + e.code + ")"
	}
	if e.partial {
		s += " " + w.partial
	}
	return s
}

// renderer writes sections as long as there is room.
type renderer struct {
	counter tokens.Counter
	room    int // tokens
	taken   []section
}

// section is a title, with lines below, oldest first.
type section struct {
	title  string
	lines  []line
	joined bool // the entries are in one line, those with the same label together
}

type line struct {
	label string // before the text, or ""
	text  string
}

// cost returns the tokens that a line adds, rounded up: a counter may round down, or join neighbours.
func (r *renderer) cost(line string) int { return max(r.counter.Count(line), 1) + 1 }

// share takes sections. Each leaves to those after it what they keep: an eighth of the room, if they need it.
func (r *renderer) share(sections []section) {
	const part = 8
	keeps := make([]int, len(sections))
	others := 0
	for i, s := range sections {
		_, keeps[i] = r.fitting(s, r.room/part)
		others += keeps[i]
	}
	for i, s := range sections {
		others -= keeps[i]
		r.take(s, others)
	}
}

// take takes the newest lines of a section that fit, and leaves the given number of tokens to others.
func (r *renderer) take(s section, others int) {
	n, cost := r.fitting(s, r.room-others)
	if n > 0 {
		s.lines = s.lines[len(s.lines)-n:]
		r.taken = append(r.taken, s)
		r.room -= cost
	}
}

// fitting returns how many of the newest lines of a section fit into a number of tokens, and their cost.
func (r *renderer) fitting(s section, most int) (n, cost int) {
	labels := map[string]bool{}
	for n < len(s.lines) {
		l := s.lines[len(s.lines)-1-n]
		more := r.cost("- " + l.text)
		if l.label != "" && !labels[l.label] {
			more += r.cost(l.label + ": ")
		}
		if n == 0 {
			more += r.cost(s.title)
		}
		if cost+more > most {
			break
		}
		labels[l.label] = s.joined
		cost += more
		n++
	}
	return n, cost
}

// text returns the heading and the sections in at most the given number of tokens, or "" if no line fits.
func (r *renderer) text(heading string, most int) string {
	for len(r.taken) > 0 {
		var b strings.Builder
		b.WriteString(heading)
		for _, s := range r.taken {
			b.WriteString(s.text())
		}
		if r.counter.Count(b.String()) <= most {
			return b.String()
		}
		last := len(r.taken) - 1
		if r.taken[last].lines = r.taken[last].lines[1:]; len(r.taken[last].lines) == 0 {
			r.taken = r.taken[:last]
		}
	}
	return ""
}

// text returns a section, with a line break before each line.
func (s section) text() string {
	var b strings.Builder
	b.WriteString("\n" + s.title)
	between, label := "\n- ", ""
	for _, l := range s.grouped() {
		switch l.label {
		case "":
			b.WriteString(between + l.text)
		case label:
			b.WriteString(", " + l.text)
		default:
			b.WriteString(between + l.label + ": " + l.text)
		}
		if s.joined {
			between, label = "; ", l.label
		}
	}
	return b.String()
}

// grouped returns the lines; if they are joined, those with the same label are where the first of them was.
func (s section) grouped() []line {
	if !s.joined {
		return s.lines
	}
	var out []line
	for _, l := range s.lines {
		at := len(out)
		if l.label != "" {
			for k := range out {
				if out[k].label == l.label {
					at = k + 1
				}
			}
		}
		out = slices.Insert(out, at, l)
	}
	return out
}

// Resume adds the facts of a section that [Set.Text] has written. It serves if the
// messages of the section are no longer available.
func (s *Set) Resume(section string) {
	title := ""
	for line := range strings.SplitSeq(section, "\n") {
		fact, ok := strings.CutPrefix(line, "- ")
		if !ok {
			title = line
			continue
		}
		for _, w := range []*wording{&english, &chinese} {
			s.resume(w, title, fact)
		}
	}
}

// resume adds a fact, if its title is one of the wording.
func (s *Set) resume(w *wording, title, fact string) {
	switch title {
	case w.done:
		s.done.put(entry{key: fact})
	case w.errors:
		s.errors.put(entry{key: fact})
	case w.commands:
		s.commands.put(w.parseCommand(fact))
	case w.identifiers:
		s.spoken = append(s.spoken, fact)
	case w.written:
		s.files.put(entry{key: fact, state: written})
	case w.read:
		s.files.put(entry{key: fact, state: read})
	}
}

// parseCommand reads a line of [wording.commandLine].
func (w *wording) parseCommand(line string) entry {
	rest, partial := strings.CutSuffix(line, " "+w.partial)
	at := max(0, strings.LastIndex(rest, " → "))
	if code, ok := strings.CutPrefix(rest[at:], " → "+w.outcomes[failed]+" ("+w.exit); ok && strings.HasSuffix(code, ")") {
		return entry{key: rest[:at], state: failed, code: strings.TrimSuffix(code, ")"), partial: partial}
	}
	for s := range w.outcomes {
		if e := (entry{state: s, partial: partial}); w.outcomes[s] != "" && w.outcome(e) == line[at:] {
			e.key = rest[:at]
			return e
		}
	}
	return entry{key: rest, partial: partial}
}

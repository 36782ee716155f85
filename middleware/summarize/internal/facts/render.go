package facts

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// Options define how a section is written.
type Options struct {
	Tokens   int            // at most, by Counter; 0 or less: the section is empty
	Counter  tokens.Counter // is asked for one line at a time
	Language text.Language  // of the titles; "": English
}

// wording is the fixed text of one language.
type wording struct {
	prohibitions, instructions, errors, commands, identifiers, written, read string

	passed, failed string
	exit           string // before the exit code of a failed command
	older          string // in place of prohibitions that have no room
}

var english = wording{
	prohibitions: "What the user forbade, or permitted again (verbatim, the newest last):",
	instructions: "Other standing instructions of the user (verbatim):",
	errors:       "Errors:", commands: "Commands:", identifiers: "Identifiers:", written: "Files written:", read: "Files read:",
	passed: "ok", failed: "failed", exit: "exit code ", older: "(there are older ones, for which there is no room)",
}

var chinese = wording{
	prohibitions: "用户禁止或重新允许的事项(原话,新的在后):",
	instructions: "用户的其他长期要求(原话):",
	errors:       "错误:", commands: "命令:", identifiers: "标识:", written: "写入的文件:", read: "读取的文件:",
	passed: "成功", failed: "失败", exit: "退出码 ", older: "(还有更早的,此处放不下)",
}

// Text returns the section, without a line break at its end, or "" if there are no
// facts or no room. The same set gives the same text.
//
// When room is short, the oldest entries of a kind are removed first, and files before
// identifiers, commands, errors and instructions. But of the room that prohibitions
// leave, files keep a quarter and each of errors, commands and identifiers an eighth, if
// they need it, so that no kind removes all others. If not all prohibitions have room,
// the section has the newest of them, a line that there are older ones, and nothing
// else.
func (s *Set) Text(o Options) string {
	w := &english
	if o.Language == text.Chinese {
		w = &chinese
	}
	all := func(entry) bool { return true }
	of := func(kind state) func(entry) bool { return func(e entry) bool { return e.state == kind } }
	key := func(e entry) line { return line{text: e.key} }

	heading := o.Language.Headings().Facts
	r := renderer{counter: o.Counter}
	r.room = o.Tokens - r.cost(heading)
	prohibitions := section{titles: [2]string{w.prohibitions}, lines: s.rules.lines(of(prohibition), key), note: w.older, cut: s.older}
	if r.take(prohibitions, 0) {
		const quarter, eighth = 4, 8
		r.share([]section{
			{titles: [2]string{w.instructions}, lines: s.rules.lines(of(instruction), key)},
			{titles: [2]string{w.errors}, lines: s.errors.lines(all, key), share: eighth},
			{titles: [2]string{w.commands}, lines: s.commands.lines(all, w.commandLine), share: eighth},
			{titles: [2]string{w.identifiers}, lines: s.identifiers(r.room), share: eighth, joined: true},
			{titles: [2]string{w.written, w.read}, share: quarter, lines: s.files.lines(all, func(e entry) line {
				return line{text: e.key, second: e.state == read}
			})},
		})
	}
	return r.text(heading, o.Tokens)
}

// commandLine returns a command with its outcome.
func (w *wording) commandLine(e entry) line {
	switch {
	case e.state == passed:
		return line{text: e.key + " → " + w.passed}
	case e.state == failed && e.code != "":
		return line{text: e.key + " → " + w.failed + " (" + w.exit + e.code + ")"}
	case e.state == failed:
		return line{text: e.key + " → " + w.failed}
	}
	return line{text: e.key}
}

// renderer writes sections as long as there is room.
type renderer struct {
	counter tokens.Counter
	room    int // tokens
	taken   []section
}

// section is one title or two, with lines below, oldest first.
type section struct {
	titles [2]string
	lines  []line
	joined bool   // the entries are in one line, those with the same label together
	share  int    // the section keeps this part of the room if it needs it: 4 for a quarter; 0: none
	note   string // the first line if older lines were removed
	cut    bool   // older lines were removed
}

type line struct {
	label  string // before the text, or ""
	text   string
	second bool // it is under the second title
}

// cost returns the tokens that a line adds, rounded up: a counter may round down, or
// join neighbours.
func (r *renderer) cost(line string) int { return max(r.counter.Count(line), 1) + 1 }

// share takes sections. Each leaves to those after it what they keep.
func (r *renderer) share(sections []section) {
	keeps := make([]int, len(sections))
	others := 0
	for i, s := range sections {
		if s.share > 0 {
			_, keeps[i] = r.fitting(s, r.room/s.share)
		}
		others += keeps[i]
	}
	for i, s := range sections {
		others -= keeps[i]
		r.take(s, others)
	}
}

// take takes the newest lines of a section that fit, and leaves the given number of
// tokens to others. It reports whether all lines fit.
func (r *renderer) take(s section, others int) (all bool) {
	n, cost := r.fitting(s, r.room-others)
	all = n == len(s.lines)
	if n > 0 {
		s.lines = s.lines[len(s.lines)-n:]
		s.cut = s.cut || !all
		r.taken = append(r.taken, s)
		r.room -= cost
	}
	return all
}

// fitting returns how many of the newest lines of a section fit into a number of
// tokens, and their cost.
func (r *renderer) fitting(s section, most int) (n, cost int) {
	titled, labels := [2]bool{}, map[string]bool{}
	for n < len(s.lines) {
		l := s.lines[len(s.lines)-1-n]
		more := r.cost("- " + l.text)
		if l.label != "" && !labels[l.label] {
			more += r.cost(l.label + ": ")
		}
		k := 0
		if l.second {
			k = 1
		}
		if !titled[k] {
			more += r.cost(s.titles[k])
		}
		if cost+more > most {
			break
		}
		titled[k], labels[l.label] = true, s.joined
		cost += more
		n++
	}
	return n, cost
}

// text returns the heading and the sections in at most the given number of tokens, or
// "" if no line fits.
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
		if r.taken[last] = r.taken[last].shorter(); len(r.taken[last].lines) == 0 {
			r.taken = r.taken[:last]
		}
	}
	return ""
}

// shorter returns a section without its oldest line. The note is removed before the
// last line.
func (s section) shorter() section {
	if s.cut && s.note != "" && len(s.lines) == 1 {
		s.note = ""
		return s
	}
	s.lines, s.cut = s.lines[1:], true
	return s
}

// text returns a section, with a line break before each line.
func (s section) text() string {
	var b strings.Builder
	for k, title := range s.titles {
		between, label := "\n- ", ""
		for _, l := range s.grouped() {
			if l.second != (k == 1) {
				continue
			}
			if title != "" {
				b.WriteString("\n" + title)
				title = ""
				if s.cut && s.note != "" {
					b.WriteString("\n- " + s.note)
				}
			}
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
	}
	return b.String()
}

// grouped returns the lines; if they are joined, those with the same label are where
// the first of them was.
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
	case w.prohibitions:
		if fact == w.older {
			s.older = true
			return
		}
		s.rules.put(entry{key: fact, state: prohibition})
	case w.instructions:
		s.rules.put(entry{key: fact, state: instruction})
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
	const arrow = " → "
	at := strings.LastIndex(line, arrow)
	if at < 0 {
		return entry{key: line}
	}
	key, result := line[:at], line[at+len(arrow):]
	switch code, coded := strings.CutPrefix(result, w.failed+" ("+w.exit); {
	case result == w.passed:
		return entry{key: key, state: passed}
	case result == w.failed:
		return entry{key: key, state: failed}
	case coded && strings.HasSuffix(code, ")"):
		return entry{key: key, state: failed, code: strings.TrimSuffix(code, ")")}
	}
	return entry{key: line}
}

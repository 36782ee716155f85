package facts

import (
	"cmp"
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
	decided, plan, done, errors, commands, identifiers, written, read string

	outcomes         map[state]string
	exit             string // before the exit code of a failed command
	active, finished string // of the plan
}

var english = wording{
	decided: "Decided by the user:", plan: "Plan:", done: "Done:", errors: "Errors:", commands: "Commands:",
	identifiers: "Identifiers:", written: "Files written:", read: "Files read:",
	outcomes: map[state]string{
		passed: "ok", failed: "failed", timedOut: "timed out", killed: "killed", cancelled: "cancelled", denied: "denied",
		refused: "refused by the user", approved: "approved by the user",
	},
	exit: "exit code ", active: " (in progress)", finished: "%d done",
}

var chinese = wording{
	decided: "用户的决定:", plan: "计划:", done: "已执行:", errors: "错误:", commands: "命令:",
	identifiers: "标识:", written: "写入的文件:", read: "读取的文件:",
	outcomes: map[state]string{
		passed: "成功", failed: "失败", timedOut: "超时", killed: "被终止", cancelled: "已取消", denied: "被拒绝",
		refused: "用户拒绝", approved: "用户同意",
	},
	exit: "退出码 ", active: "(进行中)", finished: "已完成 %d 项",
}

// Text returns the section, without a line break at its end, or "" if there is nothing to list or no room. The same set
// gives the same text.
//
// When there is no room for all facts, the last kinds lose entries first, the oldest ones
// first. But each kind keeps an eighth of the room, if it needs it, so that none removes all
// others.
func (s *Set) Text(o Options) string {
	w := text.Pick(o.Language, &english, &chinese)
	found := s.sections(w)
	for i := range found {
		kind := &found[i]
		switch {
		case kind.of == nil:
			kind.lines = s.identifiers(o.Tokens)
		case kind.of == &s.plan:
			kind.lines = s.planLines(w)
		default:
			kind.lines = kind.of.lines(kind.state, w.line)
		}
		for i, line := range kind.lines {
			kind.lines[i] = text.Defused(line)
		}
	}
	return o.write(o.Language.Headings().Facts, found)
}

// section is a title, with the newest of its lines below, oldest first.
type section struct {
	title string
	of    *entries // nil: identifiers
	state state    // of its entries; unknown: any
	lines []string
}

func (s *Set) sections(w *wording) []section {
	return []section{
		{title: w.decided, of: &s.decided},
		{title: w.plan, of: &s.plan},
		{title: w.done, of: &s.done},
		{title: w.commands, of: &s.commands},
		{title: w.written, of: &s.files, state: written},
		{title: w.errors, of: &s.errors},
		{title: w.identifiers},
		{title: w.read, of: &s.files, state: read},
	}
}

// line returns the line of an entry, with what came of it.
func (w *wording) line(e entry) string {
	line, how := cmp.Or(e.text, e.key), w.outcomes[e.state]
	switch {
	case how == "":
		return line
	case e.state == failed && e.detail != "":
		how += " (" + w.exit + e.detail + ")"
	case e.state >= refused && e.detail != "":
		how += ": " + e.detail
	}
	return line + " → " + how
}

// cost returns the tokens that a line adds, rounded up: a counter may round down, or join neighbours.
func (o Options) cost(line string) int { return max(o.Counter.Count(line), 1) + 1 }

// fitting returns how many of the newest lines of a section fit into a number of tokens, and their cost.
func (o Options) fitting(s section, most int) (n, cost int) {
	sum := o.cost(s.title)
	for i, line := range slices.Backward(s.lines) {
		if sum += o.cost("- " + line); sum > most {
			break
		}
		n, cost = len(s.lines)-i, sum
	}
	return n, cost
}

// write returns a heading with the newest lines of sections that fit, or "" if none does. Each section leaves to those after
// it what they keep: an eighth of the room, if they need it.
func (o Options) write(heading string, sections []section) string {
	const part = 8
	room := o.Tokens - o.cost(heading)
	keeps, others := make([]int, len(sections)), 0
	for i, s := range sections {
		_, keeps[i] = o.fitting(s, room/part)
		others += keeps[i]
	}
	out := heading
	for i, s := range sections {
		others -= keeps[i]
		n, cost := o.fitting(s, room-others)
		all := strings.Join(append([]string{out + "\n" + s.title}, s.lines[len(s.lines)-n:]...), "\n- ")
		if n > 0 && o.Counter.Count(all) <= o.Tokens {
			out, room = all, room-cost
		}
	}
	if out == heading {
		return ""
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
			for _, kind := range s.sections(w) {
				if kind.title == title {
					s.resume(w, kind, fact)
				}
			}
		}
	}
}

func (s *Set) resume(w *wording, kind section, fact string) {
	e := entry{key: fact, state: kind.state}
	switch kind.of {
	case nil:
		s.spoken = append(s.spoken, fact)
		return
	case &s.plan:
		s.plan = entries{}
	case &s.decided:
		if e = w.parse(fact, strings.Index, refused, approved); e.state == unknown {
			return
		}
		e.key = e.text + "\n" + e.detail
	case &s.commands:
		e = w.parse(fact, strings.LastIndex, passed, failed, timedOut, killed, cancelled, denied)
		e.key, e.folder = normal(e.text)
	}
	kind.of.put(e)
}

// parse reads a line of [wording.line] that may have one of these outcomes.
func (w *wording) parse(line string, index func(s, arrow string) int, states ...state) entry {
	at := max(0, index(line, " → "))
	for _, s := range states {
		e := entry{text: line[:at], state: s}
		rest, ok := strings.CutPrefix(line[at:], " → "+w.outcomes[s])
		switch {
		case !ok:
			continue
		case s == failed:
			e.detail = strings.TrimSuffix(strings.TrimPrefix(rest, " ("+w.exit), ")")
		case s >= refused:
			e.detail = strings.TrimPrefix(rest, ": ")
		}
		if w.line(e) == line {
			return e
		}
	}
	return entry{text: line}
}

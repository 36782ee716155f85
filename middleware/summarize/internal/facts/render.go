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
	found := s.sections(text.Pick(o.Language, &english, &chinese))
	for i := range found {
		switch kind := &found[i]; kind.of {
		case nil:
			kind.lines = s.identifiers(o.Tokens)
		case &s.plan:
			kind.lines = s.planLines(kind.by)
		default:
			for e := range kind.of.present() {
				if kind.state == unknown || kind.state == e.state {
					kind.lines = append(kind.lines, kind.by.line(e))
				}
			}
		}
	}
	return o.write(o.Language.Headings().Facts, found)
}

// section is a title, with the newest of its lines below, oldest first.
type section struct {
	title string
	by    *wording
	of    *entries // nil: identifiers
	state state    // of its entries; unknown: any
	lines []string
}

func (s *Set) sections(w *wording) []section {
	return []section{
		{title: w.decided, by: w, of: &s.decided},
		{title: w.plan, by: w, of: &s.plan},
		{title: w.done, by: w, of: &s.done},
		{title: w.commands, by: w, of: &s.commands},
		{title: w.written, by: w, of: &s.files, state: written},
		{title: w.errors, by: w, of: &s.errors},
		{title: w.identifiers, by: w},
		{title: w.read, by: w, of: &s.files, state: read},
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
		for k, line := range s.lines {
			s.lines[k] = text.Defused(line)
		}
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
	kinds, title := slices.Concat(s.sections(&english), s.sections(&chinese)), ""
	for line := range strings.SplitSeq(section, "\n") {
		fact, ok := strings.CutPrefix(line, "- ")
		if !ok {
			title = line
			continue
		}
		for _, kind := range kinds {
			if kind.title == title {
				s.resume(kind, fact)
			}
		}
	}
}

func (s *Set) resume(kind section, fact string) {
	e := entry{key: fact, state: kind.state}
	switch kind.of {
	case nil:
		s.spoken = append(s.spoken, fact)
		return
	case &s.plan:
		s.plan = entries{}
	case &s.decided:
		e = kind.by.parse(fact, strings.Index(fact, " → "))
	case &s.commands:
		e = kind.by.parse(fact, strings.LastIndex(fact, " → "))
		e.key, e.folder = normal(e.text)
	}
	kind.of.put(e)
}

// parse reads a line of [wording.line] with its outcome behind the arrow, if there is one.
func (w *wording) parse(line string, arrow int) entry {
	for state, outcome := range w.outcomes {
		rest, ok := strings.CutPrefix(line[max(0, arrow):], " → "+outcome)
		e := entry{key: line, text: line[:max(0, arrow)], state: state, detail: strings.TrimPrefix(rest, ": ")}
		if state == failed {
			e.detail = strings.TrimSuffix(strings.TrimPrefix(rest, " ("+w.exit), ")")
		}
		if ok && w.line(e) == line {
			return e
		}
	}
	return entry{key: line, text: line}
}

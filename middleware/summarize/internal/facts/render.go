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

// Text returns the section, without a line break at its end, or "" if there is nothing to tell or no room. The same set
// gives the same text.
//
// When there is no room for all facts, the last kinds lose entries first, the oldest ones
// first. But each kind keeps an eighth of the room, if it needs it, so that none removes all
// others.
func (s *Set) Text(o Options) string {
	w := text.Pick(o.Language, &english, &chinese)
	key := func(e entry) string { return e.key }
	heading := o.Language.Headings().Facts
	found := []section{
		{w.decided, s.decided.lines(unknown, w.withOutcome)},
		{w.plan, s.planLines(w)},
		{w.done, s.done.lines(unknown, key)},
		{w.commands, s.commands.lines(unknown, w.withOutcome)},
		{w.written, s.files.lines(written, key)},
		{w.errors, s.errors.lines(unknown, key)},
		{w.identifiers, s.identifiers(o.Tokens)},
		{w.read, s.files.lines(read, key)},
	}
	for _, kind := range found {
		for i, line := range kind.lines {
			kind.lines[i] = text.Defused(line)
		}
	}
	return o.write(heading, found)
}

// withOutcome returns a command, or a call that the user has decided about, with what came of it.
func (w *wording) withOutcome(e entry) string {
	how := w.outcomes[e.state]
	switch {
	case how == "":
		return e.text
	case e.state == failed && e.detail != "":
		how += " (" + w.exit + e.detail + ")"
	case e.state >= refused && e.detail != "":
		how += ": " + e.detail
	}
	return e.text + " → " + how
}

// section is a title, with lines below, oldest first.
type section struct {
	title string
	lines []string
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
			s.resume(w, title, fact)
		}
	}
}

// resume adds a fact, if its title is one of the wording.
func (s *Set) resume(w *wording, title, fact string) {
	switch title {
	case w.decided:
		if e := w.parse(fact, strings.Index, refused, approved); e.state != unknown {
			e.key = e.text + "\n" + e.detail
			s.decided.put(e)
		}
	case w.plan:
		s.plan = entries{}
		s.plan.put(entry{key: fact})
	case w.done:
		s.done.put(entry{key: fact})
	case w.errors:
		s.errors.put(entry{key: fact})
	case w.commands:
		e := w.parse(fact, strings.LastIndex, passed, failed, timedOut, killed, cancelled, denied)
		e.key, e.folder = normal(e.text)
		s.commands.put(e)
	case w.identifiers:
		s.spoken = append(s.spoken, fact)
	case w.written:
		s.files.put(entry{key: fact, state: written})
	case w.read:
		s.files.put(entry{key: fact, state: read})
	}
}

// parse reads a line of [wording.withOutcome] that may have one of these outcomes.
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
		if w.withOutcome(e) == line {
			return e
		}
	}
	return entry{text: line}
}

package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

type wording struct {
	titles   [sections]string
	outcomes [printed + 1]string
	exit     string // before the exit code of a failed command

	active, finished string // of the plan
}

var english = wording{
	titles: [...]string{
		"Decided by the user:", "Shown by the user:", "Plan:", "Calls:", "Commands:", "Files written:", "Errors:", "Identifiers:",
		"Files read:",
	},
	outcomes: [...]string{
		"", "ok", "failed", "timed out", "killed", "cancelled", "denied",
		"refused by the user", "approved by the user", "answered by the user", "",
	},
	exit: "exit code ", active: " (in progress)", finished: "%d done",
}

var chinese = wording{
	titles:   [...]string{"用户的决定:", "用户展示的媒体:", "计划:", "调用:", "命令:", "写入的文件:", "错误:", "标识:", "读取的文件:"},
	outcomes: [...]string{"", "成功", "失败", "超时", "被终止", "已取消", "被拒绝", "用户拒绝", "用户同意", "用户回答", ""},
	exit:     "退出码 ", active: "(进行中)", finished: "已完成 %d 项",
}

// Text returns the section, without a line break at its end, or "" if there is nothing to list or no room. The same set
// gives the same text.
//
// When there is no room for all facts, the last kinds lose entries first, the oldest ones first. But each kind keeps an equal share
// of the room, if it needs it, so that none removes all others.
func (s *Set) Text(o text.Options) string {
	w := text.Pick(o.Language, &english, &chinese)
	var lines [sections][]string
	for i := range lines {
		found := map[string]bool{}
		for _, e := range slices.Backward(s.all(section(i))) {
			if line := w.line(e); !found[line] {
				found[line] = true
				lines[i] = append(lines[i], line)
			}
		}
		slices.Reverse(lines[i])
	}
	lines[identified] = s.identifiers()
	switch {
	case s.Planned:
		lines[planned] = nil
	case lines[planned] != nil:
		lines[planned] = []string{s.planLine(w)}
	}
	return w.write(o, lines)
}

// line returns the line of an entry, with what came of it.
func (w *wording) line(e *entry) string {
	line, how := cmp.Or(e.text, e.key), w.outcomes[e.state]
	switch {
	case e.state == printed:
		return line + ` → "` + e.detail + `"`
	case how == "":
		return line
	case e.state == failed && e.detail != "":
		how += " (" + w.exit + e.detail + ")"
	case e.state >= refused && e.detail != "":
		how += ": " + e.detail
	}
	return line + " → " + how
}

// write returns the heading with the newest lines of sections that fit, or "" if none does. Each section leaves to those after
// it what they keep: an equal share of the room, if they need it.
func (w *wording) write(o text.Options, all [sections][]string) string {
	heading := o.Language.Headings().Facts
	cost := func(line string) int { return max(o.Counter.Count(line), 1) + 1 } // a counter may round down, or join neighbours
	room := o.Tokens - cost(heading)
	var kept [sections]int
	take := func(i, most int) {
		for k := len(all[i]) - kept[i] - 1; k >= 0; k-- {
			all[i][k] = text.Defused(all[i][k])
			n := cost("- " + all[i][k])
			if kept[i] == 0 {
				n += cost(w.titles[i])
			}
			if n > most {
				return
			}
			kept[i]++
			most -= n
			room -= n
		}
	}
	share := room / int(sections)
	for i := range all {
		take(i, share)
	}
	out := heading
	for i, lines := range all {
		take(i, room)
		more := strings.Join(append([]string{out + "\n" + w.titles[i]}, lines[len(lines)-kept[i]:]...), "\n- ")
		if kept[i] > 0 && o.Counter.Count(more) <= o.Tokens {
			out = more
		}
	}
	if out == heading {
		return ""
	}
	return out
}

// Resume adds the facts of a section that [Set.Text] has written. It serves if the messages of the section are no longer available.
func (s *Set) Resume(facts string) {
	w, in := &english, -1
	for line := range strings.SplitSeq(facts, "\n") {
		fact, ok := strings.CutPrefix(line, "- ")
		if !ok {
			w, in = &english, slices.Index(english.titles[:], line)
			if in < 0 {
				w, in = &chinese, slices.Index(chinese.titles[:], line)
			}
			continue
		}
		e := w.parse(fact)
		switch section(in) {
		case -1:
			continue
		case identified:
			s.spoken = append(s.spoken, fact)
			continue
		case planned:
			s.lists[in] = nil
		case commands:
			e.key, _ = normal(e.text)
		default:
		}
		s.put(section(in), e)
	}
}

// parse reads a line of [wording.line].
func (w *wording) parse(line string) entry {
	if m := patterns["outcome"][0].FindStringSubmatch(line); m != nil {
		e := entry{key: line, text: m[1], state: state(max(0, slices.Index(w.outcomes[:], m[2]))), detail: m[3] + m[4]}
		if w.line(&e) == line {
			return e
		}
	}
	if m := patterns["printed"][0].FindStringSubmatch(line); m != nil {
		return entry{key: line, text: m[1], state: printed, detail: m[2]}
	}
	return entry{key: line, text: line}
}

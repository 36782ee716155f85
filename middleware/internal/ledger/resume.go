package ledger

import (
	"strings"
)

// Resume takes the facts of a section that [Ledger.Text] has written, for whoever
// has the messages no more that it was made of.
func (l *Ledger) Resume(section string) {
	kind := ""
	for line := range strings.SplitSeq(section, "\n") {
		fact, is := strings.CutPrefix(line, "- ")
		if !is {
			kind = line
			continue
		}
		for _, w := range wordings {
			l.resume(w, kind, fact)
		}
	}
}

// resume takes a fact, if it stands below a title of the wording.
func (l *Ledger) resume(w wording, title, fact string) {
	switch title {
	case w.banned:
		if fact == w.older {
			l.older = true
			return
		}
		l.rules.put(entry{key: fact, state: banned})
	case w.told:
		l.rules.put(entry{key: fact, state: told})
	case w.errors:
		l.errors.put(entry{key: fact})
	case w.commands:
		l.commands.put(w.command(fact))
	case w.identifiers:
		l.spoken = append(l.spoken, fact)
	case w.written:
		l.files.put(entry{key: fact, state: written})
	case w.read:
		l.files.put(entry{key: fact, state: read})
	}
}

// command reads a line of a command.
func (w wording) command(line string) entry {
	key, outcome, _ := cutLast(line, " → ")
	switch code, coded := strings.CutPrefix(outcome, w.failed+" ("+w.exit); {
	case outcome == w.passed:
		return entry{key: key, state: passed}
	case outcome == w.failed:
		return entry{key: key, state: failed}
	case coded && strings.HasSuffix(code, ")"):
		return entry{key: key, state: failed, code: strings.TrimSuffix(code, ")")}
	}
	return entry{key: line}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

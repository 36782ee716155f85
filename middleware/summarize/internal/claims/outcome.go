package claims

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
)

// command is a command, or a tool, with the outcomes of its runs.
type command struct {
	subjects map[string]int // with their weights
	newest   string         // good, bad, or "" if it is not known
	at       int            // number of runs before the newest, of all commands
	passed   bool           // at least once
	failed   bool           // at least once
}

const good, bad = "good", "bad"

// addRun adds a run, after those before it.
func (s *Source) addRun(r facts.Run) {
	line := fold(cmp.Or(r.Command, r.Call.Name))
	first := line // without a text or program in it
	if k := embedded.FindStringIndex(line); k != nil {
		first = line[:k[0]]
	}
	sen := &sentence{text: line, toks: lex(nil, line)}
	key := pattern(sen.wordsIn(0, len(line)))
	c := s.commands[key]
	if c == nil {
		c = &command{}
		if r.Command == "" || !r.Reads {
			c.subjects = subjectsOf(first)
		}
		s.commands[key] = c
	}
	s.runs++
	s.tested = s.tested ||
		slices.ContainsFunc(sen.toks, func(t token) bool { return subjects.words[t.text] == "test" || runners.has(t.text) })
	c.newest, c.at, c.passed, c.failed = "", s.runs, c.passed || r.Passed, c.failed || r.Failed
	if r.Passed {
		c.newest = good
	} else if r.Failed {
		c.newest = bad
	}
}

var embedded = regexp.MustCompile("\n|<<| -[ce] ['\"]")

// subjectsOf returns the words by which a command is mentioned: those of its line that are neither options nor paths, but
// for the name of a script.
func subjectsOf(line string) map[string]int {
	const most = 400 // bytes
	all := map[string]int{}
	for field := range strings.FieldsSeq(line[:min(len(line), most)]) {
		field = strings.Trim(field, `"'();&|`)
		if strings.HasPrefix(field, "-") || strings.ContainsAny(field, "=:@*${}") || strings.HasSuffix(field, "/...") {
			continue
		}
		file := field[strings.LastIndexByte(field, '/')+1:]
		name, end, script := strings.Cut(file, ".")
		program := file == field || strings.Contains(field, "bin/") || strings.HasPrefix(field, "./")
		if script && !scripts.has(end) || !script && !program {
			continue
		}
		field = name
		for _, t := range lex(nil, strings.ReplaceAll(humps.ReplaceAllString(field, "$1 $2"), "_", " ")) {
			switch subject := subjectOf(t.text); {
			case subject == "test" && !script: // a tool for tests, rather than a script of this name
				all[subject] = 2
			case subject != "":
				all[subject] = max(all[subject], 1)
			}
		}
	}
	return all
}

// subjectOf returns the form in which words of commands and of sentences are compared, or "" for a word that says little.
func subjectOf(w string) string {
	if len(w) < 3 || vague.has(w) {
		return ""
	}
	return cmp.Or(subjects.words[w], subjects.words[stemOf(w)], stemOf(w))
}

func stemOf(w string) string {
	const least = 4
	for _, end := range endings.all {
		if stem, ok := strings.CutSuffix(w, end.word); ok && len(stem) >= least {
			return stem
		}
	}
	return w
}

// clause is a part of a sentence.
type clause struct {
	sen      *sentence
	from, to int // tokens
	text     string
	state    string // good, bad, or "" if it states no outcome
}

// contradicted returns the parts of a sentence that state an outcome against the record.
func (s *Source) contradicted(sen *sentence) (items []string) {
	if sen.hasAny(opening) || sen.asks() {
		return nil
	}
	all := sen.clauses()
	states := map[string]bool{}
	for _, c := range all {
		states[c.state] = true
	}
	story, now := states[good] && states[bad] || sen.hasAny(past), sen.hasAny(present)
	var about []*command
	for _, c := range all {
		if found := s.about(c); found != nil {
			about = found
		}
		agrees := func(cmd *command) bool { return cmd.agrees(c.state, story, now) }
		if c.state == good && !story && len(about) > 0 { // the newest of them counts
			about = []*command{slices.MaxFunc(about, func(a, b *command) int { return cmp.Compare(a.at, b.at) })}
		}
		// In a quotation, it may be anything.
		never := c.state != "" && !s.tested && len(sen.spans) == 0 && c.subjects()["test"] &&
			!s.hasBy(sen.wordsIn(sen.toks[c.from].from, sen.toks[c.to-1].to()), said, shown, other)
		if never || c.state != "" && len(about) > 0 && !slices.ContainsFunc(about, agrees) {
			items = append(items, strings.TrimRight(c.text, ".!。！"))
		}
	}
	return items
}

// agrees reports whether a command may have had an outcome: its newest, or in a story any. That it failed may be a story in
// any case, unless it still does.
func (c *command) agrees(claimed string, story, now bool) bool {
	return c.newest == "" || c.newest == claimed || claimed == bad && !now && c.failed || claimed == good && story && c.passed
}

// about returns the commands that a clause is about: those that it quotes, otherwise those with most of its words.
func (s *Source) about(c clause) (found []*command) {
	for _, sp := range c.sen.spans {
		if c.sen.toks[c.from].from > sp.from || sp.to > c.sen.toks[c.to-1].to() {
			continue
		}
		words := pattern(c.sen.wordsIn(sp.from, sp.to))
		for key, cmd := range s.commands {
			if strings.Contains(key, words) {
				found = append(found, cmd)
			}
		}
		if found != nil {
			return found
		}
	}
	named, most := c.subjects(), 1
	for _, cmd := range s.commands {
		n := 0
		for w := range named {
			n += cmd.subjects[w]
		}
		switch {
		case n > most:
			most, found = n, []*command{cmd}
		case n == most:
			found = append(found, cmd)
		}
	}
	return found
}

// asks reports whether a sentence is a question.
func (s *sentence) asks() bool { return strings.HasSuffix(strings.TrimSpace(s.text), "?") }

// subjects returns the subjects of a clause, without the words of names.
func (c clause) subjects() map[string]bool {
	all := map[string]bool{}
	for i, t := range c.sen.toks[c.from:c.to] {
		if w := subjectOf(t.text); t.kind == word && w != "" && !c.sen.named[c.from+i] {
			all[w] = true
		}
	}
	for of := range subjects.in(c.text) {
		all[of] = true
	}
	return all
}

// clauses returns the clauses of a sentence.
func (s *sentence) clauses() (all []clause) {
	from := 0
	for i := 0; i <= len(s.toks); i++ {
		if i < len(s.toks) {
			t := s.toks[i]
			joint := t.is(",;()。、") || t.kind == word && joints.has(t.text)
			if !joint || slices.ContainsFunc(s.spans, func(sp span) bool { return sp.from <= t.from && t.from < sp.to }) {
				continue
			}
		}
		if i > from {
			c := clause{sen: s, from: from, to: i, text: s.chunk(from, i).raw}
			c.state = c.outcome()
			all = append(all, c)
		}
		from = i + 1
	}
	return all
}

// outcome returns the outcome that a clause states, or "".
func (c clause) outcome() string {
	toks, negated := c.sen.toks[c.from:c.to], false
	for i, t := range toks {
		if t.kind != word {
			continue
		}
		of := outcomes.words[t.text]
		counted := i > 0 && (toks[i-1].amount.has || toks[i-1].text == "to") // 212 passed, to pass
		switch {
		case negations.has(t.text):
			negated = true
		case of != "" && !counted && negated == (of == good):
			return bad
		case of != "" && !counted:
			return good
		}
	}
	if toks[0].amount.has && at(toks, 1).kind == ideograph { // 212 个通过
		return ""
	}
	for of := range outcomes.in(c.text) {
		return of
	}
	return ""
}

// hasAny reports whether the sentence has a word of a list.
func (s *sentence) hasAny(l *list) bool {
	for range l.in(s.text) {
		return true
	}
	return slices.ContainsFunc(s.toks, func(t token) bool { return t.kind == word && l.has(t.text) })
}

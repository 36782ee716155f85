package claims

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
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
	line := lex.Fold(cmp.Or(r.Command, r.Call.Name))
	first := embedded.Split(line, 2)[0]
	sen := lex.Tokenize(line)
	key := pattern(sen.WordsIn(0, len(line)))
	c := s.commands[key]
	if c == nil {
		c = &command{}
		if r.Command == "" || !r.Reads {
			c.subjects = subjectsOf(first)
		}
		s.commands[key] = c
	}
	s.runs++
	if r.Tested && c.subjects != nil {
		c.subjects["test"] = 2
	}
	s.tested = s.tested || r.Tested ||
		slices.ContainsFunc(sen.Tokens, func(t lex.Token) bool { return subjects.Of(t.Text) == "test" || lists["runner"].Has(t.Text) })
	c.newest = map[bool]string{r.Passed: good, r.Failed: bad}[true]
	c.at = s.runs
	c.passed = c.passed || r.Passed
	c.failed = c.failed || r.Failed
}

// embedded matches the beginning of a text or a program in a command.
var embedded = regexp.MustCompile("\n|<<| -[ce] ['\"]")

// subjectsOf returns the words by which a command is mentioned: those of its line but for options. What is looked for in files is
// not what a command is about.
func subjectsOf(line string) map[string]int {
	const most = 400 // bytes
	all, searches := map[string]int{}, false
	for field := range strings.FieldsSeq(line[:min(len(line), most)]) {
		next := strings.Trim(field, ";&|") == ""
		field = strings.Trim(field, `"'();&|`)
		searches = !next && searches || lists["search"].Has(field)
		if searches || strings.HasPrefix(field, "-") || strings.ContainsAny(field, "=@*${}") || strings.HasSuffix(field, "/...") {
			continue
		}
		name, _, script := strings.Cut(field[strings.LastIndexByte(field, '/')+1:], ".")
		for _, t := range lex.Tokens(nil, strings.ReplaceAll(name, "_", " ")) {
			subject := subjectOf(t.Text)
			switch {
			case subject == "test" && !script: // a tool for tests, rather than a script of this name
				all[subject] = 2
			case subject != "":
				all[subject] = max(all[subject], 1)
			}
		}
	}
	return all
}

// subjectOf returns the form in which words of commands and of sentences are compared, or "" for a word that carries little meaning.
func subjectOf(w string) string {
	if len(w) < 3 || lists["vague"].Has(w) {
		return ""
	}
	return cmp.Or(subjects.Of(w), subjects.Of(stemOf(w)), stemOf(w))
}

func stemOf(w string) string {
	const least = 4
	for _, end := range lists["ending"].Words {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= least {
			return stem
		}
	}
	return w
}

// clause is a part of a sentence.
type clause struct {
	sentence
	of    sentence
	from  int    // the first token
	state string // good, bad, or "" if it states no outcome
}

// contradicted returns the parts of a sentence that state an outcome against the record.
func (s *Source) contradicted(sen sentence) (items []string) {
	if sen.hasAny("open") || strings.HasSuffix(strings.TrimSpace(sen.Folded), "?") {
		return nil
	}
	story := sen.hasAny("past")
	var about []*command
	for _, c := range sen.clauses() {
		if found := s.about(c); found != nil {
			about = found
		}
		// What failed may have passed since, unless it still does; in a story, any outcome counts.
		agrees := func(cmd *command) bool {
			isOld := c.state == bad && cmd.failed && !c.hasAny("present") || c.state == good && cmd.passed && story
			return isOld || cmd.newest == "" || cmd.newest == c.state
		}
		if c.state == good && !story && len(about) > 0 { // the newest of them counts
			about = []*command{slices.MaxFunc(about, func(a, b *command) int { return cmp.Compare(a.at, b.at) })}
		}
		never := c.state != "" && !s.tested && len(sen.Spans) == 0 && c.subjects()["test"] // in a quotation, it may be anything
		if never || c.state != "" && len(about) > 0 && !slices.ContainsFunc(about, agrees) {
			items = append(items, strings.TrimSpace(strings.TrimRight(c.Folded, ".!。！")))
		}
	}
	return items
}

// about returns the commands that a clause is about: those that it quotes, otherwise those with most of its words.
func (s *Source) about(c clause) (found []*command) {
	for _, sp := range c.of.Spans {
		if c.Tokens[0].From > sp.From || sp.To > c.Tokens[len(c.Tokens)-1].To() {
			continue
		}
		words := pattern(c.WordsIn(sp.From, sp.To))
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

// subjects returns the subjects of a clause, without the words of names.
func (c clause) subjects() map[string]bool {
	all := map[string]bool{}
	for i, t := range c.Tokens {
		if w := subjectOf(t.Text); t.Kind == lex.Word && w != "" && !c.of.Named[c.from+i] {
			all[w] = true
		}
	}
	for of := range subjects.In(c.Folded) {
		all[of] = true
	}
	return all
}

// clauses returns the clauses of a sentence.
func (s sentence) clauses() (all []clause) {
	from := 0
	for i := 0; i <= len(s.Tokens); i++ {
		if i < len(s.Tokens) {
			t := &s.Tokens[i]
			joint := t.Is(",;()。、") || t.Kind == lex.Word && lists["joint"].Has(t.Text)
			if !joint || slices.ContainsFunc(s.Spans, func(sp lex.Span) bool { return sp.From <= t.From && t.From < sp.To }) {
				continue
			}
		}
		if i > from {
			part := &lex.Text{Folded: s.Folded[s.Tokens[from].From:s.Tokens[i-1].To()], Tokens: s.Tokens[from:i]}
			c := clause{sentence: sentence{part}, of: s, from: from}
			c.state = c.outcome()
			all = append(all, c)
		}
		from = i + 1
	}
	return all
}

// outcome returns the outcome that a clause states, or "".
func (c clause) outcome() string {
	toks, negated := c.Tokens, false
	for i, t := range toks {
		isCode := func(sp lex.Span) bool { return sp.From <= t.From && t.From < sp.To && c.of.Folded[sp.From-1] == '`' }
		if t.Kind != lex.Word || slices.ContainsFunc(c.of.Spans, isCode) { // in backticks it may be anything, as the text of a commit
			continue
		}
		of := outcomes.Of(t.Text)
		counted := i > 0 && (toks[i-1].Amount.Has || toks[i-1].Text == "to") // 212 passed, to pass
		switch {
		case lists["negation"].Has(t.Text):
			negated = true
		case of != "" && !counted && negated == (of == good):
			return bad
		case of != "" && !counted:
			return good
		}
	}
	if toks[0].Amount.Has && lex.At(toks, 1).Kind == lex.Han { // 212 个通过
		return ""
	}
	for of := range outcomes.In(c.Folded) {
		return of
	}
	return ""
}

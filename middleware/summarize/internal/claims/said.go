package claims

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// role is whose words a part of the source is.
type role uint8

const (
	other   role = iota // not known: earlier summaries
	quoted              // what the writer was asked with, and words of the user in earlier summaries
	said                // by the user
	told                // by the assistant
	changed             // arguments of a call that may have changed something
	asked               // arguments of a call that only reads, or failed
	shown               // results
)

// statement is a clause of the user or of the assistant.
type statement struct {
	words    []string
	negated  bool
	asks     bool // a question
	question bool // or a condition
	accepted bool // the assistant's, of a text to which the user agreed
	answered bool // of these, what was asked, and the clause before it, or all of them if little was asked
	by       role
	text     int // number of texts before it
}

// note adds the statements of a text.
func (s *Source) note(body string, by role) {
	from, assents, refuses := len(s.statements), false, false
	var others []string // its words
	for piece := range text.Pieces(body) {
		sen := sentence{lex.Tokenize(piece)}
		question := strings.ContainsAny(sen.Folded, "?？")
		for _, c := range sen.clauses() {
			words, negated := contents(c.Tokens)
			if by == said && !negated && c.hasAny(assent) {
				assents, s.assents = true, true
			}
			others, refuses = append(others, words...), refuses || negated
			open := question || c.hasAny(condition)
			s.addStatement(statement{words: words, negated: negated, asks: question, question: open, by: by, text: len(s.parts)})
		}
	}
	if by == said && assents && !refuses {
		s.accept(others)
	}
	s.told = [2]int{}
	if by == told {
		s.told = [2]int{from, len(s.statements)}
	}
}

// accept marks what the user agreed to with some words: the newest text of the assistant, unless the user speaks of something else.
func (s *Source) accept(words []string) {
	const short, long, little = 3, 6, 2 // words: who says more says to what
	words = slices.DeleteFunc(words, assent.Has)
	first, end, questions, shares := s.told[0], s.told[1], 0, false
	for _, st := range s.statements[first:end] {
		shares = shares || slices.ContainsFunc(st.words, func(w string) bool { return slices.Contains(words, w) })
		if st.asks {
			questions += len(st.words)
		}
	}
	for i := first; first < end && i < len(s.statements) && (len(words) < short || len(words) <= long && shares); i++ {
		st := &s.statements[i]
		st.accepted, st.text = true, s.statements[first].text
		st.answered = st.asks || i+1 < end && s.statements[i+1].asks || questions < little
	}
}

func (s *Source) addStatement(st statement) {
	if len(st.words) == 0 {
		return
	}
	for _, w := range st.words {
		s.with[w] = append(s.with[w], len(s.statements))
	}
	s.statements = append(s.statements, st)
}

// contents returns the words that carry the meaning of tokens, each once, and whether they are negated. Of Chinese, these
// are pairs of characters.
func contents(toks []lex.Token) (words []string, negated bool) {
	for i, t := range toks {
		w := ""
		switch next := lex.At(toks, i+1); {
		case negations.Has(t.Text) || refusal.Has(t.Text) || t.Kind == lex.Han && refusal.Has(t.Text+next.Text):
			negated = true
		case t.Kind == lex.Han && next.Kind == lex.Han && !plain.Has(t.Text+next.Text) && !negations.Has(next.Text):
			w = t.Text + next.Text
		case t.Kind == lex.Digits, t.Kind == lex.Word && len(t.Text) > 2 && !plain.Has(t.Text):
			w = stemOf(t.Text)
			if n := len(w); n > 3 && w[n-1] == w[n-2] {
				w = w[:n-1] // shipped, ship
			}
		}
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words, negated
}

// like returns for each statement how many of some words it has.
func (s *Source) like(words []string) map[int]int {
	const most = 2000
	n := map[int]int{}
	for _, w := range words {
		if all := s.with[w]; len(all) <= most {
			for _, i := range all {
				n[i]++
			}
		}
	}
	return n
}

var (
	adverbs = `(?: (?:has|had|have|also|then|later|explicitly|finally|already|clearly|again|first)){0,3} `

	approves = regexp.MustCompile(`(?i)\b(?:user|customer|client)` + adverbs + `(?:` + alternatives("approval") + `)\b(.*)|` +
		`(?:用户|客户)(?:也|已|已经|还|曾|最终)?(?:` + alternatives("批准") + `)(.*)`)
	says = regexp.MustCompile(`(?i)\b(?:user|customer|client)` + adverbs + `(?:` + alternatives("saying") + `)\b(.*)|` +
		`(?:用户|客户)(?:也|已|已经|还|曾|最终)?(?:` + alternatives("说") + `)(.*)`)
	does = regexp.MustCompile(`^ (?:(?:for|on|with|of) )?(?:to [a-z]|[a-z-]+ing\b)`)
	ends = regexp.MustCompile(`[,;.，；。]( |$)|[，；。]| (but|while|although|though|which|who|because|since|before|after) `)
)

func alternatives(name string) string {
	return strings.ReplaceAll(strings.Join(lists[name].Words, "|"), "_", " ")
}

// object returns the content of what follows a verb of the user in a sentence, up to the next clause, and the text up to it.
func object(verb *regexp.Regexp, sentence string) (words []string, before, rest string) {
	if m := verb.FindStringSubmatch(sentence); m != nil {
		before, rest = strings.TrimSuffix(m[0], m[1]+m[2]), m[1]+m[2]
	}
	if k := ends.FindStringIndex(rest); k != nil {
		rest = rest[:k[0]]
	}
	words, negated := contents(lex.Tokens(nil, rest))
	if negated && verb == approves {
		return nil, "", ""
	}
	return words, before, rest
}

// misattributed returns what a sentence ascribes to the user although only the assistant, or no one, wrote it.
func (s *Source) misattributed(sen sentence) (items []string) {
	if s.users == 0 {
		return nil
	}
	if words, before, rest := object(approves, sen.Folded); before != "" && !s.approved(words, does.MatchString(rest)) {
		return []string{approves.FindString(sen.Folded)}
	}
	words, before, _ := object(says, sen.Folded)
	if len(words) < 2 {
		return nil
	}
	opinion := sentence{lex.Tokenize(before)}.hasAny(opinions) // that of the assistant is not the user's, who may agree to it
	best := map[role]int{}
	for i, n := range s.like(words) {
		st := &s.statements[i]
		by := st.by
		if by != told || st.accepted && !opinion {
			by = said
		}
		best[by] = max(best[by], n)
	}
	users := 0 // words that any text of the user has
	for _, w := range words {
		if slices.ContainsFunc(s.with[w], func(i int) bool { return s.statements[i].by != told || s.statements[i].accepted && !opinion }) {
			users++
		}
	}
	if 3*best[told] >= 2*len(words) && 2*users <= len(words) {
		return []string{says.FindString(sen.Folded)}
	}
	return nil
}

// approved reports whether the user has agreed to something with these words: in a sentence without a negation, or by an assent when
// the assistant wrote them. The action, or a word, must be in what was asked, or the user's. In another language, any assent will do.
func (s *Source) approved(words []string, action bool) bool {
	newest, known, share := -1, false, 2
	if strings.ContainsFunc(strings.Join(words, ""), lex.IsHan) {
		share = 3 // pairs of characters are less often the same
	}
	accepted := map[int]int{} // words by text
	for i, n := range s.like(words) {
		st := &s.statements[i]
		known = true
		if st.accepted {
			accepted[st.text] += n
		}
		if st.by != told && !st.question && share*n >= len(words) {
			newest = max(newest, i)
		}
	}
	if !known {
		return s.assents
	}
	for _, n := range accepted {
		if share*n >= len(words) {
			return s.agreed(words, action)
		}
	}
	return newest >= 0 && !s.statements[newest].negated && s.agreed(words, action)
}

// agreed reports whether the action, or one of the words, is in what the assistant asked, or in what the user ordered.
func (s *Source) agreed(words []string, action bool) (one bool) {
	for k, w := range words {
		found := slices.ContainsFunc(s.with[w], func(i int) bool {
			st := &s.statements[i]
			return st.answered || st.by != told && !st.negated && !st.question || st.accepted && strings.ContainsAny(w, "0123456789")
		})
		if one = one || found; !found && s.with[w] != nil && (action && k == 0 && !light.Has(w) || actions.Has(w)) {
			return false
		}
	}
	return one
}

// turned returns the clauses that state the opposite of a clause of the source, if no clause there states the same.
func (s *Source) turned(sen sentence) (items []string) {
	for _, c := range sen.clauses() {
		if !sen.hasAny(past) && !sen.asks() && s.opposes(c) {
			items = append(items, c.String())
		}
	}
	return items
}

func (s *Source) opposes(c clause) bool {
	words, negated := contents(c.Tokens)
	users := negated && len(words) > 2 && (c.Tokens[0].Text == "user" || lex.At(c.Tokens, 1).Text == "user") // "did not need"
	exists := c.Tokens[0].Text == "there" && !c.hasAny(present)
	opposite, same := false, len(words) < 2
	for i, n := range s.like(words) {
		st := &s.statements[i]
		same = same || users && st.negated && 2*n >= len(words)
		like := n >= len(st.words) && (4*n >= 3*len(words) || exists && st.words[0] == words[0])
		if like = like || users && n == len(words); like && !st.question {
			same = same || st.negated == negated
			opposite = opposite || st.negated != negated && (st.by == said || st.negated)
		}
	}
	return opposite && !same
}

// linted gives what says that a linter found nothing the form of an outcome.
func (s sentence) linted() {
	for _, c := range s.clauses() {
		lint := false
		for i := range c.Tokens {
			t := &c.Tokens[i]
			if lint = lint || subjects.Of(t.Text) == "lint"; lint && t.Text == "clean" {
				t.Text = "passed"
			} else if lint && i > 1 && flaws.Has(t.Text) && negations.Has(c.Tokens[i-1].Text) {
				t.Text, c.Tokens[i-1].Text, c.Tokens[i-2].Text = "passed", "", "" // reported no problems
			}
		}
	}
}

// unwritten returns the files that a sentence calls written although no call that may have written names them.
func (s *Source) unwritten(sen sentence) (items []string) {
	if s.calls == 0 || sen.hasAny(opening) {
		return nil
	}
	for i := range sen.Items {
		c := &sen.Items[i]
		file := c.Kind == lex.Path && !c.Weak || (c.Kind == lex.Code || c.Kind == lex.Name) && isFile(c.Words)
		if file && sen.writes(c) && !s.hasWritten(c.Words) && !s.hasWritten(c.Words[slices.Index(c.Words, "/")+1:]) {
			items = append(items, c.Text)
		}
	}
	return items
}

// hasWritten reports whether a file is named by a call that may have changed it, a summary, or a result next to a verb of writing.
func (s *Source) hasWritten(file []string) bool {
	return s.hasBy(file, changed, other) || slices.ContainsFunc(wrote.Words, func(verb string) bool {
		return s.hasBy(append([]string{verb}, file...), shown) || s.hasBy(append([]string{verb, "to"}, file...), shown) ||
			s.hasBy(append(slices.Clip(file), verb), shown)
	})
}

// writes reports whether a sentence states that the file of a claim was written: a verb is before it, perhaps with other
// files between, or "was" with a verb after it.
func (s sentence) writes(c *lex.Item) bool {
	from, to := s.TokenAt(c.From), s.TokenAt(c.To)
	for i := from - 1; i >= 0; i-- {
		t := s.Tokens[i]
		switch {
		case s.Named[i], t.Kind == lex.Mark && !t.Is(".;:。；：!?"), t.Text == "了", between.Has(t.Text),
			t.Text == "to" && adding.Has(lex.At(s.Tokens, i-1).Text):
			continue
		case t.Kind == lex.Word && wrote.Has(t.Text):
			return !s.refused(i)
		case t.Kind == lex.Han && i > 0:
			return wrote.Has(s.Tokens[i-1].Text+t.Text) && !s.refused(i-1)
		}
		break
	}
	for i := to; i < min(len(s.Tokens), to+5) && !aside.Has(lex.At(s.Tokens, from-1).Text); i++ { // a test for it was added
		t, before := s.Tokens[i], lex.At(s.Tokens, i-1).Text
		if t.Kind == lex.Word && wrote.Has(t.Text) || done.Has(before) && wrote.Has(t.Text+lex.At(s.Tokens, i+1).Text) {
			return i > to && !s.refused(i)
		} else if t.Kind == lex.Word && !between.Has(t.Text) {
			break
		}
	}
	return false
}

// refused reports whether one of the three words before a verb turns it round, or its subject is the user.
func (s sentence) refused(i int) bool {
	return slices.ContainsFunc(s.Tokens[max(0, i-3):i], func(t lex.Token) bool {
		return negations.Has(t.Text) || t.Text == "user" || t.Text == "户" || t.Text == "to" || t.Text == "failed"
	})
}

// unknownNames returns names of two or more capitalised words of which the source has none.
func (s *Source) unknownNames(sen sentence) (items []string) {
	if s.ideographs > len(s.stream)/20 || strings.HasPrefix(sen.Folded, "#") || !lowWord.MatchString(sen.Folded) {
		return nil
	}
	for _, m := range properName.FindAllStringIndex(sen.Folded, -1) {
		words := strings.Fields(strings.ToLower(sen.Folded[m[0]:m[1]]))
		if strings.Trim(sen.Folded[:m[0]], " \t-*>_([\"'") == "" && (len(words) > 2 || starts.Has(words[0])) { // a verb, or an article
			m[0], words = m[0]+len(words[0])+1, words[1:]
		}
		if len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool {
			return title.Has(w) || plain.Has(w) || lex.IsCalendar(w) || s.hasInflected(w)
		}) {
			items = append(items, sen.Folded[m[0]:m[1]])
		}
	}
	return items
}

var (
	properName = regexp.MustCompile(`\b\p{Lu}\p{Ll}+( \p{Lu}\p{Ll}+)+\b`)
	lowWord    = regexp.MustCompile(`(^|\s)\p{Ll}{2,}`)
)

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
	other  role = iota // not known: earlier summaries
	quoted             // what the writer was asked with, and words of the user in earlier summaries
	said               // by the user
	told               // by the assistant
	called             // arguments of a call
	shown              // results
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
	does = regexp.MustCompile(`^ (?:(?:for|on|with|of) )?(?:to [a-z]|[a-z-]+ing\b)`)
	ends = regexp.MustCompile(`[,;.，；。]( |$)|[，；。]| (but|while|although|though|which|who|because|since|before|after) `)
)

func alternatives(name string) string {
	return strings.ReplaceAll(strings.Join(lists[name].Words, "|"), "_", " ")
}

// unapproved returns what a sentence says that the user has approved although the user has not.
func (s *Source) unapproved(sen sentence) (items []string) {
	if s.users == 0 {
		return nil
	}
	m := approves.FindStringSubmatch(sen.Folded)
	if m == nil {
		return nil
	}
	rest := m[1] + m[2] // what was approved, up to the next clause
	if k := ends.FindStringIndex(rest); k != nil {
		rest = rest[:k[0]]
	}
	if words, negated := contents(lex.Tokens(nil, rest)); !negated && !s.approved(words, does.MatchString(rest)) {
		return []string{m[0]}
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

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
	shown              // results, and arguments of calls
)

// statement is a clause of the user or of the assistant, or what the user agreed to.
type statement struct {
	words   []string
	negated bool
	counts  bool // it is the user's, and neither a question nor under a condition
}

// note adds the statements of a text, and what the assistant asked before if the user agrees to it.
func (s *Source) note(body string, by role) {
	const long = 6 // words: who says more says to what
	assents, refuses := false, false
	var others, all []string // words besides those of assents; all
	for piece := range text.Pieces(body) {
		sen := sentence{lex.Tokenize(piece)}
		question := strings.ContainsAny(sen.Folded, "?？")
		for _, c := range sen.clauses() {
			words, negated := contents(c.Tokens)
			assents, refuses = assents || !negated && c.hasAny("assent"), refuses || negated
			others, all = append(others, slices.DeleteFunc(slices.Clone(words), lists["assent"].Has)...), append(all, words...)
			s.addStatement(statement{words: words, negated: negated, counts: by != told && !question && !c.hasAny("condition")})
		}
	}
	s.assents = s.assents || by == said && assents
	if by == said && assents && !refuses && len(others) <= long {
		s.addStatement(s.asked)
	}
	s.asked = (statement{})
	if by == told {
		s.asked = statement{words: slices.Compact(slices.Sorted(slices.Values(all))), counts: true}
	}
}

func (s *Source) addStatement(st statement) {
	for _, w := range st.words {
		s.with[w] = append(s.with[w], len(s.statements))
		s.wide = s.wide || strings.ContainsFunc(w, lex.IsHan)
	}
	s.statements = append(s.statements, st)
}

// contents returns the words that carry the meaning of tokens, each once, and whether they are negated. Of Chinese, these
// are pairs of characters.
func contents(toks []lex.Token) (words []string, negated bool) {
	for i, t := range toks {
		w := ""
		next := lex.At(toks, i+1)
		switch {
		case lists["negation"].Has(t.Text) || lists["refusal"].Has(t.Text) || t.Kind == lex.Han && lists["refusal"].Has(t.Text+next.Text):
			negated = true
		case t.Kind == lex.Han && next.Kind == lex.Han && !lists["plain"].Has(t.Text+next.Text) && !lists["negation"].Has(next.Text):
			w = t.Text + next.Text
		case t.Kind == lex.Digits, t.Kind == lex.Word && len(t.Text) > 2 && !lists["plain"].Has(t.Text):
			w = stemOf(t.Text)
		}
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words, negated
}

var (
	adverbs = `(?: (?:has|had|have|also|then|later|explicitly|finally|already|clearly|again|first)){0,3} `

	approves = regexp.MustCompile(`(?i)\b(?:user|customer|client)` + adverbs + `(?:` + alternatives("approval") + `)\b(.*)|` +
		`(?:用户|客户)(?:也|已|已经|还|曾|最终)?(?:` + alternatives("批准") + `)(.*)`)
	ends = regexp.MustCompile(`[,;.，；。]( |$)|[，；。]| (but|while|although|though|which|who|because|since|before|after) `)
)

func alternatives(name string) string {
	return strings.ReplaceAll(strings.Join(lists[name].Words, "|"), "_", " ")
}

// unapproved returns what a sentence says that the user has approved although the user has not.
func (s *Source) unapproved(sen sentence) (items []string) {
	m := approves.FindStringSubmatch(sen.Folded)
	if m == nil || s.users == 0 {
		return nil
	}
	rest := m[1] + m[2] // what was approved, up to the next clause
	if k := ends.FindStringIndex(rest); k != nil {
		rest = rest[:k[0]]
	}
	if words, negated := contents(lex.Tokens(nil, rest)); !negated && !s.approved(words) {
		return []string{m[0]}
	}
	return nil
}

// approved reports whether the user has agreed to something with these words: the newest statement of the user with a half of them,
// or a third of pairs of Chinese characters, has no negation, or is what the assistant wrote before an assent. In another script than
// that of the texts, any assent will do.
func (s *Source) approved(words []string) bool {
	const most = 2000
	n, newest, share := map[int]int{}, -1, 2
	if strings.ContainsFunc(strings.Join(words, ""), lex.IsHan) {
		share = 3
		if !s.wide {
			return s.assents
		}
	}
	for _, w := range words {
		if all := s.with[w]; len(all) <= most {
			for _, i := range all {
				st := &s.statements[i]
				n[i]++
				if share*n[i] >= len(words) && st.counts {
					newest = max(newest, i)
				}
			}
		}
	}
	return newest >= 0 && !s.statements[newest].negated || len(words) == 0 && s.assents
}

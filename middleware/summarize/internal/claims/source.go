package claims

import (
	"index/suffixarray"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Source is what claims are compared with: the texts of messages that are folded. Building it takes linear time. A Source
// does not change and is safe for concurrent use.
type Source struct {
	stream []byte // the normalised tokens, each between two zero bytes
	words  *suffixarray.Index

	values  map[any]bool         // digits of all numbers, also in names; times; dates, also without year or day
	amounts map[string][]float64 // by dimension, sorted; those without a unit under bare, and each as it is written under any
	sums    [][]float64          // amounts of one text each

	commands   map[string]*command
	tested     bool // a text, not of the assistant, reports how tests ended
	runs       int
	statements []statement
	with       map[string][]int // statements by word
	users      int              // texts of the user
	assents    bool             // the user has agreed to something
	wide       bool             // statements are in Chinese
	asked      statement        // the newest text of the assistant, while the source is built
	toks       []lex.Token
}

const (
	bare      = "" // of numbers without a unit
	asWritten = "any"
)

// SourceOf returns the source of messages that a summary covers, of those in view, of earlier summaries, and of
// what else the writer was shown. The outcomes of commands are those that package facts records.
func SourceOf(covered, view []message.Message, earlier []string, others ...string) *Source {
	s := &Source{
		values: map[any]bool{}, amounts: map[string][]float64{}, sums: [][]float64{nil}, commands: map[string]*command{},
		with: map[string][]int{},
	}
	answers := s.addRuns(covered, view)
	texts := map[string]bool{}
	for _, m := range slices.Concat(covered, view) {
		for _, p := range m.Parts {
			all, by := textsOf(m.Role, p)
			for _, t := range all {
				if key := string(m.Role) + t; !texts[key] || by == said && s.asked.words != nil { // another answer
					texts[key] = true
					s.addText(t, by)
				}
			}
			if r, ok := p.(message.ToolResult); ok && answers[r.CallID].Answer != "" {
				s.note(answers[r.CallID].Question, told)
				s.note(answers[r.CallID].Answer, said)
			}
		}
	}
	for _, t := range earlier {
		s.addText(t, other)
	}
	for _, t := range others {
		s.addText(t, quoted)
	}
	for _, all := range s.amounts {
		slices.Sort(all)
	}
	s.words = suffixarray.New(s.stream)
	return s
}

// textsOf returns the texts of a part, also thoughts, names, arguments and results, and whose words they are.
func textsOf(r message.Role, p message.Part) (texts []string, by role) {
	switch p := p.(type) {
	case message.Text:
		switch {
		case r == message.RoleAssistant:
			by = told
		case r == message.RoleUser && !text.IsRecord(p.Text):
			by = said
		}
		return []string{p.Text}, by
	case message.ToolCall:
		return []string{p.Arguments, p.Name}, shown
	case message.Thinking:
		return []string{p.Text}, shown
	case message.ToolResult:
		return []string{p.Text, p.Name}, shown
	case message.Media:
		return []string{p.Name, p.URL}, shown
	case message.Opaque:
	}
	return nil, shown
}

// addRuns adds the outcomes of calls, and returns those that the user has answered.
func (s *Source) addRuns(covered, view []message.Message) (answers map[string]facts.Run) {
	answers = map[string]facts.Run{}
	ids := map[string]bool{}
	for i, msgs := range [...][]message.Message{covered, view} {
		for _, r := range facts.Runs(msgs) {
			if r.Answer != "" {
				answers[r.Call.ID] = r
			}
			if i == 0 || !ids[r.Call.ID] { // otherwise the same call, perhaps with a placeholder
				s.addRun(r)
			}
			ids[r.Call.ID] = ids[r.Call.ID] || i == 0
		}
	}
	return answers
}

// addText adds a text. JSON is read with and without its escapes. The facts in a summary are no statements.
func (s *Source) addText(t string, by role) {
	if by == other {
		if sections := text.SectionsOf(t); sections.Quotes+sections.Facts != "" {
			t = sections.Words + "\n" + sections.Tally.Line(text.English)
			s.addText(sections.Quotes, quoted)
			s.addText(sections.Facts, shown)
		}
	}
	if t == "" {
		return
	}
	s.sums = append(s.sums, nil)
	if by == said {
		s.users++
	}
	if by != shown {
		s.note(t, by)
	}
	all := []string{t}
	if plain := strings.ReplaceAll(lex.Unescape(t), `\\`, `\`); plain != t {
		all = append(all, plain)
	}
	for _, t := range all {
		s.stream = append(s.stream, 0, 1, 0) // nothing begins in one text and ends in another
		for line := range strings.Lines(t) {
			s.toks = lex.Tokens(s.toks[:0], lex.Fold(line))
			s.add(s.toks, by)
		}
	}
}

func (s *Source) add(toks []lex.Token, by role) {
	for _, t := range toks {
		if t.Counts() {
			s.stream = append(append(s.stream, t.Text...), 0)
		}
		isNoDigit := func(r rune) bool { return (r < '0' || r > '9') && r != '.' }
		for run := range strings.FieldsFuncSeq(t.Text, isNoDigit) { // in a word, too
			s.values[plainDigits(strings.Trim(run, "."))] = true
		}
	}
	s.tested = s.tested || by != told && tellsOfTests(toks)
	for _, v := range lex.Values(toks) {
		s.addValue(&v, by)
	}
}

// tellsOfTests reports whether an outcome is near a word for tests.
func tellsOfTests(toks []lex.Token) bool {
	const near = 6
	test := -near - 1
	for i, t := range toks {
		if t.Kind == lex.Word && subjects.Of(t.Text) == "test" {
			test = i
		} else if t.Kind == lex.Word && i-test <= near && outcomes.Has(t.Text) {
			return true
		}
	}
	return false
}

// plainDigits removes zeros at the beginning.
func plainDigits(d string) string {
	d = strings.TrimLeft(d, "0")
	if d == "" || d[0] == '.' {
		return "0" + d
	}
	return d
}

func (s *Source) addValue(v *lex.Value, by role) {
	switch {
	case v.Clock != "":
		s.values[v.Clock], s.values[v.Clock[:len("00:00")]] = true, true
		return
	case v.Date != lex.Day{}:
		d := v.Date
		s.values[d], s.values[lex.Day{Day: d.Weekday()}] = true, true
		s.values[lex.Day{Year: d.Year, Month: d.Month}], s.values[lex.Day{Month: d.Month, Day: d.Day}] = true, true
		return
	case !v.Has:
		return
	}
	put := func(dimension string, size float64) {
		s.amounts[dimension] = append(s.amounts[dimension], v.Value*size)
	}
	put(asWritten, 1)
	size := 1.0
	for _, u := range slices.Backward(v.Units) {
		put(u.Dimension, u.Size)
		size = u.Size // of the first
	}
	last := len(s.sums) - 1
	s.sums[last] = append(s.sums[last], v.Value*size)
	if by == said || by == told {
		s.sums[0] = append(s.sums[0], v.Value*size)
	}
	if v.Units == nil {
		put(bare, 1)
	}
}

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

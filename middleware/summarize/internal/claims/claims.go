// Package claims checks the text of a model against what it was written from.
//
//	s := claims.SourceOf(folded, view, []string{earlier})
//	for _, f := range s.Check(summary) {
//		fmt.Println(summary[f.From:f.To], f.Items) // a sentence, and what of it the source does not have
//	}
//
// A claim is something in a sentence that can be compared: what package lex reads, or the outcome of a command. It is supported
// if the source has it, however it is written: digit grouping, Chinese numerals, wide characters, case, units of the same
// dimension, and the folder before a path do not count. Whole numbers up to 20 without a unit are no claims, since models
// count. A number that two others of its sentence give by one operation is supported.
//
// The package knows no language: it does not find a false sentence whose words are all right. All functions take any text,
// also invalid UTF-8, and need time proportional to its length.
package claims

import (
	"cmp"
	_ "embed" // for words.txt
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

//go:embed words.txt
var file string

// lists are those of words.txt.
var (
	lists              = lex.Lists(file, " ")
	subjects, outcomes = lists["subject"], lists["outcome"]
)

// Finding is a sentence with claims that its source does not support.
type Finding struct {
	From, To int      // bytes of the text: the sentence with the mark of its item, and the space after it
	Items    []string // the claims
}

// Check returns the sentences of a text that have a claim without support.
func (s *Source) Check(body string) (found []Finding) {
	from, planned := 0, false
	for sentence := range text.Pieces(body) {
		heading := strings.Trim(sentence, " \t\r\n#*_")
		if sentence[0] == '#' || strings.HasPrefix(sentence, "**") || strings.HasSuffix(heading, ":") || strings.HasSuffix(heading, "：") {
			planned = plans.MatchString(heading)
		}
		if items := s.unsupported(sentence, planned); items != nil {
			found = append(found, Finding{from, from + len(sentence), items})
		}
		from += len(sentence)
	}
	return found
}

// plans matches the beginning of what is not done yet: its new files and times are no inventions.
var plans = regexp.MustCompile(`(?i)^\W*(\d+\W+)?(` + alternatives("plan") + `)([^a-z/._-]|$)`)

// unsupported returns the claims of a sentence that the source does not support.
func (s *Source) unsupported(said string, planned bool) (items []string) {
	const most = 12 // numbers that give others
	sen := read(said)
	planned = planned || plans.MatchString(sen.Folded)
	var given []float64
	for _, v := range lex.Values(sen.Tokens) {
		if v.Has && len(given) < most && s.hasValue(&v) {
			given = append(given, v.Value)
		}
	}
	slices.SortStableFunc(sen.Items, func(a, b lex.Item) int { return cmp.Compare(a.From, b.From) })
	for i := range sen.Items {
		c := &sen.Items[i]
		isPlan := planned && (c.Kind == lex.Date || c.Kind == lex.Path || isFile(c.Words))
		adds := c.Kind == lex.Number && s.isSum(&c.Value, sen.hasAny("sum"))
		v := &c.Value
		isResult := c.Kind == lex.Number && v.Has && !v.Label && gives(given, v.Value, max(v.Precision(), v.Step*0.51), true)
		if !isPlan && !adds && !isResult && !s.supports(c) {
			items = append(items, c.Text)
		}
	}
	if !planned {
		items = slices.Concat(items, s.contradicted(sen), s.unapproved(sen))
	}
	return items
}

// isSum reports whether a value is the sum or difference of two amounts of a text, or the total of a text, if it may be
// one, or a percentage that two amounts next to each other give.
func (s *Source) isSum(v *lex.Value, may bool) bool {
	const most = 20 // amounts of a text
	for _, u := range append([]lex.Unit{{Size: 1}}, v.Units...) {
		want, margin := v.Value*u.Size, max(max(v.Step, v.Precision())*u.Size*0.51, 1e-6)
		for _, all := range s.sums {
			total, share := 0.0, false
			for i, a := range all {
				total += a
				before := all[max(0, i-1)]
				share = share || i > 0 && u.Dimension == "ratio" && math.Abs(100*min(a, before)/max(a, before, lex.Small)-want) <= margin
			}
			if len(all) > 1 && len(all) <= most && (share || may && (math.Abs(total-want) <= margin || gives(all, want, margin, false))) {
				return true
			}
		}
	}
	return false
}

// gives reports whether two of some numbers give another one, as sum or difference, or also as product or quotient.
func gives(all []float64, want, margin float64, products bool) bool {
	is := func(v float64) bool { return math.Abs(math.Abs(v)-want) <= margin }
	for i, a := range all {
		for k, b := range all {
			if i != k && (is(a+b) || is(a-b) || products && (is(a*b) || b != 0 && (is(a/b) || is(100*a/b) || is(100*(a-b)/b)))) {
				return true
			}
		}
	}
	return false
}

// Without returns a text without the sentences that were found. Blank lines that this leaves are removed.
func Without(body string, found []Finding) string {
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(body[at:f.From])
		if cut := body[f.From:f.To]; strings.HasSuffix(cut, "\n") && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		at = f.To
	}
	b.WriteString(body[at:])
	return strings.TrimSpace(b.String())
}

// supports reports whether the source has what a claim is about.
func (s *Source) supports(c *lex.Item) bool {
	const shortHash = 7
	switch {
	case c.Kind == lex.Number || c.Kind == lex.Date:
		return s.hasValue(&c.Value)
	case s.has(c.Words):
		return true
	case c.Kind == lex.Quotation:
		return len(c.Words) == 1 && s.hasInflected(c.Words[0])
	case c.Kind == lex.Path, c.Kind == lex.Code && len(c.Words) > 1 && strings.ContainsAny(c.Text, `/\`) && !strings.Contains(c.Text, " "):
		return s.hasPath(c)
	case c.Kind == lex.Code && len(c.Words) > 1:
		lacks := func(word string) bool { return !s.has([]string{word}) }
		return (strings.Contains(c.Text, " ") || !isFile(c.Words)) && !slices.ContainsFunc(c.Words, lacks)
	case len(c.Words) > 1:
		return false
	case len(c.Words[0]) >= shortHash && strings.Trim(c.Words[0], "0123456789abcdef") == "":
		return s.hasPart("\x00" + c.Words[0])
	case c.Kind == lex.Code:
		return s.hasInflected(c.Words[0])
	}
	return s.has([]string{strings.TrimSuffix(c.Words[0], "s")})
}

// hasInflected reports whether a word of natural language is in the source, also with another end.
func (s *Source) hasInflected(w string) bool {
	return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" && (s.hasPart(w) || stemOf(w) != w && s.hasPart(stemOf(w)))
}

func isFile(words []string) bool { return len(words) > 1 && lists["file"].Has(words[len(words)-1]) }

// hasPath reports whether the source has the end of a path, and its beginning, which of a path from the root may be missing.
func (s *Source) hasPath(c *lex.Item) bool {
	const most = 100 // words
	absolute := strings.ContainsAny(c.Text[:1], `/~\`) || len(c.Text) > 1 && c.Text[1] == ':'
	for k, w := range c.Words[:min(len(c.Words), most)] {
		end := c.Words[k+1:]
		if w == "/" && s.has(end) && (s.has(c.Words[:k]) || absolute && slices.Contains(end, "/")) {
			return true
		}
	}
	return false
}

// has reports whether words are next to each other in the source.
func (s *Source) has(words []string) bool { return len(words) == 0 || s.hasPart(pattern(words)) }

func pattern(words []string) string { return "\x00" + strings.Join(words, "\x00") + "\x00" }

// hasPart reports whether a text is in the words, as refund in RefundTotal.
func (s *Source) hasPart(part string) bool { return s.words.Lookup([]byte(part), 1) != nil }

// hasAmount reports whether a number of a dimension is in the source that may be written as v: half a step less, as rounded
// up, or nearly a step more, as cut off.
func (s *Source) hasAmount(dimension string, v, step float64) bool {
	all, exact := s.amounts[dimension], math.Abs(v)*1e-12
	k, _ := slices.BinarySearch(all, v-step*0.5-exact)
	return k < len(all) && all[k] <= v+step*0.95+exact
}

// hasValue reports whether a value is in the source.
func (s *Source) hasValue(v *lex.Value) bool {
	d := v.Date
	switch {
	case v.Clock != "":
		return s.values[v.Clock]
	case d != lex.Day{}:
		return s.values[d]
	case !v.Has:
		return s.values[plainDigits(v.Literal)]
	}
	m := v.Precision()
	if v.Units == nil {
		return s.values[plainDigits(v.Literal)] || s.hasAmount(asWritten, v.Value, m)
	}
	for _, u := range v.Units {
		n, m := v.Value*u.Size, m*u.Size
		if s.hasAmount(u.Dimension, n, m) || u.Dimension == "bytes" && s.hasAmount(bare, n, m) ||
			u.Dimension == "ratio" && s.hasAmount(bare, n/100, m/100) {
			return true
		}
	}
	return s.hasAmount(bare, v.Value, m)
}

// sentence is a sentence, or a part of one.
type sentence struct{ *lex.Text }

func read(body string) sentence {
	t := lex.Read(body)
	t.Items = slices.DeleteFunc(t.Items, func(it lex.Item) bool { return it.Kind == lex.Number && !counts(t.Tokens, &it.Value) })
	return sentence{t}
}

// counts reports whether a number is a claim: not a small one, an ordinal, a factor, or a time from now.
func counts(toks []lex.Token, v *lex.Value) bool {
	t, next := &toks[v.From], lex.At(toks, v.To)
	switch {
	case v.Label:
		return true
	case lex.IsOrdinal(t.Suffix), t.Suffix == "x", next.Is("×"), next.Text == "倍", v.Units != nil && lists["ago"].Has(next.Text):
		return false
	}
	return v.Units != nil || v.Step < 1 || v.Value > lex.Small
}

// hasAny reports whether the sentence has a word of a list.
func (s sentence) hasAny(list string) bool {
	l := lists[list]
	for range l.In(s.Folded) {
		return true
	}
	return slices.ContainsFunc(s.Tokens, func(t lex.Token) bool { return t.Kind == lex.Word && l.Has(t.Text) })
}

package claims

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// SourceOf returns the source of messages and of other texts, such as earlier summaries of them. The outcomes of
// commands are those that package facts records.
func SourceOf(msgs []message.Message, others ...string) *Source {
	s := NewSource(append(Texts(msgs), others...)...)
	for _, r := range facts.Runs(msgs) {
		s.addRun(r)
	}
	return s
}

// Texts returns the texts of messages: also thoughts, names, arguments and results.
func Texts(msgs []message.Message) (texts []string) {
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			switch p := p.(type) {
			case message.Text:
				texts = append(texts, p.Text)
			case message.Thinking:
				texts = append(texts, p.Text)
			case message.ToolCall:
				texts = append(texts, p.Name, p.Arguments)
			case message.ToolResult:
				texts = append(texts, p.Name, p.Text)
			case message.Media:
				texts = append(texts, p.Name, p.URL)
			case message.Opaque:
			}
		}
	}
	return texts
}

// Finding is a sentence with claims that its source does not support.
type Finding struct {
	From, To int      // bytes of the text: the sentence with the mark of its item, and the space after it
	Items    []string // the claims, each once
}

// Check returns the sentences of a text that have a claim without support.
func (s *Source) Check(body string) (found []Finding) {
	from := 0
	for sentence := range text.Pieces(body) {
		var items []string
		for rest := sentence; rest != ""; {
			part := rest[:pieceEnd(rest)]
			rest = rest[len(part):]
			items = append(items, s.unsupported(part)...)
		}
		if items != nil {
			found = append(found, Finding{from, from + len(sentence), items})
		}
		from += len(sentence)
	}
	return found
}

// unsupported returns the claims of a sentence that the source does not support.
func (s *Source) unsupported(piece string) (items []string) {
	sen := read(piece)
	slices.SortStableFunc(sen.claims, func(a, b Claim) int { return cmp.Compare(a.from, b.from) })
	known := s.numbersOf(sen)
	end := 0 // of the last quotation that was decided as a whole
	for _, c := range sen.claims {
		ok := s.Supports(c)
		switch {
		case c.from < end:
			continue
		case (c.Kind == Quotation || c.Kind == Code) && (!ok || s.has(c.words)):
			end = c.to
		}
		if !ok && !known.give(c) && !slices.Contains(items, c.Text) {
			items = append(items, c.Text)
		}
	}
	for _, o := range s.contradicted(sen) {
		if !slices.Contains(items, o) {
			items = append(items, o)
		}
	}
	return items
}

// numbers are those of a sentence that the source has.
type numbers []float64

func (s *Source) numbersOf(sen *sentence) (all numbers) {
	const most = 12
	for _, v := range values(sen.toks) {
		if len(all) < most && v.has && s.hasValue(v) {
			all = append(all, v.value)
		}
	}
	return all
}

// give reports whether two of the numbers give that of a claim by one operation, or all of them by addition.
func (all numbers) give(c Claim) bool {
	if c.Kind != Number || !c.value.has || c.value.label {
		return false
	}
	sum := 0.0
	for _, n := range all {
		sum += n
	}
	want, margin := c.value.value, max(c.value.precision(), c.value.step*0.51)
	is := func(v float64) bool { return math.Abs(math.Abs(v)-want) <= margin }
	if len(all) > 2 && is(sum) {
		return true
	}
	for i, a := range all {
		for k, b := range all {
			if i != k && (is(a+b) || is(a-b) || is(a*b) || b != 0 && (is(a/b) || is(100*a/b) || is(100*(a-b)/b))) {
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

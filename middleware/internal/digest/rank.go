package digest

import (
	"cmp"
	_ "embed" // for words.txt
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/failure"
	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/tokens"
)

// fact is a string in a text that an agent can need again word for word.
type fact struct {
	text  string
	kind  kind
	key   string // "": it needs none, or has none
	worth int
	mark  *mark
	seq   int // index among the facts of its text
	score int
}

// kind is the kind of a fact, mostly by its shape.
type kind = lex.Shape

// The kinds that are no shapes.
const (
	text   = lex.Shapes + iota // all of a value
	fault                      // the message of an error
	failed                     // the line that shows what failed: it is the first
	kinds
)

// worths is how likely a fact of a kind is needed later, relative to 100. They are round numbers: twice or half of one of
// them hardly changes what is kept of recorded conversations.
var worths = [kinds]int{
	lex.ShapeNumber: 10, lex.ShapeLink: 150, lex.ShapePath: 300, lex.ShapeID: 300, lex.ShapeSymbol: 60, lex.ShapeCode: 20,
	lex.ShapeMoney: 300, lex.ShapeDate: 300, text: 15, fault: 1000, failed: 100_000,
}

//go:embed words.txt
var words string

var lists = lex.Lists(words, " ")

// The values of ids identify something.
var ids, keys = lists["id"].Numbers(), lists["key"].Numbers()

// lastWord returns the word by which a key is known: id of order_id and of orderId.
func lastWord(key string) string {
	from := len(key)
	for from > 0 && (key[from-1] >= utf8.RuneSelf || lex.InName(key, from-1) && key[from-1] != '_') {
		from--
		if b := key[from]; 'A' <= b && b <= 'Z' && from > 0 && 'a' <= key[from-1] && key[from-1] <= 'z' {
			break
		}
	}
	return strings.ToLower(key[from:])
}

// worthOf returns the worth of a fact by its kind, and by what a value of its key is worth.
func worthOf(w string, k kind, keyed int) int {
	const long = 6 // digits
	own := worths[k]
	switch {
	case k == lex.ShapeSymbol, k == text:
		keyed /= 2
	case k == lex.ShapeNumber && len(w) >= long && !strings.ContainsAny(w, ".:"):
		own *= 5
	}
	return max(own, keyed)
}

// needsKey reports whether a fact has little meaning without a key.
func needsKey(w string, k kind) bool {
	const short = 3 // letters: credit_card_7815826 has its kind in front
	letters := len(w) - len(strings.TrimLeft(w, "abcdefghijklmnopqrstuvwxyz"))
	return k == lex.ShapeNumber || k >= lex.ShapeCode && k <= text || k == lex.ShapeID && letters < short
}

// pool holds the facts of several texts.
type pool struct {
	facts [][]fact         // of each cleared text, each once
	marks map[string]*mark // by the text of a fact
}

// mark is where else a fact is.
type mark struct {
	at int // the last cleared text that has it
	in int // passing or shown
}

const (
	passing = 1 + iota // in a result that may be cleared later
	shown              // in what is kept
)

func newPool(cleared []Cleared) *pool {
	p := &pool{marks: map[string]*mark{}}
	for i, c := range cleared {
		p.facts = append(p.facts, p.factsOf(c, i))
	}
	return p
}

// factsOf returns the facts of text i, each once. A code with the key of an identifier identifies something, too: {"seats": ["12A", "AB"]}.
func (p *pool) factsOf(c Cleared, i int) (facts []fact) {
	of, isID := map[string]bool{}, map[string]bool{}
	if c.Of != "" {
		scan(legible(c.Of), func(w string, _ kind, _ string, _ int) { of[w] = true })
	}
	take := func(w string, k kind, key string, keyed int) {
		if k == lex.ShapeNone || c.Of != "" && !of[w] {
			return
		}
		m := p.marks[w]
		if m == nil {
			m = &mark{}
			p.marks[w] = m
		} else if m.at == i {
			return
		}
		m.at = i
		if k == lex.ShapeID && key != "" {
			isID[key] = true
		} else if k == lex.ShapeCode && isID[key] {
			k = lex.ShapeID
		}
		if !needsKey(w, k) {
			key = ""
		}
		facts = append(facts, fact{text: w, kind: k, key: key, worth: worthOf(w, k, keyed), mark: m, seq: len(facts)})
	}
	read := legible(c.Text)
	if line := failureIn(read); line != "" {
		take(line, failed, "", 0)
	}
	scan(read, take)
	return facts
}

// failureIn returns the line of a legible text that shows what failed, of a long one the beginning, or "".
func failureIn(whole string) string {
	const ends, longest = 16 << 10, 80 // bytes
	read := shorten.Ends(whole, ends, ends, func(string) string { return "\n" })
	line, hint, _ := failure.In(read)
	pieces := strings.FieldsFunc(cmp.Or(line, hint), func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
	line = slices.MaxFunc(append(pieces, ""), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if !strings.Contains(read, line) { // it was in escapes that are not read elsewhere
		return ""
	}
	if line == "" || lex.HasFormat(line) || strings.IndexByte(":;,{([", line[len(line)-1]) >= 0 { // a part of a program
		return ""
	}
	if len(line) > longest {
		line = shorten.Head(line, longest)
		line = cmp.Or(line[:max(0, strings.LastIndexByte(line, ' '))], line)
	}
	return strings.TrimSpace(line)
}

// look marks the facts that texts have, too.
func (p *pool) look(texts []string, as int) {
	for _, text := range texts {
		scan(legible(text), func(w string, _ kind, _ string, _ int) {
			if m := p.marks[w]; m != nil {
				m.in = max(m.in, as)
			}
		})
	}
}

// ranked returns the facts of text i that are not shown, best first.
func (p *pool) ranked(i int) []*fact {
	const fixed = 3 // tokens, so that short facts do not take all the room
	var ranked []*fact
	for k := range p.facts[i] {
		f := &p.facts[i][k]
		if f.mark.in == shown {
			continue
		}
		f.score = 1000 * f.worth / (tokens.Estimate{}.Count(f.text) + fixed)
		if f.mark.in == passing {
			f.score /= 2
		}
		ranked = append(ranked, f)
	}
	slices.SortStableFunc(ranked, func(a, b *fact) int { return cmp.Compare(b.score, a.score) })
	return ranked
}

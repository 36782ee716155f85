package digest

import (
	"cmp"
	_ "embed" // for words.txt
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/middleware/internal/lex"
	"github.com/laconic-go/laconic/tokens"
)

// fact is a string in a text that an agent can need again word for word.
type fact struct {
	text string
	kind kind
	key  string // if it is a value, or the first word of one; "": none
	end  string // of a path: the shortest end of it that is a fact, too; "": none

	id    int // of its string
	seq   int // its index among the facts of its text
	score int
}

// kind is the kind of a fact, mostly by its shape.
type kind uint8

const (
	none   kind = iota // a word of a sentence
	number             // 1633, 54.04, 15%, 12:30
	amount             // $54.04, 1,299元
	date               // 2024-05-15, 16 May 2024, 2026年3月15日
	email              // ann@example.com
	link               // https://example.com/a
	path               // /a/b.go, a/b_c
	file               // b.go
	id                 // HAT045, #W123, credit_card_7815826, +15551234567
	hash               // 4afd4e47, 3f2504e0-4f89-11d3-9a0c-0305e82c3301
	host               // 127.0.0.1, localhost:8080, v1.26.8
	symbol             // getUser, get_user, self.model
	code               // JFK
	text               // all of a value
	fault              // the message of an error
	lines              // lines 601-1116: the numbers before the lines of a listing
	kinds
)

// worths is how likely a fact of a kind is needed later, relative to 100 for the name of a file. They are round numbers: twice
// or half of one of them hardly changes what is kept of recorded conversations.
var worths = [kinds]int{
	number: 10, amount: 300, date: 300, email: 300, link: 150, path: 300, file: 100, id: 300, hash: 30, host: 30, symbol: 60, code: 20,
	text: 15, fault: 1000, lines: 1000,
}

//go:embed words.txt
var words string

var (
	lists = lex.Lists(words, " ")
	ids   = lists["id"]
	keys  = lists["key"].Numbers()
)

// lastWord returns the word by which a key is known: id of order_id and of orderId.
func lastWord(key string) string {
	from := len(key)
	for from > 0 && (key[from-1] >= utf8.RuneSelf || isName(key, from-1) && key[from-1] != '_') {
		from--
		if b := key[from]; 'A' <= b && b <= 'Z' && from > 0 && 'a' <= key[from-1] && key[from-1] <= 'z' {
			break
		}
	}
	return strings.ToLower(key[from:])
}

// worthOf returns what the value of a key is worth at least; 0 if the key shows nothing.
func worthOf(key string) int {
	if key == "" {
		return 0
	}
	return int(keys[lastWord(key)])
}

// worth returns the worth of a fact by its kind and its key.
func (f *fact) worth() int {
	const long = 6 // digits
	w := worths[f.kind]
	keyed := worthOf(f.key)
	switch f.kind {
	case symbol, text:
		return max(w, keyed/2)
	case id, code, hash, amount, date:
		return max(w, keyed)
	case number:
		if len(f.text) >= long && !strings.ContainsAny(f.text, ".:") {
			w *= 5
		}
		return max(w, keyed)
	default:
		return w
	}
}

// needsKey reports whether a fact has little meaning without its key.
func (f *fact) needsKey() bool {
	switch f.kind {
	case number, amount, date, code, text, hash:
		return f.key != ""
	case id: // credit_card_7815826 has its kind in it
		t := traitsOf(f.text)
		return f.key != "" && t.n[lex.Lower] < 3
	default:
		return false
	}
}

// sight is where else a string is.
type sight uint8

const (
	passing sight = 1 + iota // in a result that may be cleared later
	shown                    // in what stays
)

// pool holds the facts of several texts.
type pool struct {
	ids   map[string]int // of the strings
	sight []sight        // by id
	facts [][]fact       // of each cleared text
}

func newPool(cleared []Cleared) *pool {
	p := &pool{ids: map[string]int{}, facts: make([][]fact, len(cleared))}
	for i, c := range cleared {
		p.facts[i] = p.factsOf(c)
	}
	return p
}

// factsOf returns the facts of a text, each once.
func (p *pool) factsOf(c Cleared) (facts []fact) {
	of := map[string]bool{}
	if c.Of != "" {
		scan(c.Of, func(f fact) { of[f.text] = true })
	}
	at := map[string]int{} // index by text
	scan(c.Text, func(f fact) {
		if f.kind == none {
			return
		}
		if _, again := at[f.text]; again || c.Of != "" && !of[f.text] {
			return
		}
		id, known := p.ids[f.text]
		if !known {
			id = len(p.sight)
			p.ids[f.text], p.sight = id, append(p.sight, 0)
		}
		f.id, f.seq, at[f.text] = id, len(facts), len(facts)
		facts = append(facts, f)
	})
	refine(facts, at)
	return facts
}

// refine uses what the facts of a text show about each other. A path that is the end of a longer one is left out. A code with the
// key of an identifier identifies something, too: {"seats": ["12A", "AB"]}. at has the index of a fact by its text.
func refine(facts []fact, at map[string]int) {
	isID := map[string]bool{} // by key
	for i := range facts {
		f := &facts[i]
		isID[f.key] = f.key != "" && (isID[f.key] || f.kind == id)
		for k := range f.text {
			if f.kind == path && k > 0 && f.text[k-1] == '/' {
				if shorter, ok := at[f.text[k:]]; ok {
					facts[shorter].kind, f.end = none, f.text[k:]
				}
			}
		}
	}
	for i := range facts {
		if f := &facts[i]; f.kind == code && isID[f.key] {
			f.kind = id
		}
	}
}

// look marks the facts that texts have, too.
func (p *pool) look(texts []string, as sight) {
	for _, text := range texts {
		scan(text, func(f fact) {
			if id, ok := p.ids[f.text]; ok {
				p.sight[id] = max(p.sight[id], as)
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
		if f.kind == none || p.sight[f.id] == shown && f.kind != lines {
			continue
		}
		f.score = 1000 * f.worth() / (tokens.Estimate{}.Count(cmp.Or(f.end, f.text)) + fixed)
		if p.sight[f.id] == passing {
			f.score /= 2
		}
		ranked = append(ranked, f)
	}
	slices.SortStableFunc(ranked, func(a, b *fact) int { return cmp.Compare(b.score, a.score) })
	return ranked
}

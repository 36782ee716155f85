package digest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/tokens"
)

// worths is how likely a fact of each kind is to be needed later: in hundredths
// of what a name of a program is. They are round numbers: doubling or halving
// one of them hardly changes what is kept of recorded conversations.
var worths = [kinds]int{
	number:  5,
	amount:  300,
	date:    300,
	clock:   5,
	email:   150,
	link:    150,
	path:    400,
	file:    150,
	id:      200,
	hash:    30,
	version: 20,
	host:    50,
	phone:   200,
	symbol:  100,
	code:    20,
	slug:    5,
	name:    20,
	word:    5,
	fault:   1000,
}

// roleWorths is the same for what stands behind a key.
var roleWorths = [roles]int{
	idRole:      300,
	codeRole:    100,
	amountRole:  150,
	dateRole:    300,
	nameRole:    40,
	placeRole:   100,
	contactRole: 150,
}

// ranked returns the facts of text i that are not shown, best first.
func (p *pool) ranked(i int, find *finder, about topics) []*fact {
	var ranked []*fact
	for k := range p.facts[i] {
		f := &p.facts[i][k]
		if find.shown[f.id] {
			continue
		}
		if p.cost[f.id] == 0 {
			p.cost[f.id] = tokens.Estimate{}.Count(f.text)
		}
		f.rank(p.cost[f.id], about)
		ranked = append(ranked, f)
	}
	slices.SortFunc(ranked, func(a, b *fact) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq)) })
	return ranked
}

// rank sets the score of a fact: what it is worth for its cost in tokens. What
// is spoken of counts up to double, what stands at the beginning of its text up
// to half more.
func (f *fact) rank(cost int, about topics) {
	const (
		topical = 80 // of a fact that says nothing about what it is about
		early   = 50
		rows    = 10 // until that is halved
		fixed   = 3  // tokens, so that short facts do not take all
	)
	spoken := topical
	if topic := f.topic(); topic != "" {
		spoken = about.share(topic)
	}
	w := 100 * f.worth()
	w = w * (100 + spoken) / 100
	w = w * (100 + early*rows/(rows+f.row)) / 100
	f.score = 1000 * w / (cost + fixed)
}

// worth returns what a fact is worth by its kind and its key. Keys say more of a
// whole value than of a word in one, and little of the names of programs.
func (f *fact) worth() int {
	w, keyed := worths[f.kind], roleWorths[f.role]
	if !f.whole {
		keyed /= 2
	}
	switch f.kind {
	case symbol, slug, word, name:
		if f.whole {
			w = max(w, keyed/2)
		}
	case id:
		if f.whole && f.role != noRole {
			keyed = roleWorths[idRole]
		}
		w = max(w, keyed)
	case code, hash, amount, date:
		w = max(w, keyed)
	case number:
		const short, long = 2, 6 // digits
		switch w = max(w, keyed); {
		case f.leads && f.line == defines:
			w *= 3
		case len(f.text) <= short:
			w /= 3
		case len(f.text) >= long && keyed == 0 && strings.IndexByte(f.text, '.') < 0:
			w *= 5
		}
	default:
	}
	return w
}

// topic returns the part of a fact that says what it is about; "": there is none.
func (f *fact) topic() string {
	switch f.kind {
	case symbol, slug, name, code, host, file:
		return f.text
	case path, link:
		dir := strings.TrimSuffix(f.text, "/")
		return dir[strings.LastIndexByte(dir, '/')+1:]
	default:
		return ""
	}
}

// longest returns the longest path of text i that ends in a path: it says more.
func (p *pool) longest(i int, f *fact) *fact {
	if f.kind != path && f.kind != file {
		return f
	}
	for k := range p.facts[i] {
		g := &p.facts[i][k]
		more := len(g.text) - len(f.text)
		if g.kind == path && more > 0 && g.text[more:] == f.text && (f.text[0] == '/' || g.text[more-1] == '/') {
			f = g
		}
	}
	return f
}

package digest

// pool holds the facts of many texts. The same string is one, wherever it
// occurs.
type pool struct {
	texts []string // by id
	cost  []int    // tokens of each, estimated; 0: not known yet
	facts [][]fact // of each cleared text, in its order

	ids  map[string]int32
	seen []seat // of each
}

// seat is where a fact was seen last.
type seat struct{ text, seq int }

func newPool(cleared []Cleared) *pool {
	p := &pool{ids: map[string]int32{}, facts: make([][]fact, len(cleared))}
	for i, c := range cleared {
		scan(c.Text, func(f fact) { p.add(i, f) })
		if c.Of != "" {
			p.facts[i] = p.within(p.facts[i], c.Of)
		}
		join(p.facts[i])
	}
	p.cost = make([]int, len(p.texts))
	return p
}

// within returns the facts that occur in a text.
func (p *pool) within(facts []fact, text string) []fact {
	all := make([]string, len(facts))
	for k := range facts {
		all[k] = facts[k].text
	}
	find := newFinder(all)
	for _, part := range legible(text) {
		find.show(part)
	}
	kept := facts[:0]
	for k := range facts {
		if find.shown[k] {
			kept = append(kept, facts[k])
		}
	}
	return kept
}

// join makes an identifier of what stands behind the same key as one and could
// be one too: {"seats": ["12A", "AB"]}.
func join(facts []fact) {
	keys := map[string]bool{}
	for i := range facts {
		if f := &facts[i]; f.kind == id && f.whole && f.label != "" {
			keys[f.label] = true
		}
	}
	for i := range facts {
		if f := &facts[i]; f.kind == code && f.whole && keys[f.label] {
			f.kind = id
		}
	}
}

// add takes a fact of text i.
func (p *pool) add(i int, f fact) {
	id, ok := p.ids[f.text]
	if !ok {
		id = int32(len(p.texts))
		p.ids[f.text] = id
		p.texts = append(p.texts, f.text)
		p.seen = append(p.seen, seat{text: -1})
	}
	if s := p.seen[id]; s.text == i {
		p.facts[i][s.seq].merge(&f)
		return
	}
	f.id, f.seq = id, len(p.facts[i])
	p.seen[id] = seat{text: i, seq: f.seq}
	p.facts[i] = append(p.facts[i], f)
}

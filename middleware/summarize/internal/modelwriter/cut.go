package modelwriter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/tokens"
)

// piece is as much of a record as one request shows.
type piece struct {
	units  []unit
	tokens int
}

// leastRoom is how many tokens of a record a request must have room for. The
// longest head has less.
const leastRoom = 512

// cutter cuts a record into pieces.
type cutter struct{ meter tokens.Meter }

func (c cutter) count(text string) int { return c.meter.Part(message.Text{Text: text}) }

func (c cutter) size(u unit) int {
	n := 0
	for _, e := range u {
		n += c.count(e.text())
	}
	return n
}

// pieces cuts units into pieces of at most room tokens, about equally long, so
// that none is too short to take notes of. Units that fit stay whole.
func (c cutter) pieces(units []unit, room int) []piece {
	bits, total := c.bits(units, room)
	for count := max(1, (total+room-1)/room); ; count++ {
		if out := join(bits, total, count, room); len(out) <= count {
			return together(out, room)
		}
	}
}

// together joins neighbours that fit into one piece.
func together(pieces []piece, room int) []piece {
	out := pieces[:1]
	for _, p := range pieces[1:] {
		if last := &out[len(out)-1]; last.tokens+p.tokens <= room {
			last.units = append(last.units, p.units...)
			last.tokens += p.tokens
			continue
		}
		out = append(out, p)
	}
	return out
}

// halves cuts a piece in two, or, if it is that short, not at all.
func (c cutter) halves(p piece, least int) []piece {
	if p.tokens < 2*max(least, leastRoom) {
		return []piece{p}
	}
	bits, total := c.bits(p.units, p.tokens/2+1)
	return join(bits, total, 2, p.tokens)
}

// bits returns units that fit, each as a piece, and the sum of their tokens.
func (c cutter) bits(units []unit, room int) (bits []piece, total int) {
	for _, u := range units {
		for _, part := range c.fit(u, room) {
			n := c.size(part)
			bits = append(bits, piece{[]unit{part}, n})
			total += n
		}
	}
	return bits, total
}

// join puts bits together to about count pieces of at most room tokens: each
// border is as near as can be to where equal pieces would have it.
func join(bits []piece, total, count, room int) []piece {
	var out []piece
	now, before := piece{}, 0
	for _, p := range bits {
		border := total * (len(out) + 1) / count
		if now.tokens > 0 && (before+p.tokens/2 > border || now.tokens+p.tokens > room) {
			out, now = append(out, now), piece{}
		}
		now.units = append(now.units, p.units...)
		now.tokens += p.tokens
		before += p.tokens
	}
	return append(out, now)
}

// fit cuts a unit that has more tokens than room: at its entries, and an entry
// as a text.
func (c cutter) fit(u unit, room int) []unit {
	if c.size(u) <= room {
		return []unit{u}
	}
	var out []unit
	var now unit
	sum := 0
	for _, e := range u {
		for _, part := range c.split(e, room) {
			n := c.count(part.text())
			if sum+n > room && now != nil {
				out, now, sum = append(out, now), nil, 0
			}
			now, sum = append(now, part), sum+n
		}
	}
	return append(out, now)
}

// split cuts an entry that has more tokens than room. Each part says which it
// is.
func (c cutter) split(e entry, room int) []entry {
	n := c.count(e.text())
	if n <= room {
		return []entry{e}
	}
	const mark = 32 // tokens for the number of the part
	room -= mark
	bodies := c.splitText(e, e.body, n/max(1, room*3/4)+1, room)
	out := make([]entry, len(bodies))
	for i, body := range bodies {
		out[i] = entry{fmt.Sprintf("%s, part %d of %d", e.head, i+1, len(bodies)), body}
	}
	return out
}

// splitText cuts a text into about so many parts, and parts that still have
// more tokens than room once more.
func (c cutter) splitText(e entry, text string, parts, room int) []string {
	size := max(utf8.UTFMax, len(text)/max(2, parts)+1)
	var out []string
	for text != "" {
		at := border(text, size)
		part := text[:at]
		text = text[at:]
		if len(part) > utf8.UTFMax && c.count(entry{e.head, part}.text()) > room {
			out = append(out, c.splitText(e, part, 2, room)...)
			continue
		}
		out = append(out, part)
	}
	return out
}

// border returns where to cut a text of which at most size bytes shall stand
// before the cut: behind a line, else behind a word, else behind a character.
func border(text string, size int) int {
	if len(text) <= size {
		return len(text)
	}
	from := size * 3 / 4
	if i := strings.LastIndexByte(text[from:size], '\n'); i >= 0 {
		return from + i + 1
	}
	if i := strings.LastIndexAny(text[from:size], " \t"); i >= 0 {
		return from + i + 1
	}
	at := size
	for at > 0 && at > size-utf8.UTFMax && !utf8.RuneStart(text[at]) {
		at--
	}
	if at == 0 || !utf8.RuneStart(text[at]) {
		return size // no UTF-8
	}
	return at
}

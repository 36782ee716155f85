package scribe

import (
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// cheaper reports whether the suffix request costs less than fresh ones. With r,
// w and o the prices of tokens that are read from the cache, written to it and
// answered, T the live conversation, i the order, R the record and s the summary,
//
//	suffix: rT + wi + os, or w(T+i) + os where no cache holds T
//	fresh:  wR + os, at the prices of the writer
//
// With a price unknown nothing can be compared, and the brief says what to do.
func (s *session) cheaper(d *draft) bool {
	suffix, ok := s.suffixCost(d)
	fresh, known := s.freshCost()
	if !ok || !known {
		return s.Prefer == Suffix && !s.Cold
	}
	return suffix < fresh
}

func (s *session) suffixCost(d *draft) (models.Cost, bool) {
	all := s.Meter.Request(d.Messages, d.Tools)
	cached := s.Meter.Request(s.Live.Messages, s.Live.Tools)
	if s.Cold || cached < s.Main.Known.Cache.Min {
		cached = 0
	}
	cached = min(cached, all)
	return s.Main.Known.Price.Cost(message.Usage{
		Input: all, CacheRead: cached, CacheWrite: all - cached, Output: s.target(d.terms),
	})
}

// freshCost is that of one request, or of all that it takes to read the record in
// pieces and to write from the notes. No provider caches what is asked once, but
// most charge as if they did.
func (s *session) freshCost() (models.Cost, bool) {
	shown := 0
	for _, u := range record(s.Folded) {
		shown += s.cutter.size(u)
	}
	shown += s.cutter.count(s.Earlier)
	pieces := 1
	if s.room > 0 && shown > s.room {
		pieces = (shown+s.room-1)/s.room + 1
	}
	answer := s.desk.limit * 3 / 4
	input := shown/pieces + s.frame(s.Writer, s.desk.limit)
	cost, ok := s.Writer.Known.Price.Cost(message.Usage{Input: input, CacheWrite: input, Output: answer})
	return cost * models.Cost(pieces), ok
}

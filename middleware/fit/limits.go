package fit

import (
	"cmp"
	"iter"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// dropTries bounds how often limits are looked at again once media were dropped:
// with fewer images, others hold.
const dropTries = 4

// keepLimits leaves out the media that break a limit of the provider: first those
// that break one by themselves, then the oldest, until the request as a whole keeps
// its limits. What is attached to questions and what the newest results hold goes
// last. Of what is counted, old ones go until a share of the limit is left, so that
// the next image does not cost another one.
func (s *sketch) keepLimits(share float64) {
	for range dropTries {
		before := s.total
		for limit, broken := range s.broken() {
			s.keepLimit(limit, broken, share)
		}
		if s.total == before {
			return
		}
	}
}

// broken yields the limits that the sketch breaks, with what is in the way.
func (s *sketch) broken() iter.Seq2[message.Limit, []message.Excess] {
	msgs := slices.Clone(s.now)
	for i, st := range s.state {
		if st == folded {
			msgs[i] = message.Message{}
		}
	}
	found := s.limits.Broken(msgs, s.besides)
	return func(yield func(message.Limit, []message.Excess) bool) {
		slices.SortStableFunc(found, func(a, b message.Excess) int { return cmp.Compare(a.Limit, b.Limit) })
		for len(found) > 0 {
			n := 1
			for n < len(found) && found[n].Limit == found[0].Limit {
				n++
			}
			if !yield(found[0].Limit, found[:n]) {
				return
			}
			found = found[n:]
		}
	}
}

// keepLimit leaves out media for one limit.
func (s *sketch) keepLimit(limit message.Limit, broken []message.Excess, share float64) {
	media, count := s.attachments(), func(a attachment) int { return 1 }
	is, most := broken[0].Is, broken[0].Most
	switch limit {
	case message.RequestBytes: // texts can become shorter, too
		return
	case message.ImageBytes, message.ImageSide, message.DocumentBytes:
		media = those(media, broken)
		is, most = len(media), 0
	case message.ManyImageSide: // until there are not many any more
		media, count = amongMany(media, those(media, broken)), func(a attachment) int { return a.Images }
		is, most = s.images(), s.limits.ManyImages
	case message.RequestImages:
		count = func(a attachment) int { return a.Images }
	case message.RequestMedia:
		count = func(a attachment) int { return a.Images + a.Documents }
	case message.RequestDocuments:
		count = func(a attachment) int { return a.Documents }
	case message.AllDocumentBytes:
		count = func(a attachment) int { return a.AllDocumentBytes }
	}
	old := 0
	for _, a := range media {
		if !a.fixed {
			old += count(a)
		}
	}
	fixed := max(0, is-old)
	s.drop(media, count, is-most, is-fixed-int(share*float64(max(0, most-fixed))))
}

// amongMany returns the media that go if there are too many images for such large
// ones: the large ones, unless one of them is fixed, for then rather all old ones
// before it.
func amongMany(media, large []attachment) []attachment {
	k := slices.IndexFunc(large, func(a attachment) bool { return a.fixed })
	if k < 0 {
		return large
	}
	old := slices.DeleteFunc(media, func(a attachment) bool { return a.fixed })
	return slices.Concat(old, large[k:])
}

// those returns the attachments that are in the way.
func those(media []attachment, broken []message.Excess) []attachment {
	return slices.DeleteFunc(slices.Clone(media), func(a attachment) bool {
		return !slices.ContainsFunc(broken, func(e message.Excess) bool { return e.At == a.at && e.Part == a.k })
	})
}

// images counts the images that are left.
func (s *sketch) images() int {
	n := 0
	for i := range s.now {
		if s.state[i] != folded {
			n += s.now[i].LoadBound().Images
		}
	}
	return n
}

// dropLargest leaves out old media, the largest first, if the request has too many
// bytes.
func (s *sketch) dropLargest(r, target room) {
	if s.total.bytes <= r.bytes {
		return
	}
	media := slices.DeleteFunc(s.attachments(), func(a attachment) bool { return a.fixed })
	slices.SortStableFunc(media, func(a, b attachment) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, a := range media {
		if s.total.bytes <= target.bytes {
			return
		}
		s.dropMedia(a.at, a.k)
	}
}

// attachment is a part that is media, or a result that holds some.
type attachment struct {
	message.Load

	at, k int
	fixed bool // it stands in a question or in the newest round
}

// attachments returns what may be left out: the oldest first, and behind them
// what is fixed.
func (s *sketch) attachments() []attachment {
	var out, fixed []attachment
	for i := range s.now {
		p := s.view.Protected(i)
		if s.state[i] == folded || p&middleware.Whole != 0 {
			continue
		}
		for k, part := range s.now[i].Parts {
			if _, ok := withoutMedia(part, store.Handle{}); !ok || !cuttable(part, p) {
				continue
			}
			a := attachment{Load: message.Message{Parts: []message.Part{part}}.Load(), at: i, k: k, fixed: p != 0}
			if a.fixed {
				fixed = append(fixed, a)
			} else {
				out = append(out, a)
			}
		}
	}
	return append(out, fixed...)
}

// drop leaves out attachments in their order until as much is gone as must, and of
// those that are not fixed, as should.
func (s *sketch) drop(media []attachment, of func(attachment) int, must, should int) {
	gone := 0
	for _, a := range media {
		if gone >= must && (gone >= should || a.fixed) {
			return
		}
		if n := of(a); n > 0 {
			s.dropMedia(a.at, a.k)
			gone += n
		}
	}
}

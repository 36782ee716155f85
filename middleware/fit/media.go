package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
)

// keepLimits removes the media that break a limit of the provider: those that break
// one by themselves, then the oldest until a share of the limit is left, so that the
// next image needs no other edit. Attachments of questions and media in the newest
// results are removed last, and no more of them than necessary.
func (s *sketch) keepLimits(share float64) {
	for range 4 { // with fewer images, others of the limits apply
		before := s.total
		msgs := slices.Clone(s.now)
		for i, st := range s.state {
			if st == folded {
				msgs[i] = message.Message{}
			}
		}
		found := payload.Broken(s.limits, msgs, s.toolLoad)
		slices.SortStableFunc(found, func(a, b payload.Excess) int { return cmp.Compare(a.Limit, b.Limit) })
		for len(found) > 0 {
			n := 1
			for n < len(found) && found[n].Limit == found[0].Limit {
				n++
			}
			s.keepLimit(found[0].Limit, found[:n], share)
			found = found[n:]
		}
		if s.total == before {
			return
		}
	}
}

// keepLimit removes media for one limit.
func (s *sketch) keepLimit(limit string, broken []payload.Excess, share float64) {
	media, count := s.attachments(), func(a attachment) int { return countedBy(limit, a.Load) }
	is, most := broken[0].Is, broken[0].Most
	switch limit {
	case payload.RequestBytes: // texts can be cut, too
		return
	case payload.ImageBytes, payload.ImageSide, payload.DocumentBytes:
		media, count = breaking(media, broken), func(attachment) int { return 1 }
		is, most = len(media), 0
	case payload.ManyImageSide: // until the images are no longer many
		media, count = amongMany(media, breaking(media, broken)), func(a attachment) int { return a.Images }
		is, most = 0, s.limits.ManyImages
		for i := range s.now {
			if s.state[i] != folded {
				is += payload.Bound(&s.now[i]).Images
			}
		}
	default:
	}
	removed, fixed := 0, is
	for _, a := range media {
		if !a.fixed {
			fixed = max(0, fixed-count(a))
		}
	}
	must, should := is-most, is-fixed-int(share*float64(max(0, most-fixed)))
	for _, a := range media {
		if removed >= must && (removed >= should || a.fixed) || s.watch.Done() {
			return
		}
		if n := count(a); n > 0 {
			s.dropMedia(a.at, a.k)
			removed += n
		}
	}
}

// countedBy returns how much a limit of the whole request counts of a load.
func countedBy(limit string, l payload.Load) int {
	switch limit {
	case payload.RequestBytes:
		return l.Bytes
	case payload.RequestImages:
		return l.Images
	case payload.RequestDocuments:
		return l.Documents
	case payload.RequestMedia:
		return l.Images + l.Documents
	case payload.AllDocumentBytes:
		return l.AllDocumentBytes
	default: // of one part
		return 0
	}
}

// amongMany returns the media to be removed if some are too large for a request with
// many images: the large ones; or if one of them is fixed, all old ones first.
func amongMany(media, large []attachment) []attachment {
	fixed := func(a attachment) bool { return a.fixed }
	k := slices.IndexFunc(large, fixed)
	if k < 0 {
		return large
	}
	return slices.Concat(slices.DeleteFunc(media, fixed), large[k:])
}

// breaking returns the attachments that break a limit by themselves.
func breaking(media []attachment, broken []payload.Excess) []attachment {
	type part struct{ at, k int }
	found := make(map[part]bool, len(broken))
	for _, e := range broken {
		found[part{e.At, e.Part}] = true
	}
	return slices.DeleteFunc(slices.Clone(media), func(a attachment) bool { return !found[part{a.at, a.k}] })
}

// dropLargest removes old media, the largest first, if the request has too many bytes.
func (s *sketch) dropLargest(r, target room) {
	if s.total.bytes <= r.bytes {
		return
	}
	media := slices.DeleteFunc(s.attachments(), func(a attachment) bool { return a.fixed })
	slices.SortStableFunc(media, func(a, b attachment) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, a := range media {
		if s.total.bytes <= target.bytes || s.watch.Done() {
			return
		}
		s.dropMedia(a.at, a.k)
	}
}

// attachment is a part that is media, or a result with media.
type attachment struct {
	payload.Load

	at, k int
	fixed bool // it is in a question or in the newest round
}

// attachments returns what may be removed: the oldest first, and the fixed ones last.
func (s *sketch) attachments() []attachment {
	var out, fixed []attachment
	for i := range s.now {
		p := s.view.Protected(i)
		if s.state[i] == folded || p&middleware.ProtectWhole != 0 {
			continue
		}
		for k, part := range s.now[i].Parts {
			if s.watch.Done() {
				return nil
			}
			if _, ok := mediaOf(part); !ok || !s.cuttable(i, part) {
				continue
			}
			a := attachment{Load: payload.Of(&message.Message{Parts: []message.Part{part}}), at: i, k: k, fixed: p != 0}
			if a.fixed {
				fixed = append(fixed, a)
			} else {
				out = append(out, a)
			}
		}
	}
	return append(out, fixed...)
}

// mediaOf returns a part that is media, or the media of a result.
func mediaOf(p message.Part) (m message.Media, ok bool) {
	if r, isResult := p.(message.ToolResult); isResult {
		p = r.Content
	}
	m, ok = p.(message.Media)
	return m, ok
}

// dropMedia replaces the media of one part by a note if that is smaller, and reports
// whether it did.
func (s *sketch) dropMedia(at, k int) bool {
	p := s.now[at].Parts[k]
	without, ok := s.withoutMedia(at, k)
	if !ok || !s.replace(at, k, without) {
		return false
	}
	if s.archiver != nil {
		s.uncut[without] = p
	}
	return true
}

// withoutMedia returns part k of a message with a note in the place of its media. It
// returns false if it has none.
func (s *sketch) withoutMedia(at, k int) (message.Part, bool) {
	p := s.now[at].Parts[k]
	m, ok := mediaOf(p)
	if !ok {
		return nil, false
	}
	note := mediaNote(m, s.handleOf(at, p))
	r, ok := p.(message.ToolResult)
	if !ok {
		return message.Text{Text: note}, true
	}
	if r.Content = nil; r.Text != "" {
		r.Text += "\n"
	}
	r.Text += note
	return r, true
}

// bareNote returns a note on media without its handle, if part k of a message is a
// note with a handle.
func (s *sketch) bareNote(at, k int) (bare message.Text, longer bool) {
	before, now := s.view.Original(at).Parts, s.now[at].Parts
	if len(before) != len(now) {
		return bare, false
	}
	m, ok := before[k].(message.Media)
	note, isText := now[k].(message.Text)
	if !ok || !isText || len(archived.In(note.Text)) == 0 {
		return bare, false
	}
	bare = message.Text{Text: mediaNote(m, store.Handle{})}
	return bare, len(bare.Text) < len(note.Text)
}

// mediaNote returns the text in the place of media.
func mediaNote(m message.Media, h store.Handle) string {
	const longest = 60 // of a name, in bytes
	what := "media"
	kind, _, _ := strings.Cut(m.Type, ";")
	for _, name := range []string{kind, strings.ToValidUTF8(m.Name, "?")} {
		if name != "" && len(name) <= longest && !strings.ContainsAny(name, "\r\n") {
			what = name
		}
	}
	if !h.IsZero() {
		return fmt.Sprintf("(%s: left out of the request; %s %s)", what, store.RecallTool, h)
	}
	return fmt.Sprintf("(%s: left out of the request)", what)
}

package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/payload"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// piece is a part that can be cut, or whose media can be removed.
type piece struct {
	at, k       int
	isProtected bool // it is in a question, in the newest round, or of a protected tool
}

// pieces returns the pieces of which something is true, oldest first.
func (d *draft) pieces(of func(at, k int) bool) (found []piece) {
	answers := map[string]int{} // the last message with a result of a call
	for i := range d.now {
		for r := range d.now[i].Results() {
			answers[r.CallID] = i
		}
	}
	for i := range d.now {
		by := d.view.Protected(i)
		for k := range d.now[i].Parts {
			if !by.Whole && of(i, k) && d.canCut(i, k, answers) {
				found = append(found, piece{i, k, by != (middleware.Protection{})})
			}
		}
	}
	return found
}

// canCut reports whether part k of message at may be cut. answers has the last message with a result of each call.
func (d *draft) canCut(at, k int, answers map[string]int) bool {
	p := d.now[at].Parts[k]
	if !d.may.lastResort && d.view.ProtectedPart(at, p).Whole {
		return false
	}
	by, edit := d.view.Protected(at), d.view.Span(at).Edit
	by.Tool = false
	by.Plan = false
	by.Opaque = false
	none := middleware.Protection{}
	switch p := p.(type) {
	case message.ToolCall: // one that nothing protects, or an answered one of the newest round
		folded := edit != nil && edit.Kind == journal.Fold
		return by == none || by == (middleware.Protection{Newest: true}) && d.may.lastResort && !folded && answers[p.ID] > at
	case message.Text:
		_, wasMedia := d.mediaAt(at, k)
		return by == none || wasMedia
	case message.Media:
		return !by.Newest
	case message.ToolResult:
		_, opaque := p.Content.(message.Opaque)
		return !by.Text && (!opaque || p.Text != "")
	case message.Thinking, message.Opaque: // are kept whole or removed
	}
	return false
}

// cutFixed does nothing unless what cannot be left out is too large by itself. Then it cuts those parts of it that can be cut,
// mostly the newest results. They keep half of the room, or what the other messages do not need if that is more, but no more
// than the rest that cannot be left out allows. If some were read from the archive, and the others keep a third of that next to
// them, only the others are cut.
func (d *draft) cutFixed() {
	fixed := d.fixed()
	if fixed <= d.most {
		return
	}
	size := func(p piece) int { return d.sizeOf(d.now[p.at].Parts[p.k]) }
	isRecalled := func(p piece) bool { return !d.recalledBy(p.at, d.now[p.at].Parts[p.k]).IsZero() }
	pieces, cuttable, recalled := d.pieces(func(at, _ int) bool { return !d.free[at] }), 0, 0
	for _, p := range pieces {
		cuttable += size(p)
		if isRecalled(p) {
			recalled += size(p)
		}
	}
	uncuttable, others := fixed-cuttable, d.total-cuttable
	stopAt := d.aim(uncuttable)
	allowed := min(stopAt-uncuttable, max(d.most/2, stopAt-others))
	if allowed-recalled >= allowed/3 && recalled < cuttable {
		pieces, allowed = slices.DeleteFunc(pieces, isRecalled), allowed-recalled
	}
	for _, cut := range []func(at, k, limit int){func(at, k, _ int) { d.dropMedia(at, k) }, d.cut} {
		var sizes []int
		sum := 0
		for _, p := range pieces {
			sizes, sum = append(sizes, size(p)), sum+size(p)
		}
		limit := shorten.Level(sizes, allowed) // the largest ones are cut to the same size
		for i, p := range pieces {
			if sum <= allowed || sizes[i] <= limit {
				continue
			}
			if d.ctx.Err() != nil {
				return
			}
			cut(p.at, p.k, limit)
			sum += size(p) - sizes[i]
		}
	}
}

// cut makes one part smaller, if possible no larger than the limit.
func (d *draft) cut(at, k, limit int) {
	p, original := d.now[at].Parts[k], d.original(at, k)
	by, whole := d.view.Meter().Counter, shorten.Text(original)
	switch old := p.(type) {
	case message.Text:
		if _, wasMedia := d.mediaAt(at, k); wasMedia {
			return
		}
		p = message.Text{Text: shortened(by, whole, limit, d.archive(at, original), "")}
	case message.ToolCall:
		p = d.shortCall(at, k, old, false, limit)
	case message.ToolResult:
		if r, _ := original.(message.ToolResult); r.Content != nil && old.Content == nil { // old has a note in its place
			whole = old.Text
		}
		how := ""
		if !d.recalledBy(at, old).IsZero() {
			how = ", fewer lines at a time by from and to" // the whole of it would be cut again
		}
		old.Text = shortened(by, whole, limit, d.archive(at, original), how)
		p = old
	case message.Media, message.Thinking, message.Opaque: // are kept whole or removed
	}
	d.replace(at, k, p)
}

// shortened returns the head and the tail of a text, with a mark between them that has the number of missing characters,
// and the handle if it is not zero, with how to ask for it. The result has no more tokens than the limit, or else only the
// first characters of the text and an ellipsis.
func shortened(by tokens.Counter, text string, limit int, h store.Handle, how string) string {
	const leastKept, ellipsis = 64, "…" // bytes of a text that are kept with a mark
	short, ok := shorten.Within(text, limit, leastKept, by.Count, func(missing string) string {
		mark := fmt.Sprintf("[… %d characters left out", utf8.RuneCountInString(missing))
		if !h.IsZero() {
			mark += fmt.Sprintf(": %s %s%s", store.RecallTool, h, how)
		}
		return mark + " …]"
	})
	if ok {
		return short
	}
	if n := shorten.Border(text, len(ellipsis), 1); n+len(ellipsis) < len(text) {
		return text[:n] + ellipsis
	}
	return text
}

// keepLimits removes the media that break a limit of the provider: those that break one by themselves, then the oldest, or
// for bytes the largest, until a share of the limit is left, so that the next image needs no other edit. Protected ones
// are removed last, and no more of them than necessary. It returns what is still exceeded.
func (d *draft) keepLimits() []payload.Excess {
	kept := map[string]bool{}
	for {
		broken := payload.Broken(d.limits, d.now, d.toolLoad)
		left := slices.DeleteFunc(slices.Clone(broken), func(e payload.Excess) bool { return kept[e.Limit] })
		if len(left) == 0 || d.ctx.Err() != nil {
			return broken
		}
		limit := left[len(left)-1].Limit // those of single parts are last
		kept[limit] = true
		d.keepLimit(slices.DeleteFunc(left, func(e payload.Excess) bool { return e.Limit != limit }))
	}
}

// keepLimit removes media for one limit, which these places exceed.
func (d *draft) keepLimit(broken []payload.Excess) {
	e, count := broken[0], func(p piece) int {
		return countedBy(broken[0].Limit, payload.Of(&message.Message{Parts: d.now[p.at].Parts[p.k : p.k+1]}))
	}
	isProtected := func(p piece) bool { return p.isProtected }
	media := d.pieces(func(at, k int) bool { _, ok := d.mediaAt(at, k); return ok })
	breaking := slices.DeleteFunc(slices.Clone(media), func(p piece) bool {
		return !slices.ContainsFunc(broken, func(e payload.Excess) bool { return e.At == p.at && e.Part == p.k })
	})
	switch e.Limit {
	case payload.RequestBytes: // texts can be shortened, too
		media = slices.DeleteFunc(media, isProtected)
		slices.SortStableFunc(media, func(a, b piece) int { return cmp.Compare(count(b), count(a)) })
	case payload.ImageBytes, payload.ImageSide, payload.DocumentBytes:
		media = breaking
		count = func(piece) int { return 1 }
		e.Is = len(breaking)
		e.Most = 0
	case payload.ManyImageSide: // until the images are no longer many: the large ones, or the oldest if one of the large is protected
		if !slices.ContainsFunc(breaking, isProtected) {
			media = breaking
		}
		e.Is, e.Most = 0, d.limits.ManyImages
		for i := range d.now {
			e.Is += payload.Bound(&d.now[i]).Images
		}
	}
	last := slices.DeleteFunc(slices.Clone(media), func(p piece) bool { return !p.isProtected })
	for _, p := range append(slices.DeleteFunc(media, isProtected), last...) {
		if e.Is <= e.Most && (p.isProtected || e.Is <= int(d.opts.Target*float64(e.Most))) {
			return
		}
		if n := count(p); n > 0 {
			d.dropMedia(p.at, p.k)
			e.Is -= n
		}
	}
}

// countedBy returns how much a limit of the whole request counts of a load.
func countedBy(limit string, l payload.Load) int {
	return map[string]int{
		payload.RequestBytes: l.Bytes, payload.RequestImages: l.Images, payload.RequestDocuments: l.Documents,
		payload.ManyImageSide: l.Images, payload.RequestMedia: l.Images + l.Documents, payload.AllDocumentBytes: l.AllDocumentBytes,
	}[limit]
}

// mediaAt returns the media of part k of a message, or those that an earlier edit has replaced by this text.
func (d *draft) mediaAt(at, k int) (m message.Media, ok bool) {
	now, was := d.now[at].Parts, d.view.Original(at).Parts
	p := now[k]
	if r, isResult := p.(message.ToolResult); isResult {
		p = r.Content
	} else if _, isText := p.(message.Text); isText && len(was) == len(now) {
		p = was[k]
	}
	m, ok = p.(message.Media)
	return m, ok
}

// dropMedia puts a note in the place of the media of one part if that is smaller.
func (d *draft) dropMedia(at, k int) {
	const longest = 60 // of a name, in bytes
	p := d.now[at].Parts[k]
	m, ok := d.mediaAt(at, k)
	if !ok {
		return
	}
	what, to := "media", ""
	kind, _, _ := strings.Cut(m.Type, ";")
	for _, name := range []string{kind, strings.ToValidUTF8(m.Name, "?")} {
		if name != "" && len(name) <= longest && !strings.ContainsAny(name, "\r\n") {
			what = name
		}
	}
	if h := d.archive(at, d.original(at, k)); !h.IsZero() {
		to = fmt.Sprintf("; %s %s", store.RecallTool, h)
	}
	note := fmt.Sprintf("(%s: left out of the request%s)", what, to)
	if r, ok := p.(message.ToolResult); ok {
		r.Text, r.Content = strings.TrimPrefix(r.Text+"\n"+note, "\n"), nil
		d.replace(at, k, r)
	} else {
		d.replace(at, k, message.Text{Text: note})
	}
}

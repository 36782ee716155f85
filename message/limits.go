package message

// Limits are what a provider accepts in one request besides tokens. A field of
// zero, or less: no limit is known. Limits are plain numbers: whoever knows
// better changes them.
type Limits struct {
	Bytes            int // of the request's body
	Images           int
	Media            int // images and documents together
	Documents        int
	AllDocumentBytes int // of all documents together, as they are sent (base64)

	ImageBytes    int // of one image, as it is sent (base64)
	ImageSide     int // pixels of the longer side of one image
	ManyImages    int // if there are more images than so many,
	ManySide      int // this is the longest side; it needs both
	DocumentBytes int // of one document, as it is sent (base64)
}

// Limits returns the limits of these providers, of several the strictest of
// each, for a model with a window of so many tokens; 0, not known: the
// strictest. docs/validity.md lists the source of each. [Unconfirmed], and so
// [Portable], adds those that are only said to be. Rules without a provider
// have no limits.
func (r Rules) Limits(window int) Limits {
	var l Limits
	for _, e := range limitSheet {
		demanded := e.By&r != 0 || r&Unconfirmed != 0 && e.Maybe&r != 0
		if !demanded || e.Window > 0 && window > e.Window {
			continue
		}
		lower(fieldOf(&l, e.Limit), e.Most)
		if e.Limit == ManyImageSide {
			lower(&l.ManyImages, e.Above)
		}
	}
	return l
}

func lower(limit *int, most int) {
	if *limit == 0 || most < *limit {
		*limit = most
	}
}

// fieldOf returns the field that holds a limit.
func fieldOf(l *Limits, limit Limit) *int {
	switch limit {
	case RequestBytes:
		return &l.Bytes
	case RequestImages:
		return &l.Images
	case RequestMedia:
		return &l.Media
	case RequestDocuments:
		return &l.Documents
	case AllDocumentBytes:
		return &l.AllDocumentBytes
	case ImageBytes:
		return &l.ImageBytes
	case ImageSide:
		return &l.ImageSide
	case ManyImageSide:
		return &l.ManySide
	case DocumentBytes:
		return &l.DocumentBytes
	}
	panic("message: no field for the limit " + string(limit))
}

// Allow reports whether a request of this load keeps the limits. The load is the
// sum over all messages and tools, of [Message.Load], or of
// [Message.LoadBound] for a quick answer that may be false too early.
// [Limits.Broken] tells what is in the way.
func (l Limits) Allow(total Load) bool {
	return len(l.appendTotal(nil, total)) == 0 && len(l.appendSingle(nil, total, total.Images)) == 0
}

// Broken returns which limits a request of these messages breaks: first those
// of the request as a whole, then those of single parts in their order; nil: none.
// besides is the load of what else the request holds, as its tools.
//
// Fewer images may cure [ManyImageSide] as well. Images whose size cannot be
// read, and media that are elsewhere, are counted and else trusted.
func (l Limits) Broken(msgs []Message, besides Load) []Excess {
	bound, total := besides, besides
	for i := range msgs {
		addMessage(&bound, &msgs[i], false)
	}
	if l.Allow(bound) {
		return nil
	}
	for i := range msgs {
		addMessage(&total, &msgs[i], true)
	}
	found := l.appendTotal(nil, total)
	for i := range msgs {
		for k, p := range msgs[i].Parts {
			var part Load
			addPart(&part, p, false)
			from := len(found)
			found = l.appendSingle(found, part, total.Images)
			for n := range found[from:] {
				found[from+n].At, found[from+n].Part = i, k
			}
		}
	}
	return found
}

// appendTotal adds the limits of the request as a whole that a load breaks.
func (l Limits) appendTotal(found []Excess, total Load) []Excess {
	found = appendExcess(found, RequestBytes, total.Bytes, l.Bytes)
	found = appendExcess(found, RequestImages, total.Images, l.Images)
	found = appendExcess(found, RequestMedia, total.Images+total.Documents, l.Media)
	found = appendExcess(found, RequestDocuments, total.Documents, l.Documents)
	return appendExcess(found, AllDocumentBytes, total.AllDocumentBytes, l.AllDocumentBytes)
}

// appendSingle adds the limits of a single part that a load breaks in a request
// of so many images.
func (l Limits) appendSingle(found []Excess, part Load, images int) []Excess {
	found = appendExcess(found, ImageBytes, part.ImageBytes, l.ImageBytes)
	before := len(found)
	found = appendExcess(found, ImageSide, part.ImageSide, l.ImageSide)
	if len(found) == before && l.ManyImages > 0 && images > l.ManyImages {
		found = appendExcess(found, ManyImageSide, part.ImageSide, l.ManySide)
	}
	return appendExcess(found, DocumentBytes, part.DocumentBytes, l.DocumentBytes)
}

func appendExcess(found []Excess, limit Limit, is, most int) []Excess {
	if most <= 0 || is <= most {
		return found
	}
	return append(found, Excess{Limit: limit, At: -1, Part: -1, Is: is, Most: most})
}

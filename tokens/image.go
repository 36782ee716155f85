package tokens

// Images says what an image costs by its size in pixels. There are three rules;
// of those that are set, the one that gives most counts. If none is, each image
// costs Unknown.
type Images struct {
	Unknown int // for an image whose size cannot be read

	// OpenAI: shrunk into 2048 by 2048 and to 768 on the short side, then cut
	// into tiles of 512 by 512. High detail is assumed.
	Base, PerTile int

	// OpenAI, small models: patches of 32 by 32, in thousandths of a token each.
	MilliPerPatch, MaxPatches int

	// Anthropic: width times height by PixelsPerToken, shrunk to LongEdge on the
	// long side, Max at most. A LongEdge or Max of 0 is no limit.
	PixelsPerToken, LongEdge, Max int
}

// Tokens returns what an image of this size costs. A width or height that is
// not positive is not known.
func (r Images) Tokens(width, height int) int {
	if width <= 0 || height <= 0 {
		return r.Unknown
	}
	w, h := int64(width), int64(height)
	n := max(r.tiles(w, h), r.patches(w, h), r.pixels(w, h))
	if n == 0 {
		return r.Unknown
	}
	return int(n)
}

func (r Images) tiles(w, h int64) int64 {
	if r.Base == 0 && r.PerTile == 0 {
		return 0
	}
	w, h = shrink(w, h, max(w, h), 2048)
	w, h = shrink(w, h, min(w, h), 768)
	return int64(r.Base) + int64(r.PerTile)*over(w, 512)*over(h, 512)
}

func (r Images) patches(w, h int64) int64 {
	if r.MilliPerPatch == 0 {
		return 0
	}
	n := over(w, 32) * over(h, 32)
	if r.MaxPatches > 0 {
		n = min(n, int64(r.MaxPatches))
	}
	return over(n*int64(r.MilliPerPatch), 1000)
}

func (r Images) pixels(w, h int64) int64 {
	if r.PixelsPerToken <= 0 {
		return 0
	}
	if r.LongEdge > 0 {
		w, h = shrink(w, h, max(w, h), int64(r.LongEdge))
	}
	n := over(w*h, int64(r.PixelsPerToken))
	if r.Max > 0 {
		n = min(n, int64(r.Max))
	}
	return n
}

// shrink scales an image down so that one of its sides has at most limit pixels.
func shrink(w, h, side, limit int64) (width, height int64) {
	if side <= limit {
		return w, h
	}
	return max(1, w*limit/side), max(1, h*limit/side)
}

// over divides and rounds up.
func over(n, by int64) int64 { return (n + by - 1) / by }

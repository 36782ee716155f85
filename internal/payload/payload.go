// Package payload measures requests by what providers limit in addition to tokens: bytes,
// images and documents.
package payload

import (
	"fmt"

	"github.com/laconic-go/laconic/message"
)

// The limits by name. The names are what they count.
const (
	RequestBytes     = "bytes of the request"
	RequestImages    = "images"
	RequestMedia     = "images and documents"
	RequestDocuments = "documents"
	AllDocumentBytes = "bytes of all documents"
	ImageBytes       = "bytes of an image"
	ImageSide        = "pixels of an image"
	ManyImageSide    = "pixels of one of many images"
	DocumentBytes    = "bytes of a document"
)

// Excess is a limit that a request exceeds. Values are comparable.
type Excess struct {
	Limit string
	At    int // index of the message; -1: the whole request
	Part  int // index in its parts; -1: the whole request
	Is    int // the number in the request
	Most  int // the maximum
}

// String returns the position, the number and the maximum.
func (e Excess) String() string {
	where := "the request"
	if e.At >= 0 {
		where = fmt.Sprintf("message %d, part %d", e.At, e.Part)
	}
	return fmt.Sprintf("%s: %d %s, at most %d", where, e.Is, e.Limit, e.Most)
}

// Allow reports whether a request with this load is within the limits: the sum of [Of] over
// all messages, and of the tools. With [Bound] it may return false for a request that is
// within the limits.
func Allow(l message.Limits, total Load) bool {
	return len(ofRequest(l, total)) == 0 && len(ofPart(l, total, total.Images)) == 0
}

// Broken returns the limits that a request with these messages exceeds: first those of
// the whole request, then those of single parts in their order; nil if there is none.
// besides is the load of the rest of the request, such as its tools.
//
// [ManyImageSide] can also be satisfied by fewer images. Images whose size cannot be read,
// and media at a URL, only count towards the number of images or documents.
func Broken(l message.Limits, msgs []message.Message, besides Load) []Excess {
	bound, total := besides, besides
	for i := range msgs {
		addMessage(&bound, &msgs[i], false)
	}
	if Allow(l, bound) {
		return nil
	}
	for i := range msgs {
		addMessage(&total, &msgs[i], true)
	}
	found := ofRequest(l, total)
	for i := range msgs {
		for k, p := range msgs[i].Parts {
			var part Load
			addPart(&part, p, false)
			for _, e := range ofPart(l, part, total.Images) {
				e.At, e.Part = i, k
				found = append(found, e)
			}
		}
	}
	return found
}

// ofRequest returns the limits of the whole request that a load exceeds.
func ofRequest(l message.Limits, total Load) []Excess {
	return exceeded(
		Excess{Limit: RequestBytes, Is: total.Bytes, Most: l.Bytes},
		Excess{Limit: RequestImages, Is: total.Images, Most: l.Images},
		Excess{Limit: RequestMedia, Is: total.Images + total.Documents, Most: l.Media},
		Excess{Limit: RequestDocuments, Is: total.Documents, Most: l.Documents},
		Excess{Limit: AllDocumentBytes, Is: total.AllDocumentBytes, Most: l.AllDocumentBytes},
	)
}

// ofPart returns the limits of a single part that a load exceeds in a request with this
// many images.
func ofPart(l message.Limits, part Load, images int) []Excess {
	side := Excess{Limit: ImageSide, Is: part.ImageSide, Most: l.ImageSide}
	if many := l.ManyImages > 0 && images > l.ManyImages; many && (side.Most <= 0 || side.Is <= side.Most) {
		side.Limit, side.Most = ManyImageSide, l.ManySide
	}
	return exceeded(
		Excess{Limit: ImageBytes, Is: part.ImageBytes, Most: l.ImageBytes},
		side,
		Excess{Limit: DocumentBytes, Is: part.DocumentBytes, Most: l.DocumentBytes},
	)
}

func exceeded(all ...Excess) (found []Excess) {
	for _, e := range all {
		if e.Most > 0 && e.Is > e.Most {
			e.At, e.Part = -1, -1
			found = append(found, e)
		}
	}
	return found
}

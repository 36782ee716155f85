package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Handle is the short name of a content: twelve letters, as "kqvmzhtwrcxa".
// Eleven come from a hash of the content, one checks the others, so that a
// handle that a model has copied wrongly is told from one that was given up.
// In the rare case that another content has these letters already, the handle
// has a second word of twelve.
//
// Letters alone cost the fewest tokens for the same number of bits: about six
// and a half for a handle in the encodings of OpenAI.
//
// A Handle is comparable. The zero value names nothing; all others are well
// formed, as there is no way to make another: they come from [Handles], from
// [ParseHandle], and from stores.
type Handle struct{ letters string }

// The words of a handle.
const (
	wordLen  = 12
	maxWords = sha256.Size / 8
	alphabet = 26
)

// ParseHandle reads a handle: twelve small letters that fit together, or two,
// three or four times as many. White space, brackets and anything else around
// it are errors. The error is a [*HandleError].
func ParseHandle(text string) (Handle, error) {
	problem := ""
	switch {
	case text == "":
		problem = "is empty"
	case strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") != "":
		problem = "has other characters than the letters a to z"
	case len(text)%wordLen != 0 || len(text) > maxWords*wordLen:
		problem = fmt.Sprintf("is %d long", len(text))
	default:
		for word := range words(text) {
			if checkLetter(word[:wordLen-1]) != word[wordLen-1] {
				problem = "is mistyped: its last letter does not fit the others"
			}
		}
	}
	if problem != "" {
		return Handle{}, &HandleError{Handle: text, Problem: problem}
	}
	return Handle{letters: strings.Clone(text)}, nil
}

// HandleError says why a text is no handle, in words that a model can act on.
type HandleError struct {
	Handle  string // the text
	Problem string // what is wrong with it
}

// Error quotes the text, cut off where it gets long, and says what is wanted.
func (e *HandleError) Error() string {
	const shown = 40
	text := strconv.Quote(e.Handle[:min(shown, len(e.Handle))])
	if len(e.Handle) > shown {
		text += "…"
	}
	return fmt.Sprintf("store: handle %s %s, want %d letters a to z as they stand in the placeholder", text, e.Problem, wordLen)
}

// String returns the handle as it stands in placeholders, or "" if it is zero.
func (h Handle) String() string { return h.letters }

// IsZero reports whether the handle names nothing.
func (h Handle) IsZero() bool { return h.letters == "" }

// MarshalText writes the handle as [Handle.String] does.
func (h Handle) MarshalText() ([]byte, error) { return []byte(h.letters), nil }

// UnmarshalText reads what [Handle.MarshalText] wrote; nothing is the zero
// handle.
func (h *Handle) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = Handle{}
		return nil
	}
	parsed, err := ParseHandle(string(text))
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}

// Handles returns the handles that a content may have in a scope, the shortest
// first. They depend on nothing else. A store gives a content the first that
// is not another content's, and what it finds under a handle is whole and of
// this scope only if its Handles have it.
func Handles(scope string, c Content) []Handle {
	return slices.Collect(sumOf(scope, c).handles())
}

// shortest returns the first of the Handles.
func shortest(scope string, c Content) Handle { return sumOf(scope, c).shortest() }

// sum is a hash of a scope and a content. Two contents are the same if their
// sums are.
type sum [sha256.Size]byte

func sumOf(scope string, c Content) sum {
	const small = 4 << 10 // most contents, which need no memory then
	var room [small]byte
	b := appendHead(room[:0], scope, c.Type)
	if len(b)+len(c.Data) <= small {
		return sha256.Sum256(append(b, c.Data...))
	}
	h := newHash(scope, c.Type)
	hashString(h, c.Data)
	return sum(h.Sum(nil))
}

// newHash returns a hash that awaits the data of a content.
func newHash(scope, contentType string) hash.Hash {
	h := sha256.New()
	h.Write(appendHead(nil, scope, contentType))
	return h
}

// appendHead appends what is hashed before the data of a content.
func appendHead(b []byte, scope, contentType string) []byte {
	for _, s := range [...]string{"laconic content 1", scope, contentType} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// hashString feeds a text to a hash by pieces: converted whole, a huge one
// would be copied.
func hashString(w io.Writer, s string) {
	buf := make([]byte, min(len(s), 32<<10))
	for s != "" {
		n := copy(buf, s)
		_, _ = w.Write(buf[:n]) // a hash takes all
		s = s[n:]
	}
}

func (s sum) shortest() Handle { return Handle{letters: s.letters(1)} }

// handles yields the handles that a content may have: mostly, the first will do.
func (s sum) handles() iter.Seq[Handle] {
	return func(yield func(Handle) bool) {
		for words := range maxWords {
			if !yield(Handle{letters: s.letters(words + 1)}) {
				return
			}
		}
	}
}

// has reports whether a handle is one of those.
func (s sum) has(h Handle) bool { return h == Handle{letters: s.letters(len(h.letters) / wordLen)} }

// letters writes the first words of a sum, eight bytes each.
func (s sum) letters(words int) string {
	b := make([]byte, 0, maxWords*wordLen)
	for i := range words {
		v := binary.BigEndian.Uint64(s[8*i:])
		for range wordLen - 1 {
			b = append(b, 'a'+byte(v%alphabet))
			v /= alphabet
		}
		b = append(b, checkLetter(string(b[len(b)-(wordLen-1):])))
	}
	return string(b)
}

// checkLetter is the check character of Luhn's algorithm in base 26: it tells
// each single wrong letter and nearly each swap of neighbours.
func checkLetter(letters string) byte {
	total := 0
	for i := range len(letters) {
		v := int(letters[i] - 'a')
		if (len(letters)-i)%2 == 1 {
			v *= 2
			v = v/alphabet + v%alphabet
		}
		total += v
	}
	return 'a' + byte((alphabet-total%alphabet)%alphabet)
}

// words yields the words of a handle's letters.
func words(letters string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for ; letters != ""; letters = letters[wordLen:] {
			if !yield(letters[:wordLen]) {
				return
			}
		}
	}
}

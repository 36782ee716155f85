package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// Handle is the short name of a content: twelve letters, such as "kqvmzhtwrcxa".
// Eleven letters are a hash of 52 bits of the content. The last letter is a check
// letter, so that a mistyped handle can be distinguished from one whose content
// was removed.
//
// Letters alone cost the fewest tokens for a number of bits: about six and a half
// tokens for a handle in the encodings of OpenAI.
//
// A Handle is comparable. All values but the zero value are well formed, since they
// come only from [HandleOf], [ParseHandle] and stores.
type Handle struct{ letters string }

const (
	handleLen = 12
	alphabet  = 26
)

// HandleOf returns the handle of a content in a scope. It depends on nothing else.
// What a store finds under a handle is undamaged and of this scope if HandleOf
// returns the same handle for it.
func HandleOf(scope string, c Content) Handle { return sumOf(scope, c).handle() }

// ParseHandle reads a handle: twelve letters a to z with the right check letter.
// Anything else is an error that a model can be shown, such as
//
//	store: handle "kqvmzhtwrcxb" is mistyped: its last letter does not fit the others, want 12 letters a to z as in the placeholder
//
// The error quotes at most 40 bytes of the text.
func ParseHandle(text string) (Handle, error) {
	var problem string
	switch {
	case text == "":
		problem = "is empty"
	case !isLetters(text):
		problem = "has other characters than the letters a to z"
	case len(text) != handleLen:
		problem = fmt.Sprintf("is %d long", len(text))
	case checkLetter(text[:handleLen-1]) != text[handleLen-1]:
		problem = "is mistyped: its last letter does not fit the others"
	default:
		return Handle{letters: strings.Clone(text)}, nil
	}
	const shown = 40
	quoted := strconv.Quote(text[:min(shown, len(text))])
	if len(text) > shown {
		quoted += "…"
	}
	return Handle{}, fmt.Errorf("store: handle %s %s, want %d letters a to z as in the placeholder", quoted, problem, handleLen)
}

// String returns the letters of the handle, or "" if it is zero.
func (h Handle) String() string { return h.letters }

// IsZero reports whether h is the zero Handle.
func (h Handle) IsZero() bool { return h.letters == "" }

// sum is the SHA-256 hash of a scope and a content.
type sum [sha256.Size]byte

func sumOf(scope string, c Content) sum {
	const small = 4 << 10 // most contents: no allocation
	var room [small]byte
	b := appendHead(room[:0], scope, c.Type)
	if len(b)+len(c.Data) <= small {
		return sha256.Sum256(append(b, c.Data...))
	}
	h, data := newHash(scope, c.Type), struct{ io.Reader }{strings.NewReader(c.Data)}
	_, _ = io.CopyBuffer(h, data, make([]byte, 32<<10)) // WriteString would copy all data; a hash returns no error
	return sum(h.Sum(nil))
}

// newHash returns a hash to which only the data of the content is still to be
// written.
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

func (s sum) handle() Handle { return Handle{letters: s.words(1)} }

// words returns the first n words of a sum. A word is eight bytes of the sum as
// twelve letters.
func (s sum) words(n int) string {
	b := make([]byte, 0, n*handleLen)
	for i := range n {
		v := binary.BigEndian.Uint64(s[8*i:])
		for range handleLen - 1 {
			b = append(b, 'a'+byte(v%alphabet))
			v /= alphabet
		}
		b = append(b, checkLetter(string(b[len(b)-(handleLen-1):])))
	}
	return string(b)
}

func isLetters(text string) bool { return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == "" }

// checkLetter returns the check character of Luhn's algorithm in base 26. It
// detects every single wrong letter and nearly every swap of neighbours.
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

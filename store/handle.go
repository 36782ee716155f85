package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
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
// come only from [ParseHandle], [HandleIn] and stores.
type Handle struct{ letters [handleLen]byte }

const (
	handleLen = 12
	alphabet  = 26
)

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
		return Handle{letters: [handleLen]byte([]byte(text))}, nil
	}
	const shown = 40
	quoted := strconv.Quote(text[:min(shown, len(text))])
	if len(text) > shown {
		quoted += "…"
	}
	return Handle{}, fmt.Errorf("store: handle %s %s, want %d letters a to z as in the placeholder", quoted, problem, handleLen)
}

// String returns the letters of the handle, or "" if it is zero.
func (h Handle) String() string {
	if h.IsZero() {
		return ""
	}
	return string(h.letters[:])
}

// IsZero reports whether h is the zero Handle.
func (h Handle) IsZero() bool { return h == Handle{} }

// HandleIn returns the handle of a content in a scope, which is what most stores return: it names the contents of one tenant.
// Someone without the secret cannot see from the names whether two scopes have equal contents, or whether a scope has a
// certain content. All processes that share a store need the same secret: with another secret, handles differ. nil: no secret.
func HandleIn(secret []byte, name string, h message.ContentHash) Handle {
	return newScope(secret, name).Handle(h)
}

// scope names the contents of one tenant. The zero value is not a scope.
type scope struct{ key [sha256.Size]byte }

func newScope(secret []byte, name string) (s scope) {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("laconic scope 2 " + name))
	h.Sum(s.key[:0])
	return s
}

// Key returns the name of a content in this scope, under which a store may keep it.
func (s scope) Key(h message.ContentHash) [sha256.Size]byte {
	var b [2 * sha256.Size]byte // of fixed length, so a plain hash is as good as an HMAC
	copy(b[:], s.key[:])
	copy(b[sha256.Size:], h[:])
	return sha256.Sum256(b[:])
}

// Handle returns the handle of a content in this scope: the beginning of its Key in letters.
func (s scope) Handle(h message.ContentHash) Handle { return Handle{letters: word(s.Key(h), 0)} }

// word returns eight bytes of a hash, those of word i, as twelve letters.
func word(s [sha256.Size]byte, i int) (w [handleLen]byte) {
	v := binary.BigEndian.Uint64(s[8*i:])
	for k := range handleLen - 1 {
		w[k] = 'a' + byte(v%alphabet)
		v /= alphabet
	}
	w[handleLen-1] = checkLetter(w[:handleLen-1])
	return w
}

func isLetters(text string) bool { return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == "" }

// checkLetter returns the check character of Luhn's algorithm in base 26. It
// detects every single wrong letter and nearly every swap of neighbours.
func checkLetter[T string | []byte](letters T) byte {
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

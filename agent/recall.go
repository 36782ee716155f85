package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/archived"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// RecallOptions are the options of [Recall]. The zero value is recommended.
type RecallOptions struct {
	Limit int  // bytes of one answer, at most; 0: 16,000, least: 1,000. In a small window an answer has fewer, see Recall
	Media bool // true: images, audio, video and PDF files are returned as message.Media; false: they are described
}

const (
	defaultRecall = 16_000
	minRecall     = 1_000
)

// Recall returns the tool by which a model reads again what editors have put
// into a store. Its name is [store.RecallTool].
//
// In a loop that passes a [Conversation], as that of package react, an answer has at most
// a third of a byte for each token of the room, and at least 1,000, so that it need not
// be cut in a small window. In other loops, set [RecallOptions.Limit] by this rule.
//
// The store, or the scope of it, must belong to the tenant of the conversation:
// the model can read everything in it.
//
// The model gives a handle, in either case or behind the word recall as in the
// placeholder, and can ask for some lines or search for a text or
// a regular expression. Content that fits into an answer is returned whole and
// unchanged, so archiving such an answer gives the same handle again. Of longer
// content the answer has a part, under a line in brackets that names the part
// and how to read the rest. Control characters and invalid UTF-8 are shown as
// \x1b, and binary content is described.
//
// A search with a pattern takes two seconds at most: the instructions that the
// pattern is compiled to, times the bytes of the lines to be searched, must not
// exceed 2^25. Plain text has no limit. The context is checked before each line.
//
// Wrong handles, lines and patterns get an answer in words. Arguments of the wrong type,
// a store that fails, and a context that is done are errors.
//
// It panics if the limit is too small, or if the store is nil.
func Recall(s store.Store, opts RecallOptions) Tool {
	if opts.Limit != 0 && opts.Limit < minRecall {
		panic(fmt.Sprintf("agent: RecallOptions.Limit is %d, want at least %d bytes, or 0 for %d", opts.Limit, minRecall, defaultRecall))
	}
	if s == nil {
		panic("agent: Recall: the store is nil")
	}
	opts.Limit = cmp.Or(opts.Limit, defaultRecall)
	return NewTool(store.RecallTool, recallDescription, recall{store: s, opts: opts}.answer)
}

const recallDescription = "Reads again what was cleared from this conversation, by the handle in the placeholder. " +
	"Use it where you need what was cleared, instead of repeating a call."

// recallArgs are the arguments of the tool. [archived.Asked] reads them, too.
type recallArgs struct {
	Handle  string `json:"handle" jsonschema:"as in the placeholder"`
	From    int    `json:"from,omitempty" jsonschema:"first line, from 1"`
	To      int    `json:"to,omitempty" jsonschema:"last line"`
	Column  int    `json:"column,omitempty" jsonschema:"byte of the first line to begin at, from 1"`
	Search  string `json:"search,omitempty" jsonschema:"only lines with this text"`
	Pattern string `json:"pattern,omitempty" jsonschema:"only lines that match this RE2 expression"`
}

type recall struct {
	store store.Store
	opts  RecallOptions
}

func (r recall) answer(ctx context.Context, in recallArgs) (message.Part, error) {
	h, err := archived.Read(in.Handle)
	if err != nil {
		return note("%s", strings.TrimPrefix(err.Error(), "store: "))
	}
	c, err := r.store.Get(ctx, h)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return note("nothing is kept under %s: it was given up since, or never put into this archive; call the tool that gave it again", h)
	case errors.Is(err, store.ErrDamaged):
		return note("what is kept under %s is damaged; call the tool that gave it again", h)
	case err != nil:
		return nil, &unreadError{h, err}
	case !isBinary(c.Data):
		conversation := conversationOf(ctx)
		p := newPassage(h, c.Data, conversation.limit(r.opts.Limit))
		also, err := r.elsewhere(ctx, p, in)
		if err != nil {
			return nil, err
		}
		p.limit -= len(also)
		text, err := p.read(ctx, in)
		return message.Text{Text: conversation.noted(h, in, text+also)}, err
	case r.opts.Media && isMedia(c.Type):
		return message.Media{Type: c.Type, Data: c.Data}, nil
	}
	const shown = 16
	return note("%s is binary and cannot be shown: %s, %d bytes, beginning with % x",
		h, cmp.Or(c.Type, "of unknown type"), len(c.Data), c.Data[:min(shown, len(c.Data))])
}

// unreadError is what a model gets if the store fails: what failed, without the stack of a
// panic, and what it can do.
type unreadError struct {
	handle store.Handle
	err    error
}

func (e *unreadError) Error() string {
	text, _, _ := strings.Cut(e.err.Error(), "\ngoroutine ")
	return fmt.Sprintf("the archive cannot be read now, so call the tool that gave %s again: %s", e.handle, text)
}

func (e *unreadError) Unwrap() error { return e.err }

// note is an answer about the content instead of the content.
func note(format string, args ...any) (message.Part, error) {
	return message.Text{Text: "[" + fmt.Sprintf(format, args...) + "]"}, nil
}

// isMedia reports whether models accept content of this type.
func isMedia(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, "/")
	switch kind {
	case "image", "audio", "video":
		return true
	}
	return contentType == "application/pdf"
}

// isBinary reports whether a content is not text: its first 8,000 bytes have a NUL,
// or more than a third of them is invalid UTF-8 and control characters.
func isBinary(data string) bool {
	const looked = 8000
	data = data[:min(looked, len(data))]
	strange := 0
	for i, r := range data {
		switch {
		case r == 0:
			return true
		case strings.ContainsRune("\t\n\r\f\b\x1b", r): // frequent in logs and terminal output
		case unicode.IsControl(r):
			strange++
		case r == utf8.RuneError && !strings.HasPrefix(data[i:], string(utf8.RuneError)):
			strange++
		}
	}
	return strange*3 > len(data)
}

// visible returns the beginning of a text that fits into limit bytes, and how many
// bytes of the text that is. Control characters other than tabs and line ends are
// written as in Go, \x1b or \u0085, and so is invalid UTF-8.
func visible(text string, limit int) (shown string, n int) {
	var b strings.Builder
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		piece := text[n : n+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, text[n])
		case r == '\n', r == '\t', r == '\r' && strings.HasPrefix(text[n:], "\r\n"):
		case r == '\r':
			piece = `\r`
		case r < utf8.RuneSelf && unicode.IsControl(r):
			piece = fmt.Sprintf(`\x%02x`, r)
		case unicode.IsControl(r):
			piece = fmt.Sprintf(`\u%04x`, r)
		}
		if b.Len()+len(piece) > limit {
			break
		}
		b.WriteString(piece)
		n += size
	}
	return b.String(), n
}

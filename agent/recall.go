package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// RecallOptions are the options of [RecallWith]. The zero value is what
// [Recall] uses.
type RecallOptions struct {
	Limit int  // bytes of one answer, at most; 0: 16,000, least: 1,000
	Media bool // pictures, sounds, videos and PDF files are given back as message.Media; false: they are described
}

// Validate says which option is wrong.
func (o RecallOptions) Validate() error {
	if o.Limit != 0 && o.Limit < minRecall {
		return fmt.Errorf("agent: RecallOptions.Limit is %d, want at least %d bytes, or 0 for %d", o.Limit, minRecall, defaultRecall)
	}
	return nil
}

const (
	defaultRecall = 16_000
	minRecall     = 1_000
)

// Recall returns the tool by which a model reads again what editors have put
// into a store: [RecallWith] with the zero options. Its name is
// [store.RecallTool].
//
// The store, or the scope of it, must be that of the conversation's tenant:
// the model can read all that is in it.
func Recall(s store.Store) Tool { return RecallWith(s, RecallOptions{}) }

// RecallWith is [Recall] with options.
//
// The model gives a handle, and may ask for some lines or search for a text or
// a regular expression. Content that fits is given back whole and as it was,
// so that clearing and archiving an answer of this tool leads to the same
// handle again. Of longer content the answer is a part, under a line in
// brackets that says which, and how to get at the rest. Control characters and
// bytes that are no UTF-8 are shown as \x1b, and binary content is described.
//
// A pattern may take no more than 2^28 steps, some seconds, which are the
// instructions that it is compiled to times the bytes of the lines to be searched;
// plain text is free, in a pattern too. A search ends with its context.
//
// A handle that is malformed or unknown, content that was given up or is
// damaged, lines that are not there, a search without a match and a pattern
// that does not compile or may take too many steps get an answer in words. An error is left to what
// concerns the program too: arguments of the wrong type, a store that does not
// work, and a context that is done.
//
// It panics if an option is wrong, with the text of [RecallOptions.Validate],
// or if the store is nil.
func RecallWith(s store.Store, opts RecallOptions) Tool {
	if err := opts.Validate(); err != nil {
		panic(err.Error())
	}
	if s == nil {
		panic("agent: RecallWith: the store is nil")
	}
	opts.Limit = cmp.Or(opts.Limit, defaultRecall)
	r := recall{store: s, opts: opts}
	return NewTool(store.RecallTool, recallDescription, r.answer)
}

const recallDescription = "Reads again what was cleared from this conversation, by the handle in the placeholder. " +
	"Use it where you need what was cleared, instead of repeating a call."

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
	h, err := store.ParseHandle(in.Handle)
	if err != nil {
		return say("%s", strings.TrimPrefix(err.Error(), "store: "))
	}
	c, err := r.store.Get(ctx, h)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return say("nothing is kept under %s: it was given up since, or never put into this archive; call the tool that gave it again", h)
	case errors.Is(err, store.ErrDamaged):
		return say("what is kept under %s is damaged; call the tool that gave it again", h)
	case err != nil:
		return nil, err
	case !isBinary(c.Data):
		text, err := newPassage(h, c.Data, r.opts.Limit).read(ctx, in)
		return message.Text{Text: text}, err
	case r.opts.Media && isMedia(c.Type):
		return message.Media{Type: c.Type, Data: c.Data}, nil
	}
	const shown = 16
	return say("%s is binary and cannot be shown: %s, %d bytes, beginning with % x",
		h, cmp.Or(c.Type, "of unknown type"), len(c.Data), c.Data[:min(shown, len(c.Data))])
}

// say is an answer about the content instead of the content.
func say(format string, args ...any) (message.Part, error) {
	return message.Text{Text: "[" + fmt.Sprintf(format, args...) + "]"}, nil
}

// isMedia reports whether models can be shown content of this type.
func isMedia(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, "/")
	switch kind {
	case "image", "audio", "video":
		return true
	}
	return contentType == "application/pdf"
}

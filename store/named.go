package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Named is a content, a store, and the handle that the content has there. The
// content is hashed only once, when it is named and not again when it is put. A
// Named never changes and is safe for concurrent use.
type Named struct {
	store   Store
	content Content
	handle  Handle
	sum     sum // zero if only the store can compute the handle
}

// NameParts returns the contents that keep the given parts of one message, with
// their handles. The handle of the last content is the one for the placeholder.
// Nothing is put.
//
// A single part is kept as it is: a text, the text of a result, the arguments of a
// call, the bytes of a medium. Several parts are kept as one text; each medium in
// them is a content of its own, and its handle is in that text. Thinking is kept
// without its signature.
//
// The error is for a part that is nil or of an unknown type, and for a store that
// returns the zero Handle for a content.
func NameParts(s Store, parts []message.Part) ([]*Named, error) {
	t := transcript{store: s}
	if len(parts) == 1 {
		if c, ok := single(parts[0]); ok {
			n, err := t.name(c)
			return []*Named{n}, err
		}
	}
	if err := t.parts(parts); err != nil {
		return nil, err
	}
	return t.contents()
}

// NameMessages returns the contents that keep the given messages, with their
// handles, as [NameParts] does for parts. The last content is a text: before each
// message a line with its role, then its parts. Nothing is put.
func NameMessages(s Store, msgs []message.Message) ([]*Named, error) {
	t := transcript{store: s}
	for _, m := range msgs {
		t.add(strings.TrimSpace(fmt.Sprintf("[%s] %s", m.Role, m.Name)))
		if err := t.parts(m.Parts); err != nil {
			return nil, err
		}
	}
	return t.contents()
}

// Content returns the content.
func (n *Named) Content() Content { return n.content }

// Handle returns the handle.
func (n *Named) Handle() Handle { return n.handle }

// Put keeps the content in its store, as [Store.Put] does. The error is
// [ErrConflict] if the store has a different content under this handle.
func (n *Named) Put(ctx context.Context) error {
	if n.store == nil {
		return fmt.Errorf("store: put: the Named is zero, want one that NameParts or NameMessages has returned")
	}
	var h Handle
	var err error
	if s, ok := scopeOf(n.store); ok {
		h, err = s.putSum(ctx, n.content, n.sum)
	} else {
		h, err = n.store.Put(ctx, n.content)
	}
	if err == nil && h != n.handle {
		err = fmt.Errorf("store: put: %T.Put returned the handle %q, want %q as its method Handle returns", n.store, h, n.handle)
	}
	return err
}

// scopeOf returns a store of this package as a scope. A type that embeds such a
// store is not one of this package: it may have a Put of its own.
func scopeOf(s Store) (scope, bool) {
	switch s := s.(type) {
	case *Memory:
		return s.scope, true
	case *Dir:
		return s.scope, true
	case scope:
		return s, true
	}
	return scope{}, false
}

// single returns a part as a content if the part needs no description.
func single(p message.Part) (Content, bool) {
	switch p := p.(type) {
	case message.Text:
		return Content{Data: p.Text}, true
	case message.Thinking:
		return Content{Data: p.Text}, true
	case message.Media:
		return Content{Type: p.Type, Data: p.Data}, p.URL == ""
	case message.ToolCall:
		return Content{Data: p.Arguments}, true
	case message.ToolResult:
		switch {
		case p.Content == nil:
			return Content{Data: p.Text}, true
		case p.Text == "":
			return single(p.Content)
		}
	case message.Opaque:
		return Content{Data: p.Data}, true
	}
	return Content{}, false
}

// transcript is a text of blocks separated by empty lines, and the media in it.
type transcript struct {
	store  Store
	blocks []string
	media  []*Named
	callID string // of the last result
}

func (t *transcript) add(block string) { t.blocks = append(t.blocks, block) }

// contents returns all contents, the text last.
func (t *transcript) contents() ([]*Named, error) {
	text, err := t.name(Content{Data: strings.Join(t.blocks, "\n\n")})
	return append(t.media, text), err
}

func (t *transcript) name(c Content) (*Named, error) {
	n := &Named{store: t.store, content: c}
	if s, ok := scopeOf(t.store); ok {
		n.sum = sumOf(s.name, c)
		n.handle = n.sum.handle()
	} else {
		n.handle = t.store.Handle(c)
	}
	if n.handle.IsZero() {
		return nil, fmt.Errorf("store: %T.Handle returned the zero Handle, want the one that Put will return", t.store)
	}
	return n, nil
}

func (t *transcript) parts(parts []message.Part) error {
	for _, p := range parts {
		if err := t.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (t *transcript) part(p message.Part) error {
	switch p := p.(type) {
	case message.Text:
		t.add(p.Text)
	case message.Thinking:
		if p.Text != "" { // otherwise it is encrypted
			t.add("[thinking]\n" + p.Text)
		}
	case message.Media:
		return t.medium(p)
	case message.ToolCall:
		t.add("[calls " + p.Name + "]\n" + p.Arguments)
	case message.ToolResult:
		t.result(p)
		if p.Content == nil || p.Text != "" {
			t.add(p.Text)
		}
		if p.Content != nil {
			return t.part(p.Content)
		}
	case message.Opaque:
		t.add("[" + p.Kind + "]\n" + p.Data)
	default:
		return fmt.Errorf("store: name: a part is of type %T, want one of package message", p)
	}
	return nil
}

// result adds a line with the tool's name before the first piece of a result.
func (t *transcript) result(p message.ToolResult) {
	if p.CallID == t.callID && p.CallID != "" {
		return
	}
	t.callID = p.CallID
	what := "result"
	if p.Error {
		what = "error"
	}
	t.add("[" + strings.TrimSpace(what+" "+p.Name) + "]")
}

// medium adds a line with the type and the URL or handle of a medium.
func (t *transcript) medium(m message.Media) error {
	what := strings.Join(strings.Fields(m.Type+" "+m.Name), " ")
	if m.URL != "" {
		t.add("[" + what + ": " + m.URL + "]")
		return nil
	}
	n, err := t.name(Content{Type: m.Type, Data: m.Data})
	if err != nil {
		return err
	}
	t.media = append(t.media, n)
	t.add(fmt.Sprintf("[%s, %d bytes: %s %s]", what, len(m.Data), RecallTool, n.handle))
	return nil
}

package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// PutParts keeps what is taken out of one message, as [OfParts] has it, and
// returns the one handle that leads to all of it.
func PutParts(ctx context.Context, s Store, parts []message.Part) (Handle, error) {
	return putAll(ctx, s, func(by *Names) ([]*Named, error) { return OfParts(by, parts) })
}

// PutMessages keeps messages that are taken out, as [OfMessages] has them, and
// returns the one handle that leads to all of them.
func PutMessages(ctx context.Context, s Store, msgs []message.Message) (Handle, error) {
	return putAll(ctx, s, func(by *Names) ([]*Named, error) { return OfMessages(by, msgs) })
}

// OfParts returns the contents under which what is taken out of one message is
// kept, with their handles: that of the last one leads to all. A single part
// is kept as it is: a text, the text of a result, the arguments of a call, the
// bytes of a medium. Several become one text, part by part, in which a medium is
// a line with a handle of its own. Thinking is kept without its signature.
// Nothing is put.
func OfParts(by *Names, parts []message.Part) ([]*Named, error) {
	if len(parts) == 1 {
		if c, ok := single(parts[0]); ok {
			return []*Named{by.Name(c)}, nil
		}
	}
	t := transcript{by: by}
	if err := t.parts(parts); err != nil {
		return nil, err
	}
	return t.done(), nil
}

// OfMessages returns the contents under which messages that are taken out are
// kept, with their handles; that of the last one leads to all. It is a text to be
// read, each message under a line with its role, its parts as by [OfParts].
// Nothing is put.
func OfMessages(by *Names, msgs []message.Message) ([]*Named, error) {
	t := transcript{by: by}
	for _, m := range msgs {
		t.add(strings.TrimSpace(fmt.Sprintf("[%s] %s", m.Role, m.Name)))
		if err := t.parts(m.Parts); err != nil {
			return nil, err
		}
	}
	return t.done(), nil
}

// putAll keeps contents that speak of one another, and returns the handle of the
// last. If one has another handle than was told, they are made anew.
func putAll(ctx context.Context, s Store, of func(*Names) ([]*Named, error)) (Handle, error) {
	names := NamesOf(s)
	for {
		contents, err := of(names)
		if err != nil {
			return Handle{}, err
		}
		var last Handle
		news := false
		for _, c := range contents {
			if last, err = c.Put(ctx); err != nil {
				return Handle{}, err
			}
			news = news || last != c.handle
		}
		if !news {
			return last, nil
		}
	}
}

// single returns a part that needs nothing said about it as a content.
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

// transcript is a text made of several parts. Between its blocks there is an
// empty line.
type transcript struct {
	by     *Names
	blocks []string
	media  []*Named
	call   string // id of the call whose result came last
}

func (t *transcript) add(block string) { t.blocks = append(t.blocks, block) }

// done returns all contents, the text last.
func (t *transcript) done() []*Named {
	return append(t.media, t.by.Name(Content{Data: strings.Join(t.blocks, "\n\n")}))
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
		if p.Text != "" { // else it is sealed
			t.add("[thinking]\n" + p.Text)
		}
	case message.Media:
		t.medium(p)
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
		return fmt.Errorf("store: put: a part is of type %T, want one of package message", p)
	}
	return nil
}

// result adds a line that says whose result begins.
func (t *transcript) result(p message.ToolResult) {
	if p.CallID == t.call && p.CallID != "" { // another piece
		return
	}
	t.call = p.CallID
	what := "result"
	if p.Error {
		what = "error"
	}
	t.add("[" + strings.TrimSpace(what+" "+p.Name) + "]")
}

// medium adds a line that says what a medium is and where it is to be had.
func (t *transcript) medium(m message.Media) {
	what := strings.Join(strings.Fields(m.Type+" "+m.Name), " ")
	if m.URL != "" {
		t.add("[" + what + ": " + m.URL + "]")
		return
	}
	c := t.by.Name(Content{Type: m.Type, Data: m.Data})
	t.media = append(t.media, c)
	t.add(fmt.Sprintf("[%s, %d bytes: %s %s]", what, len(m.Data), RecallTool, c.handle))
}

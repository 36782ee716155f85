package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// PutParts keeps what is taken out of one message and returns one handle for
// all of it. A single part is kept as it is: a text, the text of a result, the
// arguments of a call, the bytes of a medium. Several become one text, part by
// part, in which a medium is a line with a handle of its own. Thinking is kept
// without its signature.
func PutParts(ctx context.Context, s Store, parts []message.Part) (Handle, error) {
	if len(parts) == 1 {
		if c, ok := single(parts[0]); ok {
			return s.Put(ctx, c)
		}
	}
	t := transcript{store: s}
	if err := t.parts(ctx, parts); err != nil {
		return Handle{}, err
	}
	return t.put(ctx)
}

// PutMessages keeps messages that are taken out and returns one handle for all
// of them, under which there is a text to be read: each message under a line
// with its role, its parts as by [PutParts].
func PutMessages(ctx context.Context, s Store, msgs []message.Message) (Handle, error) {
	t := transcript{store: s}
	for _, m := range msgs {
		t.add(strings.TrimSpace(fmt.Sprintf("[%s] %s", m.Role, m.Name)))
		if err := t.parts(ctx, m.Parts); err != nil {
			return Handle{}, err
		}
	}
	return t.put(ctx)
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
		if p.Content != nil {
			return single(p.Content)
		}
		return Content{Data: p.Text}, true
	case message.Opaque:
		return Content{Data: p.Data}, true
	}
	return Content{}, false
}

// transcript is a text made of several parts. Between its blocks there is an
// empty line.
type transcript struct {
	store  Store
	blocks []string
	call   string // id of the call whose result came last
}

func (t *transcript) add(block string) { t.blocks = append(t.blocks, block) }

func (t *transcript) put(ctx context.Context) (Handle, error) {
	return t.store.Put(ctx, Content{Data: strings.Join(t.blocks, "\n\n")})
}

func (t *transcript) parts(ctx context.Context, parts []message.Part) error {
	for _, p := range parts {
		if err := t.part(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (t *transcript) part(ctx context.Context, p message.Part) error {
	switch p := p.(type) {
	case message.Text:
		t.add(p.Text)
	case message.Thinking:
		if p.Text != "" { // else it is sealed
			t.add("[thinking]\n" + p.Text)
		}
	case message.Media:
		return t.media(ctx, p)
	case message.ToolCall:
		t.add("[calls " + p.Name + "]\n" + p.Arguments)
	case message.ToolResult:
		t.result(p)
		if p.Content != nil {
			return t.part(ctx, p.Content)
		}
		t.add(p.Text)
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

// media adds a line that says what a medium is and where it is to be had.
func (t *transcript) media(ctx context.Context, m message.Media) error {
	what := strings.Join(strings.Fields(m.Type+" "+m.Name), " ")
	if m.URL != "" {
		t.add("[" + what + ": " + m.URL + "]")
		return nil
	}
	h, err := t.store.Put(ctx, Content{Type: m.Type, Data: m.Data})
	if err != nil {
		return err
	}
	t.add(fmt.Sprintf("[%s, %d bytes: %s %s]", what, len(m.Data), RecallTool, h))
	return nil
}

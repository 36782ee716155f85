package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// Named is a content with its hash, and the handle that it has in a store; [Keep] makes it. Stores rely on it that the three
// belong together.
type Named struct {
	Content Content
	Hash    message.ContentHash
	Handle  Handle
}

const (
	maxContent = 256 << 20 // bytes of a content
	maxType    = 1024      // bytes of its type
)

// check returns an error if the content is too large, or has no handle: no store keeps it.
func (n *Named) check() error {
	switch {
	case n.Handle.IsZero():
		return errors.New("a content has no handle, want one that the store returns")
	case len(n.Content.Type) > maxType:
		return fmt.Errorf("the content's type has %d bytes, want at most %d", len(n.Content.Type), maxType)
	case len(n.Content.Data) > maxContent:
		return fmt.Errorf("content too large: %d bytes, want at most %d", len(n.Content.Data), maxContent)
	}
	return nil
}

// once returns contents without repetitions, and an error if no store keeps one of them, or if two have one handle.
func once(contents []Named) (all []*Named, err error) {
	of := make(map[Handle]*Named, len(contents))
	for i := range contents {
		n := &contents[i]
		if err := n.check(); err != nil {
			return nil, err
		}
		before := of[n.Handle]
		switch {
		case before == nil:
			of[n.Handle] = n
			all = append(all, n)
		case before.Hash != n.Hash:
			return nil, conflict(n.Handle)
		}
	}
	return all, nil
}

// alone reports whether there is a handle without a content.
func (n *Named) alone() bool { return n.Hash == message.ContentHash{} }

// nameAll is documented at internals.Name.
func nameAll(s Store, msgs ...message.Message) ([]Named, error) {
	t := transcript{store: s}
	if len(msgs) == 1 && msgs[0].Role == "" && len(msgs[0].Parts) == 1 {
		if c, ok := single(msgs[0].Parts[0]); ok {
			n, err := name(s, c)
			return []Named{n}, err
		}
	}
	for _, m := range msgs {
		if m.Role != "" {
			t.add(strings.TrimSpace(fmt.Sprintf("[%s] %s", m.Role, m.Name)))
		}
		for _, p := range m.Parts {
			if err := t.part(p); err != nil {
				return nil, err
			}
		}
	}
	text, err := name(s, Content{Data: strings.Join(t.blocks, "\n\n")})
	return append(t.media, text), err
}

// name returns a content as s names it.
func name(s Store, c Content) (Named, error) {
	n := Named{Content: c, Hash: c.Hash()}
	n.Handle = s.Handle(n.Hash)
	if n.Handle.IsZero() {
		return n, fmt.Errorf("store: %T.Handle returned the zero Handle, want one for each content", s)
	}
	return n, nil
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
	media  []Named
	callID string // of the last result
}

func (t *transcript) add(block string) { t.blocks = append(t.blocks, block) }

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
	n, err := name(t.store, Content{Type: m.Type, Data: m.Data})
	if err != nil {
		return err
	}
	t.media = append(t.media, n)
	t.add(fmt.Sprintf("[%s, %d bytes: %s %s]", what, len(m.Data), RecallTool, n.Handle))
	return nil
}

package issues

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/stretchr/testify/require"
)

func clearing(n *int) middleware.Middleware {
	return middleware.Editing("clear", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		p := &middleware.Plan{}
		for i, m := range v.All() {
			if m.Role == message.RoleTool && v.Protected(i) == 0 && v.Span(i).Edit == nil && len(p.Edits) < *n {
				for r := range m.Results() {
					r.Text = "-"
					p.Edits = append(p.Edits, middleware.RewriteOf(i, r))
				}
			}
		}
		return p, nil
	}, middleware.Options{})
}

func conv(rounds int) []message.Message {
	h := []message.Message{message.User("do it")}
	for i := range rounds {
		id := fmt.Sprintf("c%d", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "t", Arguments: "{}"}), message.Result(id, "t", strings.Repeat("x", 400)))
	}
	return h
}

func run(t *testing.T, mw middleware.Middleware, h []message.Message) (*middleware.Request, []middleware.Event) {
	t.Helper()
	r, ev, err := middleware.Apply(t.Context(), mw, &middleware.Request{Messages: h})
	require.NoError(t, err)
	return r, ev
}

// same place put many times
func TestManyVersions(t *testing.T) {
	one := 1
	j := middleware.NewMemory(0)
	mw := middleware.With(middleware.Env{Journal: j}, clearing(&one))
	h := append(conv(20), message.User("next"))
	for i := range 12 {
		r, ev := run(t, mw, h)
		_ = r
		for _, e := range ev {
			fmt.Println(i, e.String())
		}
	}
	fmt.Println("restart")
	zero := 0
	r, ev := run(t, middleware.With(middleware.Env{Journal: j}, clearing(&zero)), h)
	for _, e := range ev {
		fmt.Println(e.String())
	}
	n := 0
	for i := range r.Messages {
		if r.View().Span(i).Edit != nil {
			n++
		}
	}
	fmt.Println("edits", n)
}

func TestManyStepsBeforeQuestion(t *testing.T) {
	one := 1
	j := middleware.NewMemory(0)
	mw := middleware.With(middleware.Env{Journal: j}, clearing(&one))
	h := append(conv(20), message.User("next"))
	for i := range 12 {
		id := fmt.Sprintf("d%d", i)
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "t", Arguments: "{}"}), message.Result(id, "t", strings.Repeat("x", 400)))
		_, ev := run(t, mw, h)
		for _, e := range ev {
			fmt.Println(i, e.String())
		}
	}
}

func TestPointerPart(t *testing.T) {
	one := 1
	require.NotPanics(t, func() {
		_, _, err := middleware.Apply(t.Context(), clearing(&one), &middleware.Request{Messages: []message.Message{{Role: message.RoleUser, Parts: []message.Part{&message.Text{Text: "x"}}}}})
		fmt.Println(err)
	})
}

func foldUsers() middleware.Middleware {
	return middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		// fold first user message and something later, two runs
		if v.Len() < 7 || v.Span(0).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{{Kind: middleware.Fold, Runs: []message.Run{{First: 0, Last: 0}, {First: 3, Last: 4}}, Messages: []message.Message{v.At(0), message.User("s")}}}}, nil
	}, middleware.Options{})
}

func TestOrder(t *testing.T) {
	r, ev := run(t, foldUsers(), append(conv(4), message.User("last")))
	fmt.Println(ev)
	for _, m := range r.Messages {
		fmt.Println(m.Role, m.Parts)
	}
}

func foldAll(limit int) middleware.Middleware {
	return middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < limit {
			return nil, nil
		}
		var runs []message.Run
		for _, u := range v.Units() {
			ok := true
			for i := u.First; i <= u.Last; i++ {
				ok = ok && v.Protected(i) == 0
			}
			if ok {
				runs = append(runs, u.Run)
			}
		}
		return &middleware.Plan{Edits: []middleware.Edit{{Kind: middleware.Fold, Runs: runs, Messages: []message.Message{message.User("s")}}}}, nil
	}, middleware.Options{})
}

func TestRetractedQuestion(t *testing.T) {
	h := conv(2)
	h = append(h, message.Assistant(message.Text{Text: "done"}), message.User("second question"))
	h = append(h, message.Assistant(message.ToolCall{ID: "z", Name: "t", Arguments: "{}"}), message.Result("z", "t", "zz"), message.Assistant(message.Text{Text: "done 2"}))
	k := len(h)
	h = append(h, message.User("third question"))
	mw := foldAll(6)
	_, ev := run(t, mw, h)
	fmt.Println(ev)
	r, ev := run(t, mw, h[:k])
	fmt.Println(ev)
	for _, m := range r.Messages {
		fmt.Println(m.Role, m.Parts)
	}
}

func hash(e *middleware.Entry) middleware.Rev {
	text := func(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	var b []byte
	b = append(b, e.Base[:]...)
	b = append(b, e.BaseRev[:]...)
	for _, r := range e.Edits {
		b = text(text(b, r.By), string(r.Kind))
		b = append(b, r.ID[:]...)
		for _, n := range []int{r.Made, len(r.Runs), len(r.Messages), len(r.Under)} {
			b = binary.AppendVarint(b, int64(n))
		}
		for _, run := range r.Runs {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(run.First)), int64(run.Last))
		}
		b = message.Message{Parts: r.Parts}.AppendContent(b)
		for _, m := range r.Messages {
			b = m.AppendContent(b)
		}
	}
	sum := sha256.Sum256(b)
	return middleware.Rev(sum[:16])
}

func TestForgedOverlap(t *testing.T) {
	h := conv(6)
	ids := message.IDs(h)
	e := middleware.Entry{Edits: []*middleware.Record{
		{By: "x", Kind: middleware.Fold, Runs: []message.Run{{First: 1, Last: 6}}, ID: ids[6]},
		{By: "x", Kind: middleware.Fold, Runs: []message.Run{{First: 3, Last: 8}}, ID: ids[8]},
	}}
	e.Rev = hash(&e)
	j := middleware.NewMemory(0)
	j.Put(t.Context(), "", ids[len(ids)-1], middleware.Rev{}, e)
	zero := 0
	require.NotPanics(t, func() {
		_, ev := run(t, middleware.With(middleware.Env{Journal: j}, clearing(&zero)), h)
		fmt.Println(ev)
	})
}

package issues

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/stretchr/testify/require"
)

type jsonJournal struct {
	mu    sync.Mutex
	m     map[string][]byte
	puts  int
	bytes int
	over  int
}

func (j *jsonJournal) Latest(_ context.Context, scope string, ids []message.ID) (int, middleware.Entry, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(ids) - 1; i >= 0; i-- {
		if b, ok := j.m[scope+ids[i].String()]; ok {
			var e middleware.Entry
			if err := json.Unmarshal(b, &e); err != nil {
				return 0, e, false, err
			}
			return i, e, true, nil
		}
	}
	return 0, middleware.Entry{}, false, nil
}

func (j *jsonJournal) Put(_ context.Context, scope string, id message.ID, over middleware.Rev, e middleware.Entry) (middleware.Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := scope + id.String()
	if b, ok := j.m[k]; ok {
		var there middleware.Entry
		if err := json.Unmarshal(b, &there); err != nil {
			return there, err
		}
		if there.Rev != over {
			return there, nil
		}
		j.over++
	}
	b, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	j.puts++
	j.bytes += len(b)
	j.m[k] = b
	return e, nil
}
func (j *jsonJournal) Delete(context.Context, string) error { return nil }

func TestJSONIdentity(t *testing.T) {
	one := 1
	for _, restart := range []bool{false, true} {
		j := &jsonJournal{m: map[string][]byte{}}
		mk := func() middleware.Middleware {
			return middleware.With(middleware.Env{Journal: j}, clearing(&one))
		}
		mw := mk()
		h := append(conv(20), message.User("next"))
		for i := range 7 {
			id := fmt.Sprintf("d%d", i)
			h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "t", Arguments: "{}"}), message.Result(id, "t", strings.Repeat("x", 400)))
			if restart {
				mw = mk()
			}
			before := j.bytes
			_, ev := run(t, mw, h)
			fmt.Println(restart, i, j.puts, j.over, j.bytes-before, len(ev))
		}
		for k, v := range j.m {
			fmt.Println(k[:6], len(v))
		}
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return int(ms.HeapAlloc)
}

func TestMediaURL(t *testing.T) {
	zero := 0
	mw := clearing(&zero)
	before := heap()
	for i := range 40 {
		u := fmt.Sprintf("data:%d,%s", i, strings.Repeat("A", 4<<20))
		run(t, mw, []message.Message{{Role: message.RoleUser, Parts: []message.Part{message.Media{Type: "image/png", URL: u}}}})
	}
	fmt.Println("heap MB", (heap()-before)>>20)
	runtime.KeepAlive(mw)
}

func TestAdoptsAllRemoved(t *testing.T) {
	mw := middleware.With(middleware.Env{Adopts: true}, middleware.Editing("rm", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(0, v.Len()-1)}}, nil
	}, middleware.Options{}))
	require.NotPanics(t, func() {
		r, ev := run(t, mw, []message.Message{message.Assistant(message.Text{Text: "hello there"})})
		fmt.Println(len(r.Messages), ev)
		r, ev = run(t, mw, []message.Message{message.Assistant(message.Text{Text: "hello there"})})
		fmt.Println(len(r.Messages), ev)
	})
}

// a fold across the question, and one clear left before it
func TestWeaker(t *testing.T) {
	j := middleware.NewMemory(0)
	folds := 0
	fold := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Len() < 8 {
			return nil, nil
		}
		var runs []message.Run
		for _, u := range v.Units() {
			ok := true
			for i := u.First; i <= u.Last; i++ {
				ok = ok && v.Protected(i) == 0
			}
			if ok && len(runs) < 3 {
				runs = append(runs, u.Run)
			}
		}
		folds++
		return &middleware.Plan{Edits: []middleware.Edit{{Kind: middleware.Fold, Runs: runs, Messages: []message.Message{message.User(fmt.Sprintf("s%d", folds))}}}}, nil
	}, middleware.Options{})
	_ = j
	_ = fold
}

func TestMinCallsOfProduct(t *testing.T) {
	n := 0
	fold := middleware.Editing("fold", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		if v.Span(1).Edit != nil {
			return nil, nil
		}
		return &middleware.Plan{Edits: []middleware.Edit{middleware.FoldOf(1, 2, message.Assistant(message.Text{Text: strings.Repeat("s", 200)}))}}, nil
	}, middleware.Options{})
	short := middleware.Editing("short", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) {
		s := v.At(1).Text()
		if len(s) < 30 {
			return nil, nil
		}
		n++
		return &middleware.Plan{Edits: []middleware.Edit{middleware.RewriteOf(1, message.Text{Text: s[:len(s)-20]})}}, nil
	}, middleware.Options{MinCalls: 5})
	mw := middleware.Chain(fold, short)
	h := conv(4)
	for range 4 {
		_, ev := run(t, mw, h)
		fmt.Println(ev)
		h = append(h, conv(1)[1:]...)
	}
	fmt.Println("shortened", n)
}

func TestUsagePointer(t *testing.T) {
	zero := 0
	mw := clearing(&zero)
	mk := func(n int) []message.Message {
		h := conv(n)
		for i := range h {
			if h[i].Role == message.RoleAssistant {
				h[i].Usage = &message.Usage{Input: i}
			}
		}
		return h
	}
	h := mk(500)
	h2 := mk(500)
	m := mw(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{}, nil
	})
	call := func(h []message.Message) { m(t.Context(), &middleware.Request{Messages: h}, nil) }
	call(h)
	fmt.Println("same", testing.AllocsPerRun(10, func() { call(h) }))
	bs := func(f func()) uint64 {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		f()
		runtime.ReadMemStats(&b)
		return b.TotalAlloc - a.TotalAlloc
	}
	fmt.Println("same bytes", bs(func() { call(h) }))
	fmt.Println("rebuilt bytes", bs(func() { call(h2) }))
}

func TestSaid(t *testing.T) {
	mw := middleware.Editing("x", func(_ context.Context, v *middleware.View) (*middleware.Plan, error) { return nil, nil },
		middleware.Options{Trigger: bad{}})
	for i := range 3 {
		_, ev := run(t, mw, []message.Message{message.User("hi"), message.Assistant(message.Text{Text: fmt.Sprint("conversation ", i)}), message.User("go on")})
		fmt.Println(i, ev)
	}
}

type bad struct{}

func (bad) Met(*middleware.View, func() *middleware.Plan) (bool, string, error) {
	return false, "", fmt.Errorf("cannot")
}

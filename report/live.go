// Package report shows a running chain in a browser, on this machine: the size of the context call by call, and for each call
// what was sent, cleared and folded, by whom and why.
//
//	live, err := report.Listen(ctx, report.Options{})
//	…
//	defer live.Close()
//	model := live.Watch(chain)(provider)
//	fmt.Println("see", live.URL())
//
// The page is the one that laconic replay --html writes for recordings.
package report

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/laconic-go/laconic/internal/calls"
	"github.com/laconic-go/laconic/internal/page"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/tokens"
)

// Options are those of a [Live]. The zero value shows numbers without texts, at a free port.
type Options struct {
	Port    int            // of 127.0.0.1; 0: a free one
	Texts   bool           // show the texts of messages; false: roles, tools and tokens only
	Counter tokens.Counter // of all tokens of the page; nil: tokens.Estimate{}
	Calls   int            // newest calls that are kept, of all conversations together; 0: 500
	Force   bool           // a button has all middlewares edit in the next call of a conversation, although their trigger is not met
}

// Live is a page that follows running chains. It is safe for concurrent use. It keeps the messages of the calls that it shows.
type Live struct {
	o       Options
	meter   tokens.Meter
	host    string // with the port
	token   string // in the path; who does not know it sees nothing
	server  *http.Server
	stop    context.CancelFunc // ends the streams of events
	serving sync.WaitGroup

	mu    sync.Mutex
	talks []*talk // by their last call, the newest last
	next  int     // key of the next conversation
	kept  int     // calls
	tabs  map[chan []byte]bool
}

// talk is a conversation, or a fork of one.
type talk struct {
	key      int
	id       string
	forced   bool // by the button, in the next call
	window   int
	first    message.ID // of the conversation
	history  []message.Message
	recorder calls.Recorder
	data     *page.Data
}

// Listen opens the page, on this machine only: it listens on 127.0.0.1, demands the token of [Live.URL], and refuses requests
// for other hosts, as another page of the browser could send them.
//
// The page is open until Close; when ctx ends, it shows nothing new.
func Listen(ctx context.Context, o Options) (*Live, error) {
	if o.Port < 0 || o.Port > 65535 || o.Calls < 0 {
		return nil, fmt.Errorf("report: port %d and %d calls, want 0 to 65535 and 0 or more", o.Port, o.Calls)
	}
	if o.Counter == nil {
		o.Counter = tokens.Estimate{}
	}
	o.Calls = cmp.Or(o.Calls, 500)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	l := &Live{
		o: o, meter: tokens.Meter{Counter: tokens.Memo(o.Counter)}, host: listener.Addr().String(), token: rand.Text(),
		tabs: map[chan []byte]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+l.token+"/{$}", l.page)
	mux.HandleFunc("GET /"+l.token+"/events", l.events)
	mux.HandleFunc("POST /"+l.token+"/force/{key}", l.force)
	ctx, stop := context.WithCancel(ctx)
	l.stop = stop
	l.server = &http.Server{
		Handler: l.guarded(mux), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	l.serving.Go(func() { _ = l.server.Serve(listener) }) // it ends with Close
	return l, nil
}

// URL returns the address of the page. It contains the token: every program on this machine that has it may read the page.
func (l *Live) URL() string { return "http://" + l.host + "/" + l.token + "/" }

// Close closes the page, and waits until nothing of it runs. Chains that it watched go on.
func (l *Live) Close() error {
	l.stop()
	err := l.server.Shutdown(context.Background()) // no handler waits for anything else
	l.serving.Wait()
	return err
}

// guarded refuses requests for other hosts than this one.
func (l *Live) guarded(next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(l.host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != l.host && r.Host != "localhost:"+port {
			http.Error(w, "this page is for http://"+l.host, http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func (l *Live) page(w http.ResponseWriter, _ *http.Request) {
	name := strings.TrimPrefix(fmt.Sprintf("%T", l.o.Counter), "tokens.")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.WriteShell(w, strings.ToLower(name), l.o.Texts, l.o.Force) // the reader has left
}

// force notes that the next call of a conversation is to be edited.
func (l *Live) force(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.talks, func(t *talk) bool { return l.o.Force && strconv.Itoa(t.key) == r.PathValue("key") })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	l.talks[i].forced = true
	w.WriteHeader(http.StatusNoContent)
}

// forcing returns the request with what the button demands.
func (l *Live) forcing(req *middleware.Request) *middleware.Request {
	if !l.o.Force || req.Dry() {
		return req
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.find(req)
	if i < 0 || !l.talks[i].forced {
		return req
	}
	l.talks[i].forced = false
	forcing := *req
	forcing.Force = append(slices.Clip(req.Force), "*")
	return &forcing
}

// events sends all conversations, and then each call when it is made.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	news := make(chan []byte, 256)
	l.mu.Lock()
	first := [][]byte{encode(page.Delta{Reset: true})}
	for _, t := range l.talks {
		first = append(first, t.delta(true))
	}
	l.tabs[news] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.tabs, news)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data []byte) bool {
		_, err := fmt.Fprintf(w, "data: %s\n\n", data)
		return errors.Join(err, http.NewResponseController(w).Flush()) == nil
	}
	for _, data := range first {
		if !send(data) {
			return
		}
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case data, open := <-news:
			if !open || !send(data) { // it was too slow; the browser asks again, and gets all
				return
			}
		}
	}
}

// tell sends an event to all tabs.
func (l *Live) tell(data []byte) {
	for tab := range l.tabs {
		select {
		case tab <- data:
		default:
			delete(l.tabs, tab)
			close(tab)
		}
	}
}

func encode(d page.Delta) []byte {
	b, err := json.Marshal(d)
	if err != nil {
		panic("report: " + err.Error()) // numbers and strings can always be written
	}
	return b
}

func (t *talk) delta(whole bool) []byte {
	d := t.data.Delta(whole)
	d.Key = t.key
	d.ID = t.id
	d.Window = t.window
	return encode(d)
}

// running is a call that is watched.
type running struct {
	sent   []message.Message
	dry    bool
	window int // of the model, in tokens; 0: not known
	mu     sync.Mutex
	events []middleware.Event
}

// key is the key of the running call in a context.
type key struct{}

// Watch returns the chain, observed by the page. It changes no answer, no error and, without [Options.Force], no request. Drafts
// are not shown.
func (l *Live) Watch(chain middleware.Middleware) middleware.Middleware {
	note := func(ctx context.Context, e middleware.Event) {
		if r, ok := ctx.Value(key{}).(*running); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
		}
	}
	return func(next middleware.Model) middleware.Model {
		sent := func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			if r, ok := ctx.Value(key{}).(*running); ok {
				r.sent = append([]message.Message{}, req.Messages...)
				if v := req.View(); v != nil {
					budget, _ := v.Budget()
					r.dry, r.window = v.Request().Dry(), budget.Window
				}
			}
			return next(ctx, req, emit)
		}
		inner := middleware.Observe(note)(chain(sent))
		return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
			r := &running{}
			req = l.forcing(req)
			resp, err := inner(context.WithValue(ctx, key{}, r), req, emit)
			if !r.dry && (r.sent != nil || middleware.KindOf(err) == middleware.Irreducible) {
				l.add(req, r, resp)
			}
			return resp, err
		}
	}
}

// add shows a call.
func (l *Live) add(req *middleware.Request, r *running, resp *middleware.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.talk(req)
	t.window = r.window
	c := calls.Call{History: l.meter.Request(req.Messages, req.Tools), Unmade: r.sent == nil}
	if r.sent != nil {
		seen := t.recorder.Take(req.Messages, r.sent, r.events)
		c.Events = seen.Events
		c.Changes = seen.Changes
		c.Sent = l.meter.Request(r.sent, req.Tools)
	}
	if resp != nil && resp.Cache.Prompt > 0 { // in the scale of the page
		read := cmp.Or(resp.Cache.Read, resp.Cache.Prefix) // what can be read, if the provider does not report it
		c.Read = min(c.Sent, c.Sent*read/resp.Cache.Prompt)
	}
	c.Written = c.Sent - c.Read
	t.data.Grow(req.Messages)
	t.data.Call(0, len(req.Messages), c)
	l.tell(t.delta(false))
	l.kept++
	for ; l.kept > l.o.Calls; l.kept-- {
		oldest := l.talks[0]
		oldest.data.Drop()
		l.tell(encode(page.Delta{Key: oldest.key, Drop: 1, Data: page.Data{Chains: make([]page.Sequence, 1)}}))
		if len(oldest.data.At) == 0 {
			l.talks = l.talks[1:]
		}
	}
}

// talk returns the conversation that a request continues, now the newest one. A fork is a conversation of its own.
func (l *Live) talk(req *middleware.Request) *talk {
	var t *talk
	if i := l.find(req); i >= 0 {
		t = l.talks[i]
		l.talks = slices.Delete(l.talks, i, i+1)
	} else {
		l.next++
		t = &talk{key: l.next, id: cmp.Or(req.Conversation, fmt.Sprintf("conversation %d", l.next)), first: firstOf(req)}
		t.recorder.Meter, t.data = l.meter, page.NewData(l.meter, 1, l.o.Texts)
	}
	l.talks = append(l.talks, t)
	t.history = slices.Clip(req.Messages)
	return t
}

// find returns the index of the conversation that a request continues, or -1.
func (l *Live) find(req *middleware.Request) int {
	first := firstOf(req)
	return slices.IndexFunc(l.talks, func(t *talk) bool {
		return t.first == first && len(t.history) <= len(req.Messages) &&
			slices.EqualFunc(t.history, req.Messages[:len(t.history)], message.Message.Equal)
	})
}

func firstOf(req *middleware.Request) message.ID {
	if req.Conversation != "" {
		return journal.NameOf(req.Conversation)
	}
	return journal.ConversationOf(req.Messages)
}

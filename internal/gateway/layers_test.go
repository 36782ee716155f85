package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/fakeprovider"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/wire"
)

var errGone = errors.New("gone")

// failingJournal fails while it is told to.
type failingJournal struct {
	journal.Journal

	fails func() bool
}

func (j failingJournal) Find(ctx context.Context, scope string, first message.ID, ids []message.ID) (journal.Found, error) {
	if j.fails() {
		return journal.Found{}, errGone
	}
	return j.Journal.Find(ctx, scope, first, ids)
}

func (j failingJournal) Put(ctx context.Context, scope string, writes []journal.Write) (journal.Entry, error) {
	if j.fails() {
		return journal.Entry{}, errGone
	}
	return j.Journal.Put(ctx, scope, writes)
}

// fullStore takes nothing while it is told to.
type fullStore struct {
	store.Store

	fails func() bool
}

func (s fullStore) Put(ctx context.Context, c message.ID, contents []store.Named) error {
	if s.fails() {
		return errGone
	}
	return s.Store.Put(ctx, c, contents)
}

// While a layer of the chain fails, and afterwards, a model that binds its thinking refuses nothing, the edits so far hold, and the
// decision names the class of the failure.
func TestFailingLayers(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]string{
		"room": "room", "editor": "editor", "chain": "chain", "panic": "panic", "editor panics": "editor", "journal": "journal",
		"archive": "archive", "bypass": "", "refused plan": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fakeprovider.Start(fakeprovider.ToolLoop{Tool: "read", Calls: 40}.Responder(), fakeprovider.Options{
				Models: map[string]int{"claude-sonnet-5-5": 200_000}, Bound: true,
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, p.Close()) }()
			u, err := url.Parse(p.Root)
			require.NoError(t, err)
			var n atomic.Int32 // requests so far
			is := func(fault string) bool { return name == fault && n.Load() > 20 && n.Load() <= 26 }
			layer := func(next middleware.Model) middleware.Model {
				return func(ctx context.Context, req *middleware.Request, emit middleware.Emit) (*middleware.Response, error) {
					if is("panic") {
						panic("oh")
					}
					if is("chain") {
						return nil, errGone
					}
					return next(ctx, req, emit)
				}
			}
			editor := middleware.Editing("mine", func(context.Context, *middleware.View) (*middleware.Plan, error) {
				if is("refused plan") { // since it makes the view longer
					longer := middleware.RewriteOf(1, message.Text{Text: strings.Repeat("Read all. ", 99)})
					return &middleware.Plan{Edits: []middleware.Edit{longer}}, nil
				}
				if is("editor panics") {
					panic("oh")
				}
				if is("editor") {
					return nil, errGone
				}
				return nil, nil
			}, middleware.Options{})
			failed, base := map[string]int{}, &http.Transport{}
			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: wire.Transport(base, wire.Options{
				Env: middleware.Env{
					Journal: failingJournal{journal.NewMemory(0), func() bool { return is("journal") }},
					Archive: fullStore{store.NewMemory(0), func() bool { return is("archive") }},
				},
				Budget: func(string) *middleware.Budget {
					if is("room") {
						return &middleware.Budget{Window: 60}
					}
					return nil
				},
				Bypass:  func(*http.Request) bool { return is("bypass") },
				Observe: func(_ context.Context, d wire.Decision) { failed[d.Failed]++ },
			}, contextedit.New(contextedit.Options{Trigger: trigger.Rounds(6), Keep: 3, ClearAtLeast: 1}), layer, editor, fit.New(fit.Options{}))}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				n.Add(1)
				proxy.ServeHTTP(w, req)
			}))
			defer func() { s.Close(); base.CloseIdleConnections() }()
			require.Equal(t, 40, talks["messages"].run(t, s.URL))
			allAccepted(t, p)
			require.Len(t, p.Requests(), 41)
			const line = "a line of a result"
			for i, r := range p.Requests() {
				whole := strings.Count(string(r.Body), line) / strings.Count(result, line)
				require.LessOrEqual(t, whole, max(7, i-13), "request %d has results that were cleared in one before", i)
			}
			if class != "" {
				require.Positive(t, failed[class], "%v", failed)
			}
			require.GreaterOrEqual(t, failed[""], 35, "%v", failed)
			require.Equal(t, class == "", failed[""] == 41, "%v", failed)
		})
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Open functions by scheme.
var (
	schemesMu sync.RWMutex
	schemes   = map[string]func(ctx context.Context, url string) (Backend, error){}
)

// known are the schemes of this module's drivers, and what registers them.
var known = []struct{ scheme, form, from string }{
	{"sqlite", "sqlite:PATH", "store/sqlstore"},
	{"postgres", "postgres://USER:PASSWORD@HOST:PORT/DATABASE", "store/sqlstore"},
	{"postgresql", "", "store/sqlstore"},
	{"redis", "redis://USER:PASSWORD@HOST:PORT/NUMBER", "store/redisstore"},
	{"rediss", "", "store/redisstore"},
}

// Register makes a driver known to [Open]. Drivers call it when they are imported. It
// panics if the scheme is empty or has a driver already.
func Register(scheme string, open func(ctx context.Context, url string) (Backend, error)) {
	schemesMu.Lock()
	defer schemesMu.Unlock()
	if scheme == "" || open == nil || schemes[scheme] != nil {
		panic("engine: Register: the scheme " + scheme + " is empty or has a driver already")
	}
	schemes[scheme] = open
}

// Open opens a database by its URL, such as
//
//	sqlite:laconic.db
//	postgres://user:password@host:5432/database
//	redis://user:password@host:6379/0
//
// Its driver must be imported. Without a deadline in ctx, it gives up after 30 seconds; a change of the tables of a large
// database may need more. With [Options.Lazy] it returns at once. The error names the host, and the forms or the package to
// import; it never contains a password.
func Open(ctx context.Context, address string, o Options) (*Engine, error) {
	scheme, _, ok := strings.Cut(address, ":")
	schemesMu.RLock()
	open := schemes[scheme]
	schemesMu.RUnlock()
	if open == nil || !ok {
		return nil, unknown(scheme, ok)
	}
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	e.open = func(ctx context.Context) (Backend, error) {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, openTimeout)
			defer cancel()
		}
		b, err := open(ctx, address)
		if err != nil {
			return nil, redact(named(err, address), address)
		}
		return b, nil
	}
	if o.Lazy {
		e.running.RLock()
		go e.connect()
		return e, nil
	}
	b, err := e.open(ctx)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.backend.Store(&b)
	return e, nil
}

// openTimeout is how long [Open] waits without a deadline.
const openTimeout = 30 * time.Second

// named returns an error with the host of a URL, unless it names it already.
func named(err error, address string) error {
	u, parse := url.Parse(address)
	if parse != nil || u.Host == "" || strings.Contains(u.Hostname(), ":") || strings.Contains(err.Error(), u.Host) {
		return err // a second colon is of a password, or of an IPv6 address
	}
	return fmt.Errorf("engine: open %s: %w", u.Host, err)
}

// imported returns the schemes whose drivers are imported, sorted.
func imported() []string {
	schemesMu.RLock()
	defer schemesMu.RUnlock()
	var all []string
	for s := range schemes {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// unknown is the error of a URL without a driver. It does not quote the URL, which may
// have a password.
func unknown(scheme string, ok bool) error {
	var forms []string
	for _, k := range known {
		if ok && k.scheme == scheme {
			return fmt.Errorf(`engine: open: no driver for %s: add import _ "github.com/laconic-go/laconic/%s"`, scheme, k.from)
		}
		if k.form != "" {
			forms = append(forms, k.form)
		}
	}
	return fmt.Errorf("engine: open: the URL begins with no known scheme, want %s", strings.Join(forms, ", "))
}

// redacted is an error without a password. It does not wrap the error that has it.
type redacted struct {
	text  string
	cause error // of the context, if that ended
}

func (r redacted) Error() string { return r.text }
func (r redacted) Unwrap() error { return r.cause }

// redact returns an error without the passwords of a URL, also if that is malformed.
func redact(err error, address string) error {
	text := err.Error()
	for _, secret := range passwords(address) {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	r := redacted{text: text}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			r.cause = cause
		}
	}
	return r
}

// passwords returns what may be a password in a URL, as it is there and unescaped, the
// longest first.
func passwords(address string) []string {
	var found []string
	add := func(s string) {
		if s == "" {
			return
		}
		found = append(found, s)
		for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if plain, err := unescape(s); err == nil && plain != s {
				found = append(found, plain)
			}
		}
	}
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			_, password, _ := strings.Cut(rest[:at], ":")
			add(password)
		}
	}
	_, query, _ := strings.Cut(address, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if k, v, _ := strings.Cut(pair, "="); strings.Contains(strings.ToLower(k), "password") {
			add(v)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

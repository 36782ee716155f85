// Package redisstore keeps journals and archives in Redis 6.2 or later, a cluster, or a
// server that speaks its protocol and runs its scripts. Import it for its effect, which
// is that [engine.Open] knows these forms:
//
//	redis://[user:password@]host[:port][/database][?option=…]
//	rediss://…                                         with TLS
//	redis://host:port?addr=host2:port2&addr=…          a cluster; one of its nodes is enough
//	redis://host:port?master_name=…&addr=…             the master that Sentinels at these addresses name
//
//	import _ "github.com/laconic-go/laconic/store/redisstore"
//
//	e, err := engine.Open(ctx, "redis://localhost:6379/0", engine.Options{TTL: 30 * 24 * time.Hour})
//
// New takes a client of the caller's. The option prefix (default laconic) is what all keys begin with. The others are those of
// go-redis: pool_size, dial_timeout, read_timeout, max_retries and more.
//
// In a cluster, the histories of a scope and its contents are spread over the nodes. Each call is one script, which
// runs as one atomic step and is one round trip; in a cluster, a Limit costs one more, and contents are stored by one
// step for each node. What Redis has answered
// survives its crash only with appendfsync always; docs/stores.md has what other settings
// can lose.
package redisstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/laconic-go/laconic/store/engine"
)

func init() { //nolint:gochecknoinits // as drivers of database/sql do
	engine.Register("redis", open)
	engine.Register("rediss", open)
}

// Versions of the keys and their values; see scope.lua. The key of the version shows which one is used, so a server whose
// keys were moved to a cluster, or from one, is read as it was written.
const (
	onePart   = 1 // a scope is in one slot; what a server begins with
	manyParts = 2 // a scope is in partCount slots; what a cluster begins with
)

const overhead = 200 // bytes of a row in addition to its data; see [engine.Usage]

const partCount = 32

// backend is an [engine.Backend].
type backend struct {
	client redis.UniversalClient
	prefix string // of all keys
	parts  uint32 // of each scope

	// Of a client that the backend has made; it is nil for one of the caller's.
	dials    context.Context //nolint:containedctx // ends dials that run when Close is called
	endDials context.CancelFunc
}

// New returns the backend of a client, for [engine.New]: addresses, TLS, passwords, Sentinel and tracing are those of the
// client, which may be one of a cluster. prefix is what all keys begin with; "": laconic. Close leaves the client open.
func New(ctx context.Context, client redis.UniversalClient, prefix string) (engine.Backend, error) {
	b := &backend{client: client, prefix: cmp.Or(prefix, defaultPrefix)}
	if err := checkPrefix(b.prefix); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	if _, single := client.(*redis.Client); single && b.isNode(ctx) {
		return nil, errors.New("redisstore: the server is a node of a cluster, want a client by redis.NewClusterClient")
	}
	if err := b.check(ctx); err != nil {
		return nil, fmt.Errorf("redisstore: open: %w", err)
	}
	return b, nil
}

const defaultPrefix = "laconic"

func checkPrefix(prefix string) error {
	if strings.ContainsAny(prefix, "{}*?[]\\") {
		return errors.New("the prefix contains one of {}*?[]\\")
	}
	return nil
}

// isNode reports whether the server is a node of a cluster.
func (b *backend) isNode(ctx context.Context) bool {
	info, err := b.client.ClusterInfo(ctx).Result()
	return err == nil && strings.Contains(info, "cluster_state")
}

// open connects to a server and checks the version of what it has. The URL has one of the
// forms of the package comment. Errors do not contain it, except for its host and port.
func open(ctx context.Context, rawURL string) (engine.Backend, error) {
	b := &backend{}
	b.dials, b.endDials = context.WithCancel(context.Background())
	if err := b.connect(ctx, rawURL); err != nil {
		b.endDials()
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	if err := b.check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("redisstore: open: %w", err), b.Close())
	}
	return b, nil
}

// errURL contains nothing of the URL, since parts of a password may be anywhere in a wrong one.
var errURL = errors.New("the URL is wrong, want redis://[user:password@]host[:port][/database][?option=…], with " +
	"options of go-redis or prefix=…; special characters of a password must be percent-encoded")

// connect makes the client that a URL asks for: of a server, of the master that Sentinels name, or of a cluster, which is
// found by itself if the URL has one of its nodes.
func (b *backend) connect(ctx context.Context, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return errURL
	}
	query := u.Query()
	b.prefix = cmp.Or(query.Get("prefix"), defaultPrefix)
	if err := checkPrefix(b.prefix); err != nil {
		return err
	}
	query.Del("prefix")
	u.RawQuery = query.Encode()
	switch {
	case query.Has("master_name"):
		return b.connectSentinel(u.String())
	case query.Has("addr"):
		return b.connectCluster(u.String())
	}
	o, err := redis.ParseURL(u.String())
	if err != nil {
		return errURL
	}
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true
	o.MaintNotificationsConfig = noNotices
	// Otherwise go-redis would try again and again, and hide the cause.
	conn, err := newDialer(o.TLSConfig, o.DialTimeout)(ctx, o.Network, o.Addr)
	switch {
	case err != nil && o.TLSConfig != nil:
		return fmt.Errorf("no connection with TLS (the URL of a server without it begins with redis:): %w", err)
	case err != nil:
		return err
	}
	_ = conn.Close()
	o.Dialer = b.dialer(o.TLSConfig, o.DialTimeout)
	b.client = redis.NewClient(o)
	if !b.isNode(ctx) {
		return nil
	}
	err = b.client.Close()
	query.Set("addr", u.Host)
	u.RawQuery = query.Encode()
	return errors.Join(err, b.connectCluster(u.String()))
}

// noNotices asks the server for no notices of maintenance.
var noNotices = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

func (b *backend) connectCluster(address string) error {
	o, err := redis.ParseClusterURL(address)
	if err != nil {
		return errURL
	}
	o.Dialer = b.dialer(o.TLSConfig, o.DialTimeout)
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true
	o.MaintNotificationsConfig = noNotices
	b.client = redis.NewClusterClient(o)
	return nil
}

func (b *backend) connectSentinel(address string) error {
	o, err := redis.ParseFailoverURL(address)
	if err != nil {
		return errURL
	}
	o.Dialer = b.dialer(o.TLSConfig, o.DialTimeout)
	o.ContextTimeoutEnabled, o.DisableIdentity = true, true
	b.client = redis.NewFailoverClient(o)
	return nil
}

// dialer returns the dialer of go-redis with two changes. Close ends a dial, since the
// pool dials in goroutines that outlive it. And a failed dial is a connection that fails
// with its error: the pool would print the error, and dial on in the background.
func (b *backend) dialer(t *tls.Config, timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := newDialer(t, timeout)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(b.dials, cancel)() //nolint:contextcheck // the dial ends with both
		conn, err := dial(ctx, network, addr)
		if err != nil {
			pipe, other := net.Pipe()
			return failed{pipe, err}, other.Close()
		}
		return conn, nil
	}
}

// newDialer returns the dialer of go-redis with a limit of time: a server without TLS never answers a client with it.
func newDialer(t *tls.Config, timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return redis.NewDialer(&redis.Options{TLSConfig: t, DialTimeout: cmp.Or(timeout, dialTimeout)})
}

const dialTimeout = 5 * time.Second // unless the URL has dial_timeout

// failed is a connection that could not be made.
type failed struct {
	net.Conn

	err error
}

func (f failed) Read([]byte) (int, error)         { return 0, f.err }
func (f failed) Write([]byte) (int, error)        { return 0, f.err }
func (f failed) SetDeadline(time.Time) error      { return f.err }
func (f failed) SetReadDeadline(time.Time) error  { return f.err }
func (f failed) SetWriteDeadline(time.Time) error { return f.err }

// check finds out whether the keys are of a version that this package knows, or sets it.
func (b *backend) check(ctx context.Context) error {
	key := b.prefix + ":version"
	p := b.client.Pipeline()
	first := onePart
	if _, cluster := b.client.(*redis.ClusterClient); cluster {
		first = manyParts
	}
	p.SetNX(ctx, key, first, 0)
	version := p.Get(ctx, key)
	if _, err := p.Exec(ctx); err != nil && version.Val() == "" { // one that may not write reads what others write
		return err
	}
	n, err := strconv.Atoi(version.Val())
	switch {
	case err != nil || n < 1:
		return fmt.Errorf("key %s is not a version: choose another prefix", key)
	case n > manyParts:
		return fmt.Errorf("the keys have version %d, and this program knows version %d: update the program, or choose another prefix",
			n, manyParts)
	}
	b.parts = 1
	if n == manyParts {
		b.parts = partCount
	}
	return nil
}

// Close implements [engine.Backend].
func (b *backend) Close() error {
	if b.endDials == nil { // the client is the caller's
		return nil
	}
	b.endDials()
	if err := b.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("redisstore: close: %w", err)
	}
	return nil
}

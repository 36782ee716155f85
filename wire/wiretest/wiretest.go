// Package wiretest checks in tests that a client uses the transport that it was given.
package wiretest

import (
	"net/http"
	"testing"
)

// Used fails a test at its end if rt, which [wire.Transport] has made, has seen no request of a model: some clients ignore
// the http.Client that they are given, or replace its transport.
//
// [wire.Transport]: https://pkg.go.dev/github.com/laconic-go/laconic/wire#Transport
func Used(tb testing.TB, rt http.RoundTripper) {
	tb.Helper()
	counter, ok := rt.(interface{ Seen() int64 })
	if !ok {
		tb.Fatalf("wiretest: %T is not a transport of package wire", rt)
	}
	before := counter.Seen()
	tb.Cleanup(func() {
		if counter.Seen() == before {
			tb.Errorf("wiretest: the transport has seen no request of a model: does the client use it?")
		}
	})
}

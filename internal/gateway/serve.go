package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve answers requests until ctx is done. Then /readyz answers 503, after DrainDelay no connection is accepted any more, and
// requests have the time Drain to end; those that do not are broken off, and are an error.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           g,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute, // and no WriteTimeout: answers may stream for long
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	ended := make(chan error, 1)
	go func() {
		if g.cert.Load() == nil {
			ended <- server.Serve(l)
			return
		}
		server.TLSConfig = &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return g.cert.Load(), nil },
		}
		ended <- server.ServeTLS(l, "", "")
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("gateway: %w", err)
	case <-ctx.Done():
	}
	g.stopping.Store(true)
	select {
	case err := <-ended:
		return fmt.Errorf("gateway: %w", err)
	case <-time.After(g.opts.DrainDelay):
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.opts.Drain)
	defer cancel()
	err := server.Shutdown(limit)
	if err != nil {
		err = errors.Join(fmt.Errorf("gateway: requests had to be broken off: %w", err), server.Close())
	}
	<-ended //nolint:errcheck // it is http.ErrServerClosed
	return err
}

// loadCertificate reads the files of a certificate; nil: none is wanted.
func loadCertificate(cert, key string) (*tls.Certificate, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("gateway: certificate: %w", err)
	}
	return &c, nil
}

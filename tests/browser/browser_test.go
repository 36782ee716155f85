// Package browser tests the page of laconic in a headless Chromium.
package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// tab is a page in a browser of its own.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // the browser lives in it

	mu       sync.Mutex
	problems []string // exceptions, and what the console has as error
	requests []string // addresses other than of files and data
}

// newTab starts a browser. The test is skipped where there is none.
func newTab(t *testing.T, width, height int64, dark bool) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine: install it, for example with apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(2*time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"))
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.EmulateViewport(width, height))
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
	return b
}

// listen notes problems and requests.
func (b *tab) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			b.problems = append(b.problems, "console.error")
		}
	case *network.EventRequestWillBeSent:
		if url := ev.Request.URL; !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			b.requests = append(b.requests, url)
		}
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// eval returns the value of an expression, which may be a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return v
}

// open shows a file and waits until it is drawn.
func (b *tab) open(path string) {
	b.t.Helper()
	full, err := filepath.Abs(path)
	require.NoError(b.t, err)
	b.do(chromedp.Navigate("file://" + full))
	b.drawn(1)
}

// drawn waits until the page has drawn itself so often.
func (b *tab) drawn(times int) {
	b.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for eval[string](b, `document.documentElement.dataset.ready || "0"`) < string(rune('0'+times)) {
		require.True(b.t, time.Now().Before(deadline), "the page is not drawn; problems: %v", b.problems)
		require.Empty(b.t, b.seen())
	}
}

func (b *tab) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.problems...)
}

// quiet requires that nothing went wrong and no host was asked.
func (b *tab) quiet() {
	b.t.Helper()
	require.Empty(b.t, b.seen(), "exceptions and errors of the console")
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.requests, "requests to hosts")
}

// shot writes a picture of the page into the folder of LACONIC_SHOTS.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("LACONIC_SHOTS")
	if dir == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), image, 0o600))
}

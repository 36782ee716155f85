// Package browser tests the page of laconic in a headless Chromium.
package browser

import (
	"bufio"
	"context"
	"fmt"
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

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/report"
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

// TestLive watches a chain: calls appear when they are made, and the newest is followed until another one is chosen.
func TestLive(t *testing.T) {
	b := newTab(t, 1180, 1000, false)
	live, err := report.Listen(t.Context(), report.Options{Texts: true, Calls: 8})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, live.Close()) })
	chain := middleware.Chain(contextedit.New(contextedit.Options{Trigger: trigger.Messages(1), Keep: 2, Digest: -1}))
	model := live.Watch(chain)(func(context.Context, *middleware.Request, middleware.Emit) (*middleware.Response, error) {
		return &middleware.Response{Message: message.Assistant(message.Text{Text: "done"}), Stop: middleware.StopEnd}, nil
	})
	h := []message.Message{message.User("Read </script> the files.")}
	round := func() {
		_, err := model(t.Context(), &middleware.Request{Messages: h, Conversation: "ann"}, nil)
		require.NoError(t, err)
		id := fmt.Sprint("c", len(h))
		h = append(h, message.Assistant(message.ToolCall{ID: id, Name: "read", Arguments: "{}"}), message.Result(id, "read", order(len(h))))
	}
	shows := func(head string) {
		t.Helper()
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](fmt.Sprintf(`$("call-h").textContent === %q`, head)))
		require.NoError(t, err, head)
	}
	b.do(chromedp.Navigate(live.URL()))
	require.Contains(t, eval[string](b, `$("waiting").textContent`), "No call has been made yet")
	round()
	shows("Call 1 of 1")
	for range 5 {
		round()
	}
	shows("Call 6 of 6")
	require.Equal(t, "cleared 3", eval[string](b, `document.querySelector("#filter .cleared").textContent`))
	eval[any](b, `choose({call: 2})`)
	round()
	shows("Call 3 of 7")
	for range 3 { // ten calls in all, of which eight are kept
		round()
	}
	shows("Call 1 of 8")
	require.Equal(t, eval[int](b, `view(7).filter(x => x.fate === 1).length`), 7)
	b.shot("live")
	require.Empty(t, b.seen())
}

// TestPictures makes the pictures of the documents, of the example's run, in the folder of LACONIC_PICTURES: make pictures.
func TestPictures(t *testing.T) {
	dir := os.Getenv("LACONIC_PICTURES")
	if dir == "" {
		t.Skip("no LACONIC_PICTURES: name the folder to write to")
	}
	program := filepath.Join(t.TempDir(), "react-agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/react-agent")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.CommandContext(t.Context(), program, "-live", "-texts", "-window", "8000")
	cmd.Dir = "../.."
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	url := ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if address, found := strings.CutPrefix(lines.Text(), "live page: "); found {
			url = address
		}
		if strings.Contains(lines.Text(), "until Ctrl-C") {
			break
		}
	}
	require.NotEmpty(t, url)
	for name, c := range map[string]struct {
		height int64
		show   string
	}{
		"report":      {780, `$("one").scrollIntoView()`},
		"report-call": {560, `choose({call: 15}).then(() => { document.querySelector("#messages .now summary").click(); $("call").scrollIntoView(); })`},
	} {
		b := newTab(t, 1100, c.height, false)
		b.do(chromedp.Navigate(url))
		b.drawn(1)
		eval[any](b, c.show)
		eval[any](b, settled)
		image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.Less(t, len(image), 150_000, "a picture of the README has less than 150 kB")
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(name, ".png")), image, 0o600))
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
}

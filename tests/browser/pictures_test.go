package browser

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

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

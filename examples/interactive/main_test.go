package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv("INTERACTIVE_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// terminal is the command in a pseudo terminal.
type terminal struct {
	t      *testing.T
	file   *os.File
	screen *vt.SafeEmulator
	cmd    *exec.Cmd

	reading sync.WaitGroup
	raw     bytes.Buffer // all that was written, when reading has ended
}

func start(t *testing.T, width, height int, env []string, args ...string) *terminal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "INTERACTIVE_TEST=1", "TERM=xterm-256color", "NO_COLOR=", "COLORTERM="), env...)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	require.NoError(t, err)
	p := &terminal{t: t, file: file, screen: vt.NewSafeEmulator(width, height), cmd: cmd}
	p.reading.Go(func() { // until the command has ended
		b := make([]byte, 4096)
		for {
			n, err := file.Read(b)
			p.raw.Write(b[:n])
			_, _ = p.screen.Write(b[:n])
			if err != nil {
				return
			}
		}
	})
	var answering sync.WaitGroup
	answering.Go(func() { _, _ = io.Copy(file, p.screen) }) // the answers of the terminal
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		p.reading.Wait()
		if in, ok := p.screen.InputPipe().(io.Closer); ok { // Close of the emulator is not safe while it is read
			_ = in.Close()
		}
		answering.Wait()
		_ = file.Close()
	})
	return p
}

// rows returns the lines of the screen.
func (p *terminal) rows() []string {
	rows := strings.Split(ansi.Strip(p.screen.Render()), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " \r")
	}
	return rows
}

// press sends a key and waits until the screen has a text.
func (p *terminal) press(key, text string) {
	p.t.Helper()
	if key != "" {
		_, err := p.file.WriteString(key)
		require.NoError(p.t, err)
	}
	require.Eventually(p.t, func() bool {
		return strings.Contains(strings.Join(p.rows(), "\n"), text)
	}, 20*time.Second, 5*time.Millisecond, "the screen should have %q after %q", text, key)
}

// quit ends the command, and returns all that it has written.
func (p *terminal) quit() string {
	p.t.Helper()
	p.press("q", "")
	require.NoError(p.t, p.cmd.Wait())
	p.reading.Wait()
	return p.raw.String()
}

var item = regexp.MustCompile(`^[ >] *\d+ [█▚▓▒░▞] `)

// whole checks that each line of the list is a line of the screen, below a head and above the keys.
func (p *terminal) whole(width, height int) {
	p.t.Helper()
	require.EventuallyWithT(p.t, func(t *assert.CollectT) { // a frame may come in several pieces
		rows := p.rows()
		require.Len(t, rows, height)
		require.Regexp(t, `^[\d,]+ tokens of [\d,]+, \d+ %$`, rows[0])
		require.Regexp(t, `^[█▚▓▒░▞]+·+$`, rows[1])
		require.True(t, strings.HasSuffix(rows[height-1], "q quit"), "%q", rows)
		items := 0
		for _, row := range rows {
			require.LessOrEqual(t, ansi.StringWidth(row), width)
			if item.MatchString(row) {
				items++
			}
		}
		require.GreaterOrEqual(t, items, 3, "%s", strings.Join(rows, "\n"))
	}, 20*time.Second, 5*time.Millisecond)
	require.Zero(p.t, p.screen.ScrollbackLen(), "a line that wraps would scroll")
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 20}, {40, 15}} {
		width, height := size[0], size[1]
		p := start(t, width, height, nil)
		p.press("", "q quit")
		for i := range 7 {
			p.press("n", fmt.Sprintf(">%3d ", 2*i+3))
		}
		p.press("", "Draft: 4,190 → 2,210 tokens (-47 %)")
		p.whole(width, height)
		for _, name := range []string{"terminal.md", "terminal.zh-CN.md"} {
			text, err := os.ReadFile("../../docs/" + name)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return width != 60 || strings.Contains(string(text), strings.Join(p.rows(), "\n")) },
				20*time.Second, 5*time.Millisecond, "the picture on the page should be what the terminal shows")
		}
		p.press("y", "accepted; u takes it back") // the first key
		p.whole(width, height)
		p.press("u", "undo: contextedit") // the second: six are allowed
		p.whole(width, height)
		p.press("", "4,190 tokens of")
		require.NoError(t, pty.Setsize(p.file, &pty.Winsize{Cols: 50, Rows: 18}))
		p.screen.Resize(50, 18)
		p.press("n", "> 17 ")
		p.whole(50, 18)
		require.Regexp(t, `\x1b\[[\d;]*3[1-6]m`, p.quit(), "it has colours")
	}
}

func TestEditor(t *testing.T) {
	t.Parallel()
	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nprintf 'these are my words\\n' > \"$2\"\n"), 0o700))
	p := start(t, 60, 20, []string{"VISUAL=", "EDITOR=" + editor + " -x"}, "-from", "16")
	p.press("", "Draft: ")
	p.press("e", "the edit is changed")
	p.press("y", "accepted")
	p.press("\x1b[H", ">  0") // home
	for _, row := range []string{">  1", ">  2", ">  3"} {
		p.press("j", row)
	}
	p.press("\r", "cleared by contextedit")
	p.press("\x1b[F", "── sent in its place ──\nthese are my words") // end
}

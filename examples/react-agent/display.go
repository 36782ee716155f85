package main

import (
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/laconic-go/laconic/react"
)

// display shows a run to whoever started it.
type display interface {
	begin(t *tree, history int) // history: tokens of what the run starts with
	show(event react.Event)
	end(r report) error
}

// newDisplay returns JSON if that is wanted. Else it is a screen, with colours
// and fine bars if the output goes to a terminal.
func newDisplay(opts options, out io.Writer) display {
	if opts.json {
		return jsonDisplay{out}
	}
	s := &screen{out: out, model: opts.model, window: opts.window, chain: opts.chain, width: 80}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.width = width
	}
	if !opts.plain && os.Getenv("TERM") != "dumb" {
		s.unicode = true
		s.color = os.Getenv("NO_COLOR") == ""
	}
	return s
}

// jsonDisplay prints the report as one JSON object, and nothing else.
type jsonDisplay struct{ out io.Writer }

func (d jsonDisplay) begin(*tree, int)   {}
func (d jsonDisplay) show(_ react.Event) {}

func (d jsonDisplay) end(r report) error {
	e := json.NewEncoder(d.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

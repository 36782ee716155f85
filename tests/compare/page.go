package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/internal/replay"
)

// write writes the results, the tables of the page and its pictures into the folder of the docs.
func (c *comparison) write(docs string) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(docs, "comparison.md")) //nolint:gosec // G304: the caller names the folder
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"comparison.md": c.inPage(string(page)), "data/comparison.json": string(data) + "\n",
		"pictures/comparison-32k.svg": c.picture(32_000), "pictures/comparison-200k.svg": c.picture(200_000),
	} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var blocks = regexp.MustCompile(`(?s)<!-- results -->\n.*?<!-- end -->`)

// inPage returns the page with the results in its only block.
func (c *comparison) inPage(page string) string {
	text := fmt.Sprintf("<!-- results -->\n%d conversations of %s, %d calls:\n\n```\n%s```\n\n**%s**\n<!-- end -->",
		c.Conversations, c.Source, c.Calls, c.table(32_000), c.verdict())
	return blocks.ReplaceAllLiteralString(page, text)
}

// picture draws what each chain costs in a window: a dot for each class, which is empty if requests are refused or facts
// are lost.
func (c *comparison) picture(window int) string {
	const left, right, line, most = 190, 640, 22, 1.5 // pixels, and the cost at the right edge
	colors := [...]string{"#888888", "#2a9d8f", "#457b9d", "#e76f51", "#7b2cbf"}
	x := func(cost float64) float64 { return left + min(cost, most)/most*(right-left) }
	var b strings.Builder
	y := 40
	for i, class := range replay.Classes() {
		fmt.Fprintf(&b, `<circle cx="%d" cy="12" r="5" fill="%s"/><text x="%d" y="16">%s</text>`+"\n", left+i*70, colors[i], left+9+i*70, class.Name)
	}
	for _, r := range c.Rows {
		if r.Window != window {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><path d="M%d %dH%d" stroke="#ddd"/>`+"\n", left-12, y+4, r.Chain, left, y, right)
		for i, class := range replay.Classes() {
			fill := colors[i]
			if !r.sound() {
				fill = "#fff"
			}
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%d" r="5" fill="%s" stroke="%s" stroke-width="2"/>`+"\n", x(r.Cost[class.Name]), y, fill, colors[i])
		}
		y += line
	}
	for i, label := range []string{"0", "0.5", "1", "1.5 or more"} {
		at := x(0.5 * float64(i))
		fmt.Fprintf(&b, `<path d="M%.1f 28V%d" stroke="#999" stroke-dasharray="2 3"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, y-8, at, y+8, label)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n"+
		`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n%s</svg>\n", right+50, y+16, b.String())
}

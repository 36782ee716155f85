// Package page writes a page that shows what chains did to conversations. The page is one file, which loads nothing.
//
//	err := (&page.Page{Scale: "chars4", Chains: chains, Talks: talks}).Write(file)
//
// Numbers and texts of a conversation are packed (gzip, base64), and the browser unpacks those that it shows.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Page is what a page shows. Its JSON is read by page.js.
type Page struct {
	Scale   string            `json:"scale"`             // what counts all tokens
	Classes []Class           `json:"classes,omitempty"` // of prices
	Rank    string            `json:"rank,omitempty"`    // name of the class that is shown first
	Bar     float64           `json:"bar,omitempty"`     // share of hard facts that a chain has to keep
	Chains  []json.RawMessage `json:"chains"`            // each with the keys of a line of laconic replay --json
	Texts   bool              `json:"texts"`             // the conversations have texts
	Live    string            `json:"live,omitempty"`    // path of the events of a running chain; "": the page is complete
	Force   bool              `json:"force,omitempty"`   // with a button by which a conversation is edited
	Talks   []*Talk           `json:"talks"`
}

// Class is a class of prices, in units of an uncached input token.
type Class struct {
	Name   string   `json:"name"`
	Read   float64  `json:"read"`
	Write  float64  `json:"write"`
	Models []string `json:"models"` // some that have these prices
}

//go:embed page.html
var frame string

//go:embed page.css
var style string

//go:embed page.js
var script string

//go:embed words.js
var words string

//go:embed uplot/uPlot.iife.min.js
var plots string

//go:embed uplot/uPlot.min.css
var plotStyle string

//go:embed uplot/LICENSE
var plotLicence string

// Write writes the page. Of a page without texts, it leaves out what the conversations have.
func (p *Page) Write(w io.Writer) error {
	data, err := json.Marshal(p) // with < and > as escapes, so that no text ends the element
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	code := plots + "\n" + words + "\n" + script
	hash := sha256.Sum256([]byte(code))
	page := strings.NewReplacer(
		"{{licence}}", strings.ReplaceAll(plotLicence, "\r", ""), "{{style}}", plotStyle+style, "{{script}}", code,
		"{{hash}}", base64.StdEncoding.EncodeToString(hash[:]), "{{data}}", string(data),
	)
	_, err = page.WriteString(w, frame)
	return err
}

// pack returns JSON, compressed and in base64.
func pack(v any) (string, error) {
	var b bytes.Buffer
	to := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(v); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := to.Close(); err != nil {
		return "", err
	}
	return b.String(), nil
}

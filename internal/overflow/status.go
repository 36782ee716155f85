package overflow

import (
	"net/http"
	"regexp"
	"strconv"
)

// Status returns the HTTP status of a client's error, or 0. It looks at the error and at
// all that it wraps for a method or an exported field with a name that clients use, and
// then reads their texts: "error, status code: 429", "HTTP 413", "400 Bad Request",
// {"code": 400}.
func Status(err error) int {
	return statusOf(err, Text(err))
}

// Clients have the status in a field of their error: HTTPStatusCode in those for OpenAI,
// StatusCode in those for Anthropic and Ollama, Code in that for Gemini. There is no
// common interface, and importing the clients would link all of them into every program,
// so the fields are looked up by name.
var statusFields = []string{"HTTPStatusCode", "StatusCode", "HTTPCode", "Code"}

// statusOf is Status for an error whose text is known.
func statusOf(err error, text string) int {
	for e := range tree(err) {
		if status := statusField(e); status >= 100 && status < 600 {
			return status
		}
	}
	return statusIn(text)
}

// statusField returns the status in a method or field of one error, not of those that it
// wraps.
func statusField(err error) int {
	switch e := err.(type) { //nolint:errorlint // the tree is walked by the caller
	case interface{ HTTPStatusCode() int }:
		return e.HTTPStatusCode()
	case interface{ StatusCode() int }:
		return e.StatusCode()
	}
	for _, name := range statusFields {
		if f := fieldOf(err, name); f.IsValid() && f.CanInt() && f.Int() != 0 {
			return int(f.Int())
		}
	}
	return 0
}

// statusText is how clients write a status, for errors that were turned into text. A
// known status may also be alone at the beginning.
var statusText = regexp.MustCompile(
	`(?:(?:^|\x00)\W?|(?:^|[^a-z])(?:http(?:/[\d.]+)?|(?:http[ _]?)?status(?:[ _]?code)?|code|error)[ :=(]{1,3})([45]\d\d)\b( tokens?\b)?` +
		`|\b([45]\d\d) (?:bad request|unauthorized|payment required|forbidden|not found|request timeout|conflict|` +
		`(?:request entity|payload|content) too large|unprocessable|too many requests|` +
		`internal server error|bad gateway|service unavailable|gateway timeout)\b`)

// statusIn returns the first status in a text, or 0.
func statusIn(text string) int {
	for _, m := range statusText.FindAllStringSubmatch(text, 10) {
		status, _ := strconv.Atoi(m[1] + m[3])
		cloudflare := status >= 520 && status <= 530
		if m[2] == "" && (http.StatusText(status) != "" || cloudflare) {
			return status
		}
	}
	return 0
}

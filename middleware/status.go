package middleware

import (
	"net/http"
	"regexp"
	"strconv"
)

// KindOfStatus returns what an HTTP status of a provider means for whoever made
// the request; of one that is no failure, [Unknown]. Too large a body is
// [Invalid]: it is about bytes, not about tokens.
func KindOfStatus(status int) Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return Denied
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return Unavailable
	case status >= http.StatusBadRequest:
		return Invalid
	}
	return Unknown
}

// StatusOf returns the HTTP status that an error of a client tells, or 0. It
// asks the error and all that it wraps for a method or an exported field that
// has it, by the names that clients use, and then reads their texts: "error,
// status code: 429", "HTTP 413", "400 Bad Request", {"code": 400}.
func StatusOf(err error) int {
	return statusOf(err, saidBy(err))
}

// The clients keep the status in a field of their error: HTTPStatusCode in
// those for OpenAI, StatusCode in those for Anthropic and Ollama, Code in that
// for Gemini. There is no interface for it, and to import them would link all
// of them into every program, so the fields are looked up by name.
var statusFields = []string{"HTTPStatusCode", "StatusCode", "HTTPCode", "Code"}

// statusOf is StatusOf for an error whose words are known.
func statusOf(err error, said string) int {
	for e := range treeOf(err) {
		if status := statusHeld(e); status >= 100 && status < 600 {
			return status
		}
	}
	return statusIn(said)
}

// statusHeld returns what one error holds as a status, without what it wraps.
func statusHeld(err error) int {
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

// statusText is how the clients write a status, for errors that were made into
// text on the way. A known status may also stand alone at the beginning.
var statusText = regexp.MustCompile(
	`(?:(?:^|\x00)\W?|(?:^|[^a-z])(?:http(?:/[\d.]+)?|(?:http[ _]?)?status(?:[ _]?code)?|code|error)[ :=(]{1,3})([45]\d\d)\b( tokens?\b)?` +
		`|\b([45]\d\d) (?:bad request|unauthorized|payment required|forbidden|not found|request timeout|conflict|` +
		`(?:request entity|payload|content) too large|unprocessable|too many requests|` +
		`internal server error|bad gateway|service unavailable|gateway timeout)\b`)

// statusIn returns the first status that a text tells, or 0.
func statusIn(said string) int {
	for _, m := range statusText.FindAllStringSubmatch(said, 10) {
		status, _ := strconv.Atoi(m[1] + m[3])
		cloudflare := status >= 520 && status <= 530
		if m[2] == "" && (http.StatusText(status) != "" || cloudflare) {
			return status
		}
	}
	return 0
}

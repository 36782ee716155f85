package eino

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/internal/foreign"
	"github.com/laconic-go/laconic/middleware"
)

func invalid(err error) error {
	return &middleware.Error{Kind: middleware.Invalid, Op: "eino", Err: err}
}

// fault gives an error of a model its kind, so that middlewares know what to
// do about it. The error stays in the tree of what is returned. If the context
// is done, its error is in the tree, too.
func fault(ctx context.Context, err error) error {
	switch gone := ctx.Err(); {
	case gone != nil && !errors.Is(err, gone):
		return &middleware.Error{Kind: middleware.Canceled, Op: "eino", Err: fmt.Errorf("%w: %w", gone, err)}
	case middleware.KindOf(err) != middleware.Unknown:
		return err
	}
	if k := kindOf(err); k != middleware.Unknown {
		return &middleware.Error{Kind: k, Op: "eino", Err: err}
	}
	return err
}

// kindOf tells the kind of an error by its HTTP status, and whether a bad
// request is one that is too long by what it says.
func kindOf(err error) middleware.Kind {
	status := statusOf(err)
	kind := foreign.KindOfStatus(status)
	mayBeLong := kind == middleware.Unknown || kind == middleware.Invalid && status != http.StatusRequestEntityTooLarge // 413 counts bytes
	if mayBeLong && saysTooLong(err) {
		return middleware.Overflow
	}
	return kind
}

// tooLong are the words by which providers say that a request has more tokens
// than the window: OpenAI and those compatible with it, Anthropic, llama-server,
// vLLM, Gemini, Bedrock.
var tooLong = []string{
	"context_length_exceeded", "maximum context length", "context window",
	"prompt is too long",
	"exceed_context_size", "exceeds the available context size",
	"input token count", "maximum number of tokens allowed",
	"input is too long for requested model",
}

func saysTooLong(err error) bool {
	said := strings.ToLower(err.Error() + " " + codes(err))
	for _, words := range tooLong {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// The clients that eino uses keep the HTTP status in a field of their error:
// OpenAI's HTTPStatusCode, Anthropic's and Ollama's StatusCode, Gemini's Code.
// Eino knows no interface for it, and to import all clients here would link
// them into every program, so the fields are looked up by name.
var statusFields = []string{"HTTPStatusCode", "StatusCode", "HTTPCode", "Code"}

// statusText is how the same clients write it, for errors that were made into
// text on the way.
var statusText = regexp.MustCompile(`(?i)\bstatus(?: code)?:? (\d{3})\b`)

// statusOf returns the HTTP status that an error tells, or 0.
func statusOf(err error) int {
	for e := range tree(err) {
		switch e := e.(type) { //nolint:errorlint // the tree is walked here
		case interface{ HTTPStatusCode() int }:
			return e.HTTPStatusCode()
		case interface{ StatusCode() int }:
			return e.StatusCode()
		}
		for _, name := range statusFields {
			if f := field(e, name); f.IsValid() && f.CanInt() && f.Int() >= 100 && f.Int() < 600 {
				return int(f.Int())
			}
		}
	}
	if m := statusText.FindStringSubmatch(err.Error()); m != nil {
		status, _ := strconv.Atoi(m[1])
		return status
	}
	return 0
}

// codes returns the words by which the provider names the error, which the
// text of OpenAI's client leaves out.
func codes(err error) string {
	var all []string
	for e := range tree(err) {
		for _, name := range []string{"Code", "Type"} {
			f := field(e, name)
			if f.IsValid() && f.Kind() == reflect.Interface {
				f = f.Elem()
			}
			if f.IsValid() && f.Kind() == reflect.String {
				all = append(all, f.String())
			}
		}
	}
	return strings.Join(all, " ")
}

// field returns an exported field of an error that is a struct or points to
// one, or the zero Value.
func field(err error, name string) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(err))
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	f, ok := v.Type().FieldByName(name)
	if !ok || !f.IsExported() || len(f.Index) > 1 {
		return reflect.Value{}
	}
	return v.FieldByIndex(f.Index)
}

// tree yields an error and all that it wraps.
func tree(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !walk(inner, yield) {
				return false
			}
		}
	}
	return true
}

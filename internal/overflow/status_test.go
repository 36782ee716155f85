package overflow_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/overflow"
)

// The ways in which clients keep a status.
type (
	openaiError    struct{ HTTPStatusCode int }
	awsError       struct{ status int }
	otherError     struct{ status int }
	geminiError    struct{ Code int }
	pointedError   struct{ Code *int }
	unrelatedError struct {
		Code       int
		statusCode int
		StatusCode string
	}
)

func (e *openaiError) Error() string    { return "openai" }
func (e *awsError) Error() string       { return "aws" }
func (e *awsError) HTTPStatusCode() int { return e.status }
func (e *otherError) Error() string     { return "other" }
func (e *otherError) StatusCode() int   { return e.status }
func (e geminiError) Error() string     { return "gemini" }
func (e pointedError) Error() string    { return "pointed" }
func (e unrelatedError) Error() string  { return fmt.Sprint("unrelated ", e.statusCode) }

func TestStatusOf(t *testing.T) {
	t.Parallel()
	teapot := 418
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":                 {nil, 0},
		"a field":              {&openaiError{429}, 429},
		"a method":             {&awsError{403}, 403},
		"another method":       {&otherError{502}, 502},
		"a code":               {geminiError{400}, 400},
		"a code of any type":   {&coded{Code: 429}, 429},
		"a pointer":            {pointedError{&teapot}, 418},
		"a nil pointer":        {pointedError{}, 0},
		"wrapped":              {fmt.Errorf("x: %w", errors.Join(errors.New("y"), &openaiError{401})), 401},
		"outermost":            {fmt.Errorf("x: %w: %w", &openaiError{400}, &openaiError{429}), 400},
		"not a status":         {unrelatedError{Code: 7, statusCode: 429, StatusCode: "429"}, 0},
		"no status yet":        {fmt.Errorf("HTTP 429: %w", &awsError{}), 429},
		"a nil inside":         {fmt.Errorf("HTTP 429: %w", (*awsError)(nil)), 429},
		"an empty field":       {fmt.Errorf("HTTP 429: %w", &openaiError{}), 429},
		"a field, not a text":  {fmt.Errorf("HTTP 429: %w", &openaiError{400}), 400},
		"the text of an inner": {&coded{inner: errors.New("429 slow down")}, 429},
	} {
		require.Equal(t, c.want, overflow.Status(c.err), name)
	}
}

func TestStatusOfText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"error, status code: 429, status: 429 Too Many Requests, message: x": 429,
		"API returned unexpected status code: 400: x":                        400,
		"https response error StatusCode: 403, RequestID: 1":                 403,
		"Error code: 401 - {'error': {}}":                                    401,
		"HTTP 413 Request Entity Too Large":                                  413,
		"HTTP/1.1 502 Bad Gateway":                                           502,
		"HTTP status: 404":                                                   404,
		"status=429":                                                         429,
		"<400> InternalError.Algo.InvalidParameter: x":                       400,
		"[400 Bad Request] x":                                                400,
		"529 Overloaded":                                                     529,
		"API returned unexpected status code: 529: Overloaded":               529,
		`POST "https://x/v1": 422 Unprocessable Entity {}`:                   422,
		`{"error":{"code":500,"message":"x"}}`:                               500,
		`{"error": {"code": "429"}}`:                                         429,
		`{"http_status_code":400}`:                                           400,
		`{"raw_status_code": 400}`:                                           400,
		`{\"status\":402}`:                                                   402,
		"status: 200, then status: 500":                                      500,

		"":                                 0,
		"the answer is 429":                0,
		"429":                              429,
		"code: 4290":                       0,
		"{\"code\":\"1261\"}":              0,
		"error: 500 tokens are too many":   0,
		"512 messages":                     0,
		"model gpt-400 is not available":   0,
		"barcode 404":                      0,
		"request_id: req_400":              0,
		"context deadline exceeded":        0,
		"at most 400 bad requests an hour": 0,
	} {
		require.Equal(t, want, overflow.Status(errors.New(text)), "%q", text)
	}
}

// coded is an error that says less than it knows, as the clients' do.
type coded struct {
	Code  any
	Type  string
	inner error
}

func (e *coded) Error() string { return "the request failed" }
func (e *coded) Unwrap() error { return e.inner }

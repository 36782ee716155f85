package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is what the server answers in place of a completion. On the wire it is
// {"error": {"message", "type", "param", "code"}}.
type Error struct {
	Status     int           // HTTP status; 0: 400
	Type       string        // "": invalid_request_error, or server_error from status 500 on
	Code       string        // "": null
	Param      string        // "": null
	Message    string        // what is wrong
	RetryAfter time.Duration // sent as Retry-After in whole seconds, rounded up; 0: not sent
}

func (e *Error) Error() string {
	return fmt.Sprintf("fakeprovider: status %d, code %q, param %q: %s", e.status(), e.Code, e.Param, e.Message)
}

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

func (e *Error) kind() string {
	switch {
	case e.Type != "":
		return e.Type
	case e.Status >= http.StatusInternalServerError:
		return "server_error"
	default:
		return "invalid_request_error"
	}
}

// body returns the error as the provider writes it.
func (e *Error) body() []byte {
	type wire struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return encode(struct {
		Error wire `json:"error"`
	}{wire{Message: e.Message, Type: e.kind(), Param: orNull(e.Param), Code: orNull(e.Code)}})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// encode writes one of the package's own wire types, none of which can fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fakeprovider: " + err.Error())
	}
	return b
}

// invalid is a request that the provider refuses.
func invalid(code, param, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

func missing(path string) *Error {
	return invalid("missing_required_parameter", path, "Missing required parameter: '%s'.", path)
}

func unknown(path string) *Error {
	return invalid("unknown_parameter", path, "Unknown parameter: '%s'.", path)
}

func wrongType(path, want, got string) *Error {
	return invalid("invalid_type", path, "Invalid type for '%s': expected %s, but got %s instead.", path, want, got)
}

func wrongValue(path, got, supported string) *Error {
	return invalid("invalid_value", path, "Invalid value: '%s'. Supported values are: %s.", got, supported)
}

func emptyArray(path string) *Error {
	return invalid("empty_array", path,
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", path)
}

func emptyString(path string) *Error {
	return invalid("empty_string", path,
		"Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", path)
}

func wrongPattern(path, pattern string) *Error {
	return invalid("invalid_value", path,
		"Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", path, pattern)
}

func longString(path string, limit, got int) *Error {
	return invalid("string_above_max_length", path,
		"Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
		path, limit, got)
}

func longArray(path string, limit, got int) *Error {
	return invalid("array_above_max_length", path,
		"Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.",
		path, limit, got)
}

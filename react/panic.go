package react

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of a tool or a model.
type PanicError struct {
	Value any    // what was panicked with
	Stack []byte // of the goroutine that panicked
}

// Error returns the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caught returns what was recovered, nil or not, as an error. It is called in the
// deferred function that recovered.
func caught(value any) *PanicError {
	if value == nil {
		return nil
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}

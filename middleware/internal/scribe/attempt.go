package scribe

import (
	"errors"
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/models"
)

// Attempt is one request to a model, and what came of it.
type Attempt struct {
	Mode  Mode   // Suffix or Fresh
	Model string // name of the author
	Shown int    // tokens that were sent, by the meter of the brief
	Part  int    // which part of the record it showed, from 1; 0: all that there was
	Parts int

	Reason Reason // why it came to nothing; "": it was taken
	Err    error  // a [*RejectedError], or what the model returned; nil: it was taken

	Usage     message.Usage // as reported, or else as counted
	Estimated bool          // Usage was counted
	Cost      models.Cost   // by the price of the author
	Priced    bool          // that price is known
}

// Bill is what was tried, and what it cost.
type Bill struct {
	Attempts []Attempt     // in the order in which they ended
	Usage    message.Usage // of all of them
	Cost     models.Cost   // of all whose price is known
	Priced   bool          // the price of all is known
}

func billOf(attempts []Attempt) Bill {
	b := Bill{Attempts: attempts, Priced: len(attempts) > 0}
	for _, a := range attempts {
		b.Usage = b.Usage.Add(a.Usage)
		b.Cost += a.Cost
		b.Priced = b.Priced && a.Priced
	}
	return b
}

// FailedError is the error when no answer was taken. It wraps the error of the last
// attempt, or that of the context.
type FailedError struct {
	Bill

	Err error
}

// Error tells the last error, and why the attempts came to nothing.
func (f *FailedError) Error() string {
	var reasons []string
	for _, a := range f.Attempts {
		if a.Reason != "" {
			reasons = append(reasons, string(a.Reason))
		}
	}
	if len(reasons) == 0 {
		return f.Err.Error()
	}
	return fmt.Sprintf("%v (%d requests; %s)", f.Err, len(f.Attempts), strings.Join(reasons, ", "))
}

// Unwrap returns the error inside.
func (f *FailedError) Unwrap() error { return f.Err }

// ReasonOf returns why the last attempt came to nothing, or "" if err tells of
// none.
func ReasonOf(err error) Reason {
	if r, ok := errors.AsType[*RejectedError](err); ok {
		return r.Reason
	}
	f, ok := errors.AsType[*FailedError](err)
	if !ok || len(f.Attempts) == 0 {
		return ""
	}
	return f.Attempts[len(f.Attempts)-1].Reason
}

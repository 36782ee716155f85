package native

import (
	"fmt"

	"github.com/laconic-go/laconic/middleware"
)

// Options define when the provider is asked, and what is kept. The zero value suits most programs.
type Options struct {
	Trigger  middleware.Trigger // nil: at 0.85 of the window less the reserve, or at 100,000 tokens without a window
	MinCalls int                // model calls between two compactions, at least; 0: no minimum
	Keep     int                // newest messages left as they are, at least; 0: 6
	Strict   bool               // a failed compaction fails the call

	// Instructions say what the summary should have, for Anthropic. "": those of the provider; with an archive those of this
	// package, to which the handle is added.
	Instructions string
}

// Validate returns an error for options that are invalid by themselves.
func (o Options) Validate() error {
	if o.Keep < 0 {
		return fmt.Errorf("the Keep is %d messages, want 0 or more", o.Keep)
	}
	return middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate()
}

package fit

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// The defaults: the texts in the place of what is removed, and the target.
const (
	defaultPlaceholder = "[cleared: it no longer fits the context window]"
	defaultNote        = "[A remark of the program, not of the user: earlier messages were left out here, " +
		"since they no longer fit the context window.]"
	defaultDigest = 40  // tokens, in a chain with an archive
	defaultTarget = 0.9 // the share of the free room that a shortened request fills

	// nativeTarget is the same if the request asks the provider to clear old results: other editors do nothing then, and what fit
	// clears is mostly what the provider has cleared already.
	nativeTarget = 0.75
)

// Options are what a request must satisfy. The zero value is right for a model in the table of models.
type Options struct {
	// Rules are those of the providers that the request must be valid for. 0: those of the API that the request is sent by
	// ([middleware.Request.Format]) and, as far as they are known, of the model's provider. Where neither is known, only calls
	// without results and results without calls are repaired. message.InPlace is added for models that bind their thinking to
	// what stands before it, also if Rules is not 0. A server that refuses a request for its structure gets it once more under
	// the strict rules of all providers, which then hold for the model at this server.
	Rules message.Rules

	// Limits are what the provider accepts in addition to tokens: bytes, images. A field of zero: the provider's, by Rules and
	// the window; negative: no limit.
	Limits message.Limits

	// Target is the share of the room that is filled after something was removed, of what messages that cannot be removed leave
	// of it. The next calls then fit without another edit, so prompt caches are used. It is more than 0 and at most 1, which
	// removes no more than necessary. No kind of edit begins only because of Target. 0: 0.9, or 0.75 if the request asks the
	// provider to clear old results: other editors free nothing then.
	Target float64

	// Placeholder is the text of a cleared result. "": "[cleared: it no longer fits the context window]".
	Placeholder string

	// Digest is the maximum number of tokens of hard facts in the placeholder of a result. A plan that has to leave out
	// messages adds none. 0: 40 if the chain has an archive, else no facts; negative: no facts.
	Digest int

	// Note is the text of the message in the place of all messages that were left out. It should tell the model that it is
	// not from the user. "": "[A remark of the program, not of the user: earlier messages were left out here, …]".
	Note string

	// NoRetry returns the error if the provider refuses a request as too long, instead of shortening it and calling the model
	// again. The chain still learns the window from the error.
	NoRetry bool
}

// Validate returns an error if an option is out of range.
func (o Options) Validate() error {
	var errs []error
	if o.Target < 0 || o.Target > 1 || math.IsNaN(o.Target) {
		errs = append(errs, fmt.Errorf("want a Target of more than 0 and at most 1, as a share of the room, or 0 for %v, got %v",
			defaultTarget, o.Target))
	}
	for _, t := range []struct{ name, text string }{{"Placeholder", o.Placeholder}, {"Note", o.Note}} {
		if t.text != "" && strings.TrimSpace(t.text) == "" {
			errs = append(errs, fmt.Errorf("%s is blank, which providers reject, want a text that can be seen", t.name))
		}
	}
	return errors.Join(errs...)
}

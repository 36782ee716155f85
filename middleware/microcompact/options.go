package microcompact

import (
	"errors"
	"fmt"
	"math"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/amount"
)

// The defaults.
const (
	DefaultKeepRounds = 4
	DefaultResults    = 200  // characters
	DefaultFreshShare = 0.25 // of the room
)

// alwaysProtected is a tool whose results are instructions.
const alwaysProtected = "Skill"

// Options say what is shortened and when. The zero value shortens the results of
// all rounds but the newest four before each call, and arguments and text not at
// all: models go back to these too often.
type Options struct {
	// Trigger says when to shorten old rounds. nil: at each call.
	Trigger middleware.Trigger

	// KeepRounds is how many of the newest rounds stay. 0: 4, negative: none but
	// the one that no model has seen yet.
	KeepRounds int

	// Limit is how long payloads of old rounds may be.
	Limit Limits

	// Protect are names of tools whose results and arguments stay. nil or empty:
	// "Skill", which is always among them. A tool has the name in its call and the
	// one in its result; one of them is enough.
	Protect []string

	// Batch is how much has to come together until old rounds are shortened. Zero:
	// one payload is enough.
	Batch Batch

	// Digest is how many tokens of its hard facts a result of an old round leaves
	// in its placeholder, at most: identifiers, amounts, dates, links, paths and the
	// like, word for word, as far as the view does not show them. The words before
	// them take a few more. 0: none; 40 keep most of what is needed later. What it
	// costs is counted by Batch.
	Digest int

	// FreshShare is the largest share of the room that a result may take when a
	// model sees it first; of a larger one, head and tail are left. The room is the
	// window less the reserve. 0: 0.25, negative: results of any size stay whole. It
	// does not hold below 1,000 tokens, and where the window is not known.
	FreshShare float64

	// MinCalls is how many model calls lie between one shortening of old rounds
	// and the next, at least. 0: no minimum.
	MinCalls int

	// Strict makes a refused plan and an option that does not fit the request an
	// error of the call.
	Strict bool
}

// Limits are the most characters that payloads of old rounds may have. What is as
// long as its limit stays.
type Limits struct {
	Results   int // of a result, all its pieces together. 0: 200, negative: any
	Arguments int // of the arguments of a call. 0 or negative: any
	Text      int // of a text that the model said in a message with calls. 0 or negative: any
}

// Seed are limits for all three.
var Seed = Limits{Results: 200, Arguments: 200, Text: 200}

// Batch is how much has to come together: so many results, or so many tokens that
// can be freed, whichever is reached first.
type Batch struct {
	Results int // 0: results are not counted
	Tokens  int // of results, arguments and text. 0: tokens are not counted
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	var errs []error
	if o.FreshShare > 1 || math.IsNaN(o.FreshShare) {
		errs = append(errs, fmt.Errorf("FreshShare is %g of the room, want at most 1, or below 0 for results of any size", o.FreshShare))
	}
	errs = append(errs, amount.NonNegative(
		amount.Amount{Name: "Digest", Unit: "tokens", Value: o.Digest},
		amount.Amount{Name: "Batch", Unit: "results", Value: o.Batch.Results},
		amount.Amount{Name: "Batch", Unit: "tokens", Value: o.Batch.Tokens},
	)...)
	for i, tool := range o.Protect {
		if tool == "" {
			errs = append(errs, fmt.Errorf("the entry Protect[%d] is empty, want the name of a tool", i))
		}
	}
	if o.Limit.Results < 0 && o.Limit.Arguments <= 0 && o.Limit.Text <= 0 && o.FreshShare < 0 {
		errs = append(errs, errors.New("nothing could ever be shortened: want a Limit for results, arguments or text, or a FreshShare"))
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

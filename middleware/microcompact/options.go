package microcompact

import (
	"errors"
	"fmt"
	"math"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

const (
	defaultKeepRounds = 4
	defaultResults    = 200  // characters
	defaultFreshShare = 0.25 // of the room
	defaultBatch      = 5000 // tokens
	defaultDigest     = 40   // tokens, in a chain with an archive
)

// Options configure the middleware. The zero value shortens results of more than 200
// characters in all rounds except the newest four: together, if the model's provider is
// known to cache prompts, else before each call. It does not shorten arguments and texts,
// since models need these again too often.
type Options struct {
	// Trigger is the condition for shortening old rounds. nil: [trigger.Economy], if Batch is
	// zero, the prices of the model are known and the chain has an archive; else always met.
	Trigger middleware.Trigger

	// KeepRounds is the number of newest rounds that are not changed. 0: 4;
	// negative: only the round that no model has seen yet.
	KeepRounds int

	// Limit is the maximum length of payloads of old rounds.
	Limit Limits

	// Protect lists tools whose results and arguments are not changed, here and by later
	// middlewares, in addition to [middleware.Env.Protect]. nil or empty:
	// none. A result may have another tool name than its call; either of them protects it.
	Protect []string

	// Batch is the minimum for one edit of old rounds. Zero: with [trigger.Economy] one payload;
	// else, if the model's provider caches
	// prompts, by [middleware.Env].Models, 5,000 tokens, or a tenth of the room if that is
	// less; otherwise one payload. For models that bind their thinking to the messages before it
	// ([models.Model]), with the default Trigger, 10,000 tokens, or a tenth of the room if
	// that is less. Batch{Results: 1} is one payload for every model.
	Batch Batch

	// Digest is the maximum number of tokens of hard facts in the placeholder of an old
	// result: identifiers, amounts, dates, links, paths and the like. The words before
	// the facts take a few tokens more. 0: 40 if the chain has an archive, else no facts;
	// negative: no facts.
	Digest int

	// FreshShare is the largest share of the room, the window less the reserve, that a
	// new result may take; a larger one is reduced to head and tail, unless it has fewer
	// than 1,000 tokens. 0: 0.25; negative: new results are never reduced.
	FreshShare float64

	// FreshTokens is the largest number of tokens of a new result, in any window; a larger one is reduced like one above
	// FreshShare. 0: 8,000 if there is an archive, where the model can read the rest, and FreshShare is not negative, or
	// else no limit; negative: no limit. On recordings, with this alone, 8,000 costs 9 % less than a quarter of a window of
	// 200,000, and 99.8 % of the facts that answers use are still in view.
	FreshTokens int

	// MinCalls is the minimum number of model calls between two edits of old rounds. 0:
	// no minimum.
	MinCalls int

	// Strict makes a refused plan, and an option that does not fit the request, an error
	// of the call.
	Strict bool
}

// Limits are the maximum lengths of payloads in old rounds, in characters.
type Limits struct {
	Results   int // of a result, all pieces together. 0: 200; negative: no limit
	Arguments int // of the arguments of a call. 0 or negative: no limit
	Text      int // of a text in an assistant message with calls. 0 or negative: no limit
}

// Batch is the minimum that is shortened together. It is full if one of the two numbers
// is reached.
type Batch struct {
	Results int // number of results. 0: not counted
	Tokens  int // tokens freed by results, arguments and texts. 0: not counted
}

// Validate returns an error for each option that is out of range, and if nothing could
// ever be shortened.
func (o Options) Validate() error {
	var errs []error
	if o.FreshShare > 1 || math.IsNaN(o.FreshShare) {
		errs = append(errs, fmt.Errorf("FreshShare is %g of the room, want at most 1, or below 0 for results of any size", o.FreshShare))
	}
	errs = append(errs, shorten.NonNegative(
		shorten.Option{Name: "Batch", Unit: "results", Value: o.Batch.Results},
		shorten.Option{Name: "Batch", Unit: "tokens", Value: o.Batch.Tokens},
	)...)
	for i, tool := range o.Protect {
		if tool == "" {
			errs = append(errs, fmt.Errorf("the entry Protect[%d] is empty, want the name of a tool", i))
		}
	}
	if o.Limit.Results < 0 && o.Limit.Arguments <= 0 && o.Limit.Text <= 0 && o.FreshShare < 0 && o.FreshTokens <= 0 {
		errs = append(errs, errors.New("nothing could ever be shortened: want a Limit for results, arguments or text, or a FreshShare"))
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

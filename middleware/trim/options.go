package trim

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
)

// Options configure what trim removes, and when. The zero value removes by "hybrid" from
// 0.9 of the room on, until 0.8 is filled. The room is the window less the reserve, or
// what makes the threshold 100,000 tokens. [For] returns the options for a model.
type Options struct {
	// Strategy is "middle": messages between the beginning and the end of the conversation are
	// removed; "oldest": the oldest messages, except those at the end; or "hybrid": the one of
	// both that suits the view. "": "hybrid".
	Strategy string

	// Trigger decides when to remove. nil: when Threshold of the room is reached, or
	// 100,000 tokens if the window is not known.
	Trigger middleware.Trigger

	// Warning is the share of the room at which the level "warning" begins. 0: 0.8,
	// or Threshold if that is less.
	Warning float64

	// Threshold is the share of the room at which the level "soft" begins, and at
	// which units are removed if Trigger is nil. 0: 0.9.
	Threshold float64

	// Target is the share of the room to come down to, less than Threshold. If Trigger
	// is met with fewer tokens than Threshold, the target is lower in proportion. 0:
	// 0.8, or eight ninths of Threshold if that is less.
	Target float64

	// TargetTokens is the target in tokens of the request. 0: Target counts.
	TargetTokens int

	// PreserveStart is the number of messages at the beginning that Middle keeps.
	// Units are kept as a whole, and critical ones are not counted. 0: 4, negative: none.
	PreserveStart int

	// PreserveEnd is the number of messages at the end that are kept, counted in the
	// same way. Middle removes those of low priority last. 0: 5, negative: none.
	PreserveEnd int

	// MinMessages is the number of messages, critical ones included, that are always
	// kept. 0: 4, negative: none.
	MinMessages int

	// Score returns the importance of the units of a view: of two units of one
	// priority, the one with the higher score is kept longer. Scores below 0 count as
	// 0. It must be deterministic and safe for concurrent use. nil: 1 for units with an
	// identifier that a later message uses, 0 for others.
	Score func(v *middleware.View) func(u message.Unit) float64

	// EfficiencyOnly lets Hybrid, when it tries both strategies, take the more
	// efficient one even if it misses the target and the other does not.
	EfficiencyOnly bool

	// Note is the text of a user message in place of the newest removed message. With
	// [middleware.Env.Archive] the handle of what was removed is appended. "": no message,
	// or with an archive a remark that earlier messages were left out.
	Note string

	// Interval is the time between two evaluations of the trigger in one conversation,
	// except at the levels "hard" and "emergency". 0: it is evaluated in each call.
	Interval time.Duration

	// MinCalls is the number of model calls between two removals. 0: no minimum.
	MinCalls int

	// Strict makes a refused plan or an option that does not fit the request an error.
	Strict bool
}

const defaultNote = "[A remark of the program, not of the user: earlier messages were left out here.]"

// Validate returns an error if an option is out of range or contradicts another.
func (o Options) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, s := range []struct {
		name  string
		value float64
	}{{"Warning", o.Warning}, {"Threshold", o.Threshold}, {"Target", o.Target}} {
		if s.value != 0 && !(s.value > 0 && s.value <= 1) {
			wrong("%s is %g of the room, want more than 0 and at most 1", s.name, s.value)
		}
	}
	if c := o.complete(); len(errs) == 0 {
		if c.Warning > c.Threshold {
			wrong("Warning is %g of the room and Threshold %g, want a warning no later than the threshold", c.Warning, c.Threshold)
		}
		if c.Target >= c.Threshold {
			wrong("Target is %g of the room and Threshold %g, want a target below the threshold, "+
				"or messages would go on each call", c.Target, c.Threshold)
		}
	}
	if s := cmp.Or(o.Strategy, hybridStrategy); s != hybridStrategy && s != middleStrategy && s != oldestStrategy {
		wrong("Strategy is %q, want %q, %q or %q", s, hybridStrategy, middleStrategy, oldestStrategy)
	}
	if o.TargetTokens < 0 {
		wrong("TargetTokens is %d tokens, want 0 or more", o.TargetTokens)
	} else if o.TargetTokens > 0 && o.Target != 0 {
		wrong("Target and TargetTokens are given, want one of them")
	}
	if o.Note != "" && strings.TrimSpace(o.Note) == "" {
		wrong("Note is %q, want some text, or \"\" for no note", o.Note)
	}
	if o.Interval < 0 {
		wrong("Interval is %v, want 0 or more", o.Interval)
	}
	return errors.Join(append(errs, middleware.Options{Trigger: o.Trigger, MinCalls: o.MinCalls}.Validate())...)
}

// complete returns the options with their defaults, and 0 for negative numbers.
func (o Options) complete() Options {
	o.Strategy = cmp.Or(o.Strategy, hybridStrategy)
	o.Threshold = cmp.Or(o.Threshold, 0.9)
	o.Warning = cmp.Or(o.Warning, min(0.8, o.Threshold))
	o.Target = cmp.Or(o.Target, min(0.8, 0.8/0.9*o.Threshold))
	o.PreserveStart = max(0, cmp.Or(o.PreserveStart, 4))
	o.PreserveEnd = max(0, cmp.Or(o.PreserveEnd, 5))
	o.MinMessages = max(0, cmp.Or(o.MinMessages, 4))
	return o
}

// For returns the options for a model, by its name as in [middleware.Request.Model]:
//
//	                                   strategy  warning  threshold  start  end  minimum
//	OpenAI's gpt-4…                    hybrid    0.85     0.9        6      6    4
//	OpenAI's o1…                       middle    0.9      0.95       8      8    4
//	Anthropic's                        oldest    0.85     0.92       5      7    4
//	Google's with 1.5 in their names   middle    0.9      0.95       10     10   4
//	all models of LM Studio, Ollama    hybrid    0.7      0.8        3      4    3
//	all others                         hybrid    0.8      0.9        4      5    4
//
// The provider is taken from the built-in table of models, or from the name before a
// slash or a colon: "ollama/llama3.1", "openai:gpt-4.1". The window is not an option.
func For(model string) Options {
	provider, name := origin(model)
	switch {
	case servers[provider]:
		return Options{Strategy: hybridStrategy, Warning: 0.7, Threshold: 0.8, PreserveStart: 3, PreserveEnd: 4, MinMessages: 3}
	case provider == "openai" && strings.HasPrefix(name, "gpt-4"):
		return Options{Strategy: hybridStrategy, Warning: 0.85, Threshold: 0.9, PreserveStart: 6, PreserveEnd: 6, MinMessages: 4}
	case provider == "openai" && strings.HasPrefix(name, "o1"):
		return Options{Strategy: middleStrategy, Warning: 0.9, Threshold: 0.95, PreserveStart: 8, PreserveEnd: 8, MinMessages: 4}
	case provider == "google" && strings.Contains(name, "1.5"):
		return Options{Strategy: middleStrategy, Warning: 0.9, Threshold: 0.95, PreserveStart: 10, PreserveEnd: 10, MinMessages: 4}
	case provider == "anthropic":
		return Options{Strategy: oldestStrategy, Warning: 0.85, Threshold: 0.92, PreserveStart: 5, PreserveEnd: 7, MinMessages: 4}
	}
	return Options{Strategy: hybridStrategy, Warning: 0.8, Threshold: 0.9, PreserveStart: 4, PreserveEnd: 5, MinMessages: 4}
}

// The first parts of names, by their letters in lower case: of servers with models of
// many providers (LM Studio, lm_studio, ollama_chat), and of providers.
var (
	servers   = map[string]bool{"lmstudio": true, "ollama": true, "ollamachat": true}
	providers = map[string]bool{"openai": true, "anthropic": true, "google": true}
)

// origin returns the server or the provider of a model, and the model's name there.
func origin(model string) (provider, name string) {
	letters := func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}
	model = strings.ToLower(model)
	for rest := model; ; {
		i := strings.IndexAny(rest, "/:")
		if i < 0 {
			break
		}
		first := strings.Map(letters, rest[:i])
		rest = rest[i+1:]
		switch {
		case servers[first]:
			return first, rest
		case providers[first]:
			provider, name = first, rest
		}
	}
	for _, n := range []string{model, name} {
		if m, ok := models.Default().Lookup(n); ok {
			return m.Provider, m.Name
		}
	}
	return provider, name
}

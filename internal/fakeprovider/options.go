package fakeprovider

import "fmt"

// Options say how the server judges. The zero value is a strict server of one
// model.
type Options struct {
	Models  map[string]int // context window in tokens of each model that is served; nil: gpt-4o with 128,000
	Key     string         // that a request must bear; "": none is asked for
	MaxBody int64          // bytes of a request's body, above which it is refused with 413; 0: 32 MiB
	// Lenient takes what the provider itself takes and stricter gateways refuse:
	// arguments that are any string, results of one message in any order, a
	// content of "", and the older function messages without their call.
	// langchaingo's OpenAI functions agent needs it for tools of one plain
	// string: it sends the string back in place of the arguments.
	Lenient bool
}

var defaultModels = map[string]int{"gpt-4o": 128_000}

func (o Options) models() map[string]int {
	if o.Models == nil {
		return defaultModels
	}
	return o.Models
}

func (o Options) maxBody() int64 {
	if o.MaxBody == 0 {
		return 32 << 20
	}
	return o.MaxBody
}

func (o Options) validate() error {
	if o.MaxBody < 0 {
		return fmt.Errorf("fakeprovider: MaxBody is %d, and must not be negative", o.MaxBody)
	}
	if len(o.models()) == 0 {
		return fmt.Errorf("fakeprovider: Models is empty: name one with its window, or leave it nil")
	}
	for name, window := range o.models() {
		if name == "" || window <= 0 {
			return fmt.Errorf("fakeprovider: model %q has a window of %d tokens: both must be given", name, window)
		}
	}
	return nil
}

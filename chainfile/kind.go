package chainfile

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/trim"
)

// kinds are the middlewares that a chain may have, by the name after use.
func kinds() map[string]kind {
	return map[string]kind{
		contextedit.Name:  kindOf(contextedit.New, contexteditKeys),
		fit.Name:          kindOf(fit.New, fitKeys),
		trim.Name:         kindOf(trim.New, trimKeys),
		microcompact.Name: kindOf(microcompact.New, microcompactKeys),
	}
}

// Kinds returns the names that may stand after use, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds())) }

// kind reads the entries of one middleware.
type kind struct {
	keys  []string // but for use
	build func(entry *node) (middleware.Middleware, error)
}

// kindOf returns the kind of a middleware package, by its New and by the keys
// of its options.
func kindOf[O interface{ Validate() error }](build func(O) middleware.Middleware, keys func(*O) []key) kind {
	var names []string
	for _, k := range keys(new(O)) {
		names = append(names, k.name)
	}
	return kind{keys: names, build: func(entry *node) (middleware.Middleware, error) {
		var opts O
		use := key{"use", func(*node) error { return nil }} // it has led here
		if err := entry.read(append([]key{use}, keys(&opts)...)); err != nil {
			return nil, err
		}
		if err := opts.Validate(); err != nil {
			return nil, entry.invalid(err, names)
		}
		return build(opts), nil
	}}
}

// invalid puts what Validate says about options at the first key that it names.
func (n *node) invalid(err error, keys []string) *Error {
	at := n
	text := flat(err)
	for _, option := range goName.FindAllString(text, -1) {
		name := snake(option)
		if v := n.value(name); v != nil && slices.Contains(keys, name) {
			at = v
			break
		}
	}
	return at.errorf("cannot be: %s", InKeys(text))
}

// InKeys returns what a middleware says about its options, as in an event or an
// error, with the keys of a chain file in place of the names in Go.
func InKeys(text string) string {
	return goName.ReplaceAllStringFunc(text, func(name string) string {
		switch name {
		case "Request.Budget":
			return "window"
		case "Request.Model":
			return "model"
		}
		if t, ok := strings.CutPrefix(name, "trigger."); ok && slices.Contains(triggerNames(), snake(t)) {
			return "trigger " + snake(t)
		}
		for _, k := range kinds() {
			if slices.Contains(k.keys, snake(name)) {
				return snake(name)
			}
		}
		return name
	})
}

var goName = regexp.MustCompile(`\b(?:trigger\.|Request\.)?[A-Z][a-z]+(?:[A-Z][a-z]+)*\b`)

// snake returns the key of an option: keep_rounds of KeepRounds.
func snake(option string) string {
	var b strings.Builder
	for i, r := range option {
		if 'A' <= r && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// flat returns the text of an error, joined ones in one line.
func flat(err error) string {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return err.Error()
	}
	var texts []string
	for _, e := range joined.Unwrap() {
		texts = append(texts, flat(e))
	}
	return strings.Join(texts, "; ")
}

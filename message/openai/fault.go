package openai

import (
	"errors"
	"fmt"
	"strings"
)

// fault is what is wrong at a place of a conversation.
type fault struct {
	path string // as messages[3].content; "": the value that is looked at
	text string // what was found, and what would be right
}

func (f *fault) Error() string { return strings.TrimPrefix(f.path+" "+f.text, " ") }

// faultf returns a fault at a place.
func faultf(path, format string, args ...any) error {
	return &fault{path: path, text: fmt.Sprintf(format, args...)}
}

// in puts a fault inside a place.
func in(place string, err error) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	path := place + "." + f.path
	if f.path == "" || f.path[0] == '[' {
		path = place + f.path
	}
	return &fault{path: path, text: f.text}
}

// item is the place of an item of a list.
func item(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

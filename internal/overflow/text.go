package overflow

import (
	"reflect"
	"strings"
)

// How much of an error is read: of the texts of one tree, and at the beginning and at the
// end of one text. An error may contain a whole request.
const (
	readAll  = 32 << 10 // bytes
	readEnds = 4 << 10  // bytes
)

const (
	textEnd = "\x00" // ends each text of a tree; no pattern matches across it
	leftOut = " … "  // replaces the middle of a long text
)

// textOf returns the normalized texts of an error and of all that it wraps, the outermost
// first. Some clients leave the provider's error code out of the text, so the fields
// Code and Type are added.
func textOf(err error) string {
	var all strings.Builder
	add := func(text string) {
		if len(text) > 2*readEnds {
			text = text[:readEnds] + leftOut + text[len(text)-readEnds:]
		}
		if all.Len() < readAll {
			all.WriteString(text + textEnd)
		}
	}
	for e := range tree(err) {
		add(e.Error())
		for _, name := range []string{"Code", "Type"} {
			f := fieldOf(e, name)
			if f.IsValid() && f.Kind() == reflect.String {
				add(f.String())
			}
		}
	}
	return normalize(all.String())
}

// normalize returns a text in the form that patterns have: lower case, without quotes and
// backslashes, each run of white space one space. JSON escapes are removed.
func normalize(text string) string {
	return strings.Join(strings.Fields(unquoted.Replace(strings.ToLower(text))), " ")
}

var unquoted = strings.NewReplacer(
	`\n`, " ", `\r`, " ", `\t`, " ", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u0027`, "", `\u0022`, "",
	`\`, "", `"`, "", `'`, "", "`", "", "’", "", "‘", "", "“", "", "”", "",
)

// fieldOf returns an exported field of an error that is a struct or a pointer to one. If
// the field is an interface or a pointer, it returns the value inside. The zero Value
// means that there is no such field.
func fieldOf(err error, name string) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(err))
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	f, ok := v.Type().FieldByName(name)
	if !ok || !f.IsExported() || len(f.Index) > 1 {
		return reflect.Value{}
	}
	field := v.FieldByIndex(f.Index)
	if field.Kind() == reflect.Interface || field.Kind() == reflect.Pointer {
		return field.Elem()
	}
	return field
}

// treeSize is how many errors of one tree are read.
const treeSize = 100

// tree yields an error and all that it wraps, the outermost first.
func tree(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		left := treeSize
		walk(err, &left, yield)
	}
}

func walk(err error, left *int, yield func(error) bool) bool {
	if v := reflect.ValueOf(err); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return true // a method of a nil pointer may panic
	}
	*left--
	if *left < 0 || !yield(err) {
		return false
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), left, yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !walk(inner, left, yield) {
				return false
			}
		}
	}
	return true
}

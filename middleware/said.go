package middleware

import (
	"reflect"
	"strings"
)

// The most that is read of an error: of the texts of one tree, and at the
// beginning and at the end of one text. An error may hold a whole request.
const (
	readAll  = 32 << 10 // bytes
	readEnds = 4 << 10  // bytes
)

const (
	textEnd = "\x00" // stands behind each text of a tree; no wording goes across it
	leftOut = " … "  // stands for the middle of a long text
)

// saidBy returns the words of an error and of all that it wraps, the outermost
// first, in the form that plain gives them. The texts of some clients leave out
// by which code the provider names the error, so codes are words as well.
func saidBy(err error) string {
	var all strings.Builder
	add := func(text string) {
		if len(text) > 2*readEnds {
			text = text[:readEnds] + leftOut + text[len(text)-readEnds:]
		}
		if all.Len() < readAll {
			all.WriteString(text + textEnd)
		}
	}
	for e := range treeOf(err) {
		add(e.Error())
		for _, name := range []string{"Code", "Type"} {
			f := fieldOf(e, name)
			if f.IsValid() && f.Kind() == reflect.String {
				add(f.String())
			}
		}
	}
	return plain(all.String())
}

// plain brings a text into the form in which patterns are looked for: lower
// case, without quotes and backslashes, each run of white space one space. What
// JSON escapes is as if it were not.
func plain(text string) string {
	return strings.Join(strings.Fields(unquoted.Replace(strings.ToLower(text))), " ")
}

var unquoted = strings.NewReplacer(
	`\n`, " ", `\r`, " ", `\t`, " ", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u0027`, "", `\u0022`, "",
	`\`, "", `"`, "", `'`, "", "`", "", "’", "", "‘", "", "“", "", "”", "",
)

// fieldOf returns an exported field of an error that is a struct or points to
// one, or what an interface or a pointer there holds, or the zero Value.
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

// treeSize is how many errors of one tree are looked at.
const treeSize = 100

// treeOf yields an error and all that it wraps, outside in.
func treeOf(err error) func(yield func(error) bool) {
	return func(yield func(error) bool) {
		left := treeSize
		walk(err, &left, yield)
	}
}

func walk(err error, left *int, yield func(error) bool) bool {
	if v := reflect.ValueOf(err); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return true // a nil pointer has nothing to say, and may panic if it is asked
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

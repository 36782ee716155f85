package overflow

import (
	"bytes"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// How much of an error is read: of the texts of one tree, and at the beginning and at the
// end of one text. An error may contain a whole request.
const (
	readAll  = 32 << 10 // bytes
	readEnds = 4 << 10  // bytes
)

const (
	textEnd = "\x00" // before and after each text of a tree; no pattern matches across it
	leftOut = " … "  // replaces the middle of a long text
)

// Text returns the texts of an error and of all that it wraps, the outermost first, in
// lower case and without quotes. Some clients leave the provider's code or message out of
// Error, so those are added, and the answer of the provider if the error has it.
func Text(err error) string {
	var all strings.Builder
	all.WriteString(textEnd)
	add := func(text string) {
		if all.Len() >= readAll {
			return
		}
		text = withoutQuotations(text)
		if len(text) > 2*readEnds {
			text = text[:readEnds] + leftOut + text[len(text)-readEnds:]
		}
		all.WriteString(strings.TrimSpace(text) + textEnd)
	}
	for e := range tree(err) {
		said := e.Error()
		add(said)
		for _, more := range []string{textField(e, "Code"), textField(e, "Type"), textField(e, "Message"), answerOf(e)} {
			if !strings.Contains(said, more) {
				add(more)
			}
		}
	}
	return normalize(all.String())
}

// answering is held while an error writes the answer that it keeps: it reads that, and puts
// it back.
var answering sync.Mutex

// answerOf returns the body of the provider's answer that the errors of openai-go and
// anthropic-sdk-go keep, or "". A body that they could read as JSON is in RawJSON. If
// there is none, the answer as a whole is written, unless its status is none of a failure:
// then its body is a stream that is still open.
func answerOf(err error) (body string) {
	if e, ok := err.(interface{ RawJSON() string }); ok {
		if raw := e.RawJSON(); raw != "" {
			return raw
		}
	}
	e, ok := err.(interface{ DumpResponse(body bool) []byte })
	if !ok || statusField(err) < http.StatusBadRequest {
		return ""
	}
	answering.Lock()
	defer answering.Unlock()
	defer func() {
		if recover() != nil { // an error that somebody made without an answer
			body = ""
		}
	}()
	_, text, _ := bytes.Cut(e.DumpResponse(true), []byte("\r\n\r\n")) // the header names rate limits
	return string(text)
}

// textField returns the text of a field of an error, or "".
func textField(err error, name string) string {
	if f := fieldOf(err, name); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
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

// quoted is a string in the text of an error.
type quoted struct {
	mark  string // its quote, with the backslashes before it
	at    int    // where it begins in the text that is kept
	other bool   // a quotation
}

// withoutQuotations returns the text of an error without what it quotes, which is not the
// provider's own: 'unknown field "a b"'. A quotation begins after a word and white space,
// or after such an opening parenthesis, unless the word is that of a status. Other
// strings are values of JSON, of Python or of a log, or an error as a whole, and with a
// member of JSON inside, a string is the body of an answer. Of strings inside one another
// the innermost counts. Single words are kept: they are names and codes.
func withoutQuotations(text string) string {
	if !strings.ContainsAny(text, "\"'`“‘") {
		return text
	}
	text = straight.Replace(text)
	var kept []byte
	var inside []quoted
	for i := 0; i < len(text); {
		end, isQuote := token(text, i)
		mark := text[i:end]
		if !isQuote {
			kept, i = append(kept, mark...), end
			continue
		}
		k := slices.IndexFunc(inside, func(q quoted) bool { return q.mark == mark })
		apostrophe := mark == "'" && end < len(text) && isLetter(text[end])
		switch {
		case k >= 0 && !apostrophe:
			if q := inside[k]; q.other && !isCode(string(kept[q.at:])) {
				kept = kept[:q.at]
			}
			inside = inside[:k]
		case k < 0:
			begins, other, member := opening(kept)
			for n := range inside {
				inside[n].other = inside[n].other && !member
			}
			if begins {
				inside = append(inside, quoted{mark, len(kept) + len(mark), other})
			}
		}
		kept, i = append(kept, mark...), end
	}
	return string(kept)
}

// token returns the end of a byte with the backslashes before it, and whether it is a quote.
func token(text string, i int) (end int, isQuote bool) {
	for i < len(text) && text[i] == '\\' {
		i++
	}
	return min(i+1, len(text)), i < len(text) && strings.IndexByte("\"'`", text[i]) >= 0
}

// opening reports whether a string may begin after a text, whether it is a quotation, and
// whether it is a member of a JSON object.
func opening(before []byte) (begins, other, member bool) {
	word := bytes.TrimRight(before, " \t\r\n")
	last := func(b []byte) byte {
		if len(b) == 0 {
			return ' '
		}
		return b[len(b)-1]
	}
	c := last(word)
	switch {
	case c == ':':
		key := last(bytes.TrimRight(word[:len(word)-1], " "))
		return true, false, key == '"' || key == '\''
	case strings.IndexByte(" ,[{=", c) >= 0:
		return true, false, false
	case c == '(':
		return true, len(word) > 1 && word[len(word)-2] == ' ', false
	}
	const line = 32 // bytes, longer than status
	afterWord := isLetter(last(word)) && (last(word) < '0' || last(word) > '9')
	return len(word) < len(before), afterWord && !status.Match(word[max(0, len(word)-line):]), false
}

// status is the end of a status line.
var status = regexp.MustCompile(`(?i)\b[45]\d\d (bad request|unprocessable entity|unprocessable content)$`)

// straight makes quotes straight, and escaped white space plain.
var straight = strings.NewReplacer("“", `"`, "”", `"`, "‘", "'", "’", "'", `\n`, " ", `\r`, " ", `\t`, " ")

// isCode reports whether a text is one word, such as the code of an error.
func isCode(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf || !isLetter(byte(r)) && !strings.ContainsRune("_-.[]", r)
	})
}

// isLetter reports whether a byte is a letter, a digit, or part of a letter outside of ASCII.
func isLetter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

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

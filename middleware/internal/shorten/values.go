package shorten

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/store"
)

const (
	shortValue = 60  // code points; a value of that length is never shortened
	shortLine  = 200 // code points; a line of that length may be the name of a file
)

// truncated is how the placeholder of a value begins.
const truncated = "[truncated: "

// commands are the keys, in quotes, of values of which the first line is kept.
var commands = []string{`"command"`, `"cmd"`, `"script"`, `"code"`}

// Values returns arguments with placeholders in the place of values of more than 60 code points: the longest first, until enough is true of
// the result or no such value is left. Values of one line of up to 200 code points are shortened after all others; if keepLines is set,
// they are kept. Of a command, the first 200 code points of the first line are kept, then none.
//
//	{"path":"a.go","content":"[truncated: 3122 chars; recall kqvmzhtwrcxa]"}
//	{"command":"cat > a.go <<'EOF'\n[truncated: 3122 chars; recall kqvmzhtwrcxa]"}
//
// The result is a JSON object with the same keys in the same order, without white space between them. The first
// placeholder to be made contains the handle, which is that of all arguments. What has a placeholder from before is not
// shortened further. n is the number of cuts, -1 if the arguments are not a JSON object.
func Values(arguments string, h store.Handle, keepLines bool, enough func(short string) bool) (short string, n int) {
	if !jsonscan.IsObject(arguments) {
		return arguments, -1
	}
	if strings.Contains(arguments, h.String()) {
		h = store.Handle{}
	}
	o := object{text: arguments, handle: h}
	for key, value := range jsonscan.Members(arguments, jsonscan.Space(arguments, 0)) {
		o.cuts = append(o.cuts, cutsOf(len(o.members), key.In(arguments), value.In(arguments))...)
		o.members = append(o.members, member{key, value})
	}
	if keepLines {
		o.cuts = slices.DeleteFunc(o.cuts, func(c cut) bool { return c.stage > 0 })
	}
	slices.SortStableFunc(o.cuts, func(a, b cut) int {
		return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(b.chars, a.chars))
	})
	n = sort.Search(len(o.cuts), func(n int) bool { return enough(o.after(n)) })
	return o.after(n), n
}

// object is a JSON object with the ways to shorten it, in their order.
type object struct {
	text    string
	members []member
	cuts    []cut
	handle  store.Handle
}

type member struct{ key, value jsonscan.Span }

// after returns the object after the first n cuts.
func (o object) after(n int) string {
	left := make(map[int]cut, n) // by member
	for _, c := range o.cuts[:n] {
		left[c.member] = c
	}
	b := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, m.key.In(o.text)...), ':')
		if c, ok := left[i]; !ok {
			b = append(b, m.value.In(o.text)...)
		} else if i == o.cuts[0].member {
			b = append(b, c.literal(o.handle)...)
		} else {
			b = append(b, c.literal(store.Handle{})...)
		}
	}
	return string(append(b, '}'))
}

// cut is a way to shorten the value of a member.
type cut struct {
	member int
	stage  int    // 1: after all others; it replaces the earlier one of the same member
	chars  int    // code points of the value before the cut
	line   string // what is kept in front of the placeholder
	left   int    // code points that are left out
}

// literal returns what remains of the value, as a JSON string.
func (c cut) literal(h store.Handle) string {
	text := store.Placeholder(fmt.Sprintf("%s%d chars]", truncated, c.left), h)
	if c.line == "" {
		return `"` + text + `"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)             // a model reads this, not a browser
	_ = enc.Encode(c.line + "\n" + text) //nolint:errchkjson // a text can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// cutsOf returns the ways to shorten a member.
func cutsOf(at int, key, value string) (cuts []cut) {
	if len(value) <= shortValue { // there are at most as many code points as bytes
		return nil
	}
	text := value
	if value[0] == '"' {
		text = jsonscan.Unquote(value)
	}
	n := utf8.RuneCountInString(text)
	if n <= shortValue || strings.HasPrefix(text[strings.LastIndexByte(text, '\n')+1:], truncated) {
		return nil
	}
	whole := cut{member: at, chars: n, left: n}
	first, _, isLong := strings.Cut(text, "\n")
	line := []rune(first)
	kept := min(shortLine, len(line))
	isCommand := slices.Contains(commands, key)
	if isCommand && n-kept > shortValue {
		cuts = append(cuts, cut{member: at, chars: n, line: string(line[:kept]), left: n - kept})
		whole.chars = kept
	}
	if isCommand || n <= shortLine && !isLong {
		whole.stage = 1
	}
	return append(cuts, whole)
}

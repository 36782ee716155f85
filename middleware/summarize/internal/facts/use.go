package facts

import (
	"cmp"
	"encoding/json"
	"html"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// kind is what a call does.
type kind uint8

const (
	acts   kind = iota // something of its own: it may have changed something
	runs               // a command
	reads              // files
	writes             // files
	looks              // it shows something
	plans              // it keeps a list of what is to be done, or the mode of planning
)

// use is a kind, with what it uses.
type use struct {
	kind    kind
	command string
	files   []string
}

// Limits of what is read, in bytes.
const (
	readOfName      = 1 << 10
	readOfCommand   = 4 << 10
	readOfVerb      = 20
	readOfKey       = 40
	readOfArguments = 1 << 20
)

// arguments are the strings in the arguments of a call, by what their keys mean.
type arguments struct {
	all                   []field
	files, patch, command []string
	access                kind // of the first word such as "view"; acts: there is none
	contents              bool // there is something to be written
}

func readArguments(raw string) (a arguments) {
	for f := range fields(raw) {
		a.all = append(a.all, f)
		key := bareKey(f.key)
		if name := strings.TrimSpace(f.text(readOfName)); is("file key", key) && name != "" {
			a.files = append(a.files, name)
		}
		if is("command key", key) {
			a.command = append(a.command, f.text(readOfCommand))
		}
		if is("verb key", key) && len(f.raw) <= readOfVerb {
			a.access = cmp.Or(a.access, accessOf(words(f.raw)))
		}
		if is("patch key", key) {
			a.patch = append(a.patch, patched(f)...)
		}
		a.contents = a.contents || is("content key", key)
	}
	return a
}

// useOf returns what a call does, by the name of its tool and its arguments.
func useOf(tool, raw string) use {
	name, a := words(tool), readArguments(raw)
	byName := accessOf(name)
	access := cmp.Or(a.access, byName)
	if access == acts && a.contents {
		access = writes
	}
	command := commandOf(name, &a, a.files == nil && byName == acts)
	switch {
	case a.patch != nil:
		return use{kind: writes, files: a.patch}
	case command != "":
		return use{kind: runs, command: html.UnescapeString(command)}
	case a.files != nil && access != acts:
		return use{kind: access, files: a.files}
	case isPlanner(tool):
		return use{kind: plans}
	case byName == reads || anyIn("search", name) || anyIn("harmless", name) || is("reader", tool):
		return use{kind: looks}
	}
	return use{}
}

// commandOf returns the command that is run, or "". A tool that is not known to run commands does so if its command has
// several words and nothing shows that it is about files.
func commandOf(tool []string, a *arguments, noFiles bool) string {
	command := a.command
	if n := len(command); n > 1 && is("shell", command[0]) {
		command = command[n-1:] // bash -lc "…"
	}
	line, runner := strings.TrimSpace(strings.Join(command, " ")), anyIn("run", tool)
	switch {
	case runner && line != "":
		return line
	case !noFiles || anyIn("search", tool):
		return ""
	case runner && len(a.all) == 1:
		return strings.TrimSpace(a.all[0].text(readOfCommand))
	case strings.Contains(line, " "):
		return line
	}
	return ""
}

func anyIn(list string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return is(list, w) })
}

// accessOf returns what a name says is done with files; acts: nothing. One with words of both writes: read_and_edit.
func accessOf(name []string) kind {
	switch {
	case anyIn("write", name):
		return writes
	case anyIn("read", name):
		return reads
	}
	return acts
}

// isPlanner reports whether all words of a tool are about a list of what is to be done: TodoWrite, update_plan, TaskUpdate.
// Tasks of a server, as tracker__create_task, may be real ones.
func isPlanner(tool string) bool {
	own := tool[strings.LastIndex(tool, "__")+1:]
	listed, verb, tasks := false, false, false
	for _, w := range words(own) {
		switch {
		case w == "task" || w == "tasks":
			tasks = own == tool
		case w == "plan" || w == "todo" || w == "todos":
			listed = true
		case is("plan verb", w):
			verb = true
		default:
			return false
		}
	}
	return listed || tasks && verb
}

// hump matches a word of a name: "read" and "File" of readFile.
var hump = regexp.MustCompile(`\p{Lu}+[^\P{L}\p{Lu}]*|[^\P{L}\p{Lu}]+`)

// words returns the words of a name in lower case.
func words(name string) []string {
	name = shorten.Head(name, readOfName)
	if strings.ToLower(name) == name {
		return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	all := hump.FindAllString(name, -1)
	for i, w := range all {
		all[i] = strings.ToLower(w)
	}
	return all
}

// bareKey returns a key as in the lists of keys, or "" if it is too long.
func bareKey(key string) string {
	if len(key) > readOfKey {
		return ""
	}
	return strings.ToLower(joints.Replace(key))
}

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// patched returns the files in a patch, or nil if it is not a patch.
func patched(f field) (files []string) {
	raw := strings.TrimLeft(f.raw, ` \nrt`)
	if !strings.HasPrefix(raw, "*** ") && !strings.HasPrefix(raw, "--- ") && !strings.HasPrefix(raw, "diff ") {
		return nil
	}
	for line := range strings.Lines(f.text(readOfArguments)) {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"} {
			if name, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(name) != "" {
				files = append(files, path.Clean(strings.TrimSpace(name)))
			}
		}
	}
	return files
}

// field is a string in the arguments of a call, with the nearest key before it.
type field struct {
	key, raw string // raw has the escapes of JSON
}

// fields yields the strings of JSON at any depth. If the JSON is cut off or broken, it yields those before that place.
func fields(arguments string) iter.Seq[field] {
	return func(yield func(field) bool) {
		body, key := shorten.Head(arguments, readOfArguments), ""
		for {
			from := strings.IndexByte(body, '"')
			if from < 0 {
				return
			}
			body = body[from+1:]
			end := stringEnd(body)
			if end < 0 {
				return
			}
			s := body[:end]
			body = body[end+1:]
			if rest := strings.TrimLeft(body[:min(len(body), 64)], " \t\r\n"); strings.HasPrefix(rest, ":") {
				key = s
			} else if !yield(field{key: key, raw: s}) {
				return
			}
		}
	}
}

// stringEnd returns the position of the quote that ends a string, or -1.
func stringEnd(s string) int {
	for i := 0; i < len(s); i++ {
		k := strings.IndexAny(s[i:], `"\`)
		if k < 0 {
			return -1
		}
		if i += k; s[i] == '"' {
			return i
		}
		i++ // what is escaped
	}
	return -1
}

// text returns the string without escapes, of a long one the beginning. A string with invalid escapes is returned as it is.
func (f field) text(most int) string {
	raw := f.raw
	if len(raw) > most {
		raw = strings.TrimRight(shorten.Head(raw, most), `\`) // half of an escape
	}
	var s string
	if strings.IndexByte(raw, '\\') < 0 || json.Unmarshal([]byte(`"`+raw+`"`), &s) != nil {
		return raw
	}
	return s
}

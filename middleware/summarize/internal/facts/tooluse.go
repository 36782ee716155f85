package facts

import (
	"encoding/json"
	"iter"
	"path"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// toolUse is what a call does: it runs a command, or reads or writes files.
type toolUse struct {
	command string
	files   []string
	access  state // read or written
}

// Limits of what is read, in bytes.
const (
	readOfName      = 1 << 10
	readOfCommand   = 4 << 10
	readOfVerb      = 20
	readOfKey       = 40
	readOfArguments = 1 << 20
)

// toolUseOf returns what a call does, by the name of its tool and its arguments.
func toolUseOf(tool, arguments string) toolUse {
	t, a := classOf(tool), readArguments(arguments)
	if files := patched(a.patch); len(files) > 0 {
		return toolUse{files: files, access: written}
	}
	if command := a.commandOf(t); command != "" {
		return toolUse{command: command}
	}
	if access := a.access(t); access != unknown {
		return toolUse{files: a.files, access: access}
	}
	return toolUse{}
}

// class is what the name of a tool indicates.
type class struct {
	access   state // unknown if there is no word for it
	runs     bool
	searches bool
}

func classOf(tool string) (t class) {
	for w := range words(tool) {
		t.runs = t.runs || runWords[w]
		t.searches = t.searches || searchWords[w]
		switch {
		case writeWords[w]:
			t.access = written
		case readWords[w] && t.access == unknown:
			t.access = read
		}
	}
	return t
}

// words yields the words of a name in lower case: "read" and "file" of readFile, read_file and ReadFile.
func words(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
		for part := range strings.FieldsFuncSeq(shorten.Head(name, readOfName), noLetter) {
			from, before := 0, 'A'
			for i, r := range part {
				if unicode.IsLower(before) && unicode.IsUpper(r) {
					if !yield(strings.ToLower(part[from:i])) {
						return
					}
					from = i
				}
				before = r
			}
			if !yield(strings.ToLower(part[from:])) {
				return
			}
		}
	}
}

// arguments are the parts of a call's arguments that show what it does.
type arguments struct {
	files   []string
	command []string // of several, each is a word
	verb    state    // the access that the value of a key of verbKeys indicates
	content bool     // there is a key of contentKeys
	patch   field
	last    field // the last string
	strings int
}

func readArguments(s string) (a arguments) {
	for f := range fields(s) {
		a.strings++
		a.last = f
		key := bareKey(f.key)
		if fileKeys[key] {
			if name := strings.TrimSpace(f.text(readOfName)); name != "" {
				a.files = append(a.files, name)
			}
		}
		if verbKeys[key] && a.verb == unknown && len(f.raw) <= readOfVerb {
			a.verb = classOf(f.raw).access
		}
		if commandKeys[key] {
			a.command = append(a.command, f.text(readOfCommand))
		}
		if patchKeys[key] {
			a.patch = f
		}
		a.content = a.content || contentKeys[key]
	}
	return a
}

// bareKey returns a key as in the lists of keys, or "" if it is too long.
func bareKey(key string) string {
	if len(key) > readOfKey {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// commandOf returns the command that is run, or "". A tool that is not known to run commands does so if its command has
// several words and no file is named.
func (a *arguments) commandOf(t class) string {
	c := a.command
	if n := len(c); n > 1 && shells[c[0]] {
		c = c[n-1:] // bash -lc "…"
	}
	command := strings.TrimSpace(strings.Join(c, " "))
	switch {
	case t.runs && command != "":
		return command
	case t.runs && a.strings == 1 && len(a.files) == 0 && !t.searches:
		return strings.TrimSpace(a.last.text(readOfCommand))
	case len(a.files) == 0 && t.access == unknown && !t.searches && strings.Contains(command, " "):
		return command
	}
	return ""
}

// access returns what is done with the files.
func (a *arguments) access(t class) state {
	switch {
	case len(a.files) == 0:
		return unknown
	case a.verb != unknown:
		return a.verb
	case t.access != unknown:
		return t.access
	case a.content:
		return written
	}
	return unknown
}

// patched returns the files in a patch, or nil if it is not a patch.
func patched(f field) (files []string) {
	raw := strings.TrimLeft(f.raw, ` \nrt`)
	if !strings.HasPrefix(raw, "*** ") && !strings.HasPrefix(raw, "--- ") && !strings.HasPrefix(raw, "diff ") {
		return nil
	}
	for line := range strings.Lines(f.text(readOfArguments)) {
		for _, mark := range patchMarks {
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
	for i := 0; ; {
		k := strings.IndexByte(s[i:], '"')
		if k < 0 {
			return -1
		}
		i += k
		slashes := i
		for slashes > 0 && s[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
		i++
	}
}

// text returns the string without escapes, of a long one the beginning. A string with invalid escapes is returned as it is.
func (f field) text(most int) string {
	raw := f.raw
	if len(raw) > most {
		raw = shorten.Head(raw, most)
		for slashes := len(raw) - len(strings.TrimRight(raw, `\`)); slashes%2 == 1; slashes-- {
			raw = raw[:len(raw)-1] // half of an escape
		}
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+raw+`"`), &s) != nil {
		return raw
	}
	return s
}

// The lists of words.txt that are looked up; keys are compared in lower case, without - and _.
var (
	fileKeys, commandKeys, contentKeys = set("file key"), set("command key"), set("content key")
	patchKeys, verbKeys                = set("patch key"), set("verb key")

	// A tool with a word of both writes: read_and_edit.
	writeWords, readWords, runWords, searchWords = set("write"), set("read"), set("run"), set("search")
)

// patchMarks come before the name of a file in a patch.
var patchMarks = []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"}

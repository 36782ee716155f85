package ledger

import (
	"path"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware/internal/prose"
)

// deed is what a call does: it runs a command, or reads or writes files.
type deed struct {
	command string
	files   []string
	access  state // read or written
}

// Names of files, commands and verbs are read up to so many bytes.
const (
	longestName    = 1 << 10
	longestCommand = 4 << 10
	longestVerb    = 20
)

// deedOf tells it from the name of a tool and its arguments.
func deedOf(tool, arguments string) deed {
	t, a := traitsOf(tool), readArguments(arguments)
	if files := patched(a.patch); len(files) > 0 {
		return deed{files: files, access: written}
	}
	if command := a.commandOf(t); command != "" {
		return deed{command: command}
	}
	if access := a.access(t); access != unknown {
		return deed{files: a.files, access: access}
	}
	return deed{}
}

// traits are what the name of a tool says.
type traits struct {
	access   state // unknown: nothing, or that it searches
	runs     bool
	searches bool
}

func traitsOf(tool string) (t traits) {
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

// words yields the words of a name, in lower case: read, file of readFile,
// read_file and ReadFile.
func words(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		name = prose.Head(name, longestName)
		from, before := 0, rune(0)
		for i, r := range name {
			small := unicode.IsLower(before) && unicode.IsUpper(r)
			if small || !unicode.IsLetter(r) {
				if i > from && !yield(strings.ToLower(name[from:i])) {
					return
				}
				from = i
				if !small {
					from += len(string(r))
				}
			}
			before = r
		}
		if from < len(name) {
			yield(strings.ToLower(name[from:]))
		}
	}
}

// arguments are what those of a call say.
type arguments struct {
	files   []string
	command []string // several: the words of one
	verb    state    // what the value of a key of verbKeys says
	content bool     // something is written
	patch   field
	only    field // the string, if there is only one
	strings int
}

func readArguments(text string) (a arguments) {
	for f := range fields(text) {
		a.strings++
		a.only = f
		key := bareKey(f.key)
		if fileKeys[key] {
			if name := strings.TrimSpace(f.text(longestName)); name != "" {
				a.files = append(a.files, name)
			}
		}
		if verbKeys[key] && a.verb == unknown && len(f.raw) <= longestVerb {
			a.verb = traitsOf(f.raw).access
		}
		if commandKeys[key] {
			a.command = append(a.command, f.text(longestCommand))
		}
		if patchKeys[key] {
			a.patch = f
		}
		a.content = a.content || contentKeys[key]
	}
	return a
}

// bareKey writes a key as the lists of keys do.
func bareKey(key string) string {
	if len(key) > longestVerb+longestVerb {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
}

// commandOf returns the command that is run; "": there is none. A tool that is
// not known to run commands does so if its command has several words, and no file
// is named: todo(command: "list") runs none.
func (a *arguments) commandOf(t traits) string {
	c := a.command
	if n := len(c); n > 1 && shells[c[0]] {
		c = c[n-1:] // bash -lc "…"
	}
	command := strings.TrimSpace(strings.Join(c, " "))
	switch {
	case t.runs && command != "":
		return command
	case t.runs && a.strings == 1 && len(a.files) == 0 && !t.searches:
		return strings.TrimSpace(a.only.text(longestCommand))
	case len(a.files) == 0 && t.access == unknown && !t.searches && strings.Contains(command, " "):
		return command
	}
	return ""
}

// access returns what is done to the files.
func (a *arguments) access(t traits) state {
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

// patched returns the files that a patch names, if it is one.
func patched(f field) (files []string) {
	raw := strings.TrimLeft(f.raw, ` \nrt`)
	if !strings.HasPrefix(raw, "*** ") && !strings.HasPrefix(raw, "--- ") && !strings.HasPrefix(raw, "diff ") {
		return nil
	}
	for line := range strings.Lines(f.text(mostArguments)) {
		for _, mark := range patchMarks {
			if name, ok := strings.CutPrefix(line, mark); ok && strings.TrimSpace(name) != "" {
				files = append(files, path.Clean(strings.TrimSpace(name)))
			}
		}
	}
	return files
}

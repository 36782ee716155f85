package facts

import (
	"encoding/json"
	"iter"
	"path"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
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
		name = text.Head(name, longestName)
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

func readArguments(s string) (a arguments) {
	for f := range fields(s) {
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

// mostArguments are read of one call, in bytes.
const mostArguments = 1 << 20

// field is a string in the arguments of a call, with the key that is nearest in
// front of it.
type field struct {
	key, raw string // raw: with the escapes of JSON
}

// fields yields the strings of JSON, however deep they are. JSON that is cut off
// or broken yields what stands before that.
func fields(arguments string) iter.Seq[field] {
	return func(yield func(field) bool) {
		body, key := text.Head(arguments, mostArguments), ""
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

// stringEnd returns where the quote is that ends a string; -1: nowhere.
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

// text returns the string itself, of a long one the beginning. Escapes that JSON
// does not know stay as they are.
func (f field) text(most int) string {
	raw := f.raw
	if len(raw) > most {
		raw = text.Head(raw, most)
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

// What the arguments of a call say, whatever framework and language its tool is
// of. Keys are compared in lower case, without - and _.

// fileKeys hold the name of a file.
var fileKeys = set(
	"path", "paths", "file", "files", "filepath", "filepaths", "filename", "filenames", "absolutepath", "relativepath",
	"relativeworkspacepath",
	"targetfile", "targetpath", "sourcefile", "sourcepath", "notebookpath", "inputfile", "outputfile", "inputpath", "outputpath",
	"savepath", "destinationpath", "newpath", "oldpath",
)

// commandKeys hold a command.
var commandKeys = set("command", "commands", "cmd", "commandline", "shellcommand", "bashcommand", "script", "input")

// contentKeys hold what is written into a file.
var contentKeys = set(
	"oldstring", "newstring", "oldtext", "newtext", "oldstr", "newstr", "content", "contents", "filetext", "patch", "diff",
	"edits", "codeedit", "newsource", "inserttext",
)

// patchKeys hold a patch, which names the files itself.
var patchKeys = set("patch", "diff", "input", "patchtext")

// verbKeys say what a tool does that can do several things: with a word such as
// "view".
var verbKeys = set("command", "action", "operation", "op", "mode", "method", "subcommand")

// The words in the name of a tool, and the values behind a key of verbKeys, say
// what it does. write comes first: read_and_edit writes.
var (
	writeWords = set(
		"write", "edit", "multiedit", "create", "append", "insert", "replace", "strreplace", "patch", "save", "update", "modify",
		"delete", "remove", "rm",
		"rename", "move", "mv", "touch", "overwrite", "put", "upload", "download", "export", "notebookedit",
	)
	readWords = set("read", "view", "open", "cat", "load", "head", "tail", "show", "get", "preview", "parse", "readfile")
	runWords  = set(
		"bash", "shell", "sh", "zsh", "powershell", "pwsh", "cmd", "exec", "execute", "terminal", "console", "command", "commands",
		"run",
	)

	// searchWords tell tools whose path is where they search.
	searchWords = set("grep", "glob", "search", "find", "ls", "list", "rg", "tree", "dir", "query", "web", "browser")
)

// patchMarks stand in front of the name of a file in a patch.
var patchMarks = []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"}

// shells are programs whose last argument is the command that counts.
var shells = set("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "powershell", "pwsh", "cmd")

// What a result says of how a command ended. Such words count in a line at the
// beginning or at the end of a result, with a number right behind them.
var exitWords = []string{
	"exit code", "exit_code", "exitcode", "exit status", "exit_status", "exited with code", "exited with status", "return code",
	"return_code", "returncode",
	"exit:", "退出码", "退出代码", "返回码",
}

// faultStarts begin the text of a result that failed, in lower case.
var faultStarts = []string{
	"error:", "error -", "error executing", "error in ", "error\n", "fatal:", "panic:", "exception:",
	"traceback (most recent call last)", "failed:", "failure:", "<tool_use_error>",
	"<error>", `{"error"`, `{"error_message"`, "[error]", "错误:", "错误：", "失败:", "失败：", "异常:", "异常：", "报错:", "报错：", "执行失败",
}

// wrappers are lines around the output of a command that say nothing, in lower
// case.
var wrappers = []string{
	"<returncode>", "exit code", "<output>", "</output>", "<stdout>", "<stderr>", "stdout:", "stderr:", "output:",
	"<tool_use_error>", "traceback (most recent call last)",
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

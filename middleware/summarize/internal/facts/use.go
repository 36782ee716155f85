package facts

import (
	"cmp"
	"encoding/json"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/laconic-go/laconic/internal/jsonscan"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
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

// call is a call with what it does.
type call struct {
	message.ToolCall
	command

	kind  kind
	files []string
}

// Limits of what is read, in bytes.
const (
	readOfName      = 1 << 10
	readOfCommand   = 4 << 10
	readOfKey       = 40
	readOfArguments = 1 << 20
)

// callOf returns what a call does, by the name of its tool and its arguments.
func callOf(of message.ToolCall) *call {
	c, name := &call{ToolCall: of}, words(of.Name)
	byName := accessOf(name)
	access, byContents := acts, acts
	all := fields(of.Arguments)
	var files, changed, command []string
	queries := false // a call with a query that names no file changes nothing
	for _, f := range all {
		switch key := bareKey(f.key); lists["argument"].Of(key) {
		case "file":
			if file := strings.TrimSpace(f.text(readOfName)); file != "" {
				files = append(files, file)
			}
		case "command":
			command = append(command, f.text(readOfCommand))
			fallthrough // as "view"
		case "verb":
			if len(f.raw) <= readOfKey {
				access = cmp.Or(access, accessOf(words(f.raw)))
			}
		case "content":
			byContents = writes
		case "query":
			queries = true
		}
		changed = append(changed, filesOf(f)...)
	}
	access = cmp.Or(access, byName, byContents)
	if n := len(command); n > 1 && lists["shell"].Has(command[0]) {
		command = command[n-1:] // bash -lc "…"
	}
	line, runner := strings.TrimSpace(strings.Join(command, " ")), slices.ContainsFunc(name, lists["run"].Has)
	if runner && files == nil && len(all) == 1 {
		line = cmp.Or(line, strings.TrimSpace(all[0].text(readOfCommand)))
	}
	// A tool that is not known to run commands may do so if nothing shows that it is about files.
	searches := slices.ContainsFunc(name, lists["search"].Has)
	mayRun := files == nil && byName == acts && !searches && strings.Contains(line, " ")
	switch {
	case changed != nil:
		c.kind, c.files = writes, changed
	case line != "" && (runner || mayRun):
		c.kind, c.command = runs, readCommand(html.UnescapeString(line))
	case files != nil && access != acts:
		c.kind, c.files = access, files
	case matches("planner", of.Name):
		c.kind = plans
	case byName == reads, searches, byName == acts && queries, slices.ContainsFunc(name, lists["harmless"].Has),
		lists["reader"].Has(of.Name):
		c.kind = looks
	}
	return c
}

// accesses are the kinds by the lists of words for them.
var accesses = map[string]kind{"read": reads, "write": writes}

// accessOf returns what is done with files by the words of a name; acts: nothing. One with words of both writes: read_and_edit.
func accessOf(name []string) (access kind) {
	for _, w := range name {
		access = max(access, accesses[lists["access"].Of(w)])
	}
	return access
}

// words returns the words of a name in lower case: "read" and "file" of readFile.
func words(name string) []string {
	name = shorten.Head(name, readOfName)
	if strings.ToLower(name) != name {
		name = strings.ToLower(patterns["hump"][0].ReplaceAllString(name, "$1 $2"))
	}
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })
}

// bareKey returns a key as in the lists of keys.
func bareKey(key string) string { return strings.ToLower(joints.Replace(shorten.Head(key, readOfKey))) }

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

// filesOf returns the files that a patch changes, or nil if an argument is not a patch.
func filesOf(f field) (files []string) {
	raw := strings.TrimLeft(f.raw, ` \nrt`)
	if strings.HasPrefix(raw, "*** ") || strings.HasPrefix(raw, "--- ") || strings.HasPrefix(raw, "diff ") {
		for _, m := range patterns["patch"][0].FindAllStringSubmatch(f.text(readOfArguments), -1) {
			files = append(files, path.Clean(m[1]))
		}
	}
	return files
}

// field is a string in the arguments of a call, with the nearest key before it.
type field struct {
	key, raw string // raw has the escapes of JSON
}

// fields returns the strings of JSON at any depth. If the JSON is cut off or broken, it returns those before that place.
func fields(arguments string) (all []field) {
	body, key, end := shorten.Head(arguments, readOfArguments), "", 0
	for {
		from := end + strings.IndexByte(body[end:], '"') + 1
		if from == end {
			return all
		}
		end = jsonscan.Skip(body, from-1)
		if end == from || body[end-1] != '"' {
			return all
		}
		s := body[from : end-1]
		if strings.HasPrefix(body[jsonscan.Space(body, end):], ":") {
			key = s
		} else {
			all = append(all, field{key: key, raw: s})
		}
	}
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

// Run is one call of a tool, and how it ended. A call that did not end well has failed: it was killed, denied, cancelled,
// or timed out, too.
type Run struct {
	Call    message.ToolCall // zero: it is from an earlier summary
	Command string           // "" if it runs none
	Passed  bool             // the result shows it
	Failed  bool             // the result shows it
	Reads   bool             // it only reads or prints
	Tested  bool             // the output reports how tests ended

	Question, Answer string // of the user, if it asks the user
}

// Runs returns the calls with a result in the order of the results, and the commands in the facts of an earlier summary.
func Runs(msgs []message.Message) (all []Run) {
	calls := map[string]*call{}
	for _, m := range msgs {
		if said := m.Text(); text.IsRecord(said) {
			s := &Set{}
			s.addText(said)
			for _, e := range s.all(commands) {
				all = append(all, runOf(e.text, e.state))
			}
		}
		for c := range m.Calls() {
			calls[c.ID] = callOf(c)
		}
		for result := range m.Results() {
			c := cmp.Or(calls[result.CallID], &call{})
			res := resultOf(result, c)
			how, said := c.decisionIn(result, nil)
			if how == refused {
				res.state = denied
			}
			r := runOf(c.line, res.state)
			switch how {
			case approved:
				r.Question, r.Answer = c.Arguments, "Yes. "+said
			case answered:
				r.Question, r.Answer = strings.Join(c.questions(), " "), said
			default:
			}
			r.Call, r.Tested = c.ToolCall, res.tested
			r.Reads = c.kind == reads || slices.ContainsFunc(words(c.Name), lists["search"].Has) ||
				c.reads && !strings.HasPrefix(c.line, "open ") // for later edits
			all = append(all, r)
		}
	}
	return all
}

func runOf(command string, s state) Run {
	return Run{Command: command, Passed: s == passed, Failed: s >= failed && s <= denied}
}

// command is a command line, and what it does with the exit codes and outputs of its programs.
type command struct {
	line     string // "": there is none
	bare     string // without what only limits it or its output: what differs in nothing else is the same command
	folder   string // that it changes to first
	reads    bool   // it only moves, or reads or prints what can be read again
	prints   bool   // what it puts out first is what others may have written
	acts     bool   // a program does more than read or print
	hidden   bool   // exit code 0 does not show that all of them ended well
	filtered bool   // the exit code is that of a program that only reads, as grep
}

var heredoc = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?([^\n]*)\n`)

// readCommand reads a command line, roughly: in doubt, its exit code hides others.
func readCommand(line string) command {
	rest := heredocs(line)
	c := command{line: line}
	c.bare, c.folder = normal(strings.TrimSpace(rest))
	if hasAny(rest, lists["before a script"].Words) {
		rest = patterns["script"][0].ReplaceAllString(rest, "$1 ")
	}
	silent, pipefail := true, false
	for by := "start"; by != "" && rest != ""; {
		var simple string
		simple, by, rest = nextCommand(rest)
		program := programOf(simple)
		if program == "" {
			continue
		}
		c.filtered = lists["reader"].Has(program) || hasAny(simple, lists["printing"].Words)
		if silent && !lists["silent"].Has(program) {
			silent, c.prints = false, c.filtered || lists["fetcher"].Has(program)
		}
		c.acts = c.acts || !c.filtered
		last := by == "" || by != "&" && strings.TrimSpace(rest) == ""
		pipefail = pipefail || strings.Contains(simple, "pipefail")
		turned := strings.HasPrefix(strings.TrimLeft(simple, " \n({"), "! ")
		hides := !last && by != "&&" && (by != "|" || !pipefail) || turned || lists["hiding"].Has(program)
		c.hidden = c.hidden || !c.filtered && (hides || hasAny(simple, lists["hiding option"].Words))
	}
	c.reads = !c.acts && !strings.Contains(c.bare, ">") && !strings.Contains(c.bare, "sed -i") && !strings.Contains(c.bare, "tee ")
	return c
}

// normal returns a command without a time limit, filters after it and redirections to nowhere, and the folder that it changes to first.
func normal(line string) (bare, folder string) {
	bare = without("limit", line)
	if strings.ContainsAny(line, "(|;&>") && len(line) <= readOfName {
		if m := patterns["folder"][0].FindStringSubmatch(bare); m != nil {
			bare, folder = without("limit", bare[len(m[0]):]), m[1]
		}
		bare = without("redirection", without("filter", bare))
		if strings.HasPrefix(line, "(") {
			bare = strings.Trim(bare, "() ")
		}
	}
	return strings.Join(strings.Fields(bare), " "), folder
}

func without(kind, line string) string { return patterns[kind][0].ReplaceAllString(line, "") }

// partsOf returns the simple commands of a command line.
func partsOf(line string) (parts []string) {
	for by := "start"; by != "" && line != ""; {
		var simple string
		simple, by, line = nextCommand(line)
		if bare, _ := normal(strings.TrimSpace(simple)); bare != "" {
			parts = append(parts, bare)
		}
	}
	return parts
}

// nextCommand divides a command line after its first command.
func nextCommand(line string) (simple, by, rest string) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '\\':
			i++
		case '\'':
			i += max(0, strings.IndexByte(line[i+1:], c)+1)
		case '"':
			i = jsonscan.Skip(line, i) - 1
		case '|', ';', '&', '\n':
			by = line[i : i+1]
			switch {
			case strings.HasPrefix(line[i+1:], by):
				by += by
			case c == '&' && (i > 0 && line[i-1] == '>' || strings.HasPrefix(line[i+1:], ">")): // 2>&1, &>
				continue
			}
			return line[:i], by, line[i+len(by):]
		}
	}
	return line, "", ""
}

// heredocs returns a command line with <<… for the texts that it contains.
func heredocs(line string) string {
	for strings.Contains(line, "<<") {
		m := heredoc.FindStringSubmatchIndex(line)
		if m == nil {
			break
		}
		_, rest, _ := strings.Cut(line[m[1]-1:], "\n"+line[m[2]:m[3]])
		line = line[:m[0]] + "<<…" + line[m[4]:m[5]] + rest
	}
	return line
}

// programOf returns the program of a simple command, with its first argument if that names what it does, or "".
func programOf(simple string) string {
	words := strings.Fields(simple)
	for len(words) > 0 && (lists["before"].Has(words[0]) || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 || words[0][0] == '#' {
		return ""
	}
	name := strings.ToLower(strings.Trim(words[0][strings.LastIndexByte(words[0], '/')+1:], `'"`))
	if len(words) > 1 && lists["reader"].Has(name+" "+words[1]) {
		return name + " " + words[1]
	}
	return name
}

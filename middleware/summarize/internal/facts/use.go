package facts

import (
	"cmp"
	"encoding/json"
	"html"
	"path"
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
	case byName == reads, searches, c.looksUp(name, byName), lists["reader"].Has(of.Name):
		c.kind = looks
	}
	return c
}

// looksUp reports whether a call that names no file changes nothing, by the words of its name or a query among its arguments.
func (c *call) looksUp(name []string, byName kind) bool {
	isQuery := func(f field) bool { return lists["argument"].Of(bareKey(f.key)) == "query" }
	return slices.ContainsFunc(name, lists["harmless"].Has) || byName == acts && slices.ContainsFunc(fields(c.Arguments), isQuery)
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

package facts

import (
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

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
	if strings.ContainsAny(rest, `'"`) && hasAny(rest, lists["before a script"].Words) {
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

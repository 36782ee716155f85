package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/internal/jsonscan"
)

// shell is what a command line does with the exit codes and outputs of its programs.
type shell struct {
	acts     bool // a program does more than read or print
	hidden   bool // exit code 0 does not show that all of them ended well
	filtered bool // the exit code is that of a program that only reads, as grep
	pipefail bool
}

var (
	heredoc  = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?([^\n]*)\n`)
	scripts  = regexp.MustCompile(`\b((?:ba|z)?sh|pwsh) -l?[ce]+ ['"]`)
	variable = regexp.MustCompile(`^\w+=`)
)

// shellOf reads a command line, roughly: in doubt, its exit code hides others.
func shellOf(command string) (s shell) {
	if command = heredocs(command); strings.Contains(command, "sh -") {
		command = scripts.ReplaceAllString(command, "$1 ")
	}
	for by := "start"; by != "" && command != ""; {
		var simple string
		simple, by, command = nextCommand(command)
		program := programOf(simple)
		if program == "" {
			s.hidden = s.hidden || by == "&" && s.acts
			continue
		}
		s.filtered = is("reader", program)
		s.acts = s.acts || !s.filtered
		last := by == "" || by != "&" && strings.TrimSpace(command) == ""
		certain := last || by == "&&" || by == "|" && s.pipefail || s.filtered
		s.hidden = s.hidden || !certain
		s.pipefail = s.pipefail || strings.Contains(simple, "pipefail")
	}
	return s
}

// normal returns a command without what only limits it or its output, and the folder that it changes to first: a time
// limit, filters after it, redirections to nowhere. What differs in nothing else is the same command.
func normal(command string) (bare, folder string) {
	bare = strings.TrimSpace(heredocs(command))
	if plain := !strings.ContainsAny(bare, "(|;&>") && !begins("limit", bare); plain || len(bare) > readOfName {
		return strings.Join(strings.Fields(bare), " "), ""
	}
	bare = without("limit", bare)
	if m := patterns["folder"][0].line.FindStringSubmatch(bare); m != nil {
		bare, folder = without("limit", bare[len(m[0]):]), m[1]
	}
	bare = without("redirection", without("filter", bare))
	if strings.HasPrefix(command, "(") {
		bare = strings.Trim(bare, "() ")
	}
	return strings.Join(strings.Fields(bare), " "), folder
}

func without(kind, command string) string {
	return patterns[kind][0].line.ReplaceAllString(command, "")
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
	const most = 20
	for range most {
		if !strings.Contains(line, "<<") {
			break
		}
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
	for len(words) > 0 && (is("before", words[0]) || variable.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || words[0][0] == '#' {
		return ""
	}
	if len(words) > 1 && slices.Contains(words, "--version") {
		return "echo"
	}
	name := strings.ToLower(strings.Trim(words[0][strings.LastIndexByte(words[0], '/')+1:], `'"`))
	if len(words) > 1 && is("reader", name+" "+words[1]) {
		return name + " " + words[1]
	}
	return name
}

// readsOnly reports whether a command, as [normal] returns it, only moves, or reads or prints what can be read again.
func readsOnly(bare string) bool {
	return !shellOf(bare).acts && !hasAny(bare, []string{">", "sed -i", "tee "})
}

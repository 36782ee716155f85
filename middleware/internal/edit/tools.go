package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// instructing are the known tools whose results are instructions.
var instructing = namesOf("skill", "load_skill", "use_skill", "activate_skill", "invoke_skill", "run_skill", "read_skill",
	"get_skill", "open_skill", "view_skill", "skill_view", "skill_load", "skill_read", "fetch_instructions", "fetch_rules",
	"load_instructions")

// planning are the known tools of which each call has, or returns, the whole plan of the model.
var planning = namesOf("update_plan", "set_plan", "write_plan", "todo_write", "write_todos", "todos_write", "write_todo",
	"update_todos", "update_todo_list", "manage_todo_list", "set_todos", "task_list", "list_tasks")

// names are those of tools, folded: every part of a view is looked up.
type names map[string]bool

func namesOf(list ...string) names {
	n := names{}
	for _, name := range list {
		n[string(appendFolded(nil, name))] = true
	}
	return n
}

// appendFolded appends the name of a tool without what is before the last __, as in mcp__docs__load_skill, without the case of ASCII
// letters, and without joints such as _.
func appendFolded(b []byte, name string) []byte {
	for i := strings.LastIndex(name, "__") + 1; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == ' ':
		case 'A' <= c && c <= 'Z':
			b = append(b, c|' ')
		default:
			b = append(b, c)
		}
	}
	return b
}

// Instructs reports whether the results of a tool are instructions, by a list of names; nil: by the known ones.
func Instructs(name string, list []string) bool {
	var room [64]byte
	is := appendFolded(room[:0], name)
	if list == nil {
		return instructing[string(is)]
	}
	return slices.ContainsFunc(list, func(one string) bool { return bytes.Equal(is, appendFolded(nil, one)) })
}

// Plans reports whether the calls of a tool have, or return, the whole plan of the model.
func Plans(name string) bool {
	var room [64]byte
	return planning[string(appendFolded(room[:0], name))]
}

// HasPlan reports whether a message has a call with the whole plan of the model.
func HasPlan(m *message.Message) bool {
	for c := range m.Calls() {
		if Plans(c.Name) {
			return true
		}
	}
	return false
}

package edit

import (
	"strings"

	"github.com/laconic-go/laconic/message"
)

// instructing are the known tools whose results are instructions, as [IsOne] compares names.
var instructing = []string{
	"skill", "load_skill", "use_skill", "activate_skill", "invoke_skill", "run_skill", "read_skill", "get_skill", "open_skill",
	"view_skill", "skill_view", "skill_load", "skill_read", "fetch_instructions", "fetch_rules", "load_instructions",
}

// planning are the known tools of which each call has, or returns, the whole plan of the model.
var planning = []string{
	"update_plan", "set_plan", "write_plan", "todo_write", "write_todos", "todos_write", "write_todo", "update_todos",
	"update_todo_list", "manage_todo_list", "set_todos", "task_list", "list_tasks",
}

// IsOne reports whether the name of a tool is in a list. Case, joints such as _ and the server before the last __, as in
// mcp__docs__load_skill, do not count.
func IsOne(name string, list []string) bool {
	if k := strings.LastIndex(name, "__"); k >= 0 {
		name = name[k+2:]
	}
	for _, one := range list {
		if alike(name, one) {
			return true
		}
	}
	return false
}

// alike reports whether two names are equal apart from the case of ASCII letters, and from joints.
func alike(a, b string) bool {
	for {
		a, b = strings.TrimLeft(a, "_- "), strings.TrimLeft(b, "_- ")
		if a == "" || b == "" {
			return a == b
		}
		if a[0] != b[0] && (a[0]|' ' != b[0]|' ' || a[0] < 'A') {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// Instructs reports whether the results of a tool are instructions, by a list; nil: that of known names.
func Instructs(name string, list []string) bool {
	if list == nil {
		list = instructing
	}
	return IsOne(name, list)
}

// Plans reports whether the calls of a tool have, or return, the whole plan of the model.
func Plans(name string) bool { return IsOne(name, planning) }

// HasPlan reports whether a message has a call with the whole plan of the model.
func HasPlan(m *message.Message) bool {
	for c := range m.Calls() {
		if Plans(c.Name) {
			return true
		}
	}
	return false
}

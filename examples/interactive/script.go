package main

import (
	"fmt"
	"strings"

	"github.com/laconic-go/laconic/message"
)

// script is the conversation of the stand-in: it reads logs, in two languages, until it knows why a build fails.
func script() []message.Message {
	msgs := []message.Message{
		message.System("You find out why builds fail. You read logs with read_log."),
		message.User("Why does the nightly build fail? 请用中文说明原因。"),
	}
	const cause = "第 333 步：链接器内存不足。"
	for page := range 24 {
		log := []string{fmt.Sprintf("page %d of the log", page+1)}
		for step := 40 * page; step < 40*page+40; step++ {
			switch {
			case step == 333:
				log = append(log, "step 333: \x1b[31merror\x1b[0m: the linker ran out of memory")
			case page%3 == 2:
				log = append(log, fmt.Sprintf("第 %d 步：编译完成，没有警告", step))
			default:
				log = append(log, fmt.Sprintf("step %d: compiled package %d in %d ms", step, step*7%100, step*13%900))
			}
		}
		call := message.ToolCall{ID: fmt.Sprint("call_", page), Name: "read_log", Arguments: fmt.Sprintf(`{"page":%d}`, page+1)}
		answer := message.Assistant(message.Text{Text: "I read on."}, call)
		msgs = append(msgs, answer, message.Result(call.ID, call.Name, strings.Join(log, "\n")))
		if page == 11 {
			msgs = append(msgs, message.Assistant(message.Text{Text: cause}), message.User("And after that step? Read the rest."))
		}
	}
	return append(msgs, message.Assistant(message.Text{Text: cause}))
}

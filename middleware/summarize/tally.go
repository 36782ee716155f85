package summarize

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// tally is how many messages a summary stands for.
type tally struct{ all, user, assistant int }

// one returns the tally of a message.
func one(m message.Message) tally {
	t := tally{all: 1}
	switch m.Role {
	case message.RoleUser:
		t.user = 1
	case message.RoleAssistant:
		t.assistant = 1
	case message.RoleSystem, message.RoleTool:
	}
	return t
}

func (t tally) plus(o tally) tally {
	return tally{t.all + o.all, t.user + o.user, t.assistant + o.assistant}
}

// line returns the last line of a summary, of which so many messages are left out.
func (t tally) line(l Language, dropped int) string {
	var b strings.Builder
	if l == Chinese {
		fmt.Fprintf(&b, "(已压缩 %d 条消息,其中用户 %d 条,助手 %d 条", t.all, t.user, t.assistant)
		if dropped > 0 {
			fmt.Fprintf(&b, ",有 %d 条未写入摘要", dropped)
		}
	} else {
		fmt.Fprintf(&b, "(%d messages compacted: %d of the user, %d of the assistant", t.all, t.user, t.assistant)
		if dropped > 0 {
			fmt.Fprintf(&b, "; %d of them left out", dropped)
		}
	}
	b.WriteByte(')')
	return b.String()
}

// lines are those that count, with what they leave out at the end.
var lines = []*regexp.Regexp{
	regexp.MustCompile(`^\((\d+) messages compacted: (\d+) of the user, (\d+) of the assistant(?:; (\d+) of them left out)?\)`),
	regexp.MustCompile(`^\(已压缩 (\d+) 条消息,其中用户 (\d+) 条,助手 (\d+) 条(?:,有 (\d+) 条未写入摘要)?\)`),
}

// tallied reads the last line of an earlier summary. It is zero if that does not
// count.
func tallied(r *middleware.Record) (t tally, dropped int) {
	if len(r.Messages) == 0 || len(r.Messages[0].Parts) < 2 {
		return t, 0
	}
	parts := r.Messages[0].Parts
	last, _ := parts[len(parts)-1].(message.Text)
	for _, l := range lines {
		if m := l.FindStringSubmatch(last.Text); m != nil {
			const all, user, assistant, left = 1, 2, 3, 4
			n := func(i int) int {
				n, _ := strconv.Atoi(m[i])
				return n
			}
			return tally{n(all), n(user), n(assistant)}, n(left)
		}
	}
	return t, 0
}

// isComposed reports whether a fold has put a summary in the form of this package,
// and not what a strategy of the caller has made, or the caller out of it.
func isComposed(r *middleware.Record) bool {
	t, _ := tallied(r)
	return len(r.Messages) == 1 && t.all > 0
}

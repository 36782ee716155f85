package facts

import (
	"cmp"
	"iter"
	"regexp"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/internal/digest"
	"github.com/laconic-go/laconic/middleware/internal/shorten"
)

// place matches the beginning of a message of compilers and tests, as "main.go:9:22: ".
var place = regexp.MustCompile(`^[\w./\\-]+\.\w{1,5}(:\d+){1,2}: \S`)

// result is how a call ended.
type result struct {
	state   state  // unknown if the result does not show it
	code    string // exit code, or ""
	fault   string // the line that shows what failed, or ""
	partial bool   // the output is not complete
}

// resultOf reads one result. A call was stopped or denied if a line at the beginning or the end
// states it. A command failed if its exit code is not 0, or if the result is an error; it passed
// if its exit code is 0.
func resultOf(r message.ToolResult, command, writes bool) (o result) {
	const readOfHead, readOfTail = 2 << 10, 1 << 10 // bytes
	head, tail := r.Text, ""
	if len(head) > readOfHead+readOfTail {
		head, tail = shorten.Head(r.Text, readOfHead), shorten.Tail(r.Text, readOfTail)
	}
	if command {
		if o.code = exitCode(head, tail); o.code == "0" {
			o.state = passed
		} else if o.code != "" {
			o.state = failed
		}
	}
	broken := r.Error || startsWithFault(head)
	if broken {
		o.state = failed
	}
	if o.code == "" && (command || writes || r.Error) {
		stop := stopIn(head, tail, r.Error)
		o.state, broken = cmp.Or(stop, o.state), broken || stop != unknown
	}
	o.partial = isPartial(head, tail)
	if o.state != passed && o.state != unknown {
		o.fault = faultIn(head, tail, broken)
	}
	return o
}

// exitCode returns the exit code in the first or the last three lines, or "".
func exitCode(head, tail string) string {
	for line := range outerLines(head, tail) {
		if code := codeIn(line); code != "" {
			return code
		}
	}
	return ""
}

// outerLines yields the first three lines, then the last three, the last one first.
func outerLines(head, tail string) iter.Seq[string] {
	const near = 3
	return func(yield func(string) bool) {
		tail = cmp.Or(tail, head)
		for range near {
			line, rest, _ := strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
			if !yield(line) {
				return
			}
			head = rest
		}
		for range near {
			tail = strings.TrimRight(tail, "\r\n")
			k := strings.LastIndexByte(tail, '\n')
			if !yield(tail[k+1:]) {
				return
			}
			tail = tail[:max(k, 0)]
		}
	}
}

// stopIn returns how a call was stopped, as a short line at the beginning or the end of its result
// states it, or unknown. Such a line begins with what happened, or with what it happened to. In a
// result that is an error, any short line counts.
func stopIn(head, tail string, isError bool) state {
	const longest = 160
	for line := range outerLines(head, tail) {
		low := strings.ToLower(strings.Trim(line, " \t[]<>()*.!。"))
		if low == "" || len(low) > longest {
			continue
		}
		subject := isError
		for _, w := range stopSubjects {
			subject = subject || strings.HasPrefix(low, w)
		}
		for _, stop := range stops {
			for _, w := range stop.words {
				if strings.HasPrefix(low, w) || subject && strings.Contains(low, w) {
					return stop.state
				}
			}
		}
	}
	return unknown
}

// isPartial reports whether a short line at the beginning or the end states that the output is not
// complete.
func isPartial(head, tail string) bool {
	const longest = 160
	for line := range outerLines(head, tail) {
		if low := strings.ToLower(line); len(low) <= longest {
			for _, w := range partialWords {
				if strings.Contains(low, w) {
					return true
				}
			}
		}
	}
	return false
}

// codeIn returns the exit code in a line, or "".
func codeIn(line string) string {
	const longest, early = 120, 32
	if line = strings.TrimSpace(line); line == "" {
		return ""
	}
	json := line[0] == '{'
	if !json && len(line) > longest {
		return ""
	}
	low := strings.ToLower(line)
	for _, w := range exitWords {
		k := strings.Index(low, w)
		if k < 0 || !json && k > early {
			continue
		}
		rest := strings.TrimLeft(low[k+len(w):], "\"'`> :=：(")
		digits := len(rest) - len(strings.TrimLeft(rest, "-0123456789"))
		if digits > 0 && digits <= len("-1073741819") {
			return rest[:digits]
		}
	}
	return ""
}

// startsWithFault reports whether a result begins as an error.
func startsWithFault(head string) bool {
	const longest = 64
	low := strings.ToLower(shorten.Head(strings.TrimLeft(head, " \t\r\n"), longest))
	for _, w := range faultStarts {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return strings.TrimSpace(low) == "error"
}

// faultIn returns the line that shows what failed: the first with a place in a file or
// with an error; otherwise, if the whole result is an error, its first line.
func faultIn(head, tail string, whole bool) string {
	first, label := "", ""
	for _, s := range [...]string{head, tail} {
		for line := range strings.Lines(s) {
			line = strings.TrimSpace(line)
			_, ok := digest.Fault(line)
			switch {
			case label != "" && line != "":
				return label + " " + line
			case ok && isLabel(line): // the next line shows what failed
				label = line
				continue
			case ok || place.MatchString(line):
				return line
			}
			if first == "" && !isWrapper(line) {
				first = line
			}
		}
	}
	if whole {
		return cmp.Or(label, first)
	}
	return label
}

// isLabel reports whether a line is one word with a colon.
func isLabel(line string) bool {
	const longest = 20
	return strings.HasSuffix(line, ":") && len(line) <= longest && !strings.Contains(line, " ")
}

// isWrapper reports whether a line only announces the lines after it.
func isWrapper(line string) bool {
	const longest, most = 40, len("2</returncode>") // most: bytes after the words
	low := strings.ToLower(shorten.Head(line, longest))
	for _, w := range wrappers {
		if strings.HasPrefix(low, w) && len(line) <= len(w)+most {
			return true
		}
	}
	return false
}

// stopSubjects begin a line about what happened to a call, in lower case.
var stopSubjects = []string{
	"error", "command", "process", "execution", "tool", "the command", "the process", "the tool", "the user", "user", "request",
	"operation", "call", "run", "signal", "permission", "bash", "shell", "命令", "进程", "执行", "工具", "用户", "操作", "请求", "错误",
}

// stops are the words for each way in which a call is stopped, in lower case.
var stops = []struct {
	state state
	words []string
}{
	{timedOut, []string{"timed out", "timeout", "time limit exceeded", "deadline exceeded", "超时"}},
	{denied, []string{
		"denied by", "rejected by", "declined by", "user denied", "user rejected", "user declined", "was denied", "was rejected",
		"not approved",
		"doesn't want to", "does not want to", "permission denied", "not permitted by", "被拒绝", "拒绝了", "未批准", "未授权",
	}},
	{cancelled, []string{"cancelled", "canceled", "interrupted", "aborted", "keyboardinterrupt", "已取消", "被取消", "被中断", "已中断"}},
	{killed, []string{"killed", "sigkill", "sigterm", "terminated", "out of memory", "被终止", "已终止", "被杀"}},
}

// partialWords state that an output is not complete, in lower case.
var partialWords = []string{
	"output truncated", "truncated output", "[truncated", "(truncated", "<truncated", "was truncated", "is truncated", "been truncated",
	"... truncated",
	"… truncated", "partial output", "output is incomplete", "incomplete output", "已截断", "被截断", "部分输出", "输出不完整",
}

// exitWords come before the exit code of a command.
var exitWords = []string{
	"exit code", "exit_code", "exitcode", "exit status", "exit_status", "exited with code", "exited with status", "return code",
	"return_code", "returncode",
	"exit:", "退出码", "退出代码", "返回码",
}

// faultStarts begin a result that failed, in lower case.
var faultStarts = []string{
	"error:", "error -", "error executing", "error in ", "error\n", "fatal:", "panic:", "exception:",
	"traceback (most recent call last)", "failed:", "failure:", "<tool_use_error>",
	"<error>", `{"error"`, `{"error_message"`, "[error]", "错误:", "错误：", "失败:", "失败：", "异常:", "异常：", "报错:", "报错：", "执行失败",
}

// wrappers are lines around the output of a command, in lower case.
var wrappers = []string{
	"<returncode>", "exit code", "<output>", "</output>", "<stdout>", "<stderr>", "stdout:", "stderr:", "output:",
	"<tool_use_error>", "traceback (most recent call last)",
}

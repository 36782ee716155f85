package facts

import (
	"cmp"
	"regexp"
	"slices"
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
	lines := outerLines(head, tail)
	if command {
		if o.code = exitCode(lines); o.code == "0" {
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
		stop := stopIn(lines, r.Error)
		o.state, broken = cmp.Or(stop, o.state), broken || stop != unknown
	}
	o.partial = isPartial(lines)
	if o.state != passed && o.state != unknown {
		o.fault = faultIn(head, tail, broken)
	}
	return o
}

// exitCode returns the first exit code in lines, or "".
func exitCode(lines []string) string {
	for _, line := range lines {
		if code := codeIn(line); code != "" {
			return code
		}
	}
	return ""
}

// outerLines returns the first three lines in lower case, then the last three, the last one first,
// each one once and without spaces around it.
func outerLines(head, tail string) (lines []string) {
	const near = 3
	add := func(line string) {
		if line = strings.TrimSpace(line); line != "" {
			if line = strings.ToLower(line); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	lines = make([]string, 0, 2*near)
	tail = cmp.Or(tail, head)
	for range near {
		line, rest, _ := strings.Cut(strings.TrimLeft(head, "\r\n"), "\n")
		add(line)
		head = rest
	}
	for range near {
		tail = strings.TrimRight(tail, "\r\n")
		k := strings.LastIndexByte(tail, '\n')
		add(tail[k+1:])
		tail = tail[:max(k, 0)]
	}
	return lines
}

// stopIn returns how a call was stopped, as one of these short lines states it, or unknown. Such a
// line begins with what happened, or with what it happened to. In a result that is an error, any
// short line counts.
func stopIn(lines []string, isError bool) state {
	const longest = 160
	for _, line := range lines {
		line = strings.Trim(line, " \t[]<>()*.!。")
		if line == "" || len(line) > longest {
			continue
		}
		anywhere := isError || hasPrefix(line, stopSubjects)
		for i := range stops {
			if anywhere && contains(line, stops[i].words) || hasPrefix(line, stops[i].words) {
				return stops[i].state
			}
		}
	}
	return unknown
}

// isPartial reports whether one of these short lines states that the output is not complete.
func isPartial(lines []string) bool {
	const longest = 160
	for _, line := range lines {
		if len(line) <= longest && contains(line, partialStems) && contains(line, partialWords) {
			return true
		}
	}
	return false
}

// hasPrefix reports whether a line begins with one of some words.
func hasPrefix(line string, words []string) bool {
	for _, w := range words {
		if line[0] == w[0] && strings.HasPrefix(line, w) {
			return true
		}
	}
	return false
}

// contains reports whether a line contains one of some words.
func contains(line string, words []string) bool {
	for _, w := range words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// codeIn returns the exit code in a line in lower case, or "".
func codeIn(low string) string {
	const longest, early = 120, 32
	json := low[0] == '{'
	if !json && len(low) > longest {
		return ""
	}
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

// partialStems are in each of partialWords.
var partialStems = []string{"trunc", "partial", "incomplete", "截断", "部分", "不完整"}

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

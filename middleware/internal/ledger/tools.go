package ledger

// What the arguments of a call say, whatever framework and language its tool is
// of. Keys are compared in lower case, without - and _.

// fileKeys hold the name of a file.
var fileKeys = set(
	"path", "paths", "file", "files", "filepath", "filepaths", "filename", "filenames", "absolutepath", "relativepath",
	"relativeworkspacepath",
	"targetfile", "targetpath", "sourcefile", "sourcepath", "notebookpath", "inputfile", "outputfile", "inputpath", "outputpath",
	"savepath", "destinationpath", "newpath", "oldpath",
)

// commandKeys hold a command.
var commandKeys = set("command", "commands", "cmd", "commandline", "shellcommand", "bashcommand", "script", "input")

// contentKeys hold what is written into a file.
var contentKeys = set(
	"oldstring", "newstring", "oldtext", "newtext", "oldstr", "newstr", "content", "contents", "filetext", "patch", "diff",
	"edits", "codeedit", "newsource", "inserttext",
)

// patchKeys hold a patch, which names the files itself.
var patchKeys = set("patch", "diff", "input", "patchtext")

// verbKeys say what a tool does that can do several things: with a word such as
// "view".
var verbKeys = set("command", "action", "operation", "op", "mode", "method", "subcommand")

// The words in the name of a tool, and the values behind a key of verbKeys, say
// what it does. write comes first: read_and_edit writes.
var (
	writeWords = set(
		"write", "edit", "multiedit", "create", "append", "insert", "replace", "strreplace", "patch", "save", "update", "modify",
		"delete", "remove", "rm",
		"rename", "move", "mv", "touch", "overwrite", "put", "upload", "download", "export", "notebookedit",
	)
	readWords = set("read", "view", "open", "cat", "load", "head", "tail", "show", "get", "preview", "parse", "readfile")
	runWords  = set(
		"bash", "shell", "sh", "zsh", "powershell", "pwsh", "cmd", "exec", "execute", "terminal", "console", "command", "commands",
		"run",
	)

	// searchWords tell tools whose path is where they search.
	searchWords = set("grep", "glob", "search", "find", "ls", "list", "rg", "tree", "dir", "query", "web", "browser")
)

// patchMarks stand in front of the name of a file in a patch.
var patchMarks = []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"}

// shells are programs whose last argument is the command that counts.
var shells = set("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "powershell", "pwsh", "cmd")

// What a result says of how a command ended. Such words count in a line at the
// beginning or at the end of a result, with a number right behind them.
var exitWords = []string{
	"exit code", "exit_code", "exitcode", "exit status", "exit_status", "exited with code", "exited with status", "return code",
	"return_code", "returncode",
	"exit:", "退出码", "退出代码", "返回码",
}

// faultStarts begin the text of a result that failed, in lower case.
var faultStarts = []string{
	"error:", "error -", "error executing", "error in ", "error\n", "fatal:", "panic:", "exception:",
	"traceback (most recent call last)", "failed:", "failure:", "<tool_use_error>",
	"<error>", `{"error"`, `{"error_message"`, "[error]", "错误:", "错误：", "失败:", "失败：", "异常:", "异常：", "报错:", "报错：", "执行失败",
}

// wrappers are lines around the output of a command that say nothing, in lower
// case.
var wrappers = []string{
	"<returncode>", "exit code", "<output>", "</output>", "<stdout>", "<stderr>", "stdout:", "stderr:", "output:",
	"<tool_use_error>", "traceback (most recent call last)",
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

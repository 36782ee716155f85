package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	programs "os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/laconic-go/laconic/internal/sessions"
)

// sessionsPage is where the page of a replay of the sessions on this machine is written if no flag says where.
const sessionsPage = "laconic.html"

// own finds the sessions on this machine and asks before it reads them.
func (r *replayed) own(std stdio) (found []sessions.Source, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	found = sessions.Find(home, os.Getenv)
	if len(found) == 0 {
		return nil, usagef("no recordings: want files or folders, and no sessions of %s are below %s; see laconic help replay",
			sessions.Agents, home)
	}
	if !r.yes && !isTerminal(std.in) {
		return nil, usagef("sessions of %s are read only if you say so: want --yes, or files or folders", found[0].Agent)
	}
	fmt.Fprintln(std.err, "Sessions on this machine:")
	for _, s := range found {
		fmt.Fprintf(std.err, "  %-12s %14s, %.1f MB\n", s.Agent, several(len(s.Files), "file"), float64(s.Bytes)/1e6)
	}
	fmt.Fprintf(std.err, "They are read here, no model is called, and nothing is sent. The page %s will show their texts.\n", r.html)
	if r.yes {
		return found, nil
	}
	fmt.Fprint(std.err, "Read them? [y/N] ")
	answer, _ := bufio.NewReader(std.in).ReadString('\n') // its end is a no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return nil, errors.New("nothing was read")
	}
	return found, nil
}

// open shows a page in the browser of a person.
func open(ctx context.Context, page string) {
	path, err := filepath.Abs(page)
	if err != nil {
		return
	}
	program, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	_ = programs.CommandContext(ctx, program, args...).Start() //nolint:gosec // G204: a program of the system
}

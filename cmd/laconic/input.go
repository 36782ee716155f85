package main

import (
	"fmt"
	"io"
	"os"
)

// input is what a command reads.
type input struct {
	name string // for errors
	data []byte
}

// read returns the file that the arguments name, or standard input.
func read(args []string, stdin io.Reader) (input, error) {
	switch {
	case len(args) > 1:
		return input{}, usagef("%d files given, want one: %q is too much", len(args), args[1])
	case len(args) == 0 || args[0] == "-":
		data, err := io.ReadAll(stdin)
		if err != nil {
			return input{}, fmt.Errorf("read standard input: %w", err)
		}
		return input{name: "standard input", data: data}, nil
	}
	data, err := os.ReadFile(args[0]) //nolint:gosec // G703: the user names the file
	return input{name: args[0], data: data}, err
}

// errorf names the input.
func (in input) errorf(err error) error { return fmt.Errorf("%s: %w", in.name, err) }

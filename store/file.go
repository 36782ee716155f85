package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A file is one line with the type of a content, and then its data. There is
// no length and no sum in it: its name is what it is checked against.
const magic = "laconic content 1 "

// maxHeader is how long the first line may be: a byte of a type takes up to
// four in quotes.
const maxHeader = len(magic) + 4*maxType + 3

func header(contentType string) string { return magic + strconv.Quote(contentType) + "\n" }

// readHeader reads the first line and returns the type that it names.
func readHeader(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	quoted, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), magic)
	contentType, err := strconv.Unquote(quoted)
	if !ok || err != nil || header(contentType) != string(line) {
		return "", fmt.Errorf("%w: the file does not begin as one of this version", ErrDamaged)
	}
	return contentType, nil
}

// readFile reads a file of so many bytes and returns the type of its content
// and the sum in a scope. The data goes to data, unless that is nil.
func readFile(ctx context.Context, f io.Reader, size int64, scope string, data *strings.Builder) (string, sum, error) {
	r := bufio.NewReaderSize(f, maxHeader)
	contentType, err := readHeader(r)
	if err != nil {
		return "", sum{}, err
	}
	size -= int64(len(header(contentType)))
	if size > MaxContent {
		return "", sum{}, fmt.Errorf("%w: the file is larger than any content", ErrDamaged)
	}
	h := newHash(scope, contentType)
	w := io.Writer(h)
	if data != nil {
		data.Grow(int(size))
		w = io.MultiWriter(h, data)
	}
	buf := make([]byte, min(size+1, chunk))
	for {
		if err := ctx.Err(); err != nil {
			return "", sum{}, err
		}
		n, err := r.Read(buf)
		_, _ = w.Write(buf[:n]) // a hash and a builder take all
		if errors.Is(err, io.EOF) {
			return contentType, sum(h.Sum(nil)), nil
		}
		if err != nil {
			return "", sum{}, err
		}
	}
}

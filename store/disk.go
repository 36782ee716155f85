package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	tempFolder = "tmp"
	tempAge    = time.Hour // a temporary file that was not written to for this long was left by a killed process
	chunk      = 256 << 10 // bytes read or written at once
)

// disk is a folder and the steps that change it. No name leads out of the folder:
// all names are hashes or random letters.
type disk struct {
	root *os.Root

	// fault is for tests. It is called before each step that changes something; its
	// error replaces the step.
	fault func(step string) error
}

func (d *disk) step(name string, do func() error) error {
	if d.fault != nil {
		if err := d.fault(name); err != nil {
			return err
		}
	}
	return do()
}

// open opens a regular file and returns its size. Links, folders and pipes are
// ErrNotFound.
func (d *disk) open(name string) (*os.File, int64, error) {
	info, err := d.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, ErrNotFound
	}
	var f *os.File
	if err == nil {
		f, err = d.root.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// temp writes a temporary file and syncs it to disk. Its name contains that of the file.
// After an error no file is left.
func (d *disk) temp(ctx context.Context, of, head, data string) (string, error) {
	if _, err := d.mkdir(tempFolder); err != nil {
		return "", err
	}
	name := tempFolder + "/" + of + "." + rand.Text()
	var f *os.File
	err := d.step("create", func() (err error) {
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(d.fill(ctx, f, head, data), f.Close()); err != nil {
		_ = d.remove(name)
		return "", err
	}
	return name, nil
}

func (d *disk) fill(ctx context.Context, f *os.File, head, data string) error {
	for text := head; text != ""; {
		piece := text[:min(chunk, len(text))]
		if err := ctx.Err(); err != nil {
			return err
		}
		err := d.step("write", func() error {
			_, err := f.WriteString(piece)
			return err
		})
		if err != nil {
			return err
		}
		if text = text[len(piece):]; text == "" {
			text, data = data, ""
		}
	}
	return d.step("sync", f.Sync)
}

func (d *disk) rename(from, to string) error {
	return d.step("rename", func() error { return d.root.Rename(from, to) })
}

// list adds the handles of contents to the list of a conversation in a folder, and syncs
// both to disk. Each handle begins with a new line, so half a line of a killed process does no
// harm. Several processes may do so at the same time.
func (d *disk) list(folder, conversation string, contents []*Named) error {
	name := folder + "/" + conversation
	listed, err := d.listed(name)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, n := range contents {
		if !listed[n.Handle] {
			text.WriteString("\n" + n.Handle.String())
		}
	}
	if text.Len() == 0 {
		return nil
	}
	made, err := d.mkdir(folder)
	if err != nil {
		return err
	}
	if err := d.appendTo(name, text.String()); err != nil {
		return err
	}
	if len(listed) == 0 {
		if err := d.syncFolder(folder); err != nil {
			return err
		}
	}
	if made {
		return d.syncFolder(".")
	}
	return nil
}

// appendTo appends to a regular file, and creates it if it does not exist.
func (d *disk) appendTo(name, text string) error {
	flags := os.O_WRONLY | os.O_APPEND
	info, err := d.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flags |= os.O_CREATE
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", name)
	}
	return d.step("list", func() error {
		f, err := d.root.OpenFile(name, flags, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// listed returns the handles in a list.
func (d *disk) listed(name string) (map[Handle]bool, error) {
	f, _, err := d.open(name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	handles := map[Handle]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if h, err := ParseHandle(line); err == nil {
			handles[h] = true
		}
	}
	return handles, errors.Join(err, f.Close())
}

// mkdir creates a folder unless it exists, and reports whether it created it.
func (d *disk) mkdir(name string) (made bool, err error) {
	err = d.step("mkdir", func() error { return d.root.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder syncs the names in a folder to disk.
func (d *disk) syncFolder(name string) error {
	if runtime.GOOS == "windows" { // has no such call
		return nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.step("sync folder", f.Sync), f.Close())
}

// remove removes a file, if there is one.
func (d *disk) remove(name string) error {
	err := d.step("remove", func() error { return d.root.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweep removes temporary files by their name and age. If one belongs to a slow process
// that is still running, the Put of that process fails.
func (d *disk) sweep(old func(name string, age time.Duration) bool) error {
	entries, err := fs.ReadDir(d.root.FS(), tempFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, infoErr := e.Info()
		if infoErr == nil && temporary.MatchString(e.Name()) && info.Mode().IsRegular() && old(e.Name(), time.Since(info.ModTime())) {
			err = errors.Join(err, d.remove(tempFolder+"/"+e.Name()))
		}
	}
	return err
}

// temporary matches the names that temp makes for files of a Dir.
var temporary = regexp.MustCompile(`^[a-z]{24}\.[a-z]{12}\.[A-Z2-7]{26}$`)

// A file is one line with the type of a content, followed by its data. It contains
// no length and no hash: it is checked against its name.
const magic = "laconic content 1 "

// maxHeader is the maximum length of the first line: a byte of a quoted type takes
// up to four.
const maxHeader = len(magic) + 4*maxType + 3

func header(contentType string) string { return magic + strconv.Quote(contentType) + "\n" }

// readHeader reads the first line and returns the type in it.
func readHeader(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	quoted, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), magic)
	contentType, err := strconv.Unquote(quoted)
	if !ok || err != nil || header(contentType) != string(line) {
		return "", fmt.Errorf("%w: the file does not begin with the header of this version", ErrDamaged)
	}
	return contentType, nil
}

// readFile reads the content in a file of size bytes.
func readFile(ctx context.Context, f io.Reader, size int64) (Content, error) {
	r := bufio.NewReaderSize(f, maxHeader)
	contentType, err := readHeader(r)
	if err != nil {
		return Content{}, err
	}
	size -= int64(len(header(contentType)))
	if size > maxContent {
		return Content{}, fmt.Errorf("%w: the file is larger than any content", ErrDamaged)
	}
	var data strings.Builder
	data.Grow(int(size))
	err = inChunks(ctx, r, size, func(b []byte) bool { data.Write(b); return true })
	return Content{Type: contentType, Data: data.String()}, err
}

// hasContent reports whether a file of size bytes is that of a content.
func hasContent(ctx context.Context, f io.Reader, size int64, c Content) (bool, error) {
	rest := header(c.Type)
	if size != int64(len(rest)+len(c.Data)) {
		return false, nil
	}
	next := c.Data
	err := inChunks(ctx, f, size, func(b []byte) bool {
		for len(b) > 0 {
			if rest == "" {
				rest, next = next, ""
			}
			n := min(len(b), len(rest))
			if n == 0 || string(b[:n]) != rest[:n] {
				return false
			}
			b, rest = b[n:], rest[n:]
		}
		return true
	})
	return err == nil && rest == "" && next == "", err
}

// inChunks reads all of r, about size bytes, and passes it to do until that returns false.
func inChunks(ctx context.Context, r io.Reader, size int64, do func([]byte) bool) error {
	buf := make([]byte, min(size+1, chunk))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if !do(buf[:n]) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

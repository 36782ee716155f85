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

// temp writes a temporary file and syncs it to disk. After an error no file is
// left.
func (d *disk) temp(ctx context.Context, head, data string) (string, error) {
	if _, err := d.mkdir(tempFolder); err != nil {
		return "", err
	}
	name := tempFolder + "/" + rand.Text()
	var f *os.File
	err := d.step("create", func() (err error) {
		f, err = d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(d.fill(ctx, f, head, data), f.Close()); err != nil {
		d.remove(name)
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

// place renames a temporary file into a folder and syncs the folder to disk.
func (d *disk) place(temp, folder, name string) error {
	made, err := d.mkdir(folder)
	if err != nil {
		return err
	}
	if err := d.step("rename", func() error { return d.root.Rename(temp, folder+"/"+name) }); err != nil {
		return err
	}
	if err := d.syncFolder(folder); err != nil {
		return err
	}
	if made {
		return d.syncFolder(".")
	}
	return nil
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

// remove removes a file. After an error the file remains until a later sweep.
func (d *disk) remove(name string) {
	_ = d.step("remove", func() error { return d.root.Remove(name) })
}

// sweep removes old temporary files. If one belongs to a slow process that is still
// running, that process writes its file again.
func (d *disk) sweep(now time.Time) {
	entries, err := fs.ReadDir(d.root.FS(), tempFolder)
	if err != nil { // there is no such folder, or nothing in it can be removed
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && isTemp(e.Name()) && info.Mode().IsRegular() && now.Sub(info.ModTime()) > tempAge {
			d.remove(tempFolder + "/" + e.Name())
		}
	}
}

// isTemp reports whether a name is one that temp makes.
func isTemp(name string) bool {
	return len(name) == len(rand.Text()) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

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

// readFile reads a file of size bytes and returns the type and the sum of its
// content in a scope. It appends the data to data unless that is nil.
func readFile(ctx context.Context, f io.Reader, size int64, scope string, data *strings.Builder) (string, sum, error) {
	r := bufio.NewReaderSize(f, maxHeader)
	contentType, err := readHeader(r)
	if err != nil {
		return "", sum{}, err
	}
	size -= int64(len(header(contentType)))
	if size > maxContent {
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
		_, _ = w.Write(buf[:n]) // neither a hash nor a Builder returns an error
		if errors.Is(err, io.EOF) {
			return contentType, sum(h.Sum(nil)), nil
		}
		if err != nil {
			return "", sum{}, err
		}
	}
}

package store

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

const (
	tempFolder = "tmp"
	tempAge    = time.Hour // a temporary file that nobody has written to for so long belongs to a process that is gone
	chunk      = 256 << 10 // bytes that are read or written at once
)

// disk is a folder that no name leads out of, and the steps that are done in
// it. Names are made of hashes and random letters.
type disk struct {
	root *os.Root

	// fault is for tests: it is asked before each step that changes something,
	// and its error stands in for the step.
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

// open opens a file that is one, and not a link, a folder or a pipe by the name
// of one. It returns the size as well.
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

// temp writes a temporary file and has the system write it out. After an error
// there is none.
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

// place gives a temporary file its name in a folder, in one step, and has the
// system write that out as well.
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

// mkdir makes a folder unless it is there, and reports whether it did.
func (d *disk) mkdir(name string) (made bool, err error) {
	err = d.step("mkdir", func() error { return d.root.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder has the system write out which names a folder has.
func (d *disk) syncFolder(name string) error {
	if runtime.GOOS == "windows" { // which has no such call
		return nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.step("sync folder", f.Sync), f.Close())
}

// remove removes a file, if it can: what is left over goes later.
func (d *disk) remove(name string) {
	_ = d.step("remove", func() error { return d.root.Remove(name) })
}

// sweep removes the temporary files of processes that are gone. A process that
// was only very slow writes its file again.
func (d *disk) sweep(now time.Time) {
	entries, err := fs.ReadDir(d.root.FS(), tempFolder)
	if err != nil { // none was ever written, or none can be removed
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

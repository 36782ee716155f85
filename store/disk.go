package store

import (
	"crypto/rand"
	"errors"
	"fmt"
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

// read returns what is in a regular file. Links, folders and pipes are ErrNotFound.
func (d *disk) read(name string) (string, error) {
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", ErrNotFound
	}
	if err != nil {
		return "", err
	}
	if info.Size() > int64(maxContent+maxHeader) {
		return "", fmt.Errorf("%w: %s is larger than any content", ErrDamaged, name)
	}
	data, err := d.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
		err = ErrNotFound
	}
	return string(data), err
}

// temp writes a temporary file and syncs it to disk. Its name contains that of the file.
// After an error no file is left.
func (d *disk) temp(of, head, data string) (string, error) {
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
	err = d.step("write", func() error {
		_, err := f.WriteString(head)
		if err == nil {
			_, err = f.WriteString(data)
		}
		return err
	})
	if err == nil {
		err = d.step("sync", f.Sync)
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		_ = d.remove(name)
	}
	return name, err
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
	err = d.step("list", func() error {
		f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text.String())
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err == nil && len(listed) == 0 {
		err = d.syncFolder(folder)
	}
	if err == nil && made {
		err = d.syncFolder(".")
	}
	return err
}

// listed returns the handles in a list.
func (d *disk) listed(name string) (map[Handle]bool, error) {
	text, err := d.read(name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	handles := map[Handle]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		if h, err := ParseHandle(line); err == nil {
			handles[h] = true
		}
	}
	return handles, err
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

// parse returns the content in a file.
func parse(text string) (Content, error) {
	first, _, _ := strings.Cut(text, "\n")
	contentType, err := strconv.Unquote(strings.TrimPrefix(first, magic))
	data, ok := strings.CutPrefix(text, header(contentType))
	if err != nil || !ok {
		return Content{}, fmt.Errorf("%w: the file does not begin with the header of this version", ErrDamaged)
	}
	return Content{Type: contentType, Data: data}, nil
}

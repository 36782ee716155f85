package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// ends are what the names of the files of a database end in.
var ends = [...]string{"", "-wal", "-shm"}

// Lost reports whether the file was removed or replaced, cut to nothing, or damaged; see
// [engine.Backend]. A damaged file gets another name with what is next to it, so that a new
// one can be made; without the file, what is next to it is of no use.
func (s *sqlite) Lost(err error) error {
	s.losing.Lock()
	defer s.losing.Unlock()
	if s.lost != nil || s.path == "" {
		return s.lost
	}
	there, statErr := os.Stat(s.path)
	aside := s.path + ".lost-" + time.Now().UTC().Format("20060102T150405.000")
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		s.lost, aside = fmt.Errorf("the file %s was removed", s.path), ""
	case statErr != nil:
	case !os.SameFile(there, s.files[0]):
		s.lost, aside = fmt.Errorf("the file %s was replaced", s.path), ""
	case there.Size() == 0:
		s.lost = fmt.Errorf("the file %s was emptied", s.path)
	case isDamage(err):
		s.lost = fmt.Errorf("the file %s is damaged, and is now %s: %w", s.path, aside, err)
	}
	if s.lost != nil {
		s.lost = errors.Join(s.lost, s.leave(aside))
	}
	return s.lost
}

// isDamage reports errors of a file that is not a database any more, or has no tables.
func isDamage(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && (e.Code()&0xff == codes.SQLITE_CORRUPT || e.Code()&0xff == codes.SQLITE_NOTADB ||
		e.Code() == codes.SQLITE_IOERR_SHORT_READ || strings.Contains(e.Error(), "no such table: laconic_"))
}

// leave renames the files that are open here, or removes them if there is no name. Another
// process may have made new ones meanwhile, which stay.
func (s *sqlite) leave(aside string) (err error) {
	for i, end := range ends {
		there, failed := os.Lstat(s.path + end)
		switch {
		case failed != nil || s.files[i] == nil || !os.SameFile(there, s.files[i]):
			continue
		case aside != "":
			failed = os.Rename(s.path+end, aside+end)
		default:
			failed = os.Remove(s.path + end)
		}
		err = errors.Join(err, failed)
	}
	return err
}

package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/laconic-go/laconic/store/engine"
)

const (
	busyTimeout = 5 * time.Second // how long a connection waits for other processes
	readers     = 8               // connections of one process that read; one more writes
)

// sqlitePragmas are those of each connection: 8 MB of pages in memory, and a -wal file that is
// cut to 64 MB. Not mmap_size: if another program cuts the file, the system would end this
// process.
var sqlitePragmas = []string{"secure_delete(1)", "temp_store(memory)", "cache_size(-8000)", "journal_size_limit(67108864)"}

// sqliteIncremental lets a file return pages after a deletion. It has an effect before there
// are tables, or when the file is written as a whole.
const sqliteIncremental = `pragma auto_vacuum(incremental)`

// openSQLite opens a file as a database. The path may end in parameters.
func openSQLite(ctx context.Context, path string) (engine.Backend, error) {
	name, readOnly, err := sqliteName(path)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	connector, err := driver.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open %s: %w", path, err)
	}
	s := newSQLite(sql.OpenDB(connector), sql.OpenDB(connector))
	s.path, _, _ = strings.Cut(path, "?")
	s.db.SetMaxOpenConns(readers)
	s.db.SetMaxIdleConns(readers)
	s.writer.SetMaxOpenConns(1)
	if err := s.prepare(ctx, readOnly); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: open %s: %w", path, err), s.db.Close(), s.writer.Close())
	}
	return s, nil
}

func newSQLite(db, writer *sql.DB) *sqlite {
	s := &sqlite{tables: tables{db: db, dialect: sqliteDialect}, writer: writer, shared: db == writer}
	s.write = s.transaction
	return s
}

// NewSQLite returns the backend of a database of SQLite, for [engine.New], through a driver of the caller's choice. Its
// connections must have the settings that the error names, since they are those of a connection. Close leaves db open.
func NewSQLite(ctx context.Context, db *sql.DB) (engine.Backend, error) {
	for pragma, why := range map[string]string{
		"foreign_keys":  "rows that belong to what is deleted would stay",
		"secure_delete": "deleted bytes would stay in the file",
		"busy_timeout":  "a call would fail while another process writes",
	} {
		var value int
		if err := db.QueryRowContext(ctx, "pragma "+pragma).Scan(&value); err != nil {
			return nil, fmt.Errorf("sqlstore: open: pragma %s: %w", pragma, err)
		}
		if value == 0 {
			return nil, fmt.Errorf("sqlstore: open: the connections of db have %s off, so %s: set it for each connection, as with "+
				"_pragma=%s(1) in the name of the file", pragma, why, pragma)
		}
	}
	s := newSQLite(db, db)
	if err := s.prepare(ctx, false); err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	return s, nil
}

// sqliteName returns the name of a file for the driver, and makes the file.
func sqliteName(path string) (name string, readOnly bool, err error) {
	path, query, _ := strings.Cut(path, "?")
	if path == "" || path == ":memory:" {
		return "", false, errors.New("open: the path is empty, want a file: sqlite:PATH")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false, fmt.Errorf("open %s: %w", path, err)
	}
	allowed := map[string][]string{"synchronous": {"full", "normal", "off", "extra"}, "mode": {"rwc", "rw", "ro"}}
	chosen := map[string]string{"synchronous": "full", "mode": "rwc"}
	for k, v := range values {
		if len(v) != 1 || !slices.Contains(allowed[k], v[0]) {
			return "", false, fmt.Errorf("open %s: parameter %s=%s, want synchronous=full|normal|off|extra or mode=rwc|rw|ro",
				path, k, strings.Join(v, ","))
		}
		chosen[k] = v[0]
	}
	flags := map[string]int{"rwc": os.O_RDWR | os.O_CREATE, "rw": os.O_RDWR, "ro": os.O_RDONLY}[chosen["mode"]]
	f, err := os.OpenFile(path, flags, 0o600) //nolint:gosec // the path is the caller's
	if err != nil {
		return "", false, err
	}
	if err := f.Close(); err != nil {
		return "", false, err
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return "file:" + escaped + "?" + url.Values{
		"mode":          {chosen["mode"]},
		"_synchronous":  {chosen["synchronous"]},
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_foreign_keys": {"1"},
		"_pragma":       sqlitePragmas,
		"_txlock":       {"immediate"},
		"_error_rc":     {"1"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
	}.Encode(), chosen["mode"] == "ro", nil
}

const sqliteThere = `select count(*) > 0 from sqlite_schema where name = 'laconic_schema'`

// prepare makes the tables if there are none.
func (s *sqlite) prepare(ctx context.Context, readOnly bool) error {
	if !readOnly {
		if err := s.migrate(ctx); err != nil {
			return err
		}
	}
	n, err := version(ctx, s.db, sqliteThere)
	switch {
	case err != nil:
		return err
	case n == 0:
		return errors.New("the file has no tables of laconic")
	}
	for i, end := range ends {
		s.files[i], err = os.Stat(s.path + end)
		if err != nil {
			s.files[i] = nil
		}
	}
	s.find, err = s.db.PrepareContext(ctx, sqliteDialect.Replace(sqliteFind))
	return err
}

// migrate tries again while other processes change the mode of the file, since SQLite does
// not wait for them then.
func (s *sqlite) migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*busyTimeout)
	defer cancel()
	for {
		err := s.tryMigrate(ctx)
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// isBusy reports that another connection has the lock. Other drivers have the text of SQLite only.
func isBusy(err error) bool {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()&0xff == codes.SQLITE_BUSY
	}
	return err != nil && strings.Contains(err.Error(), "database is locked")
}

func (s *sqlite) tryMigrate(ctx context.Context) error {
	if n, err := version(ctx, s.writer, sqliteThere); err != nil || n > 0 {
		return err
	}
	for _, pragma := range [...]string{sqliteIncremental, `pragma journal_mode(wal)`} {
		if _, err := s.writer.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	return s.transaction(ctx, func(tx *sql.Tx) error { return create(ctx, tx, sqliteThere, sqliteTables) })
}

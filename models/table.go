package models

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Table finds models by name. It is immutable and safe for concurrent use. The zero
// Table is empty.
type Table struct {
	rows []Model
	keys map[string]int // folded name to row
}

//go:embed models.txt
var data string

// Default returns the table that is part of the library. All calls return the same
// table.
func Default() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	rows, err := parse(data)
	if err != nil {
		panic(err) // the file is compiled in, and a test reads it
	}
	t, err := new(Table).With(rows...)
	if err != nil {
		panic(err)
	}
	return t
})

// With returns a new table with the models of t and the given ones. A model with the
// name of one in t replaces that row completely: to change one field, look the model
// up, change the copy and pass it. What the family of its name says completes it; see [Table.Of]. Names that
// differ only in dots, dashes and colons
// are the same name. The error names the row and the field of a model with an
// impossible value, or a name that occurs twice.
func (t *Table) With(models ...Model) (*Table, error) {
	next := &Table{rows: slices.Clone(t.rows), keys: maps.Clone(t.keys)}
	if next.keys == nil {
		next.keys = make(map[string]int, len(models))
	}
	seen := make(map[string]int, len(models))
	for i, m := range models {
		if err := m.validate(); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		key := string(fold(nil, m.Name))
		if first, twice := seen[key]; twice {
			return nil, fmt.Errorf("row %d: models: %s: Name is also that of row %d, must be there once", i+1, m.Name, first)
		}
		seen[key] = i + 1
		m = m.completed()
		if at, known := next.keys[key]; known {
			next.rows[at] = m
			continue
		}
		next.keys[key] = len(next.rows)
		next.rows = append(next.rows, m)
	}
	return next, nil
}

// All yields all models in the order in which they were added.
func (t *Table) All() iter.Seq[Model] { return slices.Values(t.rows) }

func (t *Table) row(name string) (Model, bool) {
	var buf [maxName]byte
	at, ok := t.keys[string(fold(buf[:0], name))]
	if !ok {
		return Model{}, false
	}
	return t.rows[at], true
}

// fold appends the name in the form in which names are compared: ASCII letters in
// lower case, and a dash for each dot or colon, since providers use all three
// (claude-sonnet-5.5, gpt-oss:20b).
func fold(key []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '.' || c == ':':
			c = '-'
		}
		key = append(key, c)
	}
	return key
}

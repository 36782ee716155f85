package models

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Table finds models by name. It never changes after it was made, so it is safe
// for concurrent use. The zero Table is empty.
type Table struct {
	rows []Model
	keys map[string]int // folded name to row
}

//go:embed models.txt
var data string

// Default returns the table that comes with the library. It is read once and
// shared.
func Default() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	rows, err := Parse(data)
	if err != nil {
		panic(err) // the file is compiled in, and a test reads it
	}
	t, err := new(Table).With(rows...)
	if err != nil {
		panic(err)
	}
	return t
})

// With returns a new table with these models on top of those of t, which stays
// as it is. A model whose name t knows takes the place of the old one, whole:
// to change one field, look the model up, change the copy and pass that. Names
// that differ in dots, dashes and colons alone are the same name. An error
// names row and field of a model that does not validate, or of a name that
// comes twice.
func (t *Table) With(models ...Model) (*Table, error) {
	next := &Table{rows: slices.Clone(t.rows), keys: maps.Clone(t.keys)}
	if next.keys == nil {
		next.keys = make(map[string]int, len(models))
	}
	seen := make(map[string]int, len(models))
	for i, m := range models {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		key := string(fold(nil, m.Name))
		if first, twice := seen[key]; twice {
			return nil, fmt.Errorf("row %d: models: %s: Name is also that of row %d, must be there once", i+1, m.Name, first)
		}
		seen[key] = i + 1
		if at, known := next.keys[key]; known {
			next.rows[at] = m
			continue
		}
		next.keys[key] = len(next.rows)
		next.rows = append(next.rows, m)
	}
	return next, nil
}

// All returns all models in the order in which they came into the table.
func (t *Table) All() iter.Seq[Model] { return slices.Values(t.rows) }

// Len returns the number of models.
func (t *Table) Len() int { return len(t.rows) }

func (t *Table) row(name string) (Model, bool) {
	var buf [maxName]byte
	at, ok := t.keys[string(fold(buf[:0], name))]
	if !ok {
		return Model{}, false
	}
	return t.rows[at], true
}

// fold appends the name in the form in which names are compared: ASCII letters
// in lower case, and one mark where providers write dots, dashes and colons for
// the same thing (claude-sonnet-4.5, gpt-oss:20b).
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

package lineup

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/laconic-go/laconic/store"
)

// Archive is an archive for what is taken out, at times one that does not work as
// it should, or none.
func Archive(roll Roll) store.Store {
	switch roll("archive", 8) {
	case 1, 2, 3:
		return store.NewMemory(0)
	case 4:
		return store.NewMemory(200) // what is larger is refused
	case 5:
		return Crowded()
	case 6:
		return Faulty{Memory: store.NewMemory(0), Fault: func(n uint32) error {
			if n%3 == 0 {
				return errors.New("no space left on device")
			}
			return nil
		}}
	case 7:
		return Faulty{Memory: store.NewMemory(0), Fault: func(n uint32) error {
			if n%3 == 0 {
				panic("no archive")
			}
			return nil
		}}
	}
	return nil
}

// Faulty is an archive with a fault that some contents bring out. It is told a
// number that depends on the content.
type Faulty struct {
	*store.Memory

	Fault func(content uint32) error
}

// Put implements [store.Store].
func (f Faulty) Put(ctx context.Context, c store.Content) (store.Handle, error) {
	if err := f.Fault(crc32.ChecksumIEEE([]byte(c.Data))); err != nil {
		return store.Handle{}, fmt.Errorf("put: %w", err)
	}
	return f.Memory.Put(ctx, c)
}

// Crowded returns an archive in which every third content has the handle of another
// content.
func Crowded() store.Store {
	return Faulty{Memory: store.NewMemory(0), Fault: func(n uint32) error {
		if n%3 == 0 {
			return store.ErrConflict
		}
		return nil
	}}
}

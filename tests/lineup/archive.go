package lineup

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

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
		return NewCrowded()
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

// Crowded is an archive in which every third content finds its handle taken by
// another one. It is made by [NewCrowded].
type Crowded struct {
	*store.Memory

	others sync.Map // contents by their second handles
}

// NewCrowded returns a Crowded that is empty.
func NewCrowded() *Crowded { return &Crowded{Memory: store.NewMemory(0)} }

// Put implements [store.Store].
func (c *Crowded) Put(ctx context.Context, content store.Content) (store.Handle, error) {
	if crc32.ChecksumIEEE([]byte(content.Data))%3 != 0 {
		return c.Memory.Put(ctx, content)
	}
	h := store.Handles("", content)[1]
	c.others.Store(h, content)
	return h, nil
}

// Get implements [store.Store].
func (c *Crowded) Get(ctx context.Context, h store.Handle) (store.Content, error) {
	if other, ok := c.others.Load(h); ok {
		content, _ := other.(store.Content)
		return content, nil
	}
	return c.Memory.Get(ctx, h)
}

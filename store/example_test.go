package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/laconic-go/laconic/store"
)

func ExampleMemory() {
	ctx := context.Background()
	archive := store.NewMemory(16 << 20) // bytes

	h, err := store.Keep(ctx, archive, store.Content{Data: "step 14: the linker ran out of memory; exit status 2"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("[cleared: recall %s]\n", h)

	c, err := archive.Get(ctx, h)
	fmt.Println(c.Data, err)

	// Output:
	// [cleared: recall umaswbletsqb]
	// step 14: the linker ran out of memory; exit status 2 <nil>
}

func ExampleOpenDir() {
	path, err := os.MkdirTemp("", "archive")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(path) }()

	archive, err := store.OpenDir(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = archive.Close() }()

	ctx := context.Background()
	acme, globex := archive.Scope("acme"), archive.Scope("globex")
	h, err := store.Keep(ctx, acme, store.Content{Type: "image/png", Data: "\x89PNG…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := acme.Get(ctx, h)
	fmt.Println(c.Type, err)

	_, err = globex.Get(ctx, h)
	fmt.Println(errors.Is(err, store.ErrNotFound))

	fmt.Println(archive.Delete(ctx, "acme"))

	// Output:
	// image/png <nil>
	// true
	// <nil>
}

func ExampleParseHandle() {
	h, err := store.ParseHandle("rwpamjydgitc")
	fmt.Println(h, err)

	_, err = store.ParseHandle("rwpamjydgict")
	fmt.Println(err)

	_, err = store.ParseHandle("../../etc/passwd")
	fmt.Println(err)

	// Output:
	// rwpamjydgitc <nil>
	// store: handle "rwpamjydgict" is mistyped: its last letter does not fit the others, want 12 letters a to z as in the placeholder
	// store: handle "../../etc/passwd" has other characters than the letters a to z, want 12 letters a to z as in the placeholder
}

// lost is a store whose server does not answer.
type lost struct{ store.Store }

func (lost) Get(context.Context, store.Handle) (store.Content, error) {
	return store.Content{}, errors.New("connection refused")
}

func ExampleGuard() {
	archive := store.Guard(lost{store.NewMemory(0)}, store.Limits{Timeout: time.Second, Failures: 2, Pause: time.Hour})
	for range 3 {
		_, err := archive.Get(context.Background(), store.Handle{})
		text, _, _ := strings.Cut(err.Error(), " for ")
		fmt.Println(text)
	}
	// Output:
	// connection refused
	// connection refused
	// not called
}

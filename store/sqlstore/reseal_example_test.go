package sqlstore_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/store/engine"
	_ "github.com/laconic-go/laconic/store/sqlstore" // registers sqlite:
)

// A new key comes first, and the old one goes when no row needs it.
func Example_reseal() {
	dir, err := os.MkdirTemp("", "laconic")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	ctx := context.Background()
	cipher := func(b byte) engine.Cipher {
		c, err := engine.AES(bytes.Repeat([]byte{b}, 32)) // 32 random bytes in a program
		if err != nil {
			panic(err)
		}
		return c
	}
	with := func(do func(e *engine.Engine), ciphers ...engine.Cipher) {
		e, err := engine.Open(ctx, "sqlite:"+filepath.Join(dir, "laconic.db"), engine.Options{Ciphers: ciphers})
		if err != nil {
			panic(err)
		}
		do(e)
		if err := e.Close(); err != nil {
			panic(err)
		}
	}
	var handle store.Handle
	with(func(e *engine.Engine) {
		if handle, err = store.Keep(ctx, e.Archive("acme"), store.Content{Data: "exit status 2"}); err != nil {
			panic(err)
		}
	}, cipher('a'))
	with(func(e *engine.Engine) {
		done, err := e.Reseal(ctx, nil)
		fmt.Println("rows written with the new key:", done.Written, err)
	}, cipher('b'), cipher('a'))
	with(func(e *engine.Engine) {
		content, err := e.Archive("acme").Get(ctx, handle)
		fmt.Println(content.Data, err)
	}, cipher('b'))
	// Output:
	// rows written with the new key: 1 <nil>
	// exit status 2 <nil>
}

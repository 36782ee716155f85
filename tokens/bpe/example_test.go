package bpe_test

import (
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

func ExampleCounter_Count() {
	c := bpe.O200kBase()
	fmt.Println(c.Count("Why does the nightly build fail?"))
	fmt.Println(c.Count("为什么夜间构建失败了？"))
	fmt.Println(tokens.Meter{Counter: c}.Message(message.User("Why does the nightly build fail?")))
	// Output:
	// 7
	// 8
	// 11
}

func ExampleEncoding() {
	c, err := bpe.Encoding("cl100k_base")
	fmt.Println(c.Name(), c.Count("hello"), err)
	_, err = bpe.Encoding("claude")
	fmt.Println(err)
	// Output:
	// cl100k_base 1 <nil>
	// bpe: unknown encoding "claude", want one of o200k_base, o200k_harmony, cl100k_base
}

func ExampleEncodings() {
	fmt.Println(bpe.Encodings())
	// Output: [o200k_base o200k_harmony cl100k_base]
}

func ExampleO200kBase() {
	env := middleware.Env{Counter: bpe.O200kBase()}
	fmt.Println(env.Counter.Count("Hello, world!"))
	// Output: 4
}

func ExampleCL100kBase() {
	fmt.Println(bpe.CL100kBase().Count("Hello, world!"))
	// Output: 4
}

func ExampleCounter_Name() {
	fmt.Println(bpe.O200kBase().Name())
	// Output: o200k_base
}

package bpe_test

import (
	"fmt"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/tokens"
	"github.com/laconic-go/laconic/tokens/bpe"
)

func ExampleCounter_Count() {
	c := bpe.Encoding("o200k_base")
	fmt.Println(c.Count("Why does the nightly build fail?"))
	fmt.Println(c.Count("为什么夜间构建失败了？"))
	fmt.Println(tokens.Meter{Counter: c}.Message(message.User("Why does the nightly build fail?")))
	// Output:
	// 7
	// 8
	// 11
}

func ExampleEncoding() {
	env := middleware.Env{Counter: bpe.Encoding("o200k_base")}
	fmt.Println(env.Counter.Count("Hello, world!"))
	// Output: 4
}

func ExampleEncodings() {
	fmt.Println(bpe.Encodings())
	// Output: [o200k_base o200k_harmony cl100k_base]
}

func ExampleCounter_Name() {
	fmt.Println(bpe.Encoding("o200k_base").Name())
	// Output: o200k_base
}

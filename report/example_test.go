package report_test

import (
	"context"
	"fmt"

	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
	"github.com/laconic-go/laconic/report"
)

func Example() {
	live, err := report.Listen(context.Background(), report.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer live.Close()                                                         //nolint:errcheck // the program ends
	model := live.Watch(middleware.Chain())(middlewaretest.Say("The linker.")) // open live.URL() in a browser
	fmt.Println(model != nil, live.URL() != "")
	// Output: true true
}

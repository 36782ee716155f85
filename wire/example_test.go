package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/wire"
)

// The header of a request makes contextedit clear old results now, whatever its trigger; one of them is pinned.
func Example_force() {
	provider := &recorder{} // in memory
	pinned := func(m message.Message) message.Hints {
		for r := range m.Results() {
			return message.Hints{Pinned: strings.HasPrefix(r.Text, "0")}
		}
		return message.Hints{}
	}
	client := &http.Client{Transport: wire.Transport(provider, wire.Options{Hints: pinned}, contextedit.New(contextedit.Options{Keep: 1}))}
	for _, force := range []string{"", "contextedit"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, chatURL, strings.NewReader(rounds(4, long)))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(wire.ForceHeader, force)
		resp, err := client.Do(req)
		if err != nil {
			panic(err)
		}
		_ = resp.Body.Close()
	}
	fmt.Println(strings.Count(provider.bodies[0], "[cleared"), strings.Count(provider.bodies[1], "[cleared"))
	// Output: 0 2
}

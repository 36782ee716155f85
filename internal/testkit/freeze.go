package testkit

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// Freeze copies a request and returns a function that reports the first change since
// then: in a field, in the messages with their parts, usage and hints, in the tools, the
// budget and the forced names, or in the unused memory after the slices, where an append
// writes. Params is compared with [reflect.DeepEqual] if it is not a pointer, map or slice;
// otherwise it has to be the same one.
func Freeze(req *middleware.Request) (changed func() error) {
	was := CloneRequest(whole(req))
	lengths := func() [3]int { return [3]int{len(req.Messages), len(req.Tools), len(req.Force)} }
	length := lengths()
	unused := unusedParts(req.Messages)
	return func() error {
		if now := lengths(); now != length {
			return fmt.Errorf("the request has %d messages, %d tools and %d forced names, want %d, %d and %d",
				now[0], now[1], now[2], length[0], length[1], length[2])
		}
		if err := SameRequest(was, whole(req), length[0]); err != nil {
			return err
		}
		if !reflect.DeepEqual(unused, unusedParts(req.Messages)) {
			return errors.New("the unused memory after the parts of a message was written to")
		}
		return nil
	}
}

// whole returns the request with the capacity of its slices as their length.
func whole(req *middleware.Request) *middleware.Request {
	r := *req
	r.Messages = r.Messages[:cap(r.Messages)]
	r.Tools = r.Tools[:cap(r.Tools)]
	r.Force = r.Force[:cap(r.Force)]
	return &r
}

// unusedParts returns a copy of the unused memory after the parts of each message.
func unusedParts(msgs []message.Message) [][]message.Part {
	out := make([][]message.Part, len(msgs))
	for i, m := range msgs {
		out[i] = slices.Clone(m.Parts[len(m.Parts):cap(m.Parts)])
	}
	return out
}

// SameRequest compares two requests. Messages from position length are unused memory.
func SameRequest(want, got *middleware.Request, length int) error {
	for i := range want.Messages {
		w, g := want.Messages[i], got.Messages[i]
		switch {
		case reflect.DeepEqual(w, g):
		case i >= length:
			return fmt.Errorf("the unused memory after the messages was written to: %s", Show(g))
		case w.Equal(g):
			return fmt.Errorf("message %d has other remarks: time %v, usage %v, hints %+v, want %v, %v, %+v",
				i, g.Time, g.Usage, g.Hints, w.Time, w.Usage, w.Hints)
		default:
			return fmt.Errorf("message %d is %s, want %s", i, Show(g), Show(w))
		}
	}
	for _, name := range []string{"Tools", "Model", "Budget", "Force"} {
		w, g := reflect.ValueOf(*want).FieldByName(name), reflect.ValueOf(*got).FieldByName(name)
		if !reflect.DeepEqual(w.Interface(), g.Interface()) {
			return fmt.Errorf("field %s of the request is %v, want %v", name, reflect.Indirect(g), reflect.Indirect(w))
		}
	}
	if !sameParams(want.Params, got.Params) {
		return fmt.Errorf("field Params of the request is %v, want %v", got.Params, want.Params)
	}
	return nil
}

// sameParams compares the Params of two requests.
func sameParams(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if !va.IsValid() || !vb.IsValid() || va.Type() != vb.Type() {
		return va.IsValid() == vb.IsValid() && !va.IsValid()
	}
	switch va.Kind() { //nolint:exhaustive // all other kinds are compared by value
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Chan, reflect.Func:
		return va.Pointer() == vb.Pointer()
	}
	return reflect.DeepEqual(a, b)
}

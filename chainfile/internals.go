package chainfile

import (
	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/store"
	"github.com/laconic-go/laconic/tokens"
)

// Internals is what the command and the gateway of this module ask in addition to what any other may ask. Packages outside of it have no
// [inside.Key].
func Internals(inside.Key) internals { return internals{} } //nolint:revive // a type without a name outside of this package

type internals struct{}

// Counter returns the counter of this name. For auto it is nil, which means the chain's default counter. The error of an
// unknown name lists all names.
func (internals) Counter(name string) (tokens.Counter, error) { return counterOf(name) }

// Folder returns a store in a folder, as the key archive makes it.
func (internals) Folder(path string) store.Store { return folders(path)("") }

// InKeys replaces the Go names of options in a text of a middleware, such as that of an event or an error, by the keys of a
// chain file.
func (internals) InKeys(text string) string { return inKeys(text) }

// Budget returns the window and reserve of a file for a model, or nil if the file gives neither. A reserve alone is a part of
// the model's window.
func (internals) Budget(f *File, model string) *middleware.Budget { return f.budget(model) }

// Package inside has the key to what packages message and middleware give only to packages of this module.
package inside

// Key is the key; see message.Internals and middleware.Internals.
type Key struct{}

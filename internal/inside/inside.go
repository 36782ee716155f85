// Package inside has the key to what package message gives only to packages of this module.
package inside

// Key is the key; see message.Internals.
type Key struct{}

// Package inside has the key to what public packages give only to packages of this module.
package inside

// Key is the key; see message.Internals and store.Internals.
type Key struct{}

// Origin is the key of the context of the request for which a call in the background is made; see report.Origin.
type Origin struct{}

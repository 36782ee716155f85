// Package engine makes a journal and an archive of a database that several processes
// share. A driver, the [Backend], moves rows; this package has what all drivers need:
// coding, compression, encryption, checks of what is read, and time limits.
//
//	import _ "github.com/laconic-go/laconic/store/sqlstore" // registers sqlite: and postgres://
//
//	e, err := engine.Open(ctx, "sqlite:laconic.db", engine.Options{})
//	…
//	defer e.Close()
//	chain := middleware.With(middleware.Env{Journal: e.Journal(), Store: e.Archive("acme"), Scope: "acme"}, …)
//
// Only a program that imports a driver links its client library.
package engine

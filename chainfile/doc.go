// Package chainfile reads chains of middlewares from configuration.
//
//	model: claude-sonnet-4-5
//	window: 200000
//	reserve: 8000
//	chain:
//	  - use: contextedit
//	    trigger: [{tokens: 100000}, {fraction: 0.75, rounds: 10}]
//	    keep: 5
//	    exclude_tools: [db_query]
//
// A chain file is YAML, and so JSON will do as well. Once read, it is one
// middleware:
//
//	file, err := chainfile.Load("chain.yaml")
//	if err != nil { … }
//	model := file.Middleware()(provider)
//
// The keys of a middleware are the names of its options in snake case; what is
// left out has the option's default. Reading is strict: an unknown key, a wrong
// type and an impossible value are an [*Error] that names the place and what
// would be right. Of YAML, a chain file uses maps, lists and plain values;
// anchors, aliases, tags and a second document are errors. The page
// docs/chain-files.md lists all keys.
package chainfile

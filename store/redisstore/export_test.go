package redisstore

import (
	"github.com/redis/go-redis/v9"

	"github.com/laconic-go/laconic/store/engine"
)

// Open opens a server by its URL.
var Open = open

// Client returns the client of a backend.
func Client(b engine.Backend) redis.UniversalClient {
	return b.(*backend).client
}

// Keys returns what the keys of a scope of a server begin with.
func Keys(b engine.Backend, scope string) string {
	return b.(*backend).allOf(scope)
}

const Overhead = overhead

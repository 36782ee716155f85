package sqlstore

import (
	"encoding/base64"
	"math/rand/v2"

	"github.com/laconic-go/laconic/store"
)

// These fill a database first, which takes minutes:
//
//	LACONIC_SOAK=1000000 LACONIC_POSTGRES=… LACONIC_REDIS=… go test -run '^$' -bench LargeFind -benchtime 1x -timeout 1h ./store/sqlstore
//	LACONIC_SOAK=100000 LACONIC_POSTGRES=… go test -run '^$' -bench LargeArchive -benchtime 1x -timeout 1h ./store/sqlstore

// large returns a text of 10 kB that is different for each n and compresses a little.
func large(n int) store.Content {
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	data := make([]byte, 7500)
	_, _ = r.Read(data) // it returns no error
	return store.Content{Data: base64.StdEncoding.EncodeToString(data)}
}

package engine

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

// Cipher encrypts the data of rows. It is safe for concurrent use, and does not modify data.
type Cipher interface {
	// Seal encrypts the data of a row of a scope.
	Seal(scope string, data []byte) ([]byte, error)
	// Open returns what Seal was given, and an error if another key has sealed it, or for
	// another scope.
	Open(scope string, data []byte) ([]byte, error)
}

// AES returns a cipher with AES-256 in Galois/Counter Mode, for a key of 32 random bytes. A
// row opens in its scope only, and is 28 bytes longer. Change the key after 2³² rows.
func AES(key []byte) (Cipher, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("engine: AES: the key has %d bytes, want 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{gcm}, err
}

type sealer struct{ cipher.AEAD }

func (s sealer) Seal(scope string, data []byte) ([]byte, error) {
	return s.AEAD.Seal(nil, nil, data, []byte(scope)), nil //nolint:gosec // the nonce is random, and made there
}

func (s sealer) Open(scope string, data []byte) ([]byte, error) {
	return s.AEAD.Open(nil, nil, data, []byte(scope))
}

// Plain does not encrypt. As the last of several ciphers, it reads rows that were written
// before there was a key. Someone who can write to the database can add such rows, so leave it
// out after [Engine.Reseal].
var Plain Cipher = plain{}

type plain struct{}

func (plain) Seal(_ string, data []byte) ([]byte, error) { return data, nil }
func (plain) Open(_ string, data []byte) ([]byte, error) { return data, nil }

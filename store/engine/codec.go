package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/laconic-go/laconic/store"
)

// The data of a row: a byte for the format, a checksum of the rest, and JSON of an entry or
// a content, compressed and sealed. By the checksum, damage is distinguished from a missing key, and from another format:
// these five bytes are the same in all.
const (
	format = 2
	head   = 1 + crc32.Size
)

// The largest sizes of data, which are checked before and while it is decompressed: an entry
// of 16 MiB, and a content of 256 MiB with its head.
const (
	maxEntry   = 16 << 20
	maxContent = 257 << 20
	maxObjects = 1 << 18 // braces in the JSON of an entry: a short text may stand for objects of a kilobyte each
)

// ErrKey is the error of data that no cipher of [Options] opens, and of contents that were
// put with another Secret.
var ErrKey = errors.New("wrong key")

// The errors of rows of another version of this program. What a newer one has written is left as it is.
var (
	errOlder = errors.New("it was written by an older version, and edits are made anew")
	errNewer = errors.New("it was written by a newer version, which alone can read and replace it")
)

var (
	errSum  = errors.New("it was altered, or is not whole")
	errBase = errors.New("what it builds on is missing")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// codec makes the data of rows. It is safe for concurrent use.
type codec struct {
	ciphers           []Cipher // the first one seals
	in                *zstd.Encoder
	entries, contents *zstd.Decoder
}

func newCodec(ciphers []Cipher) (*codec, error) {
	if len(ciphers) == 0 {
		ciphers = []Cipher{Plain}
	}
	for i, c := range ciphers {
		if c == nil {
			return nil, fmt.Errorf("engine: Ciphers[%d] is nil, want one that AES returns, Plain, or your own", i)
		}
	}
	in, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	entries, err := newDecoder(maxEntry)
	if err != nil {
		return nil, err
	}
	contents, err := newDecoder(maxContent)
	if err != nil {
		return nil, err
	}
	return &codec{slices.Clone(ciphers), in, entries, contents}, nil
}

func newDecoder(limit uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(limit), zstd.WithDecoderLowmem(true))
}

func (c *codec) close() error {
	c.entries.Close()
	c.contents.Close()
	return c.in.Close()
}

// pack compresses and seals.
func (c *codec) pack(scope string, data []byte) ([]byte, error) {
	return c.seal(scope, c.in.EncodeAll(data, nil))
}

// seal makes the data of a row of compressed data.
func (c *codec) seal(scope string, packed []byte) ([]byte, error) {
	sealed, err := c.ciphers[0].Seal(scope, packed)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	row := append(make([]byte, head, head+len(sealed)), sealed...)
	row[0] = format
	binary.BigEndian.PutUint32(row[1:], crc32.Checksum(sealed, castagnoli))
	return row, nil
}

// unpack is the inverse of pack, by the decoder for what it is. The error is [ErrKey] or
// store.ErrDamaged. by is the index of the cipher that has sealed the row, and packed is compressed.
func (c *codec) unpack(out *zstd.Decoder, scope string, row []byte) (by int, packed, data []byte, err error) {
	switch {
	case len(row) < head:
		return 0, nil, nil, fmt.Errorf("%w: %w", store.ErrDamaged, errSum)
	case binary.BigEndian.Uint32(row[1:]) != crc32.Checksum(row[head:], castagnoli):
		return 0, nil, nil, fmt.Errorf("%w: %w", store.ErrDamaged, errSum)
	case row[0] < format:
		return 0, nil, nil, errOlder
	case row[0] > format:
		return 0, nil, nil, errNewer
	}
	var first error
	for i, cipher := range c.ciphers {
		packed, err := cipher.Open(scope, row[head:])
		if err == nil {
			data, err = out.DecodeAll(packed, nil)
		}
		switch {
		case err == nil:
			return i, packed, data, nil
		case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
			return 0, nil, nil, fmt.Errorf("%w: it is larger than all that is written: %w", store.ErrDamaged, err)
		}
		if first == nil {
			first = err
		}
	}
	return 0, nil, nil, fmt.Errorf("%w: no cipher of Options opens it: %w", ErrKey, first)
}

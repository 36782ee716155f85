package engine

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/laconic-go/laconic/store"
)

// format is the first byte of the data of each row.
const format = 1

// maxData is the largest size of decompressed data: a content of 256 MiB and its head.
const maxData = 257 << 20

// ErrKey is the error of data that Open does not decrypt, and of contents that were put
// with another Secret.
var ErrKey = errors.New("wrong key")

// codec makes data of entries and contents: JSON or a head and the content, compressed,
// sealed, after one byte for the format. It is safe for concurrent use.
type codec struct {
	seal, open func(scope string, data []byte) ([]byte, error)
	in         *zstd.Encoder
	out        *zstd.Decoder
	known      *decoded
}

func newCodec(o Options) (*codec, error) {
	if (o.Seal == nil) != (o.Open == nil) {
		return nil, errors.New("engine: only one of Seal and Open is set, want both or none")
	}
	in, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	out, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxData), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &codec{seal: o.Seal, open: o.Open, in: in, out: out, known: newDecoded()}, nil
}

func (c *codec) close() error {
	c.out.Close()
	return c.in.Close()
}

// pack compresses and seals.
func (c *codec) pack(scope string, data []byte) ([]byte, error) {
	packed := c.in.EncodeAll(data, []byte{format})
	if c.seal == nil {
		return packed, nil
	}
	sealed, err := c.seal(scope, packed[1:])
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append([]byte{format}, sealed...), nil
}

// unpack is the inverse of pack. The error is [ErrKey] or store.ErrDamaged.
func (c *codec) unpack(scope string, packed []byte) ([]byte, error) {
	switch {
	case len(packed) == 0:
		return nil, fmt.Errorf("%w: it is empty", store.ErrDamaged)
	case packed[0] != format:
		return nil, fmt.Errorf("%w: format %d is not known, want %d", store.ErrDamaged, packed[0], format)
	}
	packed = packed[1:]
	if c.open != nil {
		var err error
		if packed, err = c.open(scope, packed); err != nil {
			return nil, fmt.Errorf("%w: Open does not decrypt it, or it was altered: %w", ErrKey, err)
		}
	}
	data, err := c.out.DecodeAll(packed, nil)
	switch {
	case err == nil:
		return data, nil
	case c.open == nil && errors.Is(err, zstd.ErrMagicMismatch):
		return nil, fmt.Errorf("%w: %w: it is not compressed: was it sealed? Then set Open", store.ErrDamaged, ErrKey)
	}
	return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
}

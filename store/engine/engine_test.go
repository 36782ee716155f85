package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/store"
)

// aesOf returns a cipher for a key.
func aesOf(t *testing.T, key byte) Cipher {
	t.Helper()
	c, err := AES(append(make([]byte, 31), key))
	require.NoError(t, err)
	return c
}

func TestEntryCoding(t *testing.T) {
	t.Parallel()
	for name, ciphers := range map[string][]Cipher{"plain": nil, "sealed": {aesOf(t, 1)}} {
		c, err := newCodec(ciphers)
		require.NoError(t, err)
		e := journal.Entry{Base: message.ID{3}, Depth: 1, Edits: []*journal.Record{{
			Middleware: "m", Kind: journal.Fold, Runs: []message.Run{{First: 1, Last: 9}},
			Messages: []message.Message{message.User(strings.Repeat("a secret summary ", 100))},
		}}}
		e.Rev = e.Revision()
		w, err := c.entry("s", journal.Write{ID: message.ID{1}, Conversation: message.ID{2}, Entry: e}, nil)
		require.NoError(t, err)
		require.Less(t, len(w.Row.Data), 400, "%s: it is compressed", name)
		require.NotContains(t, string(w.Row.Data), "a secret summary a secret", name)
		got, err := c.toEntry("s", w.Row)
		require.NoError(t, err)
		require.Equal(t, e, got)

		for i := range w.Row.Data {
			r := w.Row
			r.Data = append([]byte(nil), r.Data...)
			r.Data[i] ^= 4
			_, err := c.toEntry("s", r)
			if i == 0 {
				require.ErrorIs(t, err, errNewer)
				continue
			}
			require.ErrorIs(t, err, store.ErrDamaged, "%s: byte %d is altered", name, i)
			require.NotErrorIs(t, err, ErrKey, "%s: byte %d", name, i)
			r.Data = r.Data[:i]
			_, err = c.toEntry("s", r)
			require.ErrorIs(t, err, store.ErrDamaged, "%s: torn after %d bytes", name, i)
		}
		r := w.Row
		r.Rev = message.ID{9}
		_, err = c.toEntry("s", r)
		require.ErrorIs(t, err, store.ErrDamaged, "data of another row")
		require.NoError(t, c.close())
	}
}

// A row of an older version is told as old and replaced; that of a newer one stays, and each process keeps its own edits.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	for other, want := range map[byte]error{format - 1: errOlder, format + 1: errNewer} {
		b := &oneRow{}
		e, err := New(b, Options{})
		require.NoError(t, err)
		entry := journal.Entry{Pins: []message.ID{{1}}}
		entry.Rev = entry.Revision()
		w, err := e.codec.entry("s", journal.Write{ID: message.ID{1}, Entry: entry}, nil)
		require.NoError(t, err)
		b.row = w.Row
		b.row.Rev = message.ID{7}
		b.row.Data = append([]byte{other}, w.Row.Data[1:]...)
		found, err := e.Journal().Find(t.Context(), "s", message.ID{}, []message.ID{{1}})
		require.NoError(t, err)
		require.Equal(t, -1, found.At)
		require.ErrorIs(t, found.Skipped, want)
		require.NotErrorIs(t, found.Skipped, store.ErrDamaged)
		winner, err := e.Journal().Put(t.Context(), "s", []journal.Write{{ID: message.ID{1}, Entry: entry}})
		if want == errOlder { //nolint:errorlint // it is the one of the case
			require.NoError(t, err)
			require.Equal(t, entry, winner)
		} else {
			require.ErrorIs(t, err, errNewer)
			require.Equal(t, message.ID{7}, b.row.Rev, "it is left as it is")
		}
		require.NoError(t, e.Close())
	}
}

// oneRow is a backend with one row.
type oneRow struct {
	Backend

	row Row
}

func (o *oneRow) Find(_ context.Context, _ string, _ message.ID, ids []message.ID, _ Bounds) (int, []Row, error) {
	if len(ids) == 0 {
		return -1, nil, nil
	}
	return 0, []Row{o.row}, nil
}

func (o *oneRow) Put(_ context.Context, _ string, rows []Write, _ Bounds) (Row, error) {
	if rows[0].Over == o.row.Rev {
		o.row = rows[0].Row
	}
	return o.row, nil
}

func (o *oneRow) Drop(context.Context, string, []Row) error { panic("it is not damaged") }

func (o *oneRow) Close() error { return nil }

// written is the row of an entry, as version 0.1.0 writes it: each later version reads it.
const written = `AqlhyW0otS/9ZPgEJRAAEuBYI0CpNgEAU1tLA7HbRm1b5ModJEzGcQCMpQ63TVd2f8ZRlAMBU/Nk8s5x1UwTBErLqlnoty3pE/0+b0EsAl/jE31HyK4Oet5mrKtU9MuQsc
7VCzI1U1MhUDKAyQBEIQuuARQAKPI8jvt6hs2WxMmVju14Ne2DW//cetZVMx0Yfa92bOPqqcjrpUdMrIU+0T/PNZ6D+uqZSl7/oOsVeSGvabbMjxoHDnoY25izvtDzuojX
XjXNEIqZqegjsD0XuWIMBgNbDgkyyMxJbXkhkF01UzNdQAIwwBsf+6wYV0IglhZBxiY4XpL0iGqamulNW14bscX1jbB99bak9a7O3tEjrkPSvBxXv34jyJ+oUujfRgYShh
0ddPUs5PXNXTXTiq4K+o7sGO/BV992HFm+vj3XuHq7to2w/SC7fnlFNmrNSZ8s9LFd26s3Z0EsTELBHA4rlcXgsGQkcmmKhTkGhyWuhyx/EjoA++uOt7Jg2gmFasJV4Cak
W7l8C7+KhtEKPTbFgKQOwyTaP11MBC5cNBD4cuEiPSHCJWI0rqmxt+VpuBkMhk0I15MgQEzCSmgNy4ogMrMMLrbpK1aG7LoevIEVzHaddWAEwIOXQd1nOl0PPjZ6Z2U0uw
LVKEHNAZSFGRgHIINXeC2RsG3nsemDZ2wVUye+ESRzyxi0gLuURVASDyoKS1/rIg==`

func TestEarlierRow(t *testing.T) {
	t.Parallel()
	c, err := newCodec(nil)
	require.NoError(t, err)
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(written, "\n", ""))
	require.NoError(t, err)
	rev := message.ID{}
	require.NoError(t, rev.UnmarshalText([]byte("8cb4bc39d308f0cb4310a557987363bd")))
	e, err := c.toEntry("s", Row{Rev: rev, Data: data})
	require.NoError(t, err)
	require.NoError(t, e.Validate())
	require.Len(t, e.Edits, 2)
	require.Len(t, e.Steps, 1)
	require.NoError(t, c.close())
}

func TestWrongKeys(t *testing.T) {
	t.Parallel()
	first, second := aesOf(t, 1), aesOf(t, 2)
	scope := inStore.Scope([]byte("secret"), "s")
	content := store.Content{Data: "text"}
	n := &store.Named{Content: content, Hash: content.Hash(), Handle: scope.Handle(content.Hash())}
	row := func(ciphers ...Cipher) Content {
		c, err := newCodec(ciphers)
		require.NoError(t, err)
		r, err := c.content("s", scope, n)
		require.NoError(t, err)
		return r
	}
	read := func(scope scoped, r Content, ciphers ...Cipher) error {
		c, err := newCodec(ciphers)
		require.NoError(t, err)
		_, err = c.toContent("s", scope, r)
		return err
	}
	unsealed, sealed := row(), row(first)
	require.NoError(t, read(scope, unsealed))
	err := read(scope, sealed, second)
	require.ErrorIs(t, err, ErrKey)
	require.EqualError(t, err, "wrong key: no cipher of Options opens it: cipher: message authentication failed")
	require.ErrorIs(t, read(scope, unsealed, first), ErrKey)
	require.ErrorIs(t, read(scope, sealed), ErrKey)
	require.NoError(t, read(scope, sealed, second, first), "an old key opens")
	require.NoError(t, read(scope, row(second, first), second), "the first key seals")
	require.NoError(t, read(scope, unsealed, second, first, Plain))
	require.NoError(t, read(scope, sealed, Plain, first))
	err = read(inStore.Scope([]byte("other"), "s"), unsealed)
	require.EqualError(t, err, "wrong key: it was put with another Secret, or the row was altered")
	require.ErrorIs(t, err, ErrKey)
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	const secret = "p@ss/w:rd"
	Register("failing", func(_ context.Context, url string) (Backend, error) { return nil, errors.New("cannot parse " + url) })
	for url, want := range map[string]string{
		"":                                       "begins with no known scheme, want sqlite:PATH, postgres://",
		"mysql://u:" + secret:                    "begins with no known scheme",
		"postgres":                               "begins with no known scheme",
		"postgres://u:" + secret:                 `add import _ "github.com/laconic-go/laconic/store/sqlstore"`,
		"rediss://u:" + secret:                   `add import _ "github.com/laconic-go/laconic/store/redisstore"`,
		"failing://u:" + secret + "@h:1/d?a=%zz": "cannot parse failing://u:xxxxx@h",
		"failing://h/d?user=u&sslpassword=" + secret + "&password=x%3F": "cannot parse failing://h/d?user=u&sslpassword=xxxxx",
	} {
		_, err := Open(t.Context(), url, Options{})
		require.ErrorContains(t, err, want, url)
		require.NotContains(t, err.Error(), secret)
	}
	require.PanicsWithValue(t, "engine: Register: the scheme failing is empty or has a driver already", func() {
		Register("failing", func(context.Context, string) (Backend, error) { return nil, nil })
	})
	require.Contains(t, imported(), "failing")
}

// TestBombs reads small rows that unpack to much: none allocates more than a few times what it may have.
func TestBombs(t *testing.T) { //nolint:paralleltest // it measures what it allocates
	race.Skip(t)
	c, err := newCodec(nil)
	require.NoError(t, err)
	defer c.close() //nolint:errcheck // the test is over
	packed := func(data []byte) []byte { return c.in.EncodeAll(data, nil) }
	streamed := func(data []byte) []byte {
		var b bytes.Buffer // a stream does not say how long it is
		w, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		_, err = w.Write(data[:len(data)/2])
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		_, err = w.Write(data[len(data)/2:])
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	huge, half := make([]byte, 200<<20), bytes.Repeat([]byte(`{"rev":"",`), 1<<20)
	list := func(of string, n int) []byte {
		return []byte(`{"edits":[` + strings.Repeat(of+",", n/(len(of)+1)) + of + "]}")
	}
	const larger, objects, known = "it is larger than all that is written", "braces, want at most 16777216 and 262144", "it is that of entry"
	type bomb struct {
		row    func() []byte
		most   uint64 // MiB
		reason string
	}
	for name, test := range soak.Some(map[string]bomb{
		"200 MB":                {func() []byte { return packed(huge) }, 4, larger},
		"200 MB, not announced": {func() []byte { return streamed(huge) }, 128, larger},
		"frames":                {func() []byte { return bytes.Repeat(packed(half), 20) }, 64, larger},
		"edits":                 {func() []byte { return packed(list(`{}`, 15<<20)) }, 64, objects},
		"most edits":            {func() []byte { return packed(list(`{}`, 3*(maxObjects-4))) }, 256, known},
		"most messages":         {func() []byte { return packed(list(`{"messages":[`+strings.Repeat(`{},`, maxObjects-9)+`{}]}`, 1)) }, 512, known},
	}, 4) {
		row, err := c.seal("s", test.row())
		require.NoError(t, err)
		require.Less(t, len(row), 1<<20, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = c.toEntry("s", Row{Rev: message.ID{1}, Data: row})
		runtime.ReadMemStats(&after)
		t.Logf("%s: row of %d bytes, %d MiB allocated: %.120s", name, len(row), (after.TotalAlloc-before.TotalAlloc)>>20, err)
		require.ErrorIs(t, err, store.ErrDamaged, name)
		require.ErrorContains(t, err, test.reason, name)
		require.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)>>20, test.most, "%s: MiB", name)
	}
	_, err = c.entry("s", journal.Write{Entry: journal.Entry{Rev: message.ID{1}, Edits: []*journal.Record{{
		Messages: []message.Message{message.User(string(huge[:maxEntry]))},
	}}}}, nil)
	require.ErrorContains(t, err, "braces, want at most 16777216 and 262144")
}

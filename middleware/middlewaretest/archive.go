package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/store"
)

// Archive tests that a store keeps the contract of [store.Store]. open returns an empty
// store; it is called once for each case. Each failure names the rule that is broken and
// what was seen.
//
//	func TestArchive(t *testing.T) {
//		middlewaretest.Archive(t, func(t *testing.T) store.Store { return store.NewMemory(0) })
//	}
//
// Further rules are tested if the store has these methods; it may have them in the test only:
//
//	Scope(name string) store.Store // another scope of the same storage
//	Delete(ctx context.Context, scope string, conversations ...message.ID) error // as store.Memory has it
//	Reopen() store.Store           // the same, as another process opens it
//	Damage(h store.Handle) error   // changes a stored byte of a content
func Archive(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, c := range archiveCases {
		c.test(t, open)
	}
}

// The methods that a store need not have.
type (
	scoped   interface{ Scope(name string) store.Store }
	deleting interface {
		Delete(ctx context.Context, scope string, conversations ...message.ID) error
	}
	reopened interface{ Reopen() store.Store }
	damaged  interface{ Damage(h store.Handle) error }
)

// with returns a store with a method that it need not have.
func with[T any](s store.Store, method string) T {
	has, ok := s.(T)
	if !ok {
		panic(missing(method))
	}
	return has
}

var archiveCases = []storageCase[store.Store]{
	{"handles", "Handle returns one handle for a hash, the same each time, another one for another hash; it keeps nothing, and " +
		"Get of a handle without a content returns ErrNotFound, also for the zero handle", hasHandles},
	{"content", "Put keeps all its contents byte for byte, with their types, also if they are there already, for the same or " +
		"another conversation, or twice in the call; it changes neither them nor their slice; no content is no error", keepsContents},
	{"all or an error", "Put returns nil if all contents are kept, and an error otherwise; none is kept in part", keepsWhole},
	{"conflict", "Put returns ErrConflict if another content has the handle; the first one is kept", keepsFirst},
	{"concurrent", "calls that put equal contents at the same time return nil, and all contents are found", keepsTogether},
	{"cancelled", "a call whose context is done returns the error of the context", endsWithContext},
	{"reopened", "another process that opens the storage gives the same handles and finds the contents", sharesStorage},
	{"damaged", "Get of a content of which a byte was changed returns ErrDamaged, and another Put replaces it", healsDamage},
	{"scopes", "a content is never found from another scope, whatever the names, and has another handle there", separatesScopes},
	{"delete", "Delete removes all contents of a scope, and those of no other scope", deletesScope},
	{"delete conversations", "Delete of some conversations removes what belongs to them alone, and nothing else", deletesConversations},
	{"handles alone", "Put of a handle alone keeps the content that is there for the conversation, too; none is no error", keepsHandles},
}

// keptAs returns a content as the store names it.
func keptAs(s store.Store, c store.Content) store.Named {
	return store.Named{Content: c, Hash: c.Hash(), Handle: s.Handle(c.Hash())}
}

// textsAs returns n texts as the store names them.
func textsAs(s store.Store, n int) []store.Named {
	all := make([]store.Named, n)
	for i := range all {
		all[i] = keptAs(s, store.Content{Data: fmt.Sprintf("text %d", i)})
	}
	return all
}

// holds wants that Get returns all contents.
func holds(ctx context.Context, s store.Store, contents ...store.Named) {
	for _, n := range contents {
		got, err := s.Get(ctx, n.Handle)
		if err != nil || got != n.Content {
			sawf("Get(%s): %d bytes of type %q: %.60q and error %v, want %d of type %q: %.60q", n.Handle,
				len(got.Data), got.Type, got.Data, err, len(n.Content.Data), n.Content.Type, n.Content.Data)
		}
	}
}

// lost wants that Get finds none of the contents.
func lost(ctx context.Context, s store.Store, contents ...store.Named) {
	for _, n := range contents {
		if got, err := s.Get(ctx, n.Handle); !errors.Is(err, store.ErrNotFound) {
			sawf("Get(%s): %.60q and error %v, want ErrNotFound", n.Handle, got.Data, err)
		}
	}
}

// keeps puts contents, and wants that all are found after that.
func keeps(ctx context.Context, s store.Store, conversation message.ID, contents ...store.Named) {
	if err := s.Put(ctx, conversation, contents); err != nil {
		sawf("Put of %d contents: error %v", len(contents), err)
	}
	holds(ctx, s, contents...)
}

func hasHandles(ctx context.Context, s store.Store) {
	seen := map[store.Handle]bool{}
	all := textsAs(s, 100)
	for _, n := range all {
		if _, err := store.ParseHandle(n.Handle.String()); err != nil || seen[n.Handle] || s.Handle(n.Hash) != n.Handle {
			sawf("Handle of %q is %q, error %v, or two contents have it, or it has two", n.Content.Data, n.Handle, err)
		}
		seen[n.Handle] = true
	}
	lost(ctx, s, append(all, store.Named{})...)
}

func keepsContents(ctx context.Context, s store.Store) {
	all := textsAs(s, 300)
	for _, c := range []store.Content{
		{},
		{Type: "image/png"},
		{Data: "a\r\nb\n"},
		{Type: "text/plain", Data: "a\r\nb\n"},
		{Data: "\x00"},
		{Data: "a\x00b"},
		{Type: "image/png", Data: "\x89PNG\r\n\x1a\n\x00\xff"},
		{Data: "\xff\xfe\xc3\x28 no UTF-8"},
		{Data: "ünïcode 图 \u202e"},
		{Type: "a\n\"b\"\x00\xff/../..", Data: "an odd type"},
		{Type: strings.Repeat("\x00", 1024), Data: "the longest type"},
		{Data: strings.Repeat("0123456789abcde\n", 200_000)},
		{Data: " '\"\\;--%_ "},
	} {
		all = append(all, keptAs(s, c))
	}
	keeps(ctx, s, message.ID{1}, all[5:]...)
	all = append(all, all[7], all[299], all[7])
	slices.Reverse(all)
	for _, conversation := range []byte{1, 2, 0, 1} {
		given := slices.Clone(all)
		keeps(ctx, s, message.ID{conversation}, given...)
		if !slices.Equal(given, all) {
			sawf("the slice was changed")
		}
	}
	keeps(ctx, s, message.ID{1})
}

func keepsWhole(ctx context.Context, s store.Store) {
	all := textsAs(s, 20)
	all[9] = keptAs(s, store.Content{Type: strings.Repeat("t", 1025), Data: "the type is too long"})
	all[13] = keptAs(s, store.Content{Data: strings.Repeat("0123456789abcde\n", 100_000)})
	failed := s.Put(ctx, message.ID{1}, all)
	for _, n := range all {
		if _, err := s.Get(ctx, n.Handle); failed == nil || !errors.Is(err, store.ErrNotFound) {
			holds(ctx, s, n)
		}
	}
}

// keepsFirst puts different contents under one handle. Two contents whose handles are really
// equal cannot be made for each store.
func keepsFirst(ctx context.Context, s store.Store) {
	all := textsAs(s, 4)
	keeps(ctx, s, message.ID{1}, all[0])
	there, twice, again := all[1], all[1], all[2]
	there.Handle = all[0].Handle
	twice.Handle = all[3].Handle
	again.Handle = all[3].Handle
	for _, others := range [][]store.Named{{there}, {all[0], twice, again}} {
		if err := s.Put(ctx, message.ID{1}, others); !errors.Is(err, store.ErrConflict) {
			sawf("Put: error %v, want ErrConflict", err)
		}
	}
	holds(ctx, s, all[0])
}

func keepsTogether(ctx context.Context, s store.Store) {
	all := textsAs(s, 40)
	errs := together(8, func(i int) error {
		mine := slices.Concat(all[5*i:], all[:5*i])
		if i%2 == 0 {
			slices.Reverse(mine)
		}
		return s.Put(ctx, message.ID{byte(i % 3)}, mine)
	})
	if err := errors.Join(errs...); err != nil {
		sawf("Put: error %v", err)
	}
	holds(ctx, s, all...)
}

func endsWithContext(ctx context.Context, s store.Store) {
	all := textsAs(s, 2)
	keeps(ctx, s, message.ID{1}, all[0])
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, getErr := s.Get(done, all[0].Handle)
	for _, err := range []error{s.Put(done, message.ID{1}, all), getErr} {
		if !errors.Is(err, context.Canceled) {
			sawf("Put or Get: error %v, want context.Canceled", err)
		}
	}
	holds(ctx, s, all[0])
}

func sharesStorage(ctx context.Context, s store.Store) {
	other, all := with[reopened](s, "Reopen").Reopen(), textsAs(s, 10)
	if named := textsAs(other, 10); !slices.Equal(named, all) {
		sawf("the handle of %q is %s here and %s there", all[0].Content.Data, all[0].Handle, named[0].Handle)
	}
	keeps(ctx, s, message.ID{1}, all[:5]...)
	keeps(ctx, other, message.ID{1}, all...)
	holds(ctx, s, all...)
}

func healsDamage(ctx context.Context, s store.Store) {
	damage := with[damaged](s, "Damage")
	for _, c := range []store.Content{
		{Data: strings.Repeat("a line of a log\n", 1000)}, {Type: "image/png", Data: "\x89PNG"},
	} {
		n := keptAs(s, c)
		keeps(ctx, s, message.ID{1}, n)
		if err := damage.Damage(n.Handle); err != nil {
			sawf("Damage: %v", err)
		}
		if got, err := s.Get(ctx, n.Handle); !errors.Is(err, store.ErrDamaged) {
			sawf("Get: %.60q and error %v, want ErrDamaged", got.Data, err)
		}
		keeps(ctx, s, message.ID{2}, n)
	}
}

func separatesScopes(ctx context.Context, s store.Store) {
	root := with[scoped](s, "Scope")
	c := store.Content{Data: "the same in all scopes"}
	seen := map[store.Handle]string{}
	names := []string{"", "a", "a/b", "a\x00b", "A", "ä", "a%", "a_", "*", "a:1", "../a", "a "}
	for _, name := range names {
		in := root.Scope(name)
		n := keptAs(in, c)
		if other, ok := seen[n.Handle]; ok {
			sawf("the scopes %q and %q give a content the same handle", other, name)
		}
		seen[n.Handle] = name
		keeps(ctx, in, message.ID{1}, n)
	}
	for h, name := range seen {
		for _, other := range names {
			if other != name {
				lost(ctx, root.Scope(other), store.Named{Handle: h})
			}
		}
	}
}

// deletes removes conversations of a scope, or all of it.
func deletes(ctx context.Context, s store.Store, scope string, conversations ...message.ID) {
	if err := with[deleting](s, "Delete").Delete(ctx, scope, conversations...); err != nil {
		sawf("Delete(%q, %x): error %v", scope, conversations, err)
	}
}

func deletesScope(ctx context.Context, s store.Store) {
	root := with[scoped](s, "Scope")
	a, ab := root.Scope("a"), root.Scope("ab")
	keeps(ctx, a, message.ID{1}, textsAs(a, 5)...)
	keeps(ctx, a, message.ID{}, textsAs(a, 9)...)
	keeps(ctx, ab, message.ID{1}, textsAs(ab, 9)...)
	deletes(ctx, s, "a")
	deletes(ctx, s, "never used")
	lost(ctx, a, textsAs(a, 9)...)
	holds(ctx, ab, textsAs(ab, 9)...)
	keeps(ctx, a, message.ID{1}, textsAs(a, 9)...)
}

// deletesConversations has texts 0 and 1 of conversation 1, 2 of 1 and 2, 3 of 1 and none, 4 of
// 2 and 3, 5 of 3, 6 of none.
func deletesConversations(ctx context.Context, s store.Store) {
	root := with[scoped](s, "Scope")
	a, b := root.Scope("a"), root.Scope("b")
	all, other := textsAs(a, 7), textsAs(b, 7)
	one, two, three, none := message.ID{1}, message.ID{2}, message.ID{3}, message.ID{}
	keeps(ctx, a, one, all[:4]...)
	keeps(ctx, a, two, all[2], all[4])
	keeps(ctx, a, three, all[4], all[5])
	keeps(ctx, a, none, all[3], all[6])
	keeps(ctx, b, one, other...)
	deletes(ctx, s, "a", one, message.ID{9})
	lost(ctx, a, all[:2]...)
	holds(ctx, a, all[2:]...)
	holds(ctx, b, other...)
	deletes(ctx, s, "a", two, three)
	lost(ctx, a, all[0], all[1], all[2], all[4], all[5])
	holds(ctx, a, all[3], all[6])
	keeps(ctx, a, one, all...)
	deletes(ctx, s, "a", none)
	holds(ctx, a, all...)
	deletes(ctx, s, "a", one)
	lost(ctx, a, all...)
}

func keepsHandles(ctx context.Context, s store.Store) {
	a := with[scoped](s, "Scope").Scope("a")
	all := textsAs(a, 4)
	one, two := message.ID{1}, message.ID{2}
	keeps(ctx, a, one, all[:3]...)
	alone := []store.Named{{Handle: all[0].Handle}, {Handle: all[3].Handle}, {Handle: all[1].Handle}, {Handle: all[0].Handle}}
	if err := a.Put(ctx, two, alone); err != nil {
		sawf("Put of handles alone: error %v", err)
	}
	lost(ctx, a, all[3])
	holds(ctx, a, all[:3]...)
	deletes(ctx, s, "a", one)
	holds(ctx, a, all[:2]...)
	lost(ctx, a, all[2:]...)
	deletes(ctx, s, "a", two)
	lost(ctx, a, all...)
}

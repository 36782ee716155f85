package middlewaretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
		c.test(t, func(t *testing.T) store.Store {
			t.Helper()
			s := open(t)
			if missing := missing(c.name, s); missing != "" {
				t.Skip("the store has no method " + missing)
			}
			return s
		})
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

// archiveNeeds has the methods that cases need, by their names.
var archiveNeeds = map[string]string{
	"reopened": "Reopen", "damaged": "Damage", "scopes": "Scope", "delete": "Scope Delete", "delete conversations": "Scope Delete",
}

// missing returns the method that a case needs and the store does not have, or "".
func missing(name string, s store.Store) string {
	has := map[string]bool{}
	_, has["Scope"] = s.(scoped)
	_, has["Delete"] = s.(deleting)
	_, has["Reopen"] = s.(reopened)
	_, has["Damage"] = s.(damaged)
	for method := range strings.FieldsSeq(archiveNeeds[name]) {
		if !has[method] {
			return method
		}
	}
	return ""
}

var archiveCases = []storageCase[store.Store]{
	{"handles", "Handle returns one handle for a hash, the same each time, another one for another hash; it keeps nothing", hasHandles},
	{"content", "Get returns the content byte for byte, with its type; contents of another type have another handle", keepsBytes},
	{"batch", "one Put keeps all its contents, also if one of them is there twice, and no content is no error", keepsAll},
	{"all or an error", "Put returns nil if all contents are kept, and an error otherwise; none is kept in part", keepsWhole},
	{"unchanged", "Put changes neither the contents nor their slice", leavesContents},
	{"again", "equal contents may be put again, for the same conversation and for others", keepsAgain},
	{"not found", "Get of a handle without a content returns ErrNotFound, also for the zero handle", missesUnknown},
	{"conflict", "Put returns ErrConflict if another content has the handle; the first one is kept", keepsFirst},
	{"concurrent", "calls that put equal contents at the same time return nil, and all contents are found", keepsTogether},
	{"cancelled", "a call whose context is done returns the error of the context", endsWithContext},
	{"reopened", "another process that opens the storage gives the same handles and finds the contents", sharesStorage},
	{"damaged", "Get of a content of which a byte was changed returns ErrDamaged, and another Put replaces it", healsDamage},
	{"scopes", "a content is never found from another scope, whatever the names, and has another handle there", separatesScopes},
	{"delete", "Delete removes all contents of a scope, and those of no other scope", deletesScope},
	{"delete conversations", "Delete of some conversations removes what belongs to them alone, and nothing else", deletesConversations},
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

// lost returns what was seen unless Get returns all contents.
func lost(ctx context.Context, s store.Store, contents ...store.Named) string {
	for _, n := range contents {
		got, err := s.Get(ctx, n.Handle)
		switch {
		case err != nil:
			return fmt.Sprintf("Get(%s): error %v, want a content of %d bytes", n.Handle, err, len(n.Content.Data))
		case got != n.Content:
			return fmt.Sprintf("Get(%s): %d bytes of type %q: %.60q, want %d of type %q: %.60q", n.Handle,
				len(got.Data), got.Type, got.Data, len(n.Content.Data), n.Content.Type, n.Content.Data)
		}
	}
	return ""
}

// left returns what was seen unless Get finds none of the contents.
func left(ctx context.Context, s store.Store, contents ...store.Named) string {
	for _, n := range contents {
		if got, err := s.Get(ctx, n.Handle); !errors.Is(err, store.ErrNotFound) {
			return fmt.Sprintf("Get(%s): %.60q and error %v, want ErrNotFound", n.Handle, got.Data, err)
		}
	}
	return ""
}

// unkept puts contents and returns what was seen unless all are found after that.
func unkept(ctx context.Context, s store.Store, conversation message.ID, contents ...store.Named) string {
	if err := s.Put(ctx, conversation, contents); err != nil {
		return fmt.Sprintf("Put of %d contents: error %v", len(contents), err)
	}
	return lost(ctx, s, contents...)
}

func hasHandles(ctx context.Context, s store.Store) string {
	seen := map[store.Handle]bool{}
	all := textsAs(s, 100)
	for _, n := range all {
		if _, err := store.ParseHandle(n.Handle.String()); err != nil || seen[n.Handle] {
			return fmt.Sprintf("Handle of %q is %q, error %v, or two contents have it", n.Content.Data, n.Handle, err)
		}
		seen[n.Handle] = true
		if again := s.Handle(n.Hash); again != n.Handle {
			return fmt.Sprintf("Handle of %q is %s, and then %s", n.Content.Data, n.Handle, again)
		}
	}
	return left(ctx, s, all...)
}

func keepsBytes(ctx context.Context, s store.Store) string {
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
		if seen := unkept(ctx, s, message.ID{1}, keptAs(s, c)); seen != "" {
			return seen
		}
	}
	return ""
}

func keepsAll(ctx context.Context, s store.Store) string {
	all := textsAs(s, 300)
	if seen := unkept(ctx, s, message.ID{1}, append(all, all[7], all[299], all[7])...); seen != "" {
		return seen
	}
	return unkept(ctx, s, message.ID{1})
}

func keepsWhole(ctx context.Context, s store.Store) string {
	all := textsAs(s, 20)
	all[9] = keptAs(s, store.Content{Type: strings.Repeat("t", 1025), Data: "the type is too long"})
	all[13] = keptAs(s, store.Content{Data: strings.Repeat("0123456789abcde\n", 100_000)})
	if err := s.Put(ctx, message.ID{1}, all); err == nil {
		return lost(ctx, s, all...)
	}
	for _, n := range all {
		if left(ctx, s, n) == "" {
			continue
		}
		if seen := lost(ctx, s, n); seen != "" {
			return "after an error of Put: " + seen
		}
	}
	return ""
}

func leavesContents(ctx context.Context, s store.Store) string {
	all := textsAs(s, 20)
	slices.Reverse(all)
	given := slices.Clone(all)
	if seen := unkept(ctx, s, message.ID{1}, given...); seen != "" || slices.Equal(given, all) {
		return seen
	}
	return "the slice was changed"
}

func keepsAgain(ctx context.Context, s store.Store) string {
	all := textsAs(s, 10)
	for _, conversation := range []byte{1, 1, 2, 0, 0, 1} {
		if seen := unkept(ctx, s, message.ID{conversation}, all...); seen != "" {
			return seen
		}
	}
	return unkept(ctx, s, message.ID{3}, textsAs(s, 20)...)
}

func missesUnknown(ctx context.Context, s store.Store) string {
	all := textsAs(s, 3)
	if seen := unkept(ctx, s, message.ID{1}, all[:2]...); seen != "" {
		return seen
	}
	return left(ctx, s, all[2], store.Named{})
}

// keepsFirst puts different contents under one handle. Two contents whose handles are really
// equal cannot be made for each store.
func keepsFirst(ctx context.Context, s store.Store) string {
	all := textsAs(s, 4)
	if seen := unkept(ctx, s, message.ID{1}, all[0]); seen != "" {
		return seen
	}
	for _, handle := range []store.Handle{all[0].Handle, all[3].Handle} {
		others := slices.Clone(all[:3])
		others[1].Handle, others[2].Handle = handle, handle
		if handle == all[0].Handle {
			others = others[1:2]
		}
		if err := s.Put(ctx, message.ID{1}, others); !errors.Is(err, store.ErrConflict) {
			return fmt.Sprintf("Put: error %v, want ErrConflict", err)
		}
	}
	return lost(ctx, s, all[0])
}

func keepsTogether(ctx context.Context, s store.Store) string {
	all := textsAs(s, 40)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			errs[i] = caught(func() error {
				mine := slices.Concat(all[5*i:], all[:5*i])
				if i%2 == 0 {
					slices.Reverse(mine)
				}
				return s.Put(ctx, message.ID{byte(i % 3)}, mine)
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return lost(ctx, s, all...)
}

func endsWithContext(ctx context.Context, s store.Store) string {
	all := textsAs(s, 2)
	if seen := unkept(ctx, s, message.ID{1}, all[0]); seen != "" {
		return seen
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Put(done, message.ID{1}, all); !errors.Is(err, context.Canceled) {
		return fmt.Sprintf("Put: error %v, want context.Canceled", err)
	}
	if _, err := s.Get(done, all[0].Handle); !errors.Is(err, context.Canceled) {
		return fmt.Sprintf("Get: error %v, want context.Canceled", err)
	}
	return lost(ctx, s, all[0])
}

func sharesStorage(ctx context.Context, s store.Store) string {
	open, _ := s.(reopened)
	other, all := open.Reopen(), textsAs(s, 10)
	if named := textsAs(other, 10); !slices.Equal(named, all) {
		return fmt.Sprintf("the handle of %q is %s here and %s there", all[0].Content.Data, all[0].Handle, named[0].Handle)
	}
	if seen := unkept(ctx, s, message.ID{1}, all[:5]...); seen != "" {
		return seen
	}
	if seen := unkept(ctx, other, message.ID{1}, all...); seen != "" {
		return seen
	}
	return lost(ctx, s, all...)
}

func healsDamage(ctx context.Context, s store.Store) string {
	damage, _ := s.(damaged)
	for _, c := range []store.Content{
		{Data: strings.Repeat("a line of a log\n", 1000)}, {Type: "image/png", Data: "\x89PNG"},
	} {
		n := keptAs(s, c)
		if seen := unkept(ctx, s, message.ID{1}, n); seen != "" {
			return seen
		}
		if err := damage.Damage(n.Handle); err != nil {
			return fmt.Sprintf("Damage: %v", err)
		}
		if got, err := s.Get(ctx, n.Handle); !errors.Is(err, store.ErrDamaged) {
			return fmt.Sprintf("Get: %.60q and error %v, want ErrDamaged", got.Data, err)
		}
		if seen := unkept(ctx, s, message.ID{2}, n); seen != "" {
			return "after another Put: " + seen
		}
	}
	return ""
}

func separatesScopes(ctx context.Context, s store.Store) string {
	root, _ := s.(scoped)
	c := store.Content{Data: "the same in all scopes"}
	seen := map[store.Handle]string{}
	names := []string{"", "a", "a/b", "a\x00b", "A", "ä", "a%", "a_", "*", "a:1", "../a", "a "}
	for _, name := range names {
		in := root.Scope(name)
		n := keptAs(in, c)
		if other, ok := seen[n.Handle]; ok {
			return fmt.Sprintf("the scopes %q and %q give a content the same handle", other, name)
		}
		seen[n.Handle] = name
		if seen := unkept(ctx, in, message.ID{1}, n); seen != "" {
			return seen
		}
	}
	for h, name := range seen {
		for _, other := range names {
			if got, err := root.Scope(other).Get(ctx, h); other != name && !errors.Is(err, store.ErrNotFound) {
				return fmt.Sprintf("scope %q returns %q of scope %q, and error %v, want ErrNotFound", other, got.Data, name, err)
			}
		}
	}
	return ""
}

// deleted deletes and returns what was seen if that fails.
func deleted(ctx context.Context, s store.Store, scope string, conversations ...message.ID) string {
	d, _ := s.(deleting)
	if err := d.Delete(ctx, scope, conversations...); err != nil {
		return fmt.Sprintf("Delete(%q, %x): error %v", scope, conversations, err)
	}
	return ""
}

func deletesScope(ctx context.Context, s store.Store) string {
	root, _ := s.(scoped)
	a, ab := root.Scope("a"), root.Scope("ab")
	for _, seen := range []func() string{
		func() string { return unkept(ctx, a, message.ID{1}, textsAs(a, 5)...) },
		func() string { return unkept(ctx, a, message.ID{}, textsAs(a, 9)...) },
		func() string { return unkept(ctx, ab, message.ID{1}, textsAs(ab, 9)...) },
		func() string { return deleted(ctx, s, "a") },
		func() string { return deleted(ctx, s, "never used") },
		func() string { return left(ctx, a, textsAs(a, 9)...) },
		func() string { return lost(ctx, ab, textsAs(ab, 9)...) },
		func() string { return unkept(ctx, a, message.ID{1}, textsAs(a, 9)...) },
	} {
		if seen := seen(); seen != "" {
			return seen
		}
	}
	return ""
}

// deletesConversations has texts 0 and 1 of conversation 1, 2 of 1 and 2, 3 of 1 and none, 4 of
// 2 and 3, 5 of 3, 6 of none.
func deletesConversations(ctx context.Context, s store.Store) string {
	root, _ := s.(scoped)
	a, b := root.Scope("a"), root.Scope("b")
	all, other := textsAs(a, 7), textsAs(b, 7)
	one, two, three, none := message.ID{1}, message.ID{2}, message.ID{3}, message.ID{}
	for _, seen := range []func() string{
		func() string { return unkept(ctx, a, one, all[:4]...) },
		func() string { return unkept(ctx, a, two, all[2], all[4]) },
		func() string { return unkept(ctx, a, three, all[4], all[5]) },
		func() string { return unkept(ctx, a, none, all[3], all[6]) },
		func() string { return unkept(ctx, b, one, other...) },
		func() string { return deleted(ctx, s, "a", one, message.ID{9}) },
		func() string { return left(ctx, a, all[:2]...) },
		func() string { return lost(ctx, a, all[2:]...) },
		func() string { return lost(ctx, b, other...) },
		func() string { return deleted(ctx, s, "a", two, three) },
		func() string { return left(ctx, a, all[0], all[1], all[2], all[4], all[5]) },
		func() string { return lost(ctx, a, all[3], all[6]) },
		func() string { return unkept(ctx, a, one, all...) },
		func() string { return deleted(ctx, s, "a", none) },
		func() string { return lost(ctx, a, all...) },
		func() string { return deleted(ctx, s, "a", one) },
		func() string { return left(ctx, a, all...) },
	} {
		if seen := seen(); seen != "" {
			return seen
		}
	}
	return ""
}

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// traces returns the names and files in a folder that have one of the texts.
func traces(t *testing.T, path string, texts ...string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all := e.Name()
		if e.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all += "\n" + string(data)
		}
		for _, text := range texts {
			if strings.Contains(all, text) {
				found = append(found, name)
				break
			}
		}
		return nil
	}))
	return found
}

// named puts texts for a conversation and returns them.
func named(t *testing.T, s Store, conversation message.ID, texts ...string) []Named {
	t.Helper()
	var all []Named
	for _, text := range texts {
		c := Content{Data: text}
		all = append(all, Named{Content: c, Hash: c.Hash(), Handle: s.Handle(c.Hash())})
	}
	require.NoError(t, s.Put(t.Context(), conversation, all))
	return all
}

// After Delete no file, no name and no list of the folder has anything of what was deleted,
// also if a process was killed while it wrote a part of it.
func TestDirKeepsNothingOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	d, path := openTemp(t)
	acme, globex := newDirScope(d.disk, "acme"), newDirScope(d.disk, "globex")
	gone, stays := message.ID{0xaa, 1}, message.ID{0xbb, 2}
	mine := named(t, acme, gone, "the secret plan", "the secret price")
	shared := named(t, acme, gone, "a shared page")
	named(t, acme, stays, "a shared page", "another page")
	named(t, globex, gone, "the plan of globex")
	half, err := d.disk.temp(acme.folder+"."+mine[0].Handle.String(), header(""), "the secret pl")
	require.NoError(t, err)
	other, err := d.disk.temp(acme.folder+"."+shared[0].Handle.String(), header(""), "a shared p")
	require.NoError(t, err)
	forbidden := []string{"secret", gone.String(), mine[0].Handle.String(), mine[1].Handle.String()}
	require.Len(t, traces(t, filepath.Join(path, acme.folder), forbidden...), 3, "two files and a list")

	require.NoError(t, d.Delete(t.Context(), "acme", gone))
	require.Empty(t, traces(t, filepath.Join(path, acme.folder), forbidden...))
	require.Empty(t, traces(t, filepath.Join(path, tempFolder), "secret", mine[0].Handle.String()))
	require.NoFileExists(t, filepath.Join(path, half))
	require.FileExists(t, filepath.Join(path, other), "it is of a conversation that stays")
	_, err = acme.Get(t.Context(), shared[0].Handle)
	require.NoError(t, err, "what belongs to another conversation, too, stays")
	require.Len(t, traces(t, path, "the plan of globex"), 1, "another scope stays")

	require.NoError(t, d.Delete(t.Context(), "acme"))
	require.Empty(t, traces(t, path, "shared", "another", acme.folder, stays.String()))
	require.Len(t, traces(t, path, "the plan of globex"), 1)
	require.NoError(t, d.Delete(t.Context(), "globex", gone))
	require.Empty(t, traces(t, path, "globex", gone.String()))
}

// A process that is killed while it puts or deletes leaves nothing that the next Delete does
// not find. A step that fails alone is an error too.
func TestDirDeletesAfterAnyFault(t *testing.T) {
	t.Parallel()
	conversation := message.ID{0xaa}
	for at, worked := 0, 0; worked < 4; at++ {
		worked = 0
		for _, c := range []struct{ deletes, once bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			d, path := openTemp(t)
			if c.deletes {
				mine := named(t, d, conversation, "the secret plan", "the secret price")
				_, err := d.disk.temp(newDirScope(d.disk, "").folder+"."+mine[0].Handle.String(), header(""), "the secret pl")
				require.NoError(t, err)
			}
			n := 0
			d.disk.fault = func(string) error {
				n++
				if n == at+1 || n > at && !c.once { // nothing works any more
					return fs.ErrPermission
				}
				return nil
			}
			var err error
			if c.deletes {
				err = d.Delete(t.Context(), "", conversation)
			} else {
				c := Content{Data: "the secret plan"}
				err = d.Put(t.Context(), conversation, []Named{{Content: c, Hash: c.Hash(), Handle: d.Handle(c.Hash())}})
			}
			require.Equal(t, n > at, err != nil, "step %d of %+v", at, c)
			if err == nil {
				worked++
			}
			d.disk.fault = nil
			require.NoError(t, d.Delete(t.Context(), "", conversation))
			require.Empty(t, traces(t, path, "secret", conversation.String()), "after a fault at step %d", at)
		}
	}
}

// Half a line in a list, as a killed process may leave it, hides no other handle.
func TestDirReadsDamagedLists(t *testing.T) {
	t.Parallel()
	d, path := openTemp(t)
	conversation := message.ID{0xaa}
	named(t, d, conversation, "the secret plan")
	list := filepath.Join(path, newDirScope(d.disk, "").folder, conversation.String())
	f, err := os.OpenFile(list, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString("\nabcde")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	named(t, d, conversation, "the secret price", "the secret plan")
	require.NoError(t, d.Delete(t.Context(), "", conversation))
	require.Empty(t, traces(t, path, "secret", conversation.String()))
}

func TestMemoryKeepsNothingOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	m := NewMemory(0)
	a, b := message.ID{1}, message.ID{2}
	named(t, m.Scope("globex"), a, "theirs")
	named(t, m.Scope("acme"), a, "mine", "shared")
	named(t, m.Scope("acme"), b, "shared")
	require.NoError(t, m.Delete(t.Context(), "acme", a))
	require.Len(t, m.in.kept, 2)
	require.Equal(t, []message.ID{b}, itemIn(m.in.recent.Front()).owners)
	require.NoError(t, m.Delete(t.Context(), "acme", b))
	require.Len(t, m.in.kept, 1, "another scope stays")
	require.NoError(t, m.Delete(t.Context(), "globex"))
	require.Empty(t, m.in.kept)
	require.Zero(t, m.in.bytes)
	require.Zero(t, m.in.recent.Len())
}
